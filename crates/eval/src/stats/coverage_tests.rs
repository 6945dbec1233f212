//! A simulation over data whose truth is known: how often 95 % intervals hold it.
//!
//! `cargo test -p mainstay-eval coverage -- --nocapture` prints the table that docs/eval.md shows.
#![allow(clippy::print_stdout)]

use crate::parallel;
use crate::stats::Generator;
use crate::stats::Resampled;
use crate::stats::clusters::Cluster;

/// Draws for an interval: a third of what a report takes, which changes coverage by less than the simulation can see.
const DRAWS: usize = 599;
/// Samples of each kind: the standard error of a coverage of 95 % is 0.4 points.
const TRIALS: usize = 3000;
const COUNTS: [usize; 6] = [5, 6, 8, 11, 20, 50];
const SIZES: [(&str, &[usize]); 2] = [("equal", &[10]), ("unequal", &[4, 6, 8, 12, 16, 10])];

/// How the differences of one cluster come about, and their true mean.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A cluster's own mean, and as much noise again around it.
    Normal,
    /// Scores from 0 to 5 before and after, most of them 5 before; each cluster loses its own share of probes.
    Skewed,
    /// Nine of ten probes are as before; the tenth loses 1 to 3.
    MostlyZero,
    /// A quarter of the clusters lose 2 on every probe, the others nothing: no sample of few clusters shows that.
    Concentrated,
}

fn uniform(generator: &mut Generator) -> f64 {
    // 53 bits are what a double holds.
    (generator.draw() >> 11) as f64 / (1_u64 << 53) as f64
}

fn normal(generator: &mut Generator) -> f64 {
    let radius = (-2.0 * uniform(generator).max(1e-300).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(generator)).cos()
}

impl Kind {
    fn truth(self) -> f64 {
        match self {
            Kind::Normal => 0.0,
            // The share of lost probes is .05 + .35 uv with u and v uniform, 0.1375 in the mean; a loss is 2.5 in the mean, and a
            // tenth of the others gains 1.
            Kind::Skewed => -0.1375 * 2.5 + (1.0 - 0.1375) * 0.1,
            Kind::MostlyZero => -0.2,
            Kind::Concentrated => -0.5,
        }
    }

    fn cluster(self, size: usize, generator: &mut Generator) -> Cluster {
        let (own, chance) = (normal(generator), uniform(generator) * uniform(generator));
        let is_hit = uniform(generator) < 0.25;
        let mut value = || match self {
            Kind::Normal => 0.5 * own + 0.7 * normal(generator),
            Kind::Skewed if uniform(generator) < 0.05 + 0.35 * chance => -(1.0 + generator.below(4) as f64),
            Kind::Skewed => f64::from(u8::from(uniform(generator) < 0.1)),
            Kind::MostlyZero if uniform(generator) < 0.1 => -(1.0 + generator.below(3) as f64),
            Kind::Concentrated if is_hit => -2.0,
            Kind::MostlyZero | Kind::Concentrated => 0.0,
        };
        Cluster {
            sum: (0..size).map(|_| value()).sum(),
            size: size as f64,
        }
    }
}

/// The share of samples, in per cent, whose interval holds the truth.
fn coverage(kind: Kind, count: usize, sizes: &[usize], trials: usize, holds: fn(&[Cluster], f64) -> bool) -> f64 {
    let mut generator = Generator::new(1000 + count as u64 + sizes.len() as u64 * 64);
    let held = (0..trials).filter(|_| {
        let size = |place: usize| sizes[place % sizes.len()];
        let clusters: Vec<Cluster> = (0..count)
            .map(|place| kind.cluster(size(place), &mut generator))
            .collect();
        holds(&clusters, kind.truth())
    });
    held.count() as f64 * 100.0 / trials as f64
}

/// Whether our interval holds the truth.
fn studentised(clusters: &[Cluster], truth: f64) -> bool {
    let estimate = Resampled::new(clusters, DRAWS).unwrap().estimate(0.05);
    estimate.low <= truth && truth <= estimate.high
}

/// Whether the plain quantiles of drawn means hold the truth: what the table shows beside ours.
fn plain(clusters: &[Cluster], truth: f64) -> bool {
    let mut generator = Generator::new(1);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = (0..clusters.len()).map(|_| *generator.pick(clusters));
            let (sum, size) = drawn.fold((0.0, 0.0), |(sum, size), one| (sum + one.sum, size + one.size));
            sum / size
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let ends = (DRAWS + 1) / 40;
    means[ends - 1] <= truth && truth <= means[DRAWS - ends]
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let kinds = [Kind::Normal, Kind::Skewed, Kind::MostlyZero, Kind::Concentrated];
    let cells: Vec<(Kind, usize, usize)> = kinds
        .into_iter()
        .flat_map(|kind| (0..SIZES.len()).map(move |sizes| (kind, sizes)))
        .flat_map(|(kind, sizes)| COUNTS.map(|count| (kind, sizes, count)))
        .collect();
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let found = parallel::each(&cells, jobs, |(kind, sizes, count)| {
        coverage(*kind, *count, SIZES[*sizes].1, TRIALS, studentised)
    });
    // A sixth of the samples is enough to see how far the plain ones are off.
    let others = parallel::each(&cells, jobs, |(kind, sizes, count)| {
        coverage(*kind, *count, SIZES[*sizes].1, TRIALS / 6, plain)
    });
    let counts: Vec<String> = COUNTS.iter().map(|count| format!("{count:6}")).collect();
    println!("differences   sizes    {}  clusters", counts.join(" "));
    let rows = cells.chunks(COUNTS.len()).zip(found.chunks(COUNTS.len()));
    for ((cells, found), others) in rows.zip(others.chunks(COUNTS.len())) {
        let (kind, sizes) = (format!("{:?}", cells[0].0), SIZES[cells[0].1].0);
        let shown = |shares: &[f64]| -> String { shares.iter().map(|share| format!("{share:6.1} ")).collect() };
        println!("{kind:13} {sizes:8} {}", shown(found));
        println!("{:13} {:8} {}", "", "plain", shown(others));
    }
    for ((kind, sizes, count), share) in cells.iter().zip(&found) {
        // Five clusters are enough for a cautious interval, a little too wide where all is normal. Losses in a few clusters
        // alone are shown, and promised by nobody.
        let most = if *count < 6 { 98.0 } else { 97.0 };
        let is_promised = *kind != Kind::Concentrated;
        assert!(
            !is_promised || (93.0..=most).contains(share),
            "{kind:?} {} {count}: {share}",
            SIZES[*sizes].0
        );
    }
}
