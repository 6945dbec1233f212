//! Python's random numbers: the metric's definition draws pairs and lines with `random.Random(seed)`, and a native
//! figure only agrees with it when the same ones are drawn.
//!
//! MT19937 seeded the way CPython seeds it from an integer, and its `sample` and `shuffle` on top.

use std::collections::HashSet;

/// The size of the state and the distance of the words that are combined; both define MT19937.
const WORDS: usize = 624;
const DISTANCE: usize = 397;

/// `random.Random`, as far as the metric needs it.
pub struct Random {
    state: Vec<u32>,
    next: usize,
}

impl Random {
    /// `random.Random(seed)`, for seeds that fit into 32 bits.
    pub fn new(seed: u32) -> Self {
        // init_by_array with a key of one word, over init_genrand(19650218); the constants are MT19937's.
        let mut state = vec![19_650_218_u32; WORDS];
        for index in 1..WORDS {
            state[index] = mixed(state[index - 1], 1_812_433_253).wrapping_add(index as u32);
        }
        let mut place = 1;
        for _ in 0..WORDS {
            state[place] = (state[place] ^ mixed(state[place - 1], 1_664_525)).wrapping_add(seed);
            place = following(&mut state, place);
        }
        for _ in 1..WORDS {
            state[place] = (state[place] ^ mixed(state[place - 1], 1_566_083_941)).wrapping_sub(place as u32);
            place = following(&mut state, place);
        }
        state[0] = 0x8000_0000;
        Self { state, next: WORDS }
    }

    fn draw(&mut self) -> u32 {
        if self.next == WORDS {
            self.renew();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn renew(&mut self) {
        for index in 0..WORDS {
            let joined = (self.state[index] & 0x8000_0000) | (self.state[(index + 1) % WORDS] & 0x7fff_ffff);
            let twist = if joined & 1 == 0 { 0 } else { 0x9908_b0df };
            self.state[index] = self.state[(index + DISTANCE) % WORDS] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }

    /// `_randbelow`: as many bits as the bound has, again until they are below it. The bound is below 2³².
    fn below(&mut self, bound: usize) -> usize {
        let bits = usize::BITS - bound.leading_zeros();
        loop {
            let drawn = (self.draw() >> (32 - bits.clamp(1, 32))) as usize;
            if drawn < bound || bound == 0 {
                return drawn.min(bound.saturating_sub(1));
            }
        }
    }

    /// `sample(range(count), wanted)`; all of them in their order where there are not more than wanted.
    pub fn sample(&mut self, count: usize, wanted: usize) -> Vec<usize> {
        if count <= wanted {
            return (0..count).collect();
        }
        // CPython takes from a shrinking pool where a set of the drawn would not be smaller.
        let mut set_size = 21;
        if wanted > 5 {
            set_size += 4_usize.pow(((wanted as f64 * 3.0).ln() / 4_f64.ln()).ceil() as u32);
        }
        if count <= set_size {
            let mut pool: Vec<_> = (0..count).collect();
            let from_pool = |taken| {
                let place = self.below(count - taken);
                let drawn = pool[place];
                pool[place] = pool[count - taken - 1];
                drawn
            };
            return (0..wanted).map(from_pool).collect();
        }
        let mut drawn = HashSet::new();
        let mut chosen = Vec::with_capacity(wanted);
        while chosen.len() < wanted {
            let place = self.below(count);
            if drawn.insert(place) {
                chosen.push(place);
            }
        }
        chosen
    }

    /// `shuffle`.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last + 1);
            list.swap(last, other);
        }
    }
}

fn mixed(word: u32, factor: u32) -> u32 {
    (word ^ (word >> 30)).wrapping_mul(factor)
}

/// The place after this one; at the end the last word goes to the front and the round begins anew.
fn following(state: &mut [u32], place: usize) -> usize {
    if place + 1 < WORDS {
        return place + 1;
    }
    state[0] = state[WORDS - 1];
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighed(list: &[usize]) -> usize {
        list.iter().enumerate().map(|(index, value)| index * value).sum()
    }

    #[test]
    fn the_words_are_those_of_cpython() {
        let mut random = Random::new(3);
        let words: Vec<_> = (0..4).map(|_| random.draw()).collect();
        assert_eq!(words, [1_022_050_301, 2_545_373_330, 2_337_446_730, 560_161_641]);
        // Past the first renewal of the state.
        let mut random = Random::new(7);
        assert_eq!((0..700).map(|_| random.draw()).last(), Some(72_291_700));
    }

    #[test]
    fn samples_are_those_of_cpython_from_a_pool_and_from_a_set() {
        assert_eq!(
            Random::new(3).sample(200, 10),
            [60, 151, 139, 33, 94, 154, 121, 160, 148, 16]
        );
        assert_eq!(
            Random::new(3).sample(2000, 10),
            [487, 1213, 1114, 267, 757, 1875, 1236, 970, 1281, 1189]
        );
        // 150 of 1000 come from the pool, 150 of 5000 from the set.
        assert_eq!(weighed(&Random::new(3).sample(1000, 150)), 5_754_579);
        assert_eq!(weighed(&Random::new(3).sample(5000, 150)), 29_821_306);
    }

    #[test]
    fn shuffles_are_those_of_cpython() {
        let mut list: Vec<usize> = (0..12).collect();
        Random::new(7).shuffle(&mut list);
        assert_eq!(list, [7, 11, 3, 10, 8, 4, 9, 1, 0, 6, 2, 5]);
        let mut list: Vec<usize> = (0..1000).collect();
        Random::new(7).shuffle(&mut list);
        assert_eq!(weighed(&list), 245_396_630);
        Random::new(7).shuffle::<usize>(&mut []);
        assert_eq!(Random::new(7).below(1), 0);
    }
}
