//! One compaction: what it dropped, what stands there now, and the way back.

use mainstay_store::Checkpoint;
use mainstay_store::CheckpointId;
use mainstay_store::Dropped;
use mainstay_store::Loss;
use serde::Serialize;

use crate::pages::address::DocumentKind;
use crate::pages::address::Link;
use crate::pages::address::SecretDisplay;
use crate::pages::figures;
use crate::pages::markup::HtmlPage;
use crate::pages::markup::Liveness;
use crate::pages::markup::Markup;
use crate::pages::overview;
use crate::pages::rows;
use crate::pages::rows::CompactionRow;
use crate::pages::sight::PageInputs;
use crate::pages::standing;
use crate::pages::standing::Stood;
use crate::pages::trouble::PageError;
use crate::recall::recall_store::RecallStore;

/// Dropped texts on a page: more than anybody reads, few enough to open at once.
const MOST: usize = 100;
/// Letters of a telling line: two lines of a wide page.
const MOST_OF_A_LINE: usize = 240;

/// Everything on the page; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CheckpointContent {
    #[serde(flatten)]
    row: CompactionRow,
    engine_version: String,
    prompts: Vec<(String, String)>,
    stands: Option<Stood>,
    losses: Vec<Lost>,
    next_skip: Option<usize>,
    restore: String,
    #[serde(skip)]
    skip: usize,
}

/// One dropped text.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Lost {
    reference: String,
    author: &'static str,
    tool: Option<String>,
    message: usize,
    action: String,
    tokens: u64,
    weight: u32,
    telling: String,
}

impl CheckpointContent {
    pub(super) fn gather(sight: &PageInputs, asked: &str, skip: usize) -> Result<Self, PageError> {
        let desk = sight.open(SecretDisplay::Clean)?;
        let id = desk.store.find_checkpoint(asked)?;
        let Checkpoint {
            row,
            prompts,
            engine_version,
            ..
        } = desk.store.load(&id)?;
        let clean = |text: &str| desk.clean(text);
        let stands = standing::standing(&row.form, &desk.store.original(&id)?, &desk.store.result(&id)?, &clean);
        let (losses, next_skip) = losses(&desk, &id, skip)?;
        Ok(Self {
            restore: restoring(&id, &sight.archive()?.store.to_string_lossy()),
            row: CompactionRow::new(row),
            engine_version,
            prompts,
            stands,
            losses,
            next_skip,
            skip,
        })
    }

    pub(super) fn page(&self, up: &str, now: i64) -> HtmlPage {
        let mut body = Markup::default();
        self.draw_figures(&mut body, up, now);
        self.draw_losses(&mut body, up);
        self.draw_standing(&mut body, up);
        self.draw_restoring(&mut body, up);
        HtmlPage {
            title: format!("Checkpoint {}", self.row.id),
            trail: vec![overview::trail_to(up, &self.row.conversation)],
            query: String::new(),
            liveness: Liveness::Still,
            body,
        }
    }

    fn draw_figures(&self, page: &mut Markup, up: &str, now: i64) {
        let row = &self.row;
        page.own("<dl class=\"properties card\">");
        page.property("Conversation", |page| {
            page.link(&Link::conversation(up, &row.conversation), &row.conversation)
        });
        page.property("When", |page| {
            let stamp = row.created.replace('T', " ").replace('Z', " UTC");
            page.text(&figures::ago(row.stamp, now));
            page.own(" <span class=\"sub\">").text(&stamp).own("</span>")
        });
        page.property("Model", |page| page.name(row.model.as_deref().unwrap_or("not named")));
        page.property("How", |page| page.name(&row.mode));
        page.property("Why", |page| page.name(&row.trigger));
        page.property("Tokens of the prompt", |page| {
            let [before, after] = [row.tokens_before, row.tokens_after].map(figures::number);
            page.text(&format!("{before} → {after}"))
                .own(" <span class=\"sub\">")
                .text(&row.change())
                .own("</span>")
        });
        page.property("Messages", |page| page.text(&rows::messages(row)));
        page.property("Took", |page| page.text(&figures::span(row.duration_ms)));
        if row.summary_tokens > 0 {
            page.property("Summary by a model", |page| {
                page.text(&figures::number(row.summary_tokens)).own(" tokens")
            });
        }
        page.property("Version", |page| page.name(&self.engine_version));
        page.own("</dl>");
    }

    fn draw_losses(&self, page: &mut Markup, up: &str) {
        page.own("<h2>What was dropped</h2><p class=\"sub\">");
        page.text(&figures::number(self.row.dropped as u64));
        page.own(" texts, what looks most like something that is needed again first. Secrets are hidden here.</p>");
        if self.losses.is_empty() {
            page.own("<p class=\"note\">Nothing more.</p>");
            return;
        }
        let heads = [
            "Text",
            "Whose",
            ">Message",
            "What became of it",
            ">Tokens",
            "The line that says most",
        ];
        page.own("<div class=\"wide\">").table("losses", &heads);
        for lost in &self.losses {
            page.own("<tr>").cell("Text", |cell| {
                let link = Link::passage(up, &lost.reference);
                cell.own("<code>").link(&link, &lost.reference).own("</code>")
            });
            page.cell("Whose", |cell| {
                cell.own("<span>").text(lost.author);
                if let Some(tool) = &lost.tool {
                    cell.own(" ").name(tool);
                }
                cell.own("</span>")
            });
            page.figure("Message", &figures::number(lost.message as u64));
            page.cell("What became of it", |cell| cell.name(&lost.action));
            page.figure("Tokens", &figures::number(lost.tokens));
            page.own("<td class=\"telling\" data-label=\"Says\">")
                .name(&lost.telling)
                .own("</td></tr>");
        }
        page.own("</tbody></table></div>");
        let own = Link::checkpoint(up, &self.row.id);
        if let Some(skip) = self.next_skip {
            let shown = figures::number(skip as u64);
            page.own("<p>").text(&shown).own(" shown so far · ");
            page.link(&own.with("skip", &skip.to_string()), "the next ones")
                .own("</p>");
        }
    }

    fn draw_standing(&self, page: &mut Markup, up: &str) {
        page.own("<h2>What stands there now</h2>");
        let Some(stood) = &self.stands else {
            page.own("<p class=\"note\">What came in is no request, so that it cannot be compared message by message. Both documents are below.</p>");
            return;
        };
        let figure = |count: usize| figures::number(count as u64);
        page.own("<p class=\"sub\">Behind ")
            .text(&figure(stood.unchanged_before));
        page.own(" messages and before ").text(&figure(stood.unchanged_after));
        page.own(" that are byte for byte as they came. Secrets are hidden here.</p>");
        for message in &stood.messages {
            page.own("<details class=\"stands\"");
            // One block is what one wants to see; a pruned history is to be opened where it interests.
            page.own(if stood.messages.len() == 1 { " open>" } else { ">" });
            page.own("<summary>")
                .text(message.role)
                .own(" · ")
                .text(&figures::opening(&message.text, 90));
            page.own("</summary>").lines(&message.text).own("</details>");
        }
        if stood.left_out > 0 {
            page.own("<p class=\"sub\">and ")
                .text(&figure(stood.left_out))
                .own(" more, in ");
            let link = Link::document(up, &self.row.id, DocumentKind::Result);
            page.link(&link, "what went out")
                .own(", which holds everything unredacted</p>");
        }
    }

    fn draw_restoring(&self, page: &mut Markup, up: &str) {
        page.own("<h2>The way back</h2><div class=\"card\"><p>The exact body that came in, ");
        page.text(&figures::bytes(self.row.original_bytes));
        page.own(". <b>It holds everything unredacted, secrets included.</b></p><p>");
        page.button(
            &Link::document(up, &self.row.id, DocumentKind::Original),
            "Download the original",
        )
        .own(" ");
        page.button(
            &Link::document(up, &self.row.id, DocumentKind::Result),
            "Download what went out",
        );
        page.own("</p><p>The same at a prompt:</p>")
            .lines(&self.restore)
            .own("</div>");
    }
}

fn losses(desk: &RecallStore, id: &CheckpointId, skip: usize) -> Result<(Vec<Lost>, Option<usize>), PageError> {
    let clean = |dropped: Dropped| Dropped {
        text: desk.clean(&dropped.text),
        ..dropped
    };
    let dropped: Vec<Dropped> = desk.store.dropped(id)?.into_iter().map(clean).collect();
    let ranked = Loss::ranked(&dropped);
    let next = Some(skip.saturating_add(MOST)).filter(|next| *next < ranked.len());
    let shown = ranked.into_iter().skip(skip).take(MOST);
    let lost = shown.map(|loss| Lost {
        reference: loss.reference,
        author: loss.author.name(),
        tool: loss.tool,
        message: loss.message,
        action: loss.action,
        tokens: loss.tokens,
        weight: loss.weight,
        telling: figures::opening(&loss.telling, MOST_OF_A_LINE),
    });
    Ok((lost.collect(), next))
}

/// The command that gives the original back.
fn restoring(id: &CheckpointId, store: &str) -> String {
    // In a shell's quotes nothing but the quote itself means anything.
    let quoted = store.replace('\'', "'\\''");
    format!("mainstay restore {id} --store '{quoted}' -o original.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_engine::transcript::Timestamp;
    use mainstay_store::NewCheckpoint;
    use mainstay_store::Store;

    #[test]
    fn a_path_cannot_leave_its_quotes() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("store.db")).unwrap();
        let id = store.append(&NewCheckpoint::new("a", Timestamp(1))).unwrap();
        let line = restoring(&id, "/a b/'; rm -rf '.db");
        assert_eq!(
            line,
            format!("mainstay restore {id} --store '/a b/'\\''; rm -rf '\\''.db' -o original.json")
        );
    }
}
