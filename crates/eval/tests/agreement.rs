//! The native metric against the script that defined it, on recorded sessions: every mean, of every baseline, at every
//! budget, in every source, to the third decimal.
//!
//! `agreement.txt` holds what the script printed, one line a source and baseline: FUR/far/pair/ptr at 3, 5, 10, 20 and
//! 30 per cent.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;

use mainstay_eval::retention::Baseline;
use mainstay_eval::retention::Contender;
use mainstay_eval::retention::Measure;
use mainstay_eval::retention::Report;
use mainstay_eval::retention::Settings;
use mainstay_eval::retention::corpus;
use mainstay_eval::retention::corpus::Selection;
use mainstay_eval::retention::study;

const RECORDED: &str = include_str!("agreement.txt");
/// Half of the last recorded decimal, and a little for the rounding of a tie.
const TOLERANCE: f64 = 0.000_51;

#[test]
fn every_mean_agrees_with_the_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/trajectories");
    if !folder.is_dir() {
        eprintln!("skipped: there are no recorded sessions at {}", folder.display());
        return;
    }
    let sources = ["entire-gitsync", "pi-sessions", "se-agent", "trail", "tau-bench"];
    let selection = Selection {
        sources: sources.map(str::to_owned).to_vec(),
        jobs: 2,
        ..Selection::default()
    };
    let corpus = corpus::load(&[folder], &selection).unwrap();
    assert!(corpus.unread.is_empty(), "{:?}", corpus.unread);
    let contenders: Vec<Contender> = Baseline::ALL.into_iter().map(Contender::Baseline).collect();
    let settings = Settings {
        jobs: 2,
        ..Settings::default()
    };
    let rows = study(&corpus.trajectories, &contenders, &settings, &|_| {}).unwrap();
    let report = Report::new(&rows, &contenders, &settings.budgets);
    let all = &report.groups[0];
    assert_eq!((all.cuts, all.sessions, all.median_prefix_tokens), (186, 95, 20_656));
    let mut compared = 0;
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let (source, arm) = (words.next().unwrap(), words.next().unwrap());
        let group = report.groups.iter().find(|group| group.group == source).unwrap();
        for (budget, recorded) in settings.budgets.iter().zip(words) {
            let is_own = |figures: &&mainstay_eval::retention::Figures| figures.arm == arm && figures.budget == *budget;
            let figures = group.arms.iter().find(is_own).unwrap();
            for (measure, recorded) in Measure::ALL.into_iter().zip(recorded.split('/')) {
                let recorded: f64 = recorded.parse().unwrap();
                let own = figures.share(measure).unwrap().mean;
                let place = format!("{source} {arm} at {budget}, {}", measure.name());
                assert!(
                    (own - recorded).abs() < TOLERANCE,
                    "{place}: {own:.5}, recorded {recorded}"
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 6 * 6 * 5 * 4);
}
