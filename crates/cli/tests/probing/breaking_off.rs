//! Runs that are killed go on, come to the same report, and pay for nothing twice.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::sync::mpsc::channel;
use std::time::Duration;

use mainstay_eval::stats::Generator;
use mainstay_tests::examiner::Examiner;
use mainstay_tests::server::Server;

use crate::stage::Stage;
use crate::stage::own_exam;
use crate::stage::read;
use crate::stage::succeeded;

const FIXTURES: [&str; 2] = ["chained-tour-desk", "feature-offline-cart"];
const KILLS: usize = 20;

/// When the server gets its request of this number, it says so.
type Alarm = Arc<Mutex<Option<(usize, Sender<()>)>>>;

fn stage(alarm: &Alarm) -> Stage {
    let examiner = Examiner::new(&read(&own_exam(), &FIXTURES));
    let alarm = Arc::clone(alarm);
    let server = Server::with(move |received| {
        let mut alarm = alarm.lock().unwrap();
        if alarm.as_ref().is_some_and(|(number, _)| *number <= received.number) {
            alarm.take().unwrap().1.send(()).unwrap();
        }
        drop(alarm);
        examiner.script(received)
    });
    Stage::with(&own_exam(), server)
}

#[test]
fn a_run_that_is_killed_twenty_times_comes_to_the_same_and_pays_once() {
    let alarm: Alarm = Arc::default();
    let stage = stage(&alarm);
    let fixtures = FIXTURES.join(",");
    let more = ["--fixtures", &fixtures, "--repeat", "2"];
    succeeded(&stage.run("whole", &more));
    let whole = stage.server.received().len();
    assert_eq!(stage.kept("whole"), whole);
    assert!(whole > 100, "{whole}");

    let mut generator = Generator::new(20);
    let mut points: Vec<usize> = (0..KILLS).map(|_| 1 + generator.below(whole - 2)).collect();
    points.sort_unstable();
    let directory = stage.path("results/broken").display().to_string();
    let (mut lost, mut killed) = (0, 0);
    for point in points {
        let before = stage.server.received().len();
        let kept_before = stage.kept("broken");
        // Counted in answers that are kept, so that the points spread over the whole run.
        let until = before + point.saturating_sub(kept_before);
        let (arrived, arrival) = channel();
        *alarm.lock().unwrap() = Some((until, arrived));
        let arguments = match killed {
            0 => stage.arguments("broken", &more),
            _ => {
                let mut arguments = vec!["run".to_owned(), "--resume".to_owned(), directory.clone()];
                arguments.extend(crate::stage::models());
                arguments
            }
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = stage.command(&arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Far longer than a run takes: a child that never asks fails the test instead of hanging it.
        arrival.recv_timeout(Duration::from_secs(120)).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        let asked = stage.server.received().len() - before;
        let kept = stage.kept("broken") - kept_before;
        // Only what was under way when it was killed can be lost: nobody has those answers.
        assert!(asked - kept <= 16, "{asked} asked, {kept} kept");
        lost += asked - kept;
    }
    let mut resume = vec!["run".to_owned(), "--resume".to_owned(), directory];
    resume.extend(crate::stage::models());
    succeeded(&stage.eval(&resume.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!(stage.report("broken"), stage.report("whole"));
    assert_eq!(stage.kept("broken"), whole, "an answer too many or too few");
    let all = stage.server.received().len() - whole;
    assert_eq!(all, whole + lost, "something that was kept was asked again");
}
