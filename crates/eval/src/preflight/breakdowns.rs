//! Commands that fail, as tools print that: with a status, with a summary line, or only in the middle of the output.

use crate::preflight::script::Turn;
use crate::preflight::sheet::FailedCommand;
use crate::stats::Generator;

/// A command and its output. `{x}` is the needle of the command, `{e}` the error's.
const FAILING: &[(&str, &str)] = &[
    (
        "cargo test -p {x}",
        "running 3 tests\ntest opens ... ok\ntest closes ... FAILED\ntest reads ... ok\n\nfailures:\n\n---- closes stdout ----\n\
         thread 'closes' panicked: left {e}, right 0\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored\n",
    ),
    (
        "npm run build --workspace {x}",
        "> build\n> tsc -p .\n\nnpm ERR! code {e}\nnpm ERR! Lifecycle script `build` failed\n",
    ),
    (
        "pytest tests/{x}",
        "collected 14 items\n\ntests/test_io.py ......F.......\n\nE       AssertionError: {e}\n\n1 failed, 13 passed in 2.31s\n",
    ),
    (
        "psql -f migrations/{x}.sql",
        "BEGIN\nCREATE TABLE\npsql:migrations:12: ERROR:  {e}: relation does not exist\nROLLBACK\n",
    ),
    (
        "curl -si https://{x}.example/health",
        "HTTP/1.1 503 Service Unavailable\ncontent-type: application/json\n\n{\"status\":\"degraded\",\"code\":\"{e}\"}\n",
    ),
    (
        "docker build -t {x} .",
        "#1 load build definition\n#1 DONE 0.1s\n#7 ERROR: {e}: not found\n------\nERROR: failed to solve\n",
    ),
    (
        "ansible-playbook {x}.yml",
        "TASK [copy] ok: [a1]\nfatal: [a2]: UNREACHABLE! => {e}\n\nPLAY RECAP\na1 : ok=4 failed=0\na2 : ok=1 unreachable=1\n",
    ),
    (
        "git push origin {x}",
        "To git.example:team/app\n ! [rejected]        {x} -> {x} (non-fast-forward)\nerror: {e}: failed to push some refs\n",
    ),
    (
        "./gradlew :{x}:check",
        "> Task :compileJava\n> Task :test\n\nFAILURE: Build failed with an exception.\n* What went wrong: {e}\n\nExit code: 1\n",
    ),
];

/// How many there are.
pub const COUNT: usize = FAILING.len();

/// What the agent says of a failure.
const REMARKS: [&str; 3] = [
    "That did not work.",
    "Failed, I will look into it later.",
    "Упало, посмотрю позже.",
];

/// A command that fails, with the needles by which it is known.
pub fn breakdown(generator: &mut Generator, index: usize, needle: String, error: String) -> (Vec<Turn>, FailedCommand) {
    let (command, output) = FAILING[index % COUNT];
    let filled = |text: &str| text.replace("{x}", &needle).replace("{e}", &error);
    let mut turns = vec![Turn::call("terminal", &[("command", &filled(command))], filled(output))];
    if generator.below(2) == 0 {
        turns.push(Turn::Agent((*generator.pick(&REMARKS)).to_owned()));
    }
    (turns, FailedCommand { needle, error })
}
