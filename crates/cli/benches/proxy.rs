//! What the proxy costs: latency added on loopback, a thousand streams at once, and whether memory grows.
//!
//! `cargo bench -p mainstay --bench proxy`; `tests/clients/peers.sh` runs it with a proxy from the registries beside it
//! (`-- --upstream ADDRESS --peer NAME=URL`). Requests go to the scripted provider directly, through `mainstay proxy` and through every peer in
//! turn, so that whatever else the machine does happens to all of them.

#![allow(clippy::print_stdout)]

mod loopback;

use std::io::BufRead;
use std::io::BufReader;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use mainstay_tests::upstream::Scenario;
use mainstay_tests::upstream::Upstream;

use loopback::Line;
use loopback::Talk;
use loopback::rush;

/// How much is measured.
struct Size {
    small: usize,
    large: usize,
    streams: usize,
    soak: usize,
}

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let size = match quick {
        true => Size {
            small: 50,
            large: 10,
            streams: 50,
            soak: 300,
        },
        false => Size {
            small: 2_000,
            large: 300,
            streams: 1_000,
            soak: 20_000,
        },
    };
    // Peers are configured with an address before the provider is there.
    let fixed = flags("--upstream").pop();
    let upstream = match fixed.and_then(|address| address.parse().ok()) {
        Some(address) => Upstream::start_at(address, Scenario::benchmark(), None).expect("the address is free"),
        None => Upstream::start(Scenario::benchmark()),
    };
    let proxy = Proxy::start(&upstream.url(), &["--timing", "threshold", "--window", "100000000"]);
    let mut ways = vec![
        ("direct".to_owned(), upstream.url()),
        ("mainstay".to_owned(), proxy.url.clone()),
    ];
    ways.extend(peers());
    println!("latency on loopback, milliseconds (added: beyond the median of direct ones)");
    println!(
        "{:<28}{:<12}{:>9}{:>9}{:>12}",
        "request", "way", "p50", "p99", "added p50"
    );
    // Small ones are conversations that begin, each another one; the large one grows by a step with every request.
    let begun = |round: usize, _: Option<Talk>| Talk::of(round as u64, 2_000);
    let grown = |_: usize, talk: Option<Talk>| match talk {
        Some(mut talk) => {
            talk.grow();
            talk
        }
        None => Talk::new(500_000),
    };
    latency("2 KB", &ways, size.small, begun, false);
    latency("2 KB, first byte of stream", &ways, size.small, begun, true);
    latency("500 KB, growing", &ways, size.large, grown, false);
    latency("500 KB, first byte", &ways, size.large, grown, true);
    proxy.tell_cpu();
    streams(&upstream.url(), &proxy, size.streams);
    drop(proxy);
    soak(&upstream.url(), size.soak);
}

/// What the command line says after a flag, each time.
fn flags(name: &str) -> Vec<String> {
    let arguments: Vec<String> = std::env::args().collect();
    let values = arguments.windows(2).filter(|pair| pair[0] == name);
    values.map(|pair| pair[1].clone()).collect()
}

/// Other proxies, as the command line names them.
fn peers() -> Vec<(String, String)> {
    let named = flags("--peer");
    let named = named.iter().filter_map(|peer| peer.split_once('='));
    named.map(|(name, url)| (name.to_owned(), url.to_owned())).collect()
}

/// `mainstay proxy` as a process of its own.
struct Proxy {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Proxy {
    fn start(upstream: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_mainstay"))
            .args([
                "proxy",
                "--listen",
                "127.0.0.1:0",
                "--upstream",
                upstream,
                "--log",
                "error",
            ])
            .arg("--store")
            .arg(folder.path().join("store.db"))
            .args(more)
            .env("HOME", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary was built for this");
        let mut first = String::new();
        let output = child.stdout.take().expect("it is piped");
        BufReader::new(output)
            .read_line(&mut first)
            .expect("it says where it listens");
        let url = first
            .split(' ')
            .find(|word| word.starts_with("http://"))
            .expect("an address");
        Self {
            url: url.trim_end_matches(',').to_owned(),
            child,
            _folder: folder,
        }
    }

    /// A figure of the process, in kilobytes, where the system tells.
    fn memory(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    fn tell_cpu(&self) {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())) else {
            return;
        };
        let ticks: u64 = stat
            .split(' ')
            .skip(13)
            .take(2)
            .filter_map(|field| field.parse::<u64>().ok())
            .sum();
        println!(
            "processor time of the proxy so far: {:.1} s (hundredths of a second as the system counts)",
            ticks as f64 / 100.0
        );
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Every way gets the same request in turn; peers, which take a hundred times as long, only in every tenth round.
fn latency(
    name: &str,
    ways: &[(String, String)],
    rounds: usize,
    next: impl Fn(usize, Option<Talk>) -> Talk,
    streams: bool,
) {
    let mut talk = None;
    let mut lines: Vec<Line> = ways.iter().map(|(_, url)| Line::open(url)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    let warm_up = rounds / 10 + 3;
    for round in 0..rounds + warm_up {
        let spoken = next(round, talk);
        let request = spoken.request(streams);
        talk = Some(spoken);
        for way in 0..ways.len() {
            // Whoever comes first finds colder caches.
            let way = (way + round) % ways.len();
            if way > 1 && round % 10 != 0 {
                continue;
            }
            let took = lines[way].ask(&request);
            let took = if streams { took.first_byte } else { took.whole };
            if round >= warm_up {
                times[way].push(took.as_secs_f64() * 1e3);
            }
        }
    }
    let mut direct = times[0].clone();
    direct.sort_by(f64::total_cmp);
    let direct = percentile(&direct, 0.5);
    for (way, (own, _)) in ways.iter().enumerate() {
        let mut sorted = times[way].clone();
        sorted.sort_by(f64::total_cmp);
        println!(
            "{name:<28}{own:<12}{:>9.3}{:>9.3}{:>12.3}",
            percentile(&sorted, 0.5),
            percentile(&sorted, 0.99),
            percentile(&sorted, 0.5) - direct
        );
    }
}

/// Many streams at once, each as it would be directly.
fn streams(upstream: &str, proxy: &Proxy, many: usize) {
    let mut talk = Talk::new(2_000);
    talk.model = "gpt-4.1+pace=20+words=60".to_owned();
    let request = talk.request(true);
    let before = proxy.memory("VmRSS");
    let (alone, _) = rush(upstream, &request, 1);
    let (answers, took) = rush(&proxy.url, &request, many);
    let alike = answers.iter().filter(|answer| **answer == alone[0]).count();
    println!(
        "{many} streams at once: {alike} byte for byte as one directly, {:.1} s; memory {} → peak {} KB",
        took.as_secs_f64(),
        before.unwrap_or(0),
        proxy.memory("VmHWM").unwrap_or(0)
    );
    assert_eq!(alike, many, "a stream was changed or cut");
}

/// Many requests of many conversations that grow, overflow and are compacted.
fn soak(upstream: &str, requests: usize) {
    let proxy = Proxy::start(upstream, &["--timing", "threshold", "--window", "16000"]);
    let mut line = Line::open(&proxy.url);
    let conversations = 20;
    let mut talks: Vec<Talk> = Vec::new();
    println!("soak: {requests} requests, {conversations} conversations at a time, each begun anew at 120 KB");
    let mut slowest = Duration::ZERO;
    for number in 0..requests {
        let place = number % conversations;
        if talks.len() <= place {
            talks.push(Talk::of(number as u64, 4_000));
        }
        if talks[place].bytes() > 120_000 {
            talks[place] = Talk::of(number as u64, 4_000);
        }
        let took = line.ask(&talks[place].request(number % 2 == 0));
        slowest = slowest.max(took.whole);
        talks[place].grow();
        if (number + 1).is_multiple_of((requests / 8).max(1)) {
            println!(
                "  after {:>6}: memory {:>8} KB, files {:>4}",
                number + 1,
                proxy.memory("VmRSS").unwrap_or(0),
                std::fs::read_dir(format!("/proc/{}/fd", proxy.child.id())).map_or(0, Iterator::count)
            );
        }
    }
    println!("  the slowest request took {:.0} ms", slowest.as_secs_f64() * 1e3);
}
