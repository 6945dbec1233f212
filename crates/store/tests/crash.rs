//! Processes that are killed while they write, and many that write at once: what was announced is there, whole.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod sample;

use std::collections::BTreeSet;
use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use mainstay_store::Erase;
use mainstay_store::Store;
use sample::Dice;
use sample::Sample;

const PLACE: &str = "MAINSTAY_TEST_APPENDS_TO";
const KEY: &str = "MAINSTAY_TEST_KEY";
const ROUNDS: &str = "MAINSTAY_TEST_ROUNDS";

/// Does nothing by itself; `writer` runs it in a process of its own, where it appends ever longer samples of a
/// conversation and announces each when it is kept.
#[test]
fn child_that_appends() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let key = std::env::var(KEY).unwrap();
    let rounds = sample::by_hand(ROUNDS, usize::MAX);
    let mut store = Store::open(Path::new(&place)).unwrap();
    for length in 1..=rounds {
        let sample = Sample::of(&key, length);
        let start = Instant::now();
        let id = sample.append(&mut store).unwrap();
        println!("\nkept {id} {key} {length} {}", start.elapsed().as_micros());
    }
}

const ERASES: &str = "MAINSTAY_TEST_ERASES_IN";

/// Does nothing by itself; run in a process of its own, it keeps one conversation and keeps erasing another.
#[test]
fn child_that_erases() {
    let Some(place) = std::env::var_os(ERASES) else { return };
    let key = std::env::var(KEY).unwrap();
    let mut store = Store::open(Path::new(&place)).unwrap();
    for length in 1.. {
        let id = Sample::of(&key, length).append(&mut store).unwrap();
        println!("\nkept {id} {key} {length} 0");
        Sample::of("fleeting", length + 5).append(&mut store).unwrap();
        store.erase(Erase::Conversation("fleeting")).unwrap();
    }
}

#[test]
fn a_killed_eraser_takes_nothing_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut dice = Dice::new(u64::from(std::process::id()));
    let mut all = Vec::new();
    for kill in 0..sample::by_hand("MAINSTAY_KILLS", 20) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child_that_erases", "--nocapture"]);
        command.env(ERASES, &place).env(KEY, format!("stays-{kill}"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        all.extend(kill_at(
            child,
            dice.roll(4),
            Duration::from_micros(dice.roll(60_000) as u64),
        ));
    }
    assert!(!all.is_empty(), "the erasers were killed before they wrote anything");
    assert_all_restore(&place, &all);
}

fn writer(place: &Path, key: &str, rounds: Option<usize>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child_that_appends", "--nocapture"]);
    command.env(PLACE, place).env(KEY, key);
    if let Some(rounds) = rounds {
        command.env(ROUNDS, rounds.to_string());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// An announcement. Only whole lines count.
struct Announced {
    id: String,
    key: String,
    length: usize,
    micros: u64,
}

fn announced(line: &str) -> Option<Announced> {
    let mut words = line.strip_suffix('\n')?.split(' ');
    if words.next() != Some("kept") {
        return None;
    }
    Some(Announced {
        id: words.next()?.to_owned(),
        key: words.next()?.to_owned(),
        length: words.next()?.parse().ok()?,
        micros: words.next()?.parse().ok()?,
    })
}

/// Runs a writer until some announcements are read and some microseconds more have passed, then kills it.
fn kill_at(mut child: Child, lines: usize, more: Duration) -> Vec<Announced> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut found = Vec::new();
    let mut line = String::new();
    while found.len() < lines && output.read_line(&mut line).unwrap() > 0 {
        found.extend(announced(&line));
        line.clear();
    }
    let start = Instant::now();
    while start.elapsed() < more {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    while output.read_line(&mut line).unwrap() > 0 {
        found.extend(announced(&line));
        line.clear();
    }
    found
}

fn assert_restores(store: &Store, one: &Announced) {
    let id = store.find_checkpoint(&one.id).unwrap();
    let expected = Sample::of(&one.key, one.length).original();
    assert_eq!(store.original(&id).unwrap(), expected);
}

fn assert_all_restore(place: &Path, announced: &[Announced]) {
    let store = Store::open(place).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    announced.iter().for_each(|one| assert_restores(&store, one));
    // What was kept but not announced in time is whole too.
    for row in store.checkpoints(None, usize::MAX).unwrap() {
        let expected = Sample::of(&row.conversation, row.source.parse().unwrap());
        assert_eq!(store.original(&row.id).unwrap(), expected.original());
        assert_eq!(store.result(&row.id).unwrap(), expected.result());
        let dropped = store.dropped(&row.id).unwrap();
        let pairs: Vec<_> = dropped
            .iter()
            .map(|one| (one.reference.clone(), one.text.as_str()))
            .collect();
        assert_eq!(pairs, expected.dropped());
    }
}

#[test]
fn a_killed_writer_loses_nothing_it_announced() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let kills = sample::by_hand("MAINSTAY_KILLS", 20);
    let mut dice = Dice::new(u64::from(std::process::id()));
    let mut all = Vec::new();
    for kill in 0..kills {
        let child = writer(&place, &format!("killed-{kill}"), None);
        let lines = dice.roll(6);
        let more = Duration::from_micros(dice.roll(25_000) as u64);
        let found = kill_at(child, lines, more);
        let store = Store::open(&place).unwrap();
        found.iter().for_each(|one| assert_restores(&store, one));
        all.extend(found);
    }
    println!("{kills} kills, {} announced checkpoints", all.len());
    assert!(
        all.len() > kills / 2,
        "the writers were killed before they wrote anything"
    );
    assert_all_restore(&place, &all);
}

/// Lets processes write at once, on a store that none of them finds, while this one reads.
fn many_writers(writers: usize) {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let rounds = sample::by_hand("MAINSTAY_WRITES", 25);
    let started = Instant::now();
    let children: Vec<Child> = (0..writers)
        .map(|number| writer(&place, &format!("writer-{number}"), Some(rounds)))
        .collect();
    let mut found = Vec::new();
    let mut readings = 0;
    for mut child in children {
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let Some(one) = announced(&format!("{}\n", line.unwrap())) else {
                continue;
            };
            // Whatever is announced can be read at once, while the others write.
            let store = Store::open_existing(&place).unwrap();
            assert_restores(&store, &one);
            readings += 1;
            found.push(one);
        }
        assert!(child.wait().unwrap().success());
    }
    let mut waits: Vec<u64> = found.iter().map(|one| one.micros / 1_000).collect();
    waits.sort_unstable();
    let (usual, slow) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    println!(
        "{writers} writers, {readings} readings, {:?}; an append takes {usual} ms, p99 {slow} ms",
        started.elapsed()
    );
    assert_eq!(found.len(), writers * rounds);
    let ids: BTreeSet<&String> = found.iter().map(|one| &one.id).collect();
    assert_eq!(ids.len(), found.len());
    assert_all_restore(&place, &found);
    let store = Store::open(&place).unwrap();
    assert_eq!(store.checkpoints(None, usize::MAX).unwrap().len(), found.len());
}

#[test]
fn two_processes_write_at_once() {
    many_writers(2);
}

#[test]
fn eight_processes_write_at_once() {
    many_writers(8);
}

#[test]
fn threads_of_one_process_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    std::thread::scope(|scope| {
        for number in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for length in 1..15 {
                    // A store opened anew each time: closing one must not disturb the others.
                    let mut store = Store::open(place).unwrap();
                    Sample::of(&format!("thread-{number}"), length)
                        .append(&mut store)
                        .unwrap();
                }
            });
        }
    });
    assert_all_restore(&place, &[]);
    assert_eq!(Store::open(&place).unwrap().stats(None).unwrap().compactions, 4 * 14);
}
