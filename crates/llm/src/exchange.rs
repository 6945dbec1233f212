//! What comes back over HTTP: the head of an answer, and a body that is taken in piece by piece.
//!
//! Live answers and recorded ones go through the same intake. It keeps no more of a body than it needs, and no body may be
//! longer than the endpoint's limit.

use std::time::Duration;
use std::time::SystemTime;

use mainstay_wire::reading::WireForm;

use crate::answer::Answer;
use crate::complaint;
use crate::complaint::Complaint;
use crate::error::Cause;
use crate::error::Trouble;
use crate::events::Events;
use crate::forms;
use crate::forms::Reader;

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// The type of the body, as it was sent; empty when none was.
    pub content_type: String,
    /// How the body is compressed, though nobody asked for it.
    pub encoding: Option<String>,
    /// How long to wait before asking again.
    pub retry_after: Option<Duration>,
    /// Whether asking again helps.
    pub should_retry: Option<bool>,
    /// Where the answer is said to be instead.
    pub location: Option<String>,
}

/// Whether more of a body is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Yes.
    More,
    /// What follows does not matter.
    NoMore,
}

/// Takes in a body.
#[derive(Debug)]
pub struct Intake {
    head: Head,
    form: WireForm,
    most: usize,
    taken: usize,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Stream(Events, Reader),
    Whole(Vec<u8>),
    Refused(Vec<u8>),
    Foreign(Vec<u8>),
}

/// How much of a refusal is read: errors have a few hundred bytes, pages that gateways send instead some kilobytes.
const MOST_REFUSAL: usize = 64 << 10;

impl Intake {
    /// An intake for the body below this head, with at most so many bytes.
    pub fn new(form: WireForm, head: Head, most: usize) -> Self {
        let kind = head.content_type.split(';').next().unwrap_or("").trim().to_lowercase();
        let way = match kind.as_str() {
            _ if !(200..300).contains(&head.status) => Way::Refused(Vec::new()),
            _ if head.encoding.is_some() => Way::Foreign(Vec::new()),
            "text/event-stream" => Way::Stream(Events::default(), Reader::new(form)),
            // Small servers send no type at all; what they send is JSON.
            "" | "application/json" => Way::Whole(Vec::new()),
            other if other.ends_with("+json") => Way::Whole(Vec::new()),
            _ => Way::Foreign(Vec::new()),
        };
        Self {
            head,
            form,
            most,
            taken: 0,
            way,
        }
    }

    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Wanted, Trouble> {
        self.taken = self.taken.saturating_add(bytes.len());
        match &mut self.way {
            Way::Refused(body) | Way::Foreign(body) => {
                let room = MOST_REFUSAL.min(self.most).saturating_sub(body.len());
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
                return Ok(if bytes.len() < room {
                    Wanted::More
                } else {
                    Wanted::NoMore
                });
            }
            Way::Whole(body) => {
                if self.taken <= self.most {
                    body.extend_from_slice(bytes);
                }
            }
            Way::Stream(events, reader) => {
                for event in events.push(bytes) {
                    reader.take(&event)?;
                    if reader.is_closed() {
                        return Ok(Wanted::NoMore);
                    }
                }
            }
        }
        if self.taken > self.most {
            let trouble = Trouble::new(Cause::TooLarge, format!("more than {} bytes", self.most));
            return Err(trouble.costing(self.usage()));
        }
        Ok(Wanted::More)
    }

    /// The answer, now that the body is at its end.
    pub fn finish(self) -> Result<Answer, Trouble> {
        match self.way {
            Way::Stream(events, mut reader) => {
                if let Some(event) = events.finish() {
                    // Half an event is no news where the answer is whole, and a cut where it is not.
                    let whole = reader.is_whole();
                    reader
                        .take(&event)
                        .or_else(|trouble| if whole { Ok(()) } else { Err(trouble) })?;
                }
                reader.finish()
            }
            Way::Whole(body) => forms::read_whole(self.form, &String::from_utf8_lossy(&body)),
            Way::Refused(body) => Err(refusal(&self.head, &String::from_utf8_lossy(&body))),
            Way::Foreign(body) => Err(foreign(&self.head, &String::from_utf8_lossy(&body))),
        }
    }

    /// The answer, now that the body broke off with this trouble: what was whole before stays whole.
    pub fn broken(self, trouble: Trouble) -> Result<Answer, Trouble> {
        let usage = self.usage();
        match self.way {
            Way::Stream(_, reader) if reader.is_whole() => reader.finish(),
            Way::Refused(_) => self.finish(),
            _ => Err(trouble.costing(usage)),
        }
    }

    fn usage(&self) -> Option<crate::answer::Usage> {
        match &self.way {
            Way::Stream(_, reader) => reader.usage(),
            _ => None,
        }
    }
}

fn refusal(head: &Head, body: &str) -> Trouble {
    if let Some(location) = head.location.as_deref().filter(|_| (300..400).contains(&head.status)) {
        let place = location.split(['?', '#']).next().unwrap_or("");
        return Trouble::new(
            Cause::BadRequest(head.status),
            format!("the address has moved to {place}, and keys are not sent after it; configure the new address"),
        );
    }
    Complaint::read(body).trouble(Some(head.status))
}

fn foreign(head: &Head, body: &str) -> Trouble {
    if let Some(encoding) = &head.encoding {
        return Trouble::malformed(format!(
            "the answer is compressed ({encoding}), which was not asked for"
        ));
    }
    let kind = head.content_type.as_str();
    Trouble::malformed(format!("it has the type {kind} and begins: {}", complaint::words(body)))
}

/// How long `retry-after-ms` or `retry-after` asks to wait. A date counts from the server's own clock where it says what
/// that shows.
pub fn wait_asked_for(milliseconds: Option<&str>, after: Option<&str>, date: Option<&str>) -> Option<Duration> {
    let seconds = |text: &str, scale: f64| {
        let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite())?;
        Duration::try_from_secs_f64((value * scale).max(0.0)).ok()
    };
    if let Some(wait) = milliseconds.and_then(|text| seconds(text, 0.001)) {
        return Some(wait);
    }
    let after = after?;
    if let Some(wait) = seconds(after, 1.0) {
        return Some(wait);
    }
    let until = moment(after)?;
    let now = date.and_then(moment).unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or(Duration::ZERO))
}

fn moment(text: &str) -> Option<SystemTime> {
    let zoned = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(SystemTime::from(zoned.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_in_all_spellings() {
        let second = Duration::from_secs(1);
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(wait_asked_for(Some("1500"), Some("9"), None), Some(second * 3 / 2));
        assert_eq!(wait_asked_for(None, Some("7"), None), Some(second * 7));
        assert_eq!(wait_asked_for(None, Some("0.5"), None), Some(second / 2));
        assert_eq!(wait_asked_for(None, Some("-3"), None), Some(Duration::ZERO));
        assert_eq!(
            wait_asked_for(None, Some("Sun, 06 Nov 1994 08:50:07 GMT"), date),
            Some(second * 30)
        );
        assert_eq!(wait_asked_for(None, date, None), Some(Duration::ZERO));
        for odd in ["soon", "", "inf", "NaN", "1e300"] {
            assert_eq!(wait_asked_for(None, Some(odd), None), None, "{odd}");
        }
    }
}
