//! Answers in an order, and under names, that tell nothing of whose they are.

use std::collections::BTreeMap;

use crate::fixture::Exam;
use crate::fixture::Probe;
use crate::record::Run;
use crate::record::SampleName;
use crate::stats::Generator;

/// An answer to score. Whoever scores gets all of it but the names of its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its name on a sheet.
    pub id: String,
    /// What was asked, and what counts.
    pub probe: Probe,
    /// The answer.
    pub answer: String,
    /// Whose it is: every sample that gave these very words to this question at this checkpoint.
    pub samples: Vec<SampleName>,
}

/// The answers of a run, shuffled by its seed and numbered in that order. The same words at the same checkpoint are one item, so that
/// they get one score, and people read them once.
pub fn items(run: &Run, exam: &Exam) -> Vec<Item> {
    let mut found: BTreeMap<(&str, &str, &str), Vec<SampleName>> = BTreeMap::new();
    for sample in &run.samples {
        if let Some(answer) = &sample.answer {
            let place = (sample.fixture.as_str(), sample.probe.as_str(), answer.as_str());
            found.entry(place).or_default().push(sample.name());
        }
    }
    let mut items: Vec<Item> = found
        .into_iter()
        .filter_map(|((fixture, probe, answer), samples)| {
            let subject = exam.subjects.iter().find(|subject| subject.name() == fixture)?;
            let probe = subject.bank.probes.iter().find(|known| known.id == probe)?;
            Some(Item {
                id: String::new(),
                probe: probe.clone(),
                answer: answer.to_owned(),
                samples,
            })
        })
        .collect();
    Generator::new(run.manifest.seed).shuffle(&mut items);
    let digits = items.len().to_string().len();
    for (index, item) in items.iter_mut().enumerate() {
        item.id = format!("{:0digits$}", index + 1);
    }
    items
}
