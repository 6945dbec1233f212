//! Names beside points and lines, so that none lies on another.

use crate::html::Shown;

/// What a character of the page's font takes at twelve pixels, on the safe side: measured on system fonts, whose letters
/// and digits take 6 to 7.5, ideographs a full square.
const NARROW: f64 = 7.2;
const SQUARE: f64 = 12.0;
/// The height of a line at twelve pixels.
pub const LINE: f64 = 15.0;

/// The width of a text at twelve pixels.
pub fn width(text: &str) -> f64 {
    text.chars().map(|c| if c < '\u{2e80}' { NARROW } else { SQUARE }).sum()
}

/// A text of at most so many characters, escaped.
pub fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return Shown(text).to_string();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", Shown(&kept))
}

/// A part of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Its left side.
    pub left: f64,
    /// Its upper side.
    pub top: f64,
    /// Its right side.
    pub right: f64,
    /// Its lower side.
    pub bottom: f64,
}

impl Rect {
    /// A square around a point.
    pub fn around(x: f64, y: f64, reach: f64) -> Self {
        Self {
            left: x - reach,
            top: y - reach,
            right: x + reach,
            bottom: y + reach,
        }
    }

    /// The area that two have in common.
    pub fn overlap(&self, other: &Self) -> f64 {
        let wide = self.right.min(other.right) - self.left.max(other.left);
        let high = self.bottom.min(other.bottom) - self.top.max(other.top);
        wide.max(0.0) * high.max(0.0)
    }

    /// Whether all of it lies inside of another.
    pub fn is_within(&self, outer: &Self) -> bool {
        self.left >= outer.left && self.right <= outer.right && self.top >= outer.top && self.bottom <= outer.bottom
    }
}

/// Places for labels of these widths beside their points, inside of a frame: as near as can be without lying on each other,
/// on a point or on anything of `taken`.
pub fn beside(points: &[(f64, f64, f64)], frame: &Rect, taken: &[Rect]) -> Vec<Rect> {
    // Around each point, nearest first: right, left, above, below, and the corners.
    const TURNS: [(f64, f64); 8] = [
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, -1.0),
        (0.0, 1.0),
        (0.8, -0.8),
        (0.8, 0.8),
        (-0.8, -0.8),
        (-0.8, 0.8),
    ];
    const RINGS: [f64; 6] = [10.0, 20.0, 32.0, 46.0, 62.0, 80.0];
    let markers: Vec<Rect> = points.iter().map(|(x, y, _)| Rect::around(*x, *y, 8.0)).collect();
    let mut placed: Vec<Rect> = Vec::new();
    for (x, y, width) in points {
        let candidates = RINGS.iter().flat_map(|ring| TURNS.iter().map(move |turn| (ring, turn)));
        let scored = candidates.map(|(ring, (right, down))| {
            let (cx, cy) = (x + ring * right, y + ring * down);
            let left = cx - width * (1.0 - right.signum() * f64::from(*right != 0.0)) / 2.0;
            let rect = Rect {
                left,
                top: cy - LINE / 2.0,
                right: left + width,
                bottom: cy + LINE / 2.0,
            };
            // Names on names are the worst, then names on points; what crosses a line can still be read.
            let on = |others: &[Rect]| others.iter().map(|other| rect.overlap(other)).sum::<f64>();
            let outside = if rect.is_within(frame) { 0.0 } else { 1e6 };
            (
                ring + 4.0 * on(&placed) + 2.0 * on(&markers) + 0.15 * on(taken) + outside,
                rect,
            )
        });
        let best = scored.min_by(|(one, _), (other, _)| one.total_cmp(other));
        placed.extend(best.map(|(_, rect)| rect));
    }
    placed
}

/// Heights for labels that should stand at these, in their order, a line apart from each other and between two bounds.
pub fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|one, other| wanted[*one].total_cmp(&wanted[*other]));
    let mut heights = wanted.to_vec();
    let mut least = top;
    for at in &order {
        heights[*at] = heights[*at].max(least);
        least = heights[*at] + LINE;
    }
    let mut most = bottom;
    for at in order.iter().rev() {
        heights[*at] = heights[*at].min(most);
        most = heights[*at] - LINE;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lie_on_each_other() {
        let frame = Rect {
            left: 0.0,
            top: 0.0,
            right: 700.0,
            bottom: 400.0,
        };
        let points: Vec<(f64, f64, f64)> = (0..10)
            .map(|at| (300.0 + f64::from(at % 3) * 9.0, 200.0 + f64::from(at) * 4.0, 90.0))
            .collect();
        let placed = beside(&points, &frame, &[]);
        for (at, one) in placed.iter().enumerate() {
            assert!(one.is_within(&frame), "{one:?}");
            for other in &placed[..at] {
                assert!(one.overlap(other) < 1.0, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn labels_of_lines_stand_apart() {
        assert_eq!(apart(&[50.0, 50.0, 52.0, 200.0], 0.0, 300.0), [50.0, 65.0, 80.0, 200.0]);
        assert_eq!(apart(&[95.0, 99.0], 0.0, 100.0), [85.0, 100.0]);
    }
}
