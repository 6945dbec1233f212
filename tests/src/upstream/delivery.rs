//! What goes out: status, headers, the pieces of the body, and what becomes of them on the way.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::scenario::Fault;

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Whole,
    /// The connection is closed after the last piece, though more was announced.
    Close,
    /// The connection is broken after the last piece.
    Reset,
    /// Nothing more comes.
    Stall,
}

/// What goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body in the pieces in which it is sent.
    pub pieces: Vec<Bytes>,
    /// The length that is announced, if one is.
    pub length: Option<u64>,
    /// The time between two pieces.
    pub pace: Duration,
    /// How it ends.
    pub ending: Ending,
}

/// How many bytes drip at once, and how long after each other.
const DRIP: (usize, Duration) = (16, Duration::from_millis(1));

impl Reply {
    /// A JSON document.
    pub fn json(status: u16, body: String) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            length: Some(body.len() as u64),
            pieces: vec![body.into()],
            pace: Duration::ZERO,
            ending: Ending::Whole,
        }
    }

    /// The reply as it goes over the wire: compressed, cut, dripping.
    pub fn sent(mut self, fault: Option<Fault>, compresses: bool) -> Self {
        let reply = &mut self;
        let is_cut_gzip = fault == Some(Fault::TruncatedGzip);
        if is_cut_gzip || compresses {
            reply.compress();
        }
        match fault {
            Some(Fault::Reset) => reply.cut(Ending::Reset),
            Some(Fault::EarlyClose) => reply.cut(Ending::Close),
            Some(Fault::Stall) => reply.cut(Ending::Stall),
            // The transfer ends as it should; what it carries does not.
            Some(Fault::TruncatedGzip) => {
                reply.cut(Ending::Whole);
                reply.length = reply.length.map(|_| reply.size());
            }
            Some(Fault::Drip) => {
                let bytes = reply.pieces.concat();
                reply.pieces = bytes.chunks(DRIP.0).map(Bytes::copy_from_slice).collect();
                reply.pace = DRIP.1;
            }
            Some(Fault::BigEvent | Fault::Page) | None => {}
        }
        self
    }

    fn size(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }

    /// Compresses the body; every piece can be read as soon as it arrives.
    fn compress(&mut self) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let mut pieces = Vec::new();
        for piece in std::mem::take(&mut self.pieces) {
            let _never_fails = encoder.write_all(&piece).and_then(|()| encoder.flush());
            pieces.push(Bytes::from(std::mem::take(encoder.get_mut())));
        }
        pieces.push(encoder.finish().unwrap_or_default().into());
        self.pieces = pieces;
        self.headers.push(("content-encoding", "gzip".to_owned()));
        self.length = self.length.map(|_| self.size());
    }

    /// Keeps the first half, to the byte.
    fn cut(&mut self, ending: Ending) {
        let mut left = self.size() / 2;
        for piece in &mut self.pieces {
            let taken = left.min(piece.len() as u64);
            piece.truncate(usize::try_from(taken).unwrap_or(0));
            left -= taken;
        }
        self.pieces.retain(|piece| !piece.is_empty());
        self.ending = ending;
    }
}
