//! Where a conversation had user and assistant in turns, a compacted one has them, too.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::borrow::Cow;

use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_engine::compaction::Block;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Seat;
use mainstay_engine::decide::seat;
use mainstay_engine::decide::seated;
use mainstay_engine::decide::settle;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::transform::changed_message;
use mainstay_engine::verify::check_alternation;
use mainstay_session::Session;
use mainstay_tests::conversation::Form;
use mainstay_tests::conversation::Generated;
use mainstay_tests::provider::alternates;
use mainstay_tests::provider::violations;
use mainstay_tests::trial;
use mainstay_tests::trial::kept_faults;
use mainstay_tests::trial::pass;
use mainstay_tests::trial::read;
use mainstay_wire::document::Document;
use serde_json::Value;

const CASES: u64 = 3_000;

/// The elements of a body's list.
fn list(body: &str, form: Form) -> Vec<Value> {
    let value: Value = serde_json::from_str(body).unwrap();
    value[form.list_key()].as_array().unwrap().clone()
}

/// A session after a full pass to a part of the prompt.
fn compacted(document: &Document, form: Form, seed: u64) -> Session {
    let mut tally = Tally::new(Family::O200k);
    tally.extend(document.transcript.messages());
    let policy = Policy {
        engine: Engine::Ledger,
        target: Some(tally.total().total() * [10, 30, 60][(seed % 3) as usize] / 100),
        tail_messages: (seed % 5) as usize,
        ..Policy::default()
    };
    let mut session = trial::session(form, &policy);
    pass(&mut session, document, true);
    session
}

/// The block in the seat that a server with a template gives it.
fn seat_block(block: &Block, messages: &[Message]) -> Block {
    let span = settle(messages, block.span.clone(), Roles::Alternating);
    let (role, seat) = seat(messages, &span, block.message.role, Roles::Alternating);
    let message = Message {
        role,
        author: Author::Summary,
        ..block.message.clone()
    };
    Block {
        message,
        span,
        seat,
        carried: block.carried.clone(),
    }
}

#[test]
fn turns_stay_turns() {
    let (mut assistant, mut user, mut inside, mut less) = (0, 0, 0, 0);
    for seed in 0..CASES {
        let form = Form::ALL[(seed / 3 % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(4 + (seed % 40) as usize, 600);
        // The person's newest words stay wherever they fit; only without them does the block speak in their place.
        if seed % 4 == 3 {
            generated.ask_at_length(600);
        }
        let body = generated.body();
        let document = read(form, &body);
        let messages = document.transcript.messages();
        if !alternates(&list(&body, form)) {
            continue;
        }
        assert!(check_alternation(messages).is_empty(), "seed {seed}: both checks agree");
        let session = compacted(&document, form, seed);
        let Some(block) = session.block() else { continue };
        let block = &seat_block(block, messages);
        match (block.seat, block.message.role) {
            (Seat::Own, Role::User) => user += 1,
            (Seat::Own, _) => assistant += 1,
            (Seat::Into(_), _) => inside += 1,
        }
        less += usize::from(block.span.kept.len() < session.block().unwrap().span.kept.len());
        let written = document.compacted_chunks(session.changes(), Some(block)).concat();
        let elements = list(&written, form);
        assert!(alternates(&elements), "seed {seed}: {:?} {:?}", block.seat, block.span);
        let found = violations(&serde_json::from_str(&written).unwrap(), form);
        assert_eq!(found, Vec::<String>::new(), "seed {seed}");

        // The engine's picture of it is what a reader of the result sees.
        let kept = block.span.kept.iter();
        let kept = kept.map(|index| Cow::Owned(changed_message(*index, &messages[*index], session.changes())));
        let row = seated(kept.collect(), &block.span, block.message.clone(), block.seat);
        let row: Vec<Message> = row.into_iter().map(Cow::into_owned).collect();
        assert!(check_alternation(&row).is_empty(), "seed {seed}");
        let again = read(form, &written);
        if block.seat == Seat::Own {
            let author = again.transcript.messages()[block.span.block_at].author;
            assert_eq!(
                author,
                Author::Summary,
                "seed {seed}: in whatever role, it is known again"
            );
        }
        let parts = |messages: &[Message]| messages.iter().map(|message| message.parts.clone()).collect::<Vec<_>>();
        assert_eq!(parts(again.transcript.messages()), parts(&row), "seed {seed}");
        assert_eq!(
            kept_faults(&document, &again, block, session.changes()),
            Vec::<String>::new(),
            "seed {seed}"
        );
    }
    println!("{user} user messages, {assistant} assistant messages, {inside} inside of others; {less} kept less");
    assert!(
        user > 10 && assistant > 50 && inside > 50,
        "{user} {assistant} {inside}"
    );
}
