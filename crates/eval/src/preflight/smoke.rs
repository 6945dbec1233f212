//! The seed's conversation, written by hand: one of each thing that a ledger must keep, mark or hide.

use crate::preflight::filler;
use crate::preflight::script::Script;
use crate::preflight::script::Turn;
use crate::preflight::secrets;
use crate::preflight::sheet::Conversation;
use crate::preflight::sheet::Decision;
use crate::preflight::sheet::Fact;
use crate::preflight::sheet::Language;
use crate::preflight::sheet::Obligation;
use crate::preflight::sheet::Question;
use crate::preflight::sheet::Sheet;
use crate::preflight::sheet::State;
use crate::preflight::sheet::Teller;
use crate::stats::Generator;

/// Any seed will do; the texts do not depend on it, only the ordinary work between them.
const SEED: u64 = 3;

/// The conversation.
pub fn conversation() -> Conversation {
    let mut generator = Generator::new(SEED);
    let token = secrets::planted(&mut generator, 0);
    let address = secrets::address(&mut generator);
    let said = [
        "The production server is alpha.".to_owned(),
        "We decided to use PostgreSQL because we need row locks.".to_owned(),
        concat!("TO", "DO: rotate the backup keys before Friday.").to_owned(),
        "Надо обновить сертификат стенда.".to_owned(),
        "Which region should the replica live in?".to_owned(),
        token.text,
        format!("The old machine answers at {address}."),
        "Correction: the production server is beta now, alpha is retired.".to_owned(),
    ];
    let mut script = Script::new("You are a deployment assistant in a long chat.");
    for words in said {
        script.add(&Turn::User(words));
        script.add(&Turn::Agent("Noted.".to_owned()));
        for _ in 0..2 {
            script.extend(&filler::filler(&mut generator));
        }
    }
    script.extend(&filler::tail());
    script.finish("smoke".to_owned(), filler::TAIL, sheet(token.secret, address))
}

fn sheet(secret: String, address: String) -> Sheet {
    let obligation = |needle: &str, language| Obligation {
        needle: needle.to_owned(),
        state: State::Open,
        language,
    };
    Sheet {
        facts: vec![Fact {
            subject: "production server".to_owned(),
            current: "beta".to_owned(),
            stale: vec!["alpha".to_owned()],
            teller: Teller::Person,
            language: Language::English,
        }],
        obligations: vec![
            obligation("rotate the backup keys", Language::English),
            obligation("сертификат стенда", Language::Russian),
        ],
        questions: vec![Question {
            needle: "replica".to_owned(),
            state: State::Open,
            language: Language::English,
        }],
        decisions: vec![Decision {
            needle: "PostgreSQL".to_owned(),
            reason: Some("row locks".to_owned()),
            language: Language::English,
        }],
        secrets: vec![secret],
        addresses: vec![address],
        ..Sheet::default()
    }
}
