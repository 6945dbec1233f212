//! Stack traces: the errors, the frames of one's own code, the ends of each run of frames.

use std::sync::LazyLock;

use regex::Regex;

use super::line_forms::is_frame;
use super::pick::Line;
use super::pick::MUST;
use super::signals;
use super::signals::pattern;

/// Frames kept at each end of a run: where it was thrown, and where it began.
const ENDS: usize = 3;

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let follows_frame = run.last().is_some_and(|frame| frame + 1 == index);
        if is_frame(text) {
            if !(follows_frame || run.last().is_some_and(|frame| frame + 2 == index)) {
                mark_ends(&mut lines, &run);
                run.clear();
            }
            run.push(index);
            let library = LIBRARY.is_match(text);
            let (rank, label) = if library { (5, "library frames") } else { (3, "frames") };
            lines.push(Line::new(text, rank, label));
        } else if signals::is_mention(text) || signals::is_summary(text) {
            lines.push(Line::new(text, MUST, ""));
        } else if follows_frame && text.starts_with([' ', '\t']) {
            // The source line under a frame goes with it.
            let (rank, label) = lines[index - 1..]
                .first()
                .map_or((5, "frames"), |frame| (frame.rank, frame.label));
            lines.push(Line::new(text, rank, label));
        } else {
            lines.push(Line::new(text, 4, "output"));
        }
    }
    mark_ends(&mut lines, &run);
    lines
}

fn mark_ends(lines: &mut [Line<'_>], run: &[usize]) {
    let ends = run.iter().take(ENDS).chain(run.iter().rev().take(ENDS));
    for frame in ends {
        lines[*frame].rank = 1;
        if let Some(source) = lines
            .get_mut(frame + 1)
            .filter(|line| line.rank > 1 && !is_frame(line.text))
        {
            source.rank = 2;
        }
    }
}

/// Frames of runtimes and dependencies.
static LIBRARY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"site-packages|dist-packages|node_modules|node:internal|internal/(?:process|modules|timers)|/usr/lib|/rustc/|\.cargo/registry|/go/pkg/mod|/usr/local/go|vendor/bundle|/gems/",
        r"|\bat (?:java|javax|jdk|sun|scala|kotlin|org\.(?:springframework|junit|apache|gradle|eclipse))\.|\bcore::|\bstd::|\balloc::|\btokio::|<anonymous>|\bruntime\.",
        r"|lib/python\d",
    ))
});
