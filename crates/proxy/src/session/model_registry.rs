//! A registry of the models that requests name: limits, prices, and the calibration of our token counts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use mainstay_engine::account::Budget;
use mainstay_engine::account::BudgetError;
use mainstay_engine::account::Calibration;
use mainstay_engine::account::Family;
use mainstay_engine::account::Fit;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::facts;
use mainstay_engine::decide::Policy;
use mainstay_engine::economy::Profile;
use mainstay_llm::profile;
use mainstay_llm::profile::Client;

use crate::session::store_handle::StoreHandle;

/// Reports after which a calibration is written to the store.
const SAVED_AFTER: u32 = 16;
/// A report outside of this range, as a multiple of our count, is not about the prompt that was counted.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.4..=4.0;
/// So many models are remembered; names come from clients, who may send anything.
const MOST: usize = 256;

/// What is known of one model.
#[derive(Clone)]
pub struct KnownModel {
    /// How its tokens are counted.
    pub family: Family,
    limits: ModelLimits,
    /// The window that the provider has shown, where it is smaller.
    learnt: Option<u64>,
    calibration: Calibration,
    unsaved: u32,
    profiles: [Option<Arc<Profile>>; 2],
}

impl KnownModel {
    /// What a count means to the provider.
    pub fn fit(&self) -> Fit {
        self.calibration.fit()
    }

    /// What it costs, asked as this client does.
    pub fn profile(&self, client: Client) -> Option<&Arc<Profile>> {
        self.profiles[usize::from(client == Client::ClaudeCode)].as_ref()
    }

    /// The budget of a request that wants an answer of at most so many tokens.
    pub fn budget(&self, policy: &Policy, output: Option<u64>) -> Result<Budget, BudgetError> {
        let mut limits = self.limits.clone();
        if let Some(output) = output {
            limits.output = output;
        }
        let window = self.learnt.unwrap_or(limits.window);
        // An agent that asks for more than it will ever get must not leave no room for a prompt.
        Budget::new(&[limits.with_window(window)], &policy.budget)
    }
}

/// All models that were met.
#[derive(Default)]
pub struct ModelRegistry(Mutex<HashMap<String, KnownModel>>);

impl ModelRegistry {
    fn all(&self) -> MutexGuard<'_, HashMap<String, KnownModel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a model; the operator's window stands above the table's.
    pub fn of(&self, model: &str, window: Option<u64>, store: &StoreHandle) -> KnownModel {
        if let Some(known) = self.all().get(model) {
            return known.clone();
        }
        let mut limits = ModelLimits::of(model);
        if let Some(window) = window {
            limits = limits.with_window(window);
        }
        let calibration = match store.is_there() {
            true => store
                .try_with(|store| store.calibration(model))
                .and_then(Result::ok)
                .flatten(),
            false => None,
        };
        let profile = |client| profile::of_model(model, client).map(Arc::new);
        let known = KnownModel {
            family: facts(model).family,
            limits,
            learnt: None,
            calibration: calibration.unwrap_or_default(),
            unsaved: 0,
            profiles: [profile(Client::Mainstay), profile(Client::ClaudeCode)],
        };
        let mut all = self.all();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(model.to_owned(), known.clone());
        known
    }

    /// The provider has shown that the window is no larger than this.
    pub fn learn_window(&self, model: &str, window: u64) {
        if let Some(known) = self.all().get_mut(model)
            && window < known.learnt.unwrap_or(known.limits.window)
        {
            known.learnt = Some(window);
        }
    }

    /// A prompt that we counted so had so many tokens. Whether it is time to save what was learnt.
    pub fn observe(&self, model: &str, counted: u64, reported: u64) -> bool {
        let mut all = self.all();
        let Some(known) = all.get_mut(model) else {
            return false;
        };
        // An answer to a longer prompt shows that whatever made us believe in a smaller window was something else.
        if known.learnt.is_some_and(|window| reported > window) {
            known.learnt = None;
        }
        if !PLAUSIBLE.contains(&(reported as f64 / counted.max(1) as f64)) {
            return false;
        }
        known.calibration.observe(counted, reported);
        known.unsaved += 1;
        let is_time = known.unsaved >= SAVED_AFTER;
        if is_time {
            known.unsaved = 0;
        }
        is_time
    }

    /// Saves what was learnt of a model, where the store is at hand.
    pub fn save(&self, model: &str, store: &StoreHandle) {
        let calibration = self.all().get(model).map(|known| known.calibration);
        if let Some(calibration) = calibration.filter(|_| store.is_there()) {
            // Whatever prevents it now, the next report comes soon.
            let _ = store.try_with(|store| store.save_calibration(model, &calibration));
        }
    }
}
