//! The arms of a run.

use std::collections::BTreeSet;

use mainstay_engine::decide::Engine;
use mainstay_eval::run::desk::Models;
use mainstay_eval::state::Arm;

use crate::eval::run::Arguments;

/// The arms that were named, each once more with a search, and the controls.
pub fn arms(arguments: &Arguments, models: &Models) -> anyhow::Result<Vec<Arm>> {
    let specs = arguments.arms.iter().flat_map(|list| split(list));
    let mut arms: Vec<Arm> = specs.map(|spec| spec.parse()).collect::<Result<_, _>>()?;
    if arms.is_empty() {
        arms.push(Arm::engine(Engine::Ledger));
        if models.summarise.is_some() {
            arms.extend([Arm::engine(Engine::Hybrid), Arm::engine(Engine::Summary)]);
        }
    }
    if !arguments.no_recall {
        let with: Vec<Arm> = arms
            .iter()
            .filter(|arm| !arm.has_recall && !arm.is_control())
            .map(Arm::with_recall)
            .collect();
        arms.extend(with);
    }
    arms.extend(Arm::controls());
    let mut known = BTreeSet::new();
    let mut once = Vec::new();
    for arm in arms {
        match known.insert(arm.name.clone()) {
            true => once.push(arm),
            // A control or a search that was named is there already.
            false if once.iter().any(|other: &Arm| other.spec() == arm.spec()) => {}
            false => anyhow::bail!(
                "two arms are called {}; give one another name: NAME={}",
                arm.name,
                arm.spec()
            ),
        }
    }
    Ok(once)
}

/// Arms separated by commas; the options of an arm have commas too, and no engine's name looks like an option.
fn split(list: &str) -> Vec<String> {
    let mut specs: Vec<String> = Vec::new();
    for piece in list.split(',') {
        let key = piece.split('=').next().unwrap_or("");
        match specs.last_mut() {
            Some(last) if piece.contains('=') && ["target", "tail", "focus"].contains(&key) => {
                last.push(',');
                last.push_str(piece);
            }
            Some(_) | None => specs.push(piece.to_owned()),
        }
    }
    specs
}
