//! Prints what full passes of many sizes keep of what recorded agents went on to use: directly, and some requests later. The
//! curves of the economic policy are fitted to this.
//!
//! `cargo run --release -p mainstay-eval --example what_passes_keep -- SESSIONS... > kept.tsv`

use std::io::Write;
use std::path::PathBuf;

use mainstay_engine::account::Family;
use mainstay_engine::decide::Leave;
use mainstay_eval::replay::Recording;
use mainstay_eval::replay::Settings;
use mainstay_eval::replay::Stage;
use mainstay_eval::replay::Strategy;
use mainstay_eval::replay::Timeline;
use mainstay_eval::replay::load;
use mainstay_eval::replay::play;
use mainstay_eval::replay::without_summaries;
use mainstay_eval::retention::Examiner;
use mainstay_eval::sessions::Selection;

/// Passes are made at every so many requests.
const EVERY: usize = 12;
/// What was kept is asked at these many requests after the pass.
const LATER: [usize; 6] = [0, 2, 5, 10, 20, 40];

fn main() -> std::io::Result<()> {
    let paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let recordings = load(&paths, &Selection::default()).expect("the sessions can be read");
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "session\trequest\tsaid\trecent\ttail\tblock\tafter\tlater\tsince\tfur\tpair"
    )?;
    for recording in &recordings.sessions {
        for row in one(recording) {
            writeln!(out, "{row}")?;
        }
    }
    Ok(())
}

fn one(recording: &Recording) -> Vec<String> {
    let timeline = without_summaries(&Timeline::new(recording, Family::O200k));
    let settings = Settings {
        window: Some(2_000_000),
        ..Settings::default()
    };
    let profile = mainstay_llm::profile::named("openai-gpt-5.5").expect("it is built in");
    let stage = Stage {
        timeline: &timeline,
        settings: &settings,
        profile: &profile,
        summariser: &profile,
    };
    let mut examiner = Examiner::new(timeline.transcript.messages(), settings.horizon, settings.least_needed);
    let said = |request: usize| -> u64 { timeline.sizes[..timeline.requests[request].before].iter().sum() };
    let mut rows = Vec::new();
    for request in (EVERY..timeline.requests.len()).step_by(EVERY) {
        for tail in [3_000, 6_000, 12_000, 24_000, 48_000] {
            for block in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000] {
                if tail + block + 3_000 > said(request) {
                    continue;
                }
                let later = LATER.map(|later| request + later);
                let later: Vec<usize> = later
                    .into_iter()
                    .filter(|later| *later < timeline.requests.len())
                    .filter(|later| examiner.asks(timeline.requests[*later].before))
                    .collect();
                let strategy = Strategy::Scheduled(vec![(request, Leave { tail, block })]);
                let track = play(&stage, &strategy, &mut examiner, &later);
                let Some(pass) = track.passes.first() else { continue };
                for (later, kept) in later.iter().zip(&track.kept) {
                    rows.push(format!(
                        "{}\t{request}\t{}\t{}\t{tail}\t{block}\t{}\t{}\t{}\t{:.4}\t{}",
                        timeline.name,
                        said(request),
                        said(request) - said(request - 1),
                        pass.after,
                        later - request,
                        said(*later) - said(request),
                        kept.fur,
                        kept.pair.map_or(String::new(), |pair| format!("{pair:.4}")),
                    ));
                }
            }
        }
    }
    rows
}
