//! A client's connection: every byte that comes in is looked at first, a client that takes nothing is left, and one that is still
//! sending when it is refused is heard out for a moment, or it would never see why.

use std::future::Pending;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::ready;
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;
use tokio::time::Timeout;
use tokio::time::timeout;

use crate::http::framing::FramingCheck;

/// No request has this byte at any place where it could follow.
const POISON: &[u8] = b"\0\r\n\r\n";
/// How long a refused client is heard out: a second less than what nginx takes for a client's next words.
const LINGER: Duration = Duration::from_secs(4);
/// And how much of what it sends is thrown away.
const MOST_LINGERED: usize = 256 << 20;

type Alarm = Pin<Box<Timeout<Pending<()>>>>;

/// A client's connection.
pub struct ClientConnection {
    stream: TcpStream,
    framing: FramingCheck,
    stall: Duration,
    state: ConnectionState,
    /// Since when the client takes nothing.
    alarm: Option<Alarm>,
    /// Since when it is heard out.
    farewell: Option<Alarm>,
    /// Whether our side has come to its end, as it should.
    said_all: bool,
    lingered: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Open,
    /// The parser is still to be told that what follows is no request.
    Refusing,
    /// It was told.
    Refused,
    /// The client has said all it will.
    Ended,
}

impl ClientConnection {
    /// A connection whose requests have heads of so many bytes at most, and whose client takes something at least this often.
    pub fn new(stream: TcpStream, most_head: usize, stall: Duration) -> Self {
        Self {
            stream,
            framing: FramingCheck::new(most_head),
            stall,
            state: ConnectionState::Open,
            alarm: None,
            farewell: None,
            said_all: false,
            lingered: 0,
        }
    }

    /// What became of a write, or that the client has been taking nothing for too long.
    fn bounded<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.alarm = None;
            return written;
        }
        match has_passed(&mut self.alarm, self.stall, context) {
            true => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            false => Poll::Pending,
        }
    }
}

/// Whether this long has passed since it was first asked.
fn has_passed(alarm: &mut Option<Alarm>, span: Duration, context: &mut Context<'_>) -> bool {
    let alarm = alarm.get_or_insert_with(|| Box::pin(timeout(span, pending())));
    alarm.as_mut().poll(context).is_ready()
}

impl Drop for ClientConnection {
    /// An answer that ends with its connection would seem whole where it was broken off: then the connection breaks, too.
    fn drop(&mut self) {
        if self.framing.is_old() && !self.said_all {
            let _breaks = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for ClientConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = &mut *self;
        match line.state {
            ConnectionState::Refusing => {
                let fits = POISON.len().min(buffer.remaining());
                buffer.put_slice(&POISON[..fits]);
                line.state = ConnectionState::Refused;
                return Poll::Ready(Ok(()));
            }
            ConnectionState::Refused => return Poll::Ready(Ok(())),
            ConnectionState::Open | ConnectionState::Ended => {}
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut line.stream).poll_read(context, buffer))?;
        let new = &buffer.filled()[before..];
        if new.is_empty() {
            line.state = ConnectionState::Ended;
            return Poll::Ready(Ok(()));
        }
        if let Err(ambiguous) = line.framing.look(new) {
            buffer.set_filled(before + ambiguous.begins);
            line.state = ConnectionState::Refusing;
            if ambiguous.begins == 0 {
                return self.poll_read(context, buffer);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.bounded(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(flushed, context)
    }

    /// Ends our side. Closing while the client's bytes lie unread would break the connection, and what we said with it.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = &mut *self;
        let is_sending =
            line.state != ConnectionState::Ended && (line.framing.is_within() || line.state != ConnectionState::Open);
        if line.lingered == 0 {
            ready!(Pin::new(&mut line.stream).poll_shutdown(context))?;
            line.said_all = true;
        }
        if !is_sending {
            return Poll::Ready(Ok(()));
        }
        let mut thrown_away = [0; 16 << 10];
        while line.lingered < MOST_LINGERED {
            let mut buffer = ReadBuf::new(&mut thrown_away);
            match Pin::new(&mut line.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => line.lingered += buffer.filled().len(),
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    line.lingered = line.lingered.max(1);
                    return match has_passed(&mut line.farewell, LINGER, context) {
                        true => Poll::Ready(Ok(())),
                        false => Poll::Pending,
                    };
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}
