//! The text of a default aggregation row: keys and value, one after another without separators, told apart by their widths.
//!
//! An integer is a blank and 16, 8, 5 or 3 columns, right-aligned (8, 4, 2, 1 bytes); a string is two blanks and at least 50 columns,
//! left-aligned, which may hold line ends; the value is a blank and 16 columns. Source: `dt_print_datum`; widths seen in DTrace 2.0.7.

use crate::format::number;

/// Columns of a padded string with its two blanks.
const STRING: usize = 52;
/// Columns of an 8-byte number, and so of every value.
pub(super) const VALUE: usize = 17;
/// How many data a row may have, and how many ways are tried to part it.
const MAX_DATA: usize = 16;
const MAX_STEPS: u32 = 500;

/// One datum of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datum<'a> {
    /// A string, without padding.
    Text(&'a [u8]),
    /// A number and the columns it takes.
    Number(i128, usize),
}

impl Datum<'_> {
    /// The number, if it is as wide as a value.
    pub(super) fn value(self) -> Option<i128> {
        match self {
            Datum::Number(value, width) if width >= VALUE => Some(value),
            _ => None,
        }
    }
}

/// The data of a text that consists of nothing else; `None` if it cannot be parted.
pub(super) fn split(text: &[u8]) -> Option<Vec<Datum<'_>>> {
    split_with(text, false)
}

/// The same for a text that is known to be whole, so that a long string with line ends may be its end.
pub(super) fn split_whole(text: &[u8]) -> Option<Vec<Datum<'_>>> {
    split_with(text, true)
}

fn split_with(text: &[u8], whole: bool) -> Option<Vec<Datum<'_>>> {
    let mut data = Vec::new();
    let mut steps = 0;
    split_from(text, whole, &mut data, &mut steps).then_some(data).filter(|data| !data.is_empty())
}

/// Whether the text may still go on: its last string is longer than its columns, so that it was not padded.
pub(super) fn is_open(text: &[u8]) -> bool {
    match split(text).as_deref() {
        None => true,
        Some([.., Datum::Text(last)]) => last.len() > STRING.saturating_sub(2),
        Some(_) => false,
    }
}

fn split_from<'a>(rest: &'a [u8], whole: bool, data: &mut Vec<Datum<'a>>, steps: &mut u32) -> bool {
    if rest.is_empty() {
        return true;
    }
    *steps = steps.saturating_add(1);
    if data.len() >= MAX_DATA || *steps > MAX_STEPS {
        return false;
    }
    let kept = data.len();
    let first = leading_number(rest).map(|(value, width)| (Datum::Number(value, width), width));
    for (datum, width) in first.into_iter().chain(short_string(rest)) {
        data.push(datum);
        if split_from(rest.get(width..).unwrap_or(&[]), whole, data, steps) {
            return true;
        }
        data.truncate(kept);
    }
    long_string(rest, whole, data)
}

/// A number at the beginning, with one of the widths that data have.
fn leading_number(rest: &[u8]) -> Option<(i128, usize)> {
    let start = rest.iter().position(|&byte| byte != b' ')?;
    let length = rest.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let width = start.saturating_add(length);
    let next = rest.get(width);
    if start == 0 || length == 0 || next.is_some_and(|&byte| byte != b' ') || !is_width(width, length) {
        return None;
    }
    Some((number::parse(rest.get(start..width)?)?, width))
}

/// Widths of numbers; a number that is wider than its columns pushes the rest right.
fn is_width(width: usize, digits: usize) -> bool {
    matches!(width, VALUE | 9 | 6 | 4) || (width == digits.saturating_add(1) && digits > 8)
}

/// A string that fits into its columns.
fn short_string(rest: &[u8]) -> Option<(Datum<'_>, usize)> {
    let text = rest.get(2..STRING).filter(|_| rest.starts_with(b"  "))?;
    let next = rest.get(STRING);
    next.is_none_or(|&byte| byte == b' ').then(|| (Datum::Text(unpadded(text)), STRING))
}

/// `text` without the blanks at its end; line ends belong to the string.
fn unpadded(text: &[u8]) -> &[u8] {
    let length = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last.saturating_add(1));
    text.get(..length).unwrap_or(text)
}

/// A string longer than its columns is not padded: it ends where the data at the end of the text begin.
fn long_string<'a>(rest: &'a [u8], whole: bool, data: &mut Vec<Datum<'a>>) -> bool {
    let kept = data.len();
    let Some(text) = rest.strip_prefix(b"  ").filter(|text| text.len() > STRING.saturating_sub(2)) else {
        return false;
    };
    let mut end = text.len();
    let mut tail = Vec::new();
    while tail.len() < MAX_DATA {
        let head = text.get(..end).unwrap_or(&[]);
        let Some((datum, width)) = trailing_number(head).or_else(|| trailing_string(head)) else { break };
        if end.saturating_sub(width) < STRING.saturating_sub(2) {
            break;
        }
        end = end.saturating_sub(width);
        tail.push(datum);
    }
    let text = text.get(..end).unwrap_or(&[]);
    if !whole && tail.first().is_none_or(|last| last.value().is_none()) && text.contains(&b'\n') {
        return false;
    }
    data.truncate(kept);
    data.push(Datum::Text(text));
    data.extend(tail.into_iter().rev());
    true
}

/// A number at the end whose columns are filled with blanks; only the widths of 8 and 4 bytes, since text may end in a number too.
fn trailing_number(head: &[u8]) -> Option<(Datum<'_>, usize)> {
    let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let blanks = head.iter().rev().skip(digits).take_while(|&&byte| byte == b' ').count();
    if digits == 0 || blanks == 0 {
        return None;
    }
    let width = match (digits, digits.saturating_add(blanks)) {
        (17.., _) => digits.saturating_add(1),
        (_, VALUE..) => VALUE,
        (_, 9) => 9,
        _ => return None,
    };
    let value = number::parse(head.get(head.len().checked_sub(digits)?..)?)?;
    Some((Datum::Number(value, width), width))
}

/// A padded string at the end.
fn trailing_string(head: &[u8]) -> Option<(Datum<'_>, usize)> {
    let rest = head.get(head.len().checked_sub(STRING)?..)?;
    let padded = rest.starts_with(b"  ") && rest.ends_with(b" ") && rest.get(2).is_some_and(|&byte| byte != b' ');
    padded.then(|| (Datum::Text(unpadded(rest.get(2..).unwrap_or(&[]))), STRING))
}

/// Whether the text ends in columns that may be a value.
pub(super) fn ends_in_value(text: &[u8]) -> bool {
    text.last().is_some_and(u8::is_ascii_digit)
        && trailing_number(text).is_some_and(|(datum, _)| datum.value().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let Some(data) = split(text.as_bytes()) else { return "none".into() };
        let one = |datum: &Datum<'_>| match datum {
            Datum::Text(text) => format!("<{}>", String::from_utf8_lossy(text)),
            Datum::Number(value, width) => format!("{value}/{width}"),
        };
        data.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rows_as_dtrace_prints_them() {
        // printf "  %-50s %16d\n"
        assert_eq!(shown(&format!("  {:<50} {:>16}", "SELECT 1", 7)), "<SELECT 1> 7/17");
        assert_eq!(shown(&format!("  {:<50}", "mysqld")), "<mysqld>");
        assert_eq!(shown(&" ".repeat(52)), "<>");
        assert_eq!(shown(&format!(" {:>16}  {:<50} {:>16}", 3, "COMMIT", 81)), "3/17 <COMMIT> 81/17");
        assert_eq!(shown(&format!(" {:>16} {:>8} {:>16}", 14, 18047, 41)), "14/17 18047/9 41/17");
        assert_eq!(shown(&format!("  {:<50} {:>8}", "one_connection", 528)), "<one_connection> 528/9");
        assert_eq!(shown(&format!("  {:<50}  {:<50} {:>16}", "a", "b", -5)), "<a> <b> -5/17");
        assert_eq!(shown(&format!(" {}", i64::MIN)), format!("{}/21", i64::MIN));
    }

    #[test]
    fn long_strings_end_before_the_value() {
        let long = "SELECT id FROM orders WHERE customer_id = 42 ORDER BY placed DESC LIMIT 5";
        assert_eq!(shown(&format!("  {long} {:>16}", 9)), format!("<{long}> 9/17"));
        assert_eq!(shown(&format!("  {long} {:>8} {:>16}", 12, 9)), format!("<{long}> 12/9 9/17"));
        assert_eq!(shown(&format!("  {long}  {:<50} {:>16}", "app", 9)), format!("<{long}> <app> 9/17"));
    }

    #[test]
    fn strings_may_hold_line_ends() {
        let text = "select 'looks like a dump'\n                3\n  mariadbd`foo+0x10\n";
        assert_eq!(shown(&format!("  {text} {:>16}", 306507)), format!("<{text}> 306507/17"));
        // Not yet 50 columns: the number belongs to the text.
        assert_eq!(shown("  select 'looks like a dump'\n                3"), "none");
    }

    #[test]
    fn odd_texts_end_quickly() {
        for text in ["   1".repeat(5000), " ".repeat(20000), "  x".repeat(5000), "-".repeat(300)] {
            split(text.as_bytes());
        }
    }
}
