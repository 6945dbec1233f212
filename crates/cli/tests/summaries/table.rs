//! The table: what can happen to a request for a summary, and what becomes of the compaction then.

use mainstay_tests::server::Script;

use crate::answers;
use crate::running::Case;
use crate::running::Delivery;
use crate::running::Place;
use crate::running::Ran;
use crate::running::Setup;
use crate::running::Variant;
use crate::running::is_stored;
use crate::running::key;
use crate::scripts::always;
use crate::scripts::begun;
use crate::scripts::body;
use crate::scripts::error_inside;
use crate::scripts::foreign;
use crate::scripts::good;
use crate::scripts::half;
use crate::scripts::once;
use crate::scripts::overflow;
use crate::scripts::refused;
use crate::scripts::saying;
use crate::scripts::stopping;
use crate::session;

/// The groups of the table, by their titles.
pub fn groups() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("The provider refuses", refusals()),
        ("The connection fails", connections()),
        ("The answer is none", malformed()),
        ("The answer is of no use", useless()),
        ("The answer is wrong", wrong()),
        ("The request is too long", too_long()),
        ("One model of several fails", fallbacks()),
        ("Keys", keys()),
    ]
}

/// A case that ends with the ledger alone, with one request to one model.
fn case(happens: &'static str, places: fn(Variant, &str) -> Vec<Place>) -> Case {
    Case {
        happens,
        places,
        delivery: Delivery::Any,
        setup: Setup::Usual,
        made: "ledger",
        requests: &[1],
        says: &["the ledger stands alone"],
        also: |_| {},
    }
}

/// Cases in which the delivery makes no difference: each form is asked in one of the two.
fn mixed(cases: Vec<Case>) -> Vec<Case> {
    cases.into_iter().map(|case| case.when(Delivery::Either)).collect()
}

impl Case {
    /// The summary is used after all.
    fn told(self) -> Self {
        Self {
            made: "hybrid",
            says: &[],
            ..self
        }
    }

    fn asked(self, requests: &'static [usize]) -> Self {
        Self { requests, ..self }
    }

    fn says(self, says: &'static [&'static str]) -> Self {
        Self { says, ..self }
    }

    fn when(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }

    fn with(self, setup: Setup) -> Self {
        Self { setup, ..self }
    }

    fn also(self, also: fn(&Ran)) -> Self {
        Self { also, ..self }
    }
}

fn refusals() -> Vec<Case> {
    let cases = vec![
        case("401: the key is wrong", |variant, _| {
            always(refused(variant, 401, "authentication_error", "invalid x-api-key"))
        })
        .says(&["401, the key was refused", "check environment variable FIRST_KEY"]),
        case("403: the key may not use this model", |variant, _| {
            always(refused(
                variant,
                403,
                "permission_error",
                "Not allowed for this project",
            ))
        })
        .says(&["403, the key may not do this", "check environment variable FIRST_KEY"]),
        case("404: no such model", |variant, _| {
            always(refused(variant, 404, "not_found_error", "model: scripted-first"))
        })
        .says(&[
            "404, no such address or model",
            "check the address and the model's name",
        ]),
        case("402: no credit left", |variant, _| {
            always(refused(variant, 402, "billing_error", "Payment required"))
        })
        .says(&["402, the quota or credit is used up", "check plan and billing"]),
        case("429 because the quota is used up", |variant, _| {
            always(refused(
                variant,
                429,
                "insufficient_quota",
                "You exceeded your current quota",
            ))
        })
        .says(&["429, the quota or credit is used up", "check plan and billing"]),
        case("400: the request is refused", |variant, _| {
            always(refused(
                variant,
                400,
                "invalid_request_error",
                "temperature is not supported",
            ))
        })
        .says(&["400, the request was refused", "temperature is not supported"]),
        case("408: the provider waited too long", |variant, _| {
            always(refused(variant, 408, "timeout_error", "Request timed out"))
        })
        .asked(&[2])
        .says(&["408, too slow"]),
        case("429 with a short Retry-After, then an answer", |variant, _| {
            once(refused(variant, 429, "rate_limit_error", "slow down").header("retry-after", "0"))
        })
        .told()
        .asked(&[2]),
        case("429 without Retry-After, for ever", |variant, _| {
            always(refused(variant, 429, "rate_limit_error", "slow down"))
        })
        .asked(&[2])
        .says(&["429, too many requests"]),
        case("429 with a Retry-After of an hour", |variant, _| {
            always(refused(variant, 429, "rate_limit_error", "slow down").header("retry-after", "3600"))
        })
        .says(&["429, too many requests", "it asks to wait 3600 s"]),
        case("500, for ever", |variant, _| {
            always(refused(variant, 500, "api_error", "Internal error"))
        })
        .asked(&[2])
        .says(&["500, the provider failed"]),
        case("500 once, then an answer", |variant, _| {
            once(refused(variant, 500, "api_error", "Internal error"))
        })
        .told()
        .asked(&[2]),
        case("502 with a gateway's page", |_, _| {
            always(Script::status(502, "<html><h1>Bad Gateway</h1></html>").header("content-type", "text/html"))
        })
        .asked(&[2])
        .says(&["502, the provider failed", "Bad Gateway"]),
        case("503, for ever", |variant, _| {
            always(refused(variant, 503, "server_error", "Unavailable"))
        })
        .asked(&[2])
        .says(&["503, the provider is overloaded"]),
        case("529, for ever", |variant, _| {
            always(refused(variant, 529, "overloaded_error", "Overloaded"))
        })
        .asked(&[2])
        .says(&["529, the provider is overloaded"]),
    ];
    mixed(cases)
}

fn connections() -> Vec<Case> {
    vec![
        case("Nobody listens at the address", |_, _| vec![Place::Nobody])
            .when(Delivery::Either)
            .asked(&[0])
            .says(&[
                "nobody answers at this address",
                "check the address, and that the server runs",
            ]),
        case("The connection is reset before the answer begins", |_, _| {
            always(Script::reset())
        })
        .when(Delivery::Either)
        .asked(&[2])
        .says(&["the connection broke"]),
        case("The connection is closed before the answer begins", |_, _| {
            always(Script::closed())
        })
        .when(Delivery::Either)
        .asked(&[2])
        .says(&["the connection broke"]),
        case("The connection is reset in the middle of the stream", |variant, _| {
            always(Script::stream(&[&half(variant)]).then_reset())
        })
        .when(Delivery::Streamed)
        .asked(&[2])
        .says(&["the connection broke"]),
        case(
            "The connection is reset once in the middle of the stream, then there is an answer",
            |variant, _| once(Script::stream(&[&half(variant)]).then_reset()),
        )
        .when(Delivery::Streamed)
        .told()
        .asked(&[2]),
        case("The server never says anything", |_, _| always(Script::silent()))
            .when(Delivery::Either)
            .with(Setup::Hasty)
            .asked(&[2])
            .says(&["too slow", "nothing came for"]),
        case("The headers come byte by byte and never end", |_, _| {
            always(Script::dripping_head())
        })
        .when(Delivery::Either)
        .with(Setup::Hasty)
        .asked(&[2])
        .says(&["too slow"]),
        case("The stream comes byte by byte and never ends", |_, _| {
            always(Script::dripping_stream())
        })
        .with(Setup::Hasty)
        .when(Delivery::Streamed)
        .asked(&[2])
        .says(&["too slow", "no whole answer within 500ms"]),
        case("The stream stops in the middle and stays open", |variant, _| {
            always(Script::stream(&[&half(variant)]).then_hang())
        })
        .with(Setup::Hasty)
        .when(Delivery::Streamed)
        .asked(&[2])
        .says(&["too slow", "nothing came for 200ms"]),
    ]
}

fn malformed() -> Vec<Case> {
    vec![
        case("A page of HTML with status 200", |_, _| {
            always(Script::page(
                "text/html",
                "<html><body>Please sign in to the network</body></html>",
            ))
        })
        .when(Delivery::Either)
        .asked(&[2])
        .says(&["this is no answer", "text/html", "Please sign in"]),
        case("A stream whose events are no JSON", |_, _| {
            always(Script::stream(&["data: {\"choices\": [oops\n\n", "data: [DONE]\n\n"]))
        })
        .when(Delivery::Streamed)
        .asked(&[2])
        .says(&["this is no answer", "an event of the stream is no JSON object"]),
        case("A stream that ends before the answer does", |variant, _| {
            always(Script::stream(&[&begun(variant)]))
        })
        .when(Delivery::Streamed)
        .asked(&[2])
        .says(&["this is no answer", "the answer was cut off"]),
        case("JSON that ends in the middle", |variant, _| {
            always(Script::json(&half(variant)))
        })
        .when(Delivery::Whole)
        .asked(&[2])
        .says(&["this is no answer", "no whole JSON object"]),
        case("A body that ends before its announced length", |variant, _| {
            always(Script::truncated(&half(variant)))
        })
        .when(Delivery::Whole)
        .asked(&[2])
        .says(&["the connection broke"]),
        case("An error inside of the stream", |variant, _| {
            always(error_inside(variant))
        })
        .when(Delivery::Streamed)
        .asked(&[2])
        .says(&["the provider failed"]),
        case("An error with status 200", |variant, _| {
            always(Script::json(&crate::scripts::complaint(
                variant.form,
                "server_error",
                "upstream failed",
            )))
        })
        .asked(&[2])
        .says(&["the provider failed", "upstream failed"]),
        case("An answer in the form of another provider", |variant, _| {
            always(foreign(variant))
        })
        .asked(&[2])
        .says(&["this is no answer"]),
        case("A good answer with the type of another delivery", |variant, _| {
            always(Script::page("text/plain", &body(variant)))
        })
        .when(Delivery::Either)
        .asked(&[2])
        .says(&["this is no answer", "text/plain"]),
    ]
}

fn useless() -> Vec<Case> {
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

fn wrong() -> Vec<Case> {
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

fn too_long() -> Vec<Case> {
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

fn fallbacks() -> Vec<Case> {
    let cases = vec![
        case("The first model is down, the second answers", |variant, _| {
            vec![
                Place::Served(vec![refused(variant, 503, "server_error", "Unavailable")]),
                Place::Served(vec![good()]),
            ]
        })
        .told()
        .asked(&[2, 1])
        .says(&["503, the provider is overloaded"]),
        case("The first model's key is wrong, the second answers", |variant, _| {
            vec![
                Place::Served(vec![refused(variant, 401, "authentication_error", "invalid x-api-key")]),
                Place::Served(vec![good()]),
            ]
        })
        .told()
        .asked(&[1, 1])
        .says(&["401, the key was refused", "check environment variable FIRST_KEY"]),
        case(
            "Nobody listens at the first model's address, the second answers",
            |_, _| vec![Place::Nobody, Place::Served(vec![good()])],
        )
        .told()
        .asked(&[0, 1])
        .says(&["nobody answers at this address"]),
        case("The first model refuses, the second answers", |_, _| {
            let mut places = stopping("I can't help with that.", "content_filter");
            places.push(Place::Served(vec![good()]));
            places
        })
        .told()
        .asked(&[1, 1])
        .says(&["an answer was refused: the model refused"]),
        case(
            "The first model gives an empty answer, the second is down",
            |variant, _| {
                let mut places = saying("");
                places.push(Place::Served(vec![refused(
                    variant,
                    500,
                    "api_error",
                    "Internal error",
                )]));
                places
            },
        )
        .asked(&[1, 2])
        .says(&["the answer is empty", "500, the provider failed"]),
        case("All models are down", |variant, _| {
            vec![
                Place::Served(vec![refused(variant, 500, "api_error", "Internal error")]),
                Place::Served(vec![refused(variant, 401, "authentication_error", "invalid x-api-key")]),
                Place::Nobody,
            ]
        })
        .asked(&[2, 1, 0])
        .says(&[
            "500, the provider failed",
            "401, the key was refused",
            "nobody answers at this address",
        ]),
        case("All models refuse", |_, _| {
            let refusing = || stopping("I can't help with that.", "content_filter");
            refusing().into_iter().chain(refusing()).chain(refusing()).collect()
        })
        .asked(&[1, 1, 1])
        .says(&["the ledger stands alone", "the model refused"]),
        case(
            "The conversation's own model is down where its history is, and answers when it gets records",
            |variant, _| {
                vec![Place::Served(vec![
                    refused(variant, 400, "invalid_request_error", "no such tool"),
                    good(),
                ])]
            },
        )
        .with(Setup::InPlace)
        .told()
        .asked(&[2])
        .says(&["not answered in place", "no such tool"]),
    ];
    mixed(cases)
}

fn keys() -> Vec<Case> {
    let cases = vec![
        case("There is no key in the environment", |_, _| always(good()))
            .with(Setup::Keyless)
            .asked(&[0])
            .says(&[
                "the model first cannot be asked",
                "FIRST_KEY is not set",
                "the ledger stands alone",
            ]),
        case("The server repeats the key in its error", |variant, _| {
            let message = format!("Incorrect API key provided: {}", key(0));
            always(refused(variant, 401, "invalid_api_key", &message))
        })
        .says(&["Incorrect API key provided: [key]"]),
        case("The model repeats the key in its answer", |_, _| {
            saying(&answers::with_key(&key(0)))
        })
        .told(),
        case("The server redirects to another one", |_, other| {
            always(Script::status(307, "").header("location", &format!("{other}/chat/completions")))
        })
        .says(&["307", "the address has moved to", "configure the new address"]),
    ];
    mixed(cases)
}
