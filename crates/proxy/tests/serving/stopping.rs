//! Stopping lets what is under way end, for as long as the operator allows; reloading disturbs nobody.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Condvar;
use std::sync::Mutex;
use std::time::Duration;

use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::LONG;
use crate::stage::Stage;
use crate::stage::Upstreamed;
use crate::stage::keeper;
use crate::stage::post;
use crate::stage::rest;
use crate::stage::serving;
use crate::stage::status;
use crate::stage::until;

const STREAMS: usize = 100;

/// An upstream whose streams end when it is told.
fn streaming() -> (Upstreamed, Arc<(Mutex<bool>, Condvar)>) {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let shared = Arc::clone(&gate);
    let upstream = Upstreamed::start(move |mut stream, _| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: begun\n\n";
        stream.write_all(head).unwrap();
        let (open, opened) = &*shared;
        let _open = opened
            .wait_timeout_while(open.lock().unwrap(), LONG, |open| !*open)
            .unwrap();
        let _gone = stream.write_all(b"data: done\n\n");
    });
    (upstream, gate)
}

fn begun(stage: &Stage) -> Vec<TcpStream> {
    let mut streams: Vec<_> = (0..STREAMS)
        .map(|_| {
            let mut stream = stage.connect();
            stream
                .write_all(post("/v1/chat/completions", "", CHAT).as_bytes())
                .unwrap();
            stream
        })
        .collect();
    for stream in &mut streams {
        let mut seen = Vec::new();
        while !seen.windows(5).any(|window| window == b"begun") {
            let mut piece = [0; 1_024];
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0);
            seen.extend_from_slice(&piece[..read]);
        }
    }
    streams
}

fn stopped(stage: &mut Stage) {
    let running = stage.running.take().unwrap();
    stage.runtime.as_ref().unwrap().block_on(running).unwrap();
}

#[test]
fn streams_go_on_to_their_end() {
    let (upstream, gate) = streaming();
    let mut stage = Stage::new(&upstream.url());
    let streams = begun(&stage);
    let mut idle = stage.connect();
    idle.write_all(b"GET /mainstay/ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    stage.controls.stop();
    assert!(rest(&mut idle).ends_with("ready\n"), "an idle connection is closed");
    until("nobody listens", || TcpStream::connect(stage.address).is_err());
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    for mut stream in streams {
        let answer = rest(&mut stream);
        assert!(answer.contains("done") && answer.ends_with("0\r\n\r\n"), "{answer}");
    }
    stopped(&mut stage);
}

#[test]
fn what_takes_longer_than_the_grace_is_broken_off() {
    let (upstream, _gate) = streaming();
    let mut serving = serving(&upstream.url());
    serving.limits.grace = Duration::from_millis(200);
    let mut stage = Stage::with(serving);
    let streams = begun(&stage);
    stage.controls.stop();
    stopped(&mut stage);
    for mut stream in streams {
        assert!(
            !rest(&mut stream).ends_with("0\r\n\r\n"),
            "it must not seem to have ended"
        );
    }
}

#[test]
fn a_second_word_breaks_everything_off_at_once() {
    let (upstream, _gate) = streaming();
    let mut stage = Stage::new(&upstream.url());
    let streams = begun(&stage);
    stage.controls.stop();
    stage.controls.abort();
    stopped(&mut stage);
    for mut stream in streams {
        assert!(!rest(&mut stream).ends_with("0\r\n\r\n"));
    }
}

#[test]
fn a_new_configuration_holds_from_the_next_request_on() {
    let (old, gate) = streaming();
    let new = Server::start(vec![Script::json("{}")]);
    let stage = Stage::new(&old.url());
    let streams = begun(&stage);
    let store = tempfile::tempdir().unwrap();
    let mut beyond = serving(&new.url());
    beyond.listen = "0.0.0.0:0".parse().unwrap();
    assert!(stage.controls.reload(beyond, Arc::new(keeper(store.path()))).is_err());
    assert_eq!(new.received().len(), 0);
    stage
        .controls
        .reload(serving(&new.url()), Arc::new(keeper(store.path())))
        .unwrap();
    assert_eq!(status(&stage.ask(post("/v1/messages", "", CHAT))), 200);
    assert_eq!(new.received().len(), 1);
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    for mut stream in streams {
        assert!(rest(&mut stream).ends_with("0\r\n\r\n"));
    }
}
