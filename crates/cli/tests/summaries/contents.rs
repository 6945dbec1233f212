//! What models write, and what becomes of it.

use mainstay_tests::server::Script;

use crate::answers;
use crate::running::Case;
use crate::running::Delivery;
use crate::running::is_stored;
use crate::scripts::always;
use crate::scripts::once;
use crate::scripts::overflow;
use crate::scripts::saying;
use crate::scripts::stopping;
use crate::session;
use crate::table::case;
use crate::table::mixed;

pub fn useless() -> Vec<Case> {
    vec![
        case("The answer is empty", |_, _| saying(""))
            .when(Delivery::Either)
            .says(&["the ledger stands alone", "the answer is empty"]),
        case("The answer is white space", |_, _| saying(" \n\t \n"))
            .when(Delivery::Either)
            .says(&["the ledger stands alone", "the answer is empty"]),
        case("The model refuses by its stop reason", |_, _| {
            stopping("I can't help with that.", "content_filter")
        })
        .says(&["the ledger stands alone", "the model refused"]),
        case("The model refuses in prose", |_, _| {
            saying(
                "I'm sorry, but I can't assist with summarising this conversation, as it may be against my guidelines.",
            )
        })
        .when(Delivery::Either)
        .says(&["the ledger stands alone", "the answer is a refusal"]),
        case("The answer is cut off at the model's limit", |_, _| {
            stopping(&answers::good(), "length")
        })
        .says(&["the ledger stands alone", "the answer ends at its limit"]),
        case("The model calls a tool", |_, _| stopping("", "tool_calls"))
            .says(&["the ledger stands alone", "the model called a tool"]),
        case("The answer is one line", |_, _| saying("All good, go on."))
            .when(Delivery::Either)
            .says(&["the ledger stands alone", "are no summary"]),
        case("The answer is fifty times as long as it should be", |_, _| {
            saying(&answers::inflated())
        })
        .when(Delivery::Either)
        .says(&["the ledger stands alone", "were asked for"]),
    ]
}

pub fn wrong() -> Vec<Case> {
    let cases = vec![
        case("The summary names no path and no value", |_, _| {
            saying(&answers::without_paths())
        })
        .asked(&[2])
        .says(&["the ledger stands alone", "critical references are missing"]),
        case(
            "The summary names no path and no value; asked again, the model mends it",
            |_, _| once(Script::reply(&answers::without_paths())),
        )
        .told()
        .asked(&[2]),
        case("The summary has a secret in it", |_, _| {
            saying(&answers::with_secret(&planted()))
        })
        .told()
        .says(&["something secret"])
        .also(|ran| {
            let recalled = ran.home.run(&["recall", "token", "--json"]);
            let texts = [
                ran.result.clone(),
                ran.printed.clone(),
                crate::running::text(&recalled.stdout),
            ];
            assert!(texts.iter().all(|text| !text.contains(&planted())), "{texts:?}");
            assert!(!is_stored(ran.home.folder.path(), &planted()), "the store has it");
        }),
        case("The summary repeats a tool's orders as the user's", |_, _| {
            saying(&answers::obedient())
        })
        .told()
        .says(&["unsupported", "evil.example"])
        .also(|ran| {
            let lines: Vec<&str> = ran.result.lines().collect();
            for (index, line) in lines
                .iter()
                .enumerate()
                .filter(|(_, line)| line.contains("evil.example"))
            {
                // The ledger may quote the page, under the page's name; nobody may quote it as the user.
                let speaker = lines[..index].iter().rev().find(|line| line.ends_with(':'));
                let is_the_tools = speaker.is_some_and(|speaker| speaker.ends_with(" tool:"));
                assert!(is_the_tools && !line.starts_with('-'), "{line} in {}", ran.result);
            }
        }),
        case("The summary shows a value that the user has corrected", |_, _| {
            saying(&answers::outdated())
        })
        .told()
        .says(&["superseded", "nightly job is 500"])
        .also(|ran| assert!(!ran.result.contains("nightly job is 500"), "{}", ran.result)),
        case("The summary names files that do not exist", |_, _| {
            saying(&answers::inventive())
        })
        .told()
        .says(&["invented", "src/billing/phantom_ledger.rs"])
        .also(|ran| {
            for name in ["src/billing/phantom_ledger.rs", "deploy/ghost-values.yaml"] {
                let line = ran.result.lines().find(|line| line.contains(name)).unwrap_or("");
                assert!(
                    line.is_empty() || line.contains("not seen in the conversation"),
                    "{line}"
                );
            }
        }),
    ];
    mixed(cases)
}

/// A secret that only a model knows.
fn planted() -> String {
    session::secret()
        .replace("Zk3Qw9", "Ty8Bh3")
        .replace("Nc4Df6", "Mv7Cx2")
}

pub fn too_long() -> Vec<Case> {
    let cases = vec![
        case(
            "The request is too long once; shorter ones are answered",
            |variant, _| once(overflow(variant)),
        )
        .told()
        .asked(&[4])
        .says(&["the prompt is longer than the model's window"])
        .also(|ran| {
            let lengths: Vec<usize> = ran.received[0].iter().map(|one| one.body.len()).collect();
            assert!(lengths[1] < lengths[0], "{lengths:?}");
        }),
        case("Every request is too long", |variant, _| always(overflow(variant)))
            .asked(&[4])
            .says(&[
                "the ledger stands alone",
                "too long for the model",
                "the prompt is longer than the model's window",
            ])
            .also(|ran| {
                let lengths: Vec<usize> = ran.received[0].iter().map(|one| one.body.len()).collect();
                assert!(lengths.is_sorted_by(|one, next| one > next), "{lengths:?}");
            }),
        case("413 from a gateway; shorter requests are answered", |_, _| {
            once(Script::status(413, "Payload Too Large").header("content-type", "text/plain"))
        })
        .told()
        .asked(&[4])
        .says(&["413, the prompt is longer than the model's window"]),
    ];
    mixed(cases)
}
