//! Headings of a dump: what their fields mean.

use crate::model::{Heading, Trace};

const WORDS: [&[u8]; 12] = [
    b"seatrace",
    b"script",
    b"start",
    b"target",
    b"strsize",
    b"record",
    b"aggregation",
    b"end",
    b"pass",
    b"stop",
    b"note",
    b"lost",
];

/// Whether the heading (without `# `) begins with a word of the specification. Between the rows of an aggregation other words may be the
/// text of a key: SQL comments begin with `# ` too.
pub(super) fn is_known(text: &[u8]) -> bool {
    let word = text.split(|&byte| byte == b'\t').next().unwrap_or(text);
    WORDS.contains(&word)
}

/// `# start`: the instant, and the zone as the difference of the local text and it.
pub(super) fn start(nanoseconds: &str, local: &str) -> Heading {
    let start: Option<i64> = nanoseconds.parse().ok();
    let zone = start.and_then(|start| zone(start, local));
    Heading { start, zone, ..Heading::default() }
}

/// Seconds east of UTC, to the minute: the two were taken at nearly the same instant.
fn zone(start: i64, local: &str) -> Option<i32> {
    let local = jiff::civil::DateTime::strptime("%Y %b %d %H:%M:%S", local.trim()).ok()?;
    let local = jiff::tz::TimeZone::UTC.to_timestamp(local).ok()?.as_second();
    let difference = local.checked_sub(start.div_euclid(1_000_000_000))?;
    let minutes = difference.checked_add(30)?.div_euclid(60);
    // The zones of the world lie between -12 and +14 hours; anything else is a broken heading.
    if !(-16 * 60..=16 * 60).contains(&minutes) {
        return None;
    }
    i32::try_from(minutes).ok()?.checked_mul(60)
}

/// Whether the passes are running totals; `None` if the heading does not say.
pub(super) fn is_cumulative(word: &str) -> Option<bool> {
    match word {
        "cumulative" => Some(true),
        "delta" => Some(false),
        _ => None,
    }
}

/// `# lost`: what the script itself counted.
pub(super) fn lost(number: &str, what: &str, trace: &mut Trace) {
    let count = number.parse().unwrap_or(1);
    if count > 0 {
        let what = if what.is_empty() { "records" } else { what };
        trace.losses(format!("lost by the script: {what}"), count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_the_difference() {
        // date -u -d @1796035991: 2026-11-30 10:53:11
        let zone = |local: &str| start("1796035991790984277", local).zone;
        assert_eq!(zone("2026 Nov 30 10:53:11"), Some(0));
        assert_eq!(zone("2026 Nov 30 10:53:12"), Some(0));
        assert_eq!(zone("2026 Nov 30 16:23:11"), Some(5 * 3600 + 1800));
        assert_eq!(zone("2026 Nov 30 03:53:11"), Some(-7 * 3600));
        assert_eq!(zone("2020 Jan  1 00:00:00"), None);
        assert_eq!(zone("nonsense"), None);
    }
}
