//! `mainstay proxy` as a process: what it refuses to serve, what it prints, and how signals find it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, dead_code)]

mod home;

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::process::Child;
use std::process::ChildStderr;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use home::Home;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

/// A test that waits longer has failed.
const LONG: Duration = Duration::from_secs(30);

struct Proxy {
    child: Child,
    address: String,
    log: BufReader<ChildStderr>,
}

impl Proxy {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = home.command(&["proxy", "--listen", "127.0.0.1:0", "--json", "--log", "debug"]);
        let mut child = command
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(',').next());
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        let log = BufReader::new(child.stderr.take().unwrap());
        Self { child, address, log }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// The next line of the log that is about this.
    fn logged(&mut self, event: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "no {event} in the log");
            serde_json::from_str::<serde_json::Value>(&line).unwrap();
            if line.contains(&format!("\"event\":\"{event}\"")) {
                return line;
            }
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn configured(home: &Home, text: &str) -> String {
    let path = home.folder.path().join("c.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn what_must_not_be_served_is_refused() {
    let home = Home::new();
    let refused = |arguments: &[&str], said: &str| {
        let output = home.run(&[&["proxy", "--check"], arguments].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    };
    refused(&["--listen", "0.0.0.0:0"], "needs a client's token");
    refused(&["--listen", "[::]:0"], "needs a client's token");
    refused(&["--listen", "everywhere"], "an address to listen on");
    refused(&["--upstream", "http://far.example"], "unencrypted");
    refused(&["--upstream", "https://169.254.169.254"], "link-local");
    refused(&["--upstream", "nowhere"], "--upstream");
    let config = configured(&home, "[proxy.tokens.a]\nkey_env = 'A_TOKEN'\n");
    refused(&["--config", &config], "the token of the client a");
    let output = home
        .command(&["proxy", "--check", "--listen", "0.0.0.0:0", "--config", &config])
        .env("A_TOKEN", "planted-4711")
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && said.contains("can be served"), "{said}");
    assert!(!said.contains("4711"), "{said}");
}

#[test]
fn a_word_to_stop_stops_it() {
    let upstream = Server::start(vec![Script::json("{}")]);
    for signal in ["-TERM", "-INT"] {
        let home = Home::new();
        let mut proxy = Proxy::start(&home, &["--upstream", &upstream.url()]);
        assert!(proxy.get("/v1/models").starts_with("HTTP/1.1 200"));
        assert!(proxy.get("/mainstay/health").ends_with("ok\n"));
        assert!(proxy.logged("request").contains("\"route\":\"pass\""));
        proxy.signal(signal);
        proxy.logged("stopped");
        assert!(proxy.child.wait().unwrap().success());
    }
}

#[test]
fn the_second_word_does_not_wait_for_streams() {
    let upstream = Server::start(vec![Script::stream(&["data: x\n\n"]).then_hang()]);
    let home = Home::new();
    let mut proxy = Proxy::start(&home, &["--upstream", &upstream.url()]);
    let mut stream = TcpStream::connect(&proxy.address).unwrap();
    write!(stream, "GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    proxy.signal("-TERM");
    // The listener is closed first; only then is a second word a second one.
    while TcpStream::connect(&proxy.address).is_ok() {
        std::thread::yield_now();
    }
    proxy.signal("-TERM");
    assert!(proxy.child.wait().unwrap().success());
    let mut rest = String::new();
    let _broken = stream.read_to_string(&mut rest);
    assert!(!rest.ends_with("0\r\n\r\n"), "{rest}");
}

#[test]
fn a_hang_up_reads_the_configuration_again_and_a_broken_one_changes_nothing() {
    let one = Server::start(vec![Script::json("{\"one\":1}")]);
    let two = Server::start(vec![Script::json("{\"two\":2}")]);
    let home = Home::new();
    let with = |server: &Server| format!("[proxy.upstreams.main]\nurl = '{}'\ndefault = true\n", server.url());
    let config = configured(&home, &with(&one));
    let mut proxy = Proxy::start(&home, &["--config", &config]);
    assert!(proxy.get("/v1/x").contains("one"));
    configured(&home, "[proxy]\nlisten = 5\n");
    proxy.signal("-HUP");
    assert!(proxy.logged("reload-refused").contains("c.toml:2"));
    assert!(proxy.get("/v1/x").contains("one"));
    configured(&home, &with(&two));
    proxy.signal("-HUP");
    proxy.logged("reloaded");
    assert!(proxy.get("/v1/x").contains("two"));
}
