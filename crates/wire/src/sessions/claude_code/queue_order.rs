//! Where the prompts of the queue stand among the other records of a log.

use std::collections::HashMap;

use crate::sessions::claude_code::links::Links;
use crate::sessions::claude_code::log::Log;
use crate::sessions::claude_code::record::Kind;

/// How far behind a prompt its place among the records is looked for by their times.
const NEAR: usize = 64;

/// Puts the prompts of a log into an order of its records, each behind the newest record that was there when the model got it.
pub(super) fn weave(log: &Log, links: &Links, order: &mut Vec<usize>) {
    let mut anchored: HashMap<usize, Vec<usize>> = HashMap::new();
    let is_anchor = |index: usize| log.records[index].can_end() && links.is_main(log, index);
    let mut before = None;
    for (index, record) in log.records.iter().enumerate() {
        if is_anchor(index) {
            before = Some(index);
        }
        let Kind::Queued(prompt) = &record.kind else { continue };
        let mut anchor = before;
        if !prompt.is_waiting {
            // Lines are not written in the order of their times: what the model answered before comes first.
            let behind = log.records.iter().enumerate().skip(index + 1).take(NEAR);
            let behind = behind.filter(|(index, _)| is_anchor(*index));
            let earlier = behind.take_while(|(_, other)| other.at.is_some() && other.at <= record.at);
            anchor = earlier.last().map(|(index, _)| index).or(anchor);
        }
        let Some(anchor) = anchor else { continue };
        if log.records[anchor].session == record.session {
            anchored.entry(anchor).or_default().push(index);
        }
    }
    if anchored.is_empty() {
        return;
    }
    if has_open_calls(log, order)
        && let Some(last) = order.last()
    {
        anchored.remove(last);
    }
    let woven = order.iter().flat_map(|index| {
        let behind = anchored.remove(index).unwrap_or_default();
        std::iter::once(*index).chain(behind)
    });
    *order = woven.collect();
}

/// Whether the conversation ends in calls that wait for their results: nothing may stand behind them.
fn has_open_calls(log: &Log, order: &[usize]) -> bool {
    let spoken = order.iter().rev().find_map(|index| log.records[*index].spoken());
    spoken.is_some_and(|spoken| !spoken.calls.is_empty())
}
