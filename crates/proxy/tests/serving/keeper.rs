//! A keeper that breaks, stalls or calculates for ever holds no request up: it goes out as it came, and that is counted.

use std::sync::Arc;
use std::sync::Condvar;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use mainstay_llm::answer::Usage;
use mainstay_proxy::session::IncomingRequest;
use mainstay_proxy::session::OutgoingRequest;
use mainstay_proxy::session::RequestAction;
use mainstay_proxy::session::RequestNote;
use mainstay_proxy::session::RequestTicket;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::session::fail_open::SessionBackend;
use mainstay_proxy::session::fallback_slot::FallbackSlot;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::LONG;
use crate::stage::Stage;
use crate::stage::post;
use crate::stage::serving;
use crate::stage::status;
use crate::stage::until;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Panics,
    PanicsLater,
    NeverAnswers,
    Blocks,
    PanicsWhenAnswered,
}

struct Faulty(Fault);

impl SessionBackend for Faulty {
    fn prepare(&self, incoming: IncomingRequest, _: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
        let never = (Mutex::new(()), Condvar::new());
        let wait = |span| {
            let _waited = never.1.wait_timeout(never.0.lock().unwrap(), span);
        };
        match self.0 {
            Fault::Panics => panic!("planted"),
            Fault::PanicsLater => {
                wait(Duration::from_millis(5));
                panic!("planted")
            }
            Fault::NeverAnswers => loop {
                std::thread::park();
            },
            Fault::Blocks => wait(LONG),
            Fault::PanicsWhenAnswered => {}
        }
        OutgoingRequest {
            body: incoming.body,
            extra_header: None,
            note: RequestNote::default(),
            ticket: None,
        }
    }

    fn after_overflow(
        &self,
        _: &RequestTicket,
        _: &str,
        _: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest> {
        None
    }

    fn after_complaint(&self, _: &RequestTicket, _: &str) -> Option<OutgoingRequest> {
        None
    }

    fn answered(&self, _: RequestTicket, _: Option<Usage>) {
        panic!("planted");
    }
}

#[test]
fn whatever_it_does_requests_go_out_as_they_came() {
    for (fault, kind) in [
        (Fault::Panics, "panic"),
        (Fault::PanicsLater, "panic"),
        (Fault::NeverAnswers, "too-slow"),
        (Fault::Blocks, "too-slow"),
    ] {
        let upstream = Server::start(vec![Script::reply("hi")]);
        let mut serving = serving(&upstream.url());
        serving.patience = Duration::from_millis(100);
        let stage = Stage::advised(serving, |_| Arc::new(Faulty(fault)));
        for time in 1..=10 {
            let answer = stage.ask(post("/v1/chat/completions", "", CHAT));
            assert_eq!(status(&answer), 200, "{fault:?}: {answer}");
            assert!(answer.contains("x-mainstay-deed: failed-open"), "{answer}");
            assert!(answer.contains(&format!("x-mainstay-reason: {kind}")), "{answer}");
            assert_eq!(upstream.received()[time - 1].body, CHAT);
        }
        assert_eq!(
            stage.figure(&format!("mainstay_failed_open_total{{kind=\"{kind}\"}}")),
            10.0,
            "{fault:?}"
        );
        assert!(stage.log().contains("\"event\":\"failed-open\""));
    }
}

#[test]
fn many_that_stall_leave_threads_for_everybody_else() {
    let upstream = Server::start(vec![Script::reply("hi")]);
    let mut serving = serving(&upstream.url());
    serving.patience = Duration::from_millis(50);
    let stage = Stage::advised(serving, |_| Arc::new(Faulty(Fault::Blocks)));
    let asked: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = stage.connect();
            std::io::Write::write_all(&mut stream, post("/v1/messages", "", CHAT).as_bytes()).unwrap();
            stream
        })
        .collect();
    for mut stream in asked {
        assert_eq!(status(&crate::stage::rest(&mut stream)), 200);
    }
    assert!(stage.figure("mainstay_failed_open_total{kind=\"busy\"}") > 0.0);
    assert_eq!(status(&stage.page("/v1/models")), 200);
}

/// Asks the keeper, and says what it was told.
struct Heard {
    keeper: SessionCompactor,
    usage: Arc<Mutex<Vec<Option<Usage>>>>,
    incoming: Arc<Mutex<Vec<IncomingRequest>>>,
}

impl SessionBackend for Heard {
    fn prepare(&self, incoming: IncomingRequest, slot: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
        self.incoming.lock().unwrap().push(incoming.clone());
        let mut outgoing = self.keeper.prepare(incoming, slot);
        outgoing.body = Bytes::from_static(b"{\"changed\":true}");
        outgoing.note = RequestNote {
            deed: RequestAction::Compacted,
            reason: Some("because\r\nof this".to_owned()),
            conversation: Some("c-1".to_owned()),
            tokens_before: Some(900),
            tokens_after: Some(100),
            window: Some(1_000),
            checkpoint: Some("k-1".to_owned()),
            ..RequestNote::default()
        };
        outgoing
    }

    fn after_overflow(
        &self,
        ticket: &RequestTicket,
        words: &str,
        slot: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest> {
        self.keeper.after_overflow(ticket, words, slot)
    }

    fn after_complaint(&self, ticket: &RequestTicket, words: &str) -> Option<OutgoingRequest> {
        self.keeper.after_complaint(ticket, words)
    }

    fn answered(&self, _: RequestTicket, usage: Option<Usage>) {
        self.usage.lock().unwrap().push(usage);
    }
}

#[test]
fn it_hears_what_came_and_what_it_cost_and_the_client_hears_what_was_done() {
    let upstream = Server::start(vec![Script::reply("hi")]);
    let (usage, incoming) = (Arc::default(), Arc::default());
    let (heard_usage, heard) = (Arc::clone(&usage), Arc::clone(&incoming));
    let stage = Stage::advised(serving(&upstream.url()), |keeper| {
        Arc::new(Heard {
            keeper,
            usage,
            incoming,
        })
    });
    let mut told = 0;
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
        for body in [CHAT.to_owned(), CHAT.replacen('{', "{\"stream\":true,", 1)] {
            let answer = stage.ask(post(path, "x-mainstay-conversation: mine\r\n", &body));
            told += 1;
            until("it was told", || heard_usage.lock().unwrap().len() == told);
            for header in [
                "x-mainstay-deed: compacted",
                "x-mainstay-tokens-before: 900",
                "x-mainstay-tokens-after: 100",
                "x-mainstay-window: 1000",
                "x-mainstay-checkpoint: k-1",
                "x-mainstay-conversation: c-1",
                "x-mainstay-reason: because??of this",
            ] {
                assert!(answer.contains(header), "{header}: {answer}");
            }
            assert_eq!(heard.lock().unwrap()[told - 1].body, body);
            assert_eq!(heard.lock().unwrap()[told - 1].pinned.as_deref(), Some("mine"));
            let sent = &upstream.received()[told - 1];
            assert_eq!(sent.body, "{\"changed\":true}");
            assert_eq!(sent.header("content-length"), Some("16"));
        }
    }
    let answer = stage.ask(post("/v1/chat/completions", "x-mainstay-bypass: 1\r\n", CHAT));
    assert!(answer.contains("x-mainstay-deed: passed-through"), "{answer}");
    stage.ask(post("/v1/chat/completions", "Content-Encoding: zstd\r\n", "packed"));
    let received = upstream.received();
    assert_eq!(
        (received[told].body.as_str(), received[told + 1].body.as_str()),
        (CHAT, "packed")
    );
    assert_eq!(heard.lock().unwrap().len(), told);
    assert_eq!(stage.figure("mainstay_passes_total"), told as f64);
    assert_eq!(stage.figure("mainstay_prompt_tokens_before_total"), 900.0 * told as f64);
    assert_eq!(stage.figure("mainstay_prompt_tokens_after_total"), 100.0 * told as f64);
}

#[test]
fn one_that_breaks_when_it_is_told_breaks_alone() {
    let upstream = Server::start(vec![Script::reply("hi")]);
    struct Breaks(SessionCompactor);
    impl SessionBackend for Breaks {
        fn prepare(&self, incoming: IncomingRequest, slot: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
            self.0.prepare(incoming, slot)
        }
        fn after_overflow(
            &self,
            _: &RequestTicket,
            _: &str,
            _: &FallbackSlot<Option<OutgoingRequest>>,
        ) -> Option<OutgoingRequest> {
            panic!("planted")
        }
        fn after_complaint(&self, _: &RequestTicket, _: &str) -> Option<OutgoingRequest> {
            panic!("planted")
        }
        fn answered(&self, ticket: RequestTicket, usage: Option<Usage>) {
            Faulty(Fault::PanicsWhenAnswered).answered(ticket, usage);
        }
    }
    let stage = Stage::advised(serving(&upstream.url()), |keeper| Arc::new(Breaks(keeper)));
    for _ in 0..10 {
        assert_eq!(status(&stage.ask(post("/v1/chat/completions", "", CHAT))), 200);
    }
}
