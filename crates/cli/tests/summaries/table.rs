//! The table: what can happen to a request for a summary, and what becomes of the compaction then.

use mainstay_tests::server::Script;

use crate::answers;
use crate::contents;
use crate::running::Case;
use crate::running::Delivery;
use crate::running::Place;
use crate::running::Ran;
use crate::running::Setup;
use crate::running::Variant;
use crate::running::key;
use crate::scripts::always;
use crate::scripts::begun;
use crate::scripts::body;
use crate::scripts::error_inside;
use crate::scripts::foreign;
use crate::scripts::good;
use crate::scripts::half;
use crate::scripts::once;
use crate::scripts::refused;
use crate::scripts::saying;
use crate::scripts::stopping;

/// The groups of the table, by their titles.
pub fn groups() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("The provider refuses", refusals()),
        ("The connection fails", connections()),
        ("The answer is none", malformed()),
        ("The answer is of no use", contents::useless()),
        ("The answer is wrong", contents::wrong()),
        ("The request is too long", contents::too_long()),
        ("One model of several fails", fallbacks()),
        ("Keys", keys()),
    ]
}

/// A case that ends with the ledger alone, with one request to one model.
pub fn case(happens: &'static str, places: fn(Variant, &str) -> Vec<Place>) -> Case {
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
pub fn mixed(cases: Vec<Case>) -> Vec<Case> {
    cases.into_iter().map(|case| case.when(Delivery::Either)).collect()
}

impl Case {
    /// The summary is used after all.
    pub fn told(self) -> Self {
        Self {
            made: "hybrid",
            says: &[],
            ..self
        }
    }

    pub fn asked(self, requests: &'static [usize]) -> Self {
        Self { requests, ..self }
    }

    pub fn says(self, says: &'static [&'static str]) -> Self {
        Self { says, ..self }
    }

    pub fn when(self, delivery: Delivery) -> Self {
        Self { delivery, ..self }
    }

    pub fn with(self, setup: Setup) -> Self {
        Self { setup, ..self }
    }

    pub fn also(self, also: fn(&Ran)) -> Self {
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
            .says(&["too slow", "no whole answer within 1.5s"]),
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
        .says(&["too slow", "no whole answer within 1.5s"]),
        case("The stream stops in the middle and stays open", |variant, _| {
            always(Script::stream(&[&half(variant)]).then_hang())
        })
        .with(Setup::Hasty)
        .when(Delivery::Streamed)
        .asked(&[2])
        .says(&["too slow", "nothing came for 400ms"]),
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
