//! Fewer points than requests, without losing what a chart is for: peaks, troughs and passes.

use crate::replay::report::Mark;

/// The requests to draw, in order, where a chart is so many columns wide.
///
/// Of every column the first, the lowest, the highest and the last stay, so that the line covers what it covered. Of every
/// pass the request before and the one after it stay, too, as long as there are no more passes than columns: beyond that
/// they cannot be told apart, and the extremes of their columns stand for them.
pub fn thin(course: &[Mark], columns: usize) -> Vec<usize> {
    let columns = columns.max(1);
    // Four of each column would be all of them.
    if course.len() <= 4 * columns {
        return (0..course.len()).collect();
    }
    let mut kept = Vec::with_capacity(6 * columns);
    for column in 0..columns {
        let from = column * course.len() / columns;
        let to = (column + 1) * course.len() / columns;
        let lowest = (from..to).min_by_key(|at| course[*at].prompt);
        let highest = (from..to).max_by_key(|at| course[*at].prompt);
        kept.extend([from, to - 1]);
        kept.extend(lowest.into_iter().chain(highest));
    }
    let passes = course.iter().enumerate().filter(|(_, mark)| mark.is_pass);
    if passes.clone().count() <= columns {
        kept.extend(passes.flat_map(|(at, _)| [at.saturating_sub(1), at]));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(requests: usize, every: usize) -> Vec<Mark> {
        let mark = |at: usize| Mark {
            prompt: (at % every) as u64 * 100 + (at * 7919 % 97) as u64,
            paid: at as f64,
            is_pass: at > 0 && at.is_multiple_of(every),
        };
        (0..requests).map(mark).collect()
    }

    #[test]
    fn short_courses_stay_whole() {
        assert_eq!(thin(&[], 10), Vec::<usize>::new());
        assert_eq!(thin(&course(40, 7), 10).len(), 40);
        assert_eq!(thin(&course(3, 7), 0), [0, 1, 2]);
    }

    #[test]
    fn peaks_and_passes_stay() {
        let course = course(20_000, 370);
        let kept = thin(&course, 120);
        assert!(kept.len() < 6 * 120 + 120, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (Some(&0), Some(&19_999)));
        let highest = |of: &mut dyn Iterator<Item = usize>| of.map(|at| course[at].prompt).max();
        assert_eq!(highest(&mut kept.iter().copied()), highest(&mut (0..course.len())));
        for pass in (0..course.len()).filter(|at| course[*at].is_pass) {
            assert!(kept.contains(&pass) && kept.contains(&(pass - 1)), "{pass}");
        }
    }

    #[test]
    fn more_passes_than_columns_do_not_make_more_points() {
        let course = course(20_000, 2);
        assert!(thin(&course, 120).len() <= 480);
    }
}
