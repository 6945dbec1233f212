//! Conversations with lines about them that are true and lines that are forged. They are in `cases.txt`.
//!
//! A case begins with `# title`. `>` is the person, `<` the model, `!` a tool. Then `## Title` is the section of the lines below it, `+` a
//! line that must stay, and `-` a line that must go.

use super::*;

struct Case<'a> {
    title: &'a str,
    record: SpokenRecord,
    lines: Vec<(bool, bool, &'a str)>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    let mut is_under_title = false;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            is_under_title = false;
            cases.push(Case {
                title,
                record: SpokenRecord::default(),
                lines: Vec::new(),
            });
            continue;
        }
        let case = cases.last_mut().expect("a case begins with its title");
        let (mark, rest) = line.split_once(' ').expect("a mark and a text");
        match mark {
            ">" => case.record.hear_person(rest),
            "<" => case.record.hear_model(rest),
            "!" => {}
            "##" => is_under_title = titles_person(rest),
            "+" | "-" => case.lines.push((mark == "+", is_under_title, rest)),
            _ => panic!("{line}"),
        }
    }
    cases
}

/// How many lines of one label come out as they should, with those that do not.
fn judged(text: &str, is_true: bool) -> (usize, Vec<String>) {
    let (mut right, mut wrong) = (0, Vec::new());
    for case in cases(text) {
        for (label, is_under_title, line) in case.lines.iter().filter(|(label, ..)| *label == is_true) {
            let claims = attributed_claims(line, *is_under_title);
            let stays = claims.iter().all(|claim| case.record.supports(claim));
            match stays == *label {
                true => right += 1,
                false => wrong.push(format!("{}: {line} ({} claims)", case.title, claims.len())),
            }
        }
    }
    (right, wrong)
}

#[test]
fn forged_lines_go_and_true_ones_stay() {
    let (gone, stayed) = judged(include_str!("cases.txt"), false);
    let (kept, lost) = judged(include_str!("cases.txt"), true);
    // Who has what is not told as said or wanted.
    assert_eq!(stayed, ["loose words: - The user has a budget of 20 days (0 claims)"]);
    assert_eq!(lost, Vec::<String>::new());
    assert!(gone >= 53 && kept >= 46, "{gone} {kept}");
}
