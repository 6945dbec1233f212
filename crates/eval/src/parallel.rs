//! Work on a list by several threads. Results come back in the list's order: the number of threads changes nothing.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

/// Does the work for every element, by at most `jobs` threads; elements are begun in their order.
pub fn each<T: Sync, R: Send>(list: &[T], jobs: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(list.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, list.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(element) = list.get(index) else { break };
                    let result = work(element);
                    let mut results = results.lock().expect("no thread panics while it holds the lock");
                    results.push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics while it holds the lock");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_list() {
        let list: Vec<u32> = (0..100).collect();
        for jobs in [0, 1, 4, 200] {
            let squares = each(&list, jobs, |number| number * number);
            assert!(
                squares
                    .iter()
                    .zip(&list)
                    .all(|(square, number)| *square == number * number)
            );
            assert_eq!(squares.len(), 100);
        }
        assert!(each(&[] as &[u32], 3, |number| *number).is_empty());
    }
}
