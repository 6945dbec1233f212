//! A provider made of a script: a loopback HTTP/1.1 server over real sockets, for tests of whatever talks to models.
//!
//! ```no_run
//! use mainstay_tests::reply::Reply;
//! use mainstay_tests::server::Script;
//! use mainstay_tests::server::Server;
//!
//! // The first request is refused, every later one answered in whichever form and delivery it asks for.
//! let server = Server::start(vec![
//!     Script::status(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after", "0"),
//!     Script::reply("Hello"),
//! ]);
//! let _configure = server.url(); // http://127.0.0.1:40123/v1
//! assert_eq!(server.received().len(), 0);
//! # let _ = Reply::new("Hello");
//! ```
//!
//! Every connection serves one request and is closed. Requests are numbered as they are read; the last script serves all
//! later ones. Waits happen in the server's threads, on the socket, and end when the client goes away, so that no test has
//! to sleep and no server outlives its test.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use crate::reply::Reply;

/// A request as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Which request this is, the first being 0.
    pub number: usize,
    /// How many other requests were under way when it was read.
    pub others: usize,
    /// `POST`.
    pub method: String,
    /// The path with its query: `/v1/chat/completions`.
    pub path: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Received {
    /// The first header of this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What the server does on a connection, after it has read the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
}

/// One thing that the server does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Sends the head.
    Head,
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes one at a time, with this long between them, over and over until the client goes away.
    Drip(Vec<u8>, Duration),
    /// Does nothing for a while, or until the client goes away.
    Pause(Duration),
    /// Does nothing until the client goes away.
    Hang,
    /// Breaks the connection instead of closing it.
    Reset,
    /// A right answer in the form and delivery that the request asks for.
    Reply(Box<Reply>),
}

impl Script {
    fn new(status: u16, content_type: &str, steps: Vec<Step>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            steps,
        }
    }

    /// A JSON body with a status.
    pub fn status(status: u16, body: &str) -> Self {
        let script = Self::new(status, "application/json", vec![Step::Head, Step::Send(body.into())]);
        script.header("content-length", &body.len().to_string())
    }

    /// A JSON body with status 200.
    pub fn json(body: &str) -> Self {
        Self::status(200, body)
    }

    /// A body of another type with status 200: `Script::page("text/html", "<html>…")`.
    pub fn page(content_type: &str, body: &str) -> Self {
        Self::new(200, content_type, vec![Step::Head, Step::Send(body.into())])
    }

    /// A stream of events, sent in these pieces, ended by the end of the connection.
    pub fn stream(pieces: &[&str]) -> Self {
        let sends = pieces.iter().map(|piece| Step::Send(piece.as_bytes().to_vec()));
        let steps = std::iter::once(Step::Head).chain(sends).collect();
        Self::new(200, "text/event-stream; charset=utf-8", steps)
    }

    /// A right answer with this text, in the form that the path names, streamed if the request asks for that.
    pub fn reply(text: &str) -> Self {
        Self::answer(Reply::new(text))
    }

    /// The same with usage and stop of the caller's choice.
    pub fn answer(reply: Reply) -> Self {
        Self::new(200, "", vec![Step::Reply(Box::new(reply))])
    }

    /// Breaks the connection before anything is sent.
    pub fn reset() -> Self {
        Self::new(0, "", vec![Step::Reset])
    }

    /// Closes the connection before anything is sent.
    pub fn closed() -> Self {
        Self::new(0, "", Vec::new())
    }

    /// Never answers.
    pub fn silent() -> Self {
        Self::new(0, "", vec![Step::Hang])
    }

    /// Sends a head that never ends, byte by byte.
    pub fn dripping_head() -> Self {
        let head = b"HTTP/1.1 200 OK\r\nx-slow: ".to_vec();
        Self::new(0, "", vec![Step::Send(head), Step::Drip(b"z".to_vec(), DRIP)])
    }

    /// Sends a stream that never ends, byte by byte.
    pub fn dripping_stream() -> Self {
        let steps = vec![Step::Head, Step::Drip(b": wait\n".to_vec(), DRIP)];
        Self::new(200, "text/event-stream", steps)
    }

    /// A JSON body that ends before its announced length.
    pub fn truncated(body: &str) -> Self {
        let script = Self::new(200, "application/json", vec![Step::Head, Step::Send(body.into())]);
        script.header("content-length", &(body.len() + 100).to_string())
    }

    /// Sets a header; an earlier one of this name is replaced.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a header.
    pub fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self
    }

    /// Breaks the connection afterwards.
    pub fn then_reset(mut self) -> Self {
        self.steps.push(Step::Reset);
        self
    }

    /// Says nothing afterwards, until the client goes away.
    pub fn then_hang(mut self) -> Self {
        self.steps.push(Step::Hang);
        self
    }

    /// Waits this long before anything is sent, so that requests overlap.
    pub fn after(mut self, pause: Duration) -> Self {
        self.steps.insert(0, Step::Pause(pause));
        self
    }
}

/// The time between two bytes of a drip: shorter than any limit on silence that a test may set.
const DRIP: Duration = Duration::from_millis(5);

/// A server leaves a client that does nothing after this; a test that gets here has failed already.
const LONGEST: Duration = Duration::from_secs(30);

/// A running server; it stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    ledger: Arc<Ledger>,
}

#[derive(Debug, Default)]
struct Ledger {
    received: Mutex<Vec<Received>>,
    under_way: AtomicUsize,
    most_at_once: AtomicUsize,
    stopped: AtomicBool,
}

impl Ledger {
    fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// A server that follows these scripts in order and repeats the last one.
    pub fn start(scripts: Vec<Script>) -> Self {
        assert!(!scripts.is_empty(), "a server needs a script");
        Self::with(move |received| scripts[received.number.min(scripts.len() - 1)].clone())
    }

    /// A server that decides by the request. The decision is made while the request counts as under way.
    pub fn with(choose: impl Fn(&Received) -> Script + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let ledger = Arc::new(Ledger::default());
        let choose = Arc::new(choose);
        let shared = Arc::clone(&ledger);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (ledger, choose) = (Arc::clone(&shared), Arc::clone(&choose));
                thread::spawn(move || serve(stream, &ledger, &*choose));
            }
        });
        Self { address, ledger }
    }

    /// An address at which nobody listens.
    pub fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        format!("http://{address}/v1")
    }

    /// The address to configure, up to and without a form's own path.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, in the order in which they were read.
    pub fn received(&self) -> Vec<Received> {
        self.ledger.received().clone()
    }

    /// How many requests were under way at once, at most.
    pub fn most_at_once(&self) -> usize {
        self.ledger.most_at_once.load(Ordering::SeqCst)
    }

    /// How many requests are under way now.
    pub fn under_way(&self) -> usize {
        self.ledger.under_way.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ledger.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

fn serve(mut stream: TcpStream, ledger: &Ledger, choose: &dyn Fn(&Received) -> Script) {
    let _quick = stream.set_nodelay(true);
    let _bounded = stream.set_read_timeout(Some(LONGEST));
    let Some(mut received) = read_request(&mut stream) else {
        return;
    };
    let under_way = ledger.under_way.fetch_add(1, Ordering::SeqCst) + 1;
    ledger.most_at_once.fetch_max(under_way, Ordering::SeqCst);
    {
        let mut list = ledger.received();
        received.number = list.len();
        received.others = under_way - 1;
        list.push(received.clone());
    }
    let script = choose(&received);
    let kept = follow(&mut stream, &script, &received);
    ledger.under_way.fetch_sub(1, Ordering::SeqCst);
    if kept {
        // Closing with unread bytes would break the connection instead.
        let _ended = stream.shutdown(std::net::Shutdown::Write);
        wait_for_end(&mut stream, LONGEST);
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 << 10];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap_or("").split(' ');
    let mut received = Received {
        method: first.next().unwrap_or("").to_owned(),
        path: first.next().unwrap_or("").to_owned(),
        ..Received::default()
    };
    let pairs = lines.filter_map(|line| line.split_once(':'));
    received.headers = pairs
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = received.header("content-length").and_then(|length| length.parse().ok());
    let mut body = bytes.split_off(end);
    while body.len() < length.unwrap_or(0) {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => body.extend_from_slice(&piece[..count]),
        }
    }
    received.body = String::from_utf8_lossy(&body).into_owned();
    Some(received)
}

/// Follows a script; says whether the connection is still there to be closed.
fn follow(stream: &mut TcpStream, script: &Script, received: &Received) -> bool {
    for step in &script.steps {
        let went_on = match step {
            Step::Head => stream
                .write_all(head(script.status, &script.headers).as_bytes())
                .is_ok(),
            Step::Send(bytes) => stream.write_all(bytes).is_ok(),
            Step::Reply(reply) => {
                let (content_type, body) = reply.to(&received.path, &received.body);
                let headers = [("content-type".to_owned(), content_type.to_owned())];
                let length = format!("content-length: {}\r\n", body.len());
                let head = head(script.status, &headers).replacen("\r\n", &format!("\r\n{length}"), 1);
                stream.write_all((head + &body).as_bytes()).is_ok()
            }
            Step::Drip(bytes, between) => {
                for byte in bytes.iter().cycle() {
                    if stream.write_all(&[*byte]).is_err() || wait_for_end(stream, *between) {
                        break;
                    }
                }
                false
            }
            Step::Pause(pause) => !wait_for_end(stream, *pause),
            Step::Hang => !wait_for_end(stream, LONGEST),
            Step::Reset => {
                let _lingers = SockRef::from(&*stream).set_linger(Some(Duration::ZERO));
                return false;
            }
        };
        if !went_on {
            return false;
        }
    }
    true
}

fn head(status: u16, headers: &[(String, String)]) -> String {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n");
    for (name, value) in headers
        .iter()
        .filter(|(name, value)| name != "content-type" || !value.is_empty())
    {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head + "\r\n"
}

/// Waits until the client goes away, for this long at most; says whether it went.
fn wait_for_end(stream: &mut TcpStream, most: Duration) -> bool {
    let _bounded = stream.set_read_timeout(Some(most.max(Duration::from_millis(1))));
    let mut rest = [0; 1024];
    loop {
        match stream.read(&mut rest) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                let waited = matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                );
                return !waited;
            }
        }
    }
}
