//! Numbers on the command line that several commands take.

/// A share: above nothing, at most all.
pub fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if share > 0.0 && share <= 1.0 {
        Ok(share)
    } else {
        Err("a share is above 0 and at most 1".to_owned())
    }
}

/// How many threads work: as asked, otherwise one a core.
pub fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}
