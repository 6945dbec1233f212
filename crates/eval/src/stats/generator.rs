//! A small generator of numbers that look random and are the same everywhere: SplitMix64.
//!
//! For resampling and for writing conversations, never for secrets. Its published constants are its whole state
//! transition, so another implementation gives the same numbers.

/// The step between two states: the golden ratio in 64 bits, as SplitMix64 defines it.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// The two multipliers of SplitMix64's output function.
const MIX: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// A sequence of numbers that follows from its seed.
#[derive(Clone, Debug)]
pub struct Generator(u64);

impl Generator {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(MIX[0]);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(MIX[1]);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; zero where the bound is zero. The bias of the multiplication is below 2⁻⁴⁰ for any
    /// bound that fits a list in memory.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }

    /// One of these; the list must not be empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Brings a list into another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last + 1);
            list.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_splitmix64() {
        // The first outputs for the seed 1234567, as published with the algorithm.
        let mut generator = Generator::new(1_234_567);
        let drawn: Vec<_> = (0..3).map(|_| generator.draw()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut list: Vec<_> = (0..100).collect();
        Generator::new(5).shuffle(&mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
        assert_eq!(Generator::new(5).below(0), 0);
    }
}
