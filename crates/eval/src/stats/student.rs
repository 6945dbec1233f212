//! Student's t distribution: what a mean over few clusters is held against.

/// How many terms of the continued fraction are taken at most; it converges in a few dozen for all degrees of freedom here.
const MOST_TERMS: usize = 300;
/// Where the continued fraction stops, and what stands for a zero in it.
const TINY: f64 = 1e-15;
/// Halvings until a quantile is as exact as a double: 2⁻⁶⁰ of a bracket of at most a million.
const HALVINGS: usize = 80;

/// The probability that |t| with these degrees of freedom is at least `t`.
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The value that |t| exceeds with probability `share`.
pub fn critical(share: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // A million is far beyond any share that a report asks for, even with one degree of freedom.
    while two_sided(high, freedom) > share && high < 1e6 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match two_sided(middle, freedom) > share {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's way to evaluate it).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // On the other side of the mean the mirrored fraction converges.
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(a, b, x) / a,
        false => 1.0 - front * fraction(b, a, 1.0 - x) / b,
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let solid = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / solid(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for term in 1..MOST_TERMS {
        let m = term as f64;
        let even = m * (b - m) * x / ((a - 1.0 + 2.0 * m) * (a + 2.0 * m));
        d = 1.0 / solid(1.0 + even * d);
        c = solid(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 1.0 + 2.0 * m));
        d = 1.0 / solid(1.0 + odd * d);
        c = solid(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < TINY {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for positive numbers: Stirling's series, after moving up to where it is exact.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = x;
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = x * x;
    // The series' coefficients: Bernoulli's numbers over 2n(2n−1).
    let series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (share, freedom, wanted) in [
            (0.05, 1.0, 12.706_205),
            (0.05, 5.0, 2.570_582),
            (0.05, 10.0, 2.228_139),
            (0.01, 7.0, 3.499_483),
            (0.4, 10.0, 0.879_058),
            (0.05, 1000.0, 1.962_339),
            (0.001, 30.0, 3.645_959),
        ] {
            let found = critical(share, freedom);
            assert!((found - wanted).abs() < 1e-5, "{share} {freedom}: {found}");
            assert!((two_sided(found, freedom) - share).abs() < 1e-9);
        }
        assert_eq!(two_sided(f64::INFINITY, 5.0), 0.0);
        assert!((two_sided(0.0, 5.0) - 1.0).abs() < 1e-12);
    }
}
