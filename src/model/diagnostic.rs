//! What DTrace said of itself while it traced: drops, probe errors, and the rest.
//!
//! DTrace tells drops once a buffer check, so they are summed up; they become notes when everything is read.

use super::{Notes, Severity};

/// How many different other messages are kept.
const OTHERS: usize = 20;

/// The sums.
#[derive(Clone, Debug, Default)]
pub(super) struct Diagnostics {
    sums: Vec<(What, String, u128)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Drop,
    Error,
    Failure,
    Other,
}

impl Diagnostics {
    /// Takes one message, without its `dtrace: `.
    pub(super) fn add(&mut self, text: &str) {
        let text = without_tag(text.trim());
        if is_chatter(text) {
            return;
        }
        if let Some((number, what)) = dropped(text) {
            return self.count(What::Drop, what, number);
        }
        if let Some(fault) = fault(text) {
            return self.count(What::Error, fault.to_owned(), 1);
        }
        let failed = ["processing aborted", "failed to"].iter().any(|start| text.starts_with(start));
        let what = if failed { What::Failure } else { What::Other };
        if self.sums.iter().filter(|sum| sum.0 == what).count() < OTHERS {
            self.count(what, text.to_owned(), 1);
        }
    }

    /// Says the sums.
    pub(super) fn tell(&mut self, notes: &mut Notes) {
        for (what, text, sum) in std::mem::take(&mut self.sums) {
            match what {
                What::Drop => notes.loss(format!("{sum} {} (data lost)", singular(&text, sum)), None),
                What::Error => {
                    let plural = if sum == 1 { "" } else { "s" };
                    notes.loss(format!("{sum} probe error{plural}: {text}"), None);
                }
                What::Failure => notes.loss(format!("dtrace: {text}"), None),
                What::Other => {
                    let count = u64::try_from(sum).unwrap_or(u64::MAX);
                    notes.add(Severity::Info, format!("dtrace: {text}"), count, 0, None);
                }
            }
        }
    }

    fn count(&mut self, what: What, text: String, number: u128) {
        match self.sums.iter_mut().find(|sum| sum.0 == what && sum.1 == text) {
            Some(sum) => sum.2 = sum.2.saturating_add(number),
            None => self.sums.push((what, text, number)),
        }
    }
}

/// Takes off `[DTRACEDROP_PRINCIPAL] `, which -x droptags and errtags add.
fn without_tag(text: &str) -> &str {
    match text.strip_prefix("[DTRACE").and_then(|rest| rest.split_once("] ")) {
        Some((_, rest)) => rest,
        None => text,
    }
}

/// What only says that the trace has begun.
fn is_chatter(text: &str) -> bool {
    (text.starts_with("description '") || text.starts_with("script '")) && text.contains(" matched ")
}

/// The words of losses in the plural, as DTrace has them behind the number.
const LOSSES: [&str; 5] =
    ["drops", "failed speculations", "overflows", "errors in ERROR probe enabling", "rinsing list"];

/// `12 drops on CPU 0`: the number, and the words in the plural.
fn dropped(text: &str) -> Option<(u128, String)> {
    let (number, words) = text.split_once(' ')?;
    let number: u128 = number.parse().ok()?;
    let mut words = words.to_owned();
    if number == 1 {
        for (one, many) in [
            ("drop", "drops"),
            ("failed speculation", "failed speculations"),
            ("overflow", "overflows"),
            ("error", "errors"),
        ] {
            if words.ends_with(one) || words.contains(&format!("{one} ")) {
                words = words.replacen(one, many, 1);
                break;
            }
        }
        words = words.replacen("(available buffer ", "(available buffers ", 1);
    }
    // The kernel's counter can run below zero: libdtrace prints it unsigned then.
    let number = if number >= 1 << 63 { 0 } else { number };
    LOSSES.iter().any(|loss| words.contains(loss)).then_some((number, words))
}

/// The words for a sum.
fn singular(words: &str, sum: u128) -> String {
    if sum == 1 { words.replacen("drops", "drop", 1) } else { words.to_owned() }
}

/// The fault that a probe error names: `error on enabled probe ID 3 (ID 77: profile:::profile-97): invalid address (0x10) in action #1`.
fn fault(text: &str) -> Option<&str> {
    if !text.starts_with("error on enabled probe") && !text.starts_with("error in ") {
        return None;
    }
    let text = text.rsplit_once("): ").map_or(text, |(_, fault)| fault);
    let end = [" (0x", " in action", " in predicate", " at "].iter().filter_map(|mark| text.find(mark)).min();
    Some(text.get(..end.unwrap_or(text.len())).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Vec<String> {
        let (mut all, mut notes) = (Diagnostics::default(), Notes::default());
        lines.iter().for_each(|line| all.add(line));
        all.tell(&mut notes);
        notes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn drops_are_summed_by_kind_and_cpu() {
        let lines = [
            "1 drop on CPU 0",
            "36 drops on CPU 0",
            "[DTRACEDROP_PRINCIPAL] 5 drops on CPU 1",
            "1 dynamic variable drop",
        ];
        let said =
            ["37 drops on CPU 0 (data lost)", "5 drops on CPU 1 (data lost)", "1 dynamic variable drop (data lost)"];
        assert_eq!(told(&lines), said);
    }

    #[test]
    fn faults_are_counted() {
        let lines = [
            "error on enabled probe ID 3 (ID 77: profile:::profile-97): invalid address (0x10) in action #1",
            "error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): invalid address (0x0) at BPF pc 169",
        ];
        assert_eq!(told(&lines), ["2 probe errors: invalid address"]);
    }

    #[test]
    fn chatter_is_left_out() {
        assert_eq!(
            told(&["script 'a.d' matched 2 probes", "buffer size lowered to 2m"]),
            ["dtrace: buffer size lowered to 2m"]
        );
    }
}
