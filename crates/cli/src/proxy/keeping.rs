//! How conversations are kept, out of the settings.

use std::time::Duration;

use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::redact::Addresses;
use mainstay_proxy::settings::Keeping;
use mainstay_proxy::settings::Timing;

use crate::config::Settings;
use crate::proxy::Arguments;
use crate::proxy::TimingChoice;
use crate::screen::Screen;

/// How long a request may be held up: what people still take for a slow network.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many bytes of conversations are remembered: a hundred of the longest.
const MEMORY: usize = 256 << 20;

/// How conversations are kept.
pub fn keeping(settings: &Settings, arguments: &Arguments, _screen: &mut Screen) -> anyhow::Result<Keeping> {
    Ok(Keeping {
        store: settings.store_path()?,
        policy: settings.policy.clone(),
        timing: match arguments.timing {
            TimingChoice::Economic => Timing::Economic(EconomicPolicy::default()),
            TimingChoice::Threshold => Timing::Threshold,
            TimingChoice::Never => Timing::Never,
        },
        window: settings.window,
        roles: settings.roles.into(),
        redact: settings.redact.options(Addresses::All),
        writing: None,
        trim: arguments.trim,
        patience: PATIENCE,
        memory: MEMORY,
    })
}
