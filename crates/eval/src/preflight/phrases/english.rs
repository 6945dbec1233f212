//! English, from a careful mail to a hasty chat.

use crate::preflight::phrases::Phrases;
use crate::preflight::phrases::ProposalPhrases;

pub static ENGLISH: Phrases = Phrases {
    subjects: &[
        "staging server",
        "release branch",
        "message queue",
        "backup bucket",
        "default region",
        "build runner",
        "primary database",
        "feature flag",
    ],
    facts: &[
        "btw the {s} is {v}",
        "Just so you know, {v} is our {s}.",
        "the {s} we're on these days is {v}",
        "You'll need the {s} for this: {v}",
        "{s} = {v}",
        "Our {s} has been {v} since spring.",
        "ok so for the {s} just put {v}",
    ],
    corrections: &[
        "sorry, my bad - the {s} is {n}, not {o}",
        "Hm no, I mixed that up. The {s} is {n}.",
        "The {s} got moved over to {n} yesterday, {o} is dead.",
        "let's make the {s} {n} instead of {o}",
        "Ignore what I said about {o}, for the {s} it has to be {n}.",
        "heads up: {s} is {n} as of today",
        "We bumped the {s} to {n}.",
        "Please switch the {s} over to {n}; {o} gets shut down.",
        "wait, {o} was the old {s}. {n} please",
    ],
    obligations: &[
        concat!("TO", "DO: renew the certificate of {x} before it runs out"),
        "can you renew the certificate for {x} next week?",
        "I need you to write up {x} for the customer at some point.",
        "and don't let me forget about {x} when we wrap up",
        "someone has to clean out {x} before the release, put that on your list",
        "At the end we owe legal a note about {x}.",
        "{x} still wants a changelog entry, will you do that later",
        "Once this is through, go back to {x} and add the missing tests.",
    ],
    done: &[
        "{x} is sorted, took care of it this morning",
        "ok {x} can come off the list, that's finished",
        "I did {x} myself over lunch.",
        "{x}: done.",
    ],
    questions: &[
        (
            "does {x} retry when it times out?",
            "I checked: {x} retries three times when it times out.",
        ),
        (
            "any idea which branch {x} gets deployed from",
            "{x} gets deployed from trunk.",
        ),
        (
            "I wonder who looks after {x} these days",
            "The platform team looks after {x}.",
        ),
        (
            "What's the story with {x} - do we still pay for it?",
            "Yes, we still pay for {x}; the contract runs until December.",
        ),
    ],
    non_answers: &[
        "Not sure yet.",
        "I would have to look that up.",
        "Good question. I don't know at the moment.",
        "Let me get back to you on that.",
        "Hard to say from here.",
    ],
    decisions: &[
        "ok we're going with {x}, {r} was just too slow",
        "After talking to the team it will be {x}. {r} would cost us twice as much.",
        "{x} it is then - nobody wants to maintain {r}",
        "Right, final answer: {x}, because {r} can't be patched any more.",
        "I'd rather have {x} since {r} keeps falling over. Do it that way.",
    ],
    constraints: &[
        "hands off {x} unless I tell you otherwise",
        "Whatever you do, don't push anything to {x}.",
        "Run the linter of {x} every time before you commit, no exceptions.",
        "Under no circumstances may {x} be restarted during office hours.",
        "please keep {x} out of all of this",
        "ask me first before you touch {x}, every time",
    ],
    proposals: &[
        ProposalPhrases {
            offer: "I could clean up {x} next. Shall I?",
            accepted: "yes, but leave {r} alone",
            passed_over: "ok push a new branch",
        },
        ProposalPhrases {
            offer: "Two ways forward: 1. rewrite {x}; 2. patch it in place.",
            accepted: "let's do 1, in a separate PR from {r}",
            passed_over: "hmm, let me sleep on it",
        },
        ProposalPhrases {
            offer: "Do you want me to drop {x} and start over?",
            accepted: "go ahead, as long as {r} stays up",
            passed_over: "what would that cost us?",
        },
        ProposalPhrases {
            offer: "The simplest fix would be to merge {x} into main now.",
            accepted: "sounds good, just tell {r} about it",
            passed_over: "maybe. first show me the diff",
        },
    ],
    addresses: &[
        "ssh into server {a} and have a look",
        "the old server {a} still answers",
        "server {a}, port 22, same user as before",
        "Its host is {a} now.",
        "ping {a} if you don't believe me",
        "The machine at {a} belongs to finance.",
    ],
    understood: &[
        "Got it.",
        "Noted, thanks.",
        "All right.",
        "Understood, I will keep that in mind.",
    ],
};
