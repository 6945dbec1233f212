//! The conversations of one set, observed by several threads into one table.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use crate::board::figure::BoardObservation;
use crate::board::figure::FigureTable;
use crate::parallel::each;

/// Told how many conversations of how many are done.
pub type Done<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Conversations of one set, with what each is called and how much work it is.
pub struct Conversations<'a, T> {
    /// Them.
    pub list: &'a [T],
    /// The name that its observations count under.
    pub name: &'a dyn Fn(&T) -> String,
    /// Its size, in any unit.
    pub weight: &'a dyn Fn(&T) -> usize,
}

impl<T: Sync> Conversations<'_, T> {
    /// The observations of all of them, in the order of the list.
    pub fn table(
        &self,
        jobs: usize,
        done: Done<'_>,
        work: &(dyn Fn(&T) -> Vec<BoardObservation> + Sync),
    ) -> FigureTable {
        // The longest first: otherwise one long conversation at the end keeps a single thread busy.
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse((self.weight)(&self.list[*index])));
        let list = self.list;
        let finished = AtomicUsize::new(0);
        let results = each(&order, jobs, |index| {
            let observations = work(&list[*index]);
            done(finished.fetch_add(1, Ordering::Relaxed) + 1, list.len());
            (*index, observations)
        });
        let mut by_index: Vec<Vec<BoardObservation>> = list.iter().map(|_| Vec::new()).collect();
        for (index, observations) in results {
            by_index[index] = observations;
        }
        let mut table = FigureTable::default();
        for (conversation, observations) in list.iter().zip(by_index) {
            table.extend(&(self.name)(conversation), observations);
        }
        table
    }
}
