//! The sockets of the scripted provider: HTTP/1.1 with connections that are kept, bodies that come in pieces, and ends that
//! are no ends.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::task::Context;
use std::task::Poll;
use std::task::ready;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use http_body_util::BodyExt;
use http_body_util::StreamBody;
use hyper::Request;
use hyper::Response;
use hyper::body::Frame;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::ReadBuf;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::time::Interval;
use tokio::time::interval_at;

use super::delivery::Ending;
use super::delivery::Reply;
use super::desk::Desk;
use super::scenario::Care;
use crate::server::Received;

/// So many connections may wait to be accepted: a thousand clients come at once, and a few more.
const BACKLOG: i32 = 4_096;
/// What is sent has this long to leave before the connection is broken.
const GRACE: Duration = Duration::from_millis(40);

/// A listener on an address, for a runtime that starts later.
pub fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = socket2::Socket::new(socket2::Domain::for_address(address), socket2::Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Serves connections for ever.
pub async fn serve(listener: std::net::TcpListener, desk: Arc<Desk>) -> io::Result<Infallible> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        // A connection that went away before it was accepted is nobody's business.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let _quick = stream.set_nodelay(true);
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            let breaks = Arc::new(AtomicBool::new(false));
            let line = Line {
                stream,
                breaks: Arc::clone(&breaks),
            };
            let service = service_fn(|request| respond(request, Arc::clone(&desk), Arc::clone(&breaks)));
            let _ended = http1::Builder::new()
                .serve_connection(TokioIo::new(line), service)
                .await;
        });
    }
}

async fn respond(
    request: Request<Incoming>,
    desk: Arc<Desk>,
    breaks: Arc<AtomicBool>,
) -> Result<Response<StreamBody<Outgoing>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let reply = match path.as_str() {
        "/scripted/report" => Reply::json(200, desk.report().json()),
        "/scripted/reset" => {
            desk.reset();
            Reply::json(200, "{}".to_owned())
        }
        _ if desk.care() == Care::None => desk.answer_blindly(&path, &body),
        _ => {
            let headers = head.headers.iter().map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            });
            let received = Received {
                method: head.method.as_str().to_owned(),
                path,
                headers: headers.collect(),
                body: String::from_utf8_lossy(&body).into_owned(),
                ..Received::default()
            };
            // Judging takes a while; streams under way must not wait for it.
            let judged = tokio::task::spawn_blocking(move || desk.answer(received)).await;
            judged.unwrap_or_else(|_| Reply::json(500, "{\"error\":\"the scripted provider failed\"}".to_owned()))
        }
    };
    let mut response = Response::new(StreamBody::new(Outgoing::new(&reply, breaks)));
    *response.status_mut() = hyper::StatusCode::from_u16(reply.status).unwrap_or_default();
    for (name, value) in &reply.headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().append(*name, value);
        }
    }
    if let Some(length) = reply.length {
        response
            .headers_mut()
            .insert(hyper::header::CONTENT_LENGTH, length.into());
    }
    Ok(response)
}

/// A body on its way.
struct Outgoing {
    pieces: std::vec::IntoIter<Bytes>,
    pace: Option<Interval>,
    ending: Ending,
    grace: Option<Interval>,
    breaks: Arc<AtomicBool>,
}

impl Outgoing {
    fn new(reply: &Reply, breaks: Arc<AtomicBool>) -> Self {
        let later = |pace: Duration| interval_at(tokio::time::Instant::now() + pace, pace);
        Self {
            pieces: reply.pieces.clone().into_iter(),
            pace: (!reply.pace.is_zero()).then(|| later(reply.pace)),
            ending: reply.ending,
            grace: None,
            breaks,
        }
    }
}

impl Stream for Outgoing {
    type Item = io::Result<Frame<Bytes>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.pieces.len() > 0 {
            if let Some(pace) = &mut self.pace {
                ready!(pace.poll_tick(context));
            }
            return Poll::Ready(self.pieces.next().map(|piece| Ok(Frame::data(piece))));
        }
        match self.ending {
            Ending::Whole => Poll::Ready(None),
            Ending::Stall => Poll::Pending,
            Ending::Close | Ending::Reset => {
                let later = || interval_at(tokio::time::Instant::now() + GRACE, GRACE);
                ready!(self.grace.get_or_insert_with(later).poll_tick(context));
                let breaks = self.ending == Ending::Reset;
                self.breaks.store(breaks, Ordering::SeqCst);
                Poll::Ready(Some(Err(io::Error::other("the script ends the connection here"))))
            }
        }
    }
}

/// A connection that can be broken instead of closed.
struct Line {
    stream: TcpStream,
    breaks: Arc<AtomicBool>,
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.breaks.load(Ordering::SeqCst) {
            let _lingers = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }
}
