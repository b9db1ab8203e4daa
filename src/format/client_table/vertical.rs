//! Vertical form: `*** 1. row ***`, then one `name: value` a line, names right-aligned so that all colons stand in one column.

use std::collections::VecDeque;

use super::super::lookahead::Lookahead;
use super::{Item, Row, cell, column, is_row_count};

/// `*************************** 1. row ***************************`
pub(super) fn is_row(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"****") else { return false };
    let rest = rest.trim_ascii_start();
    let inner: Vec<u8> = rest.iter().copied().skip_while(|&b| b == b'*').take_while(|&b| b != b'*').collect();
    line.ends_with(b"****") && inner.ends_with(b". row ")
}

/// Reads one row; its columns first if they differ from those of the row before.
pub(super) fn read(lines: &mut Lookahead<'_>, known: &mut Vec<String>, queue: &mut VecDeque<Item>) {
    let Some((line, _)) = lines.next() else { return };
    let mut names: Vec<String> = Vec::new();
    let mut values: Vec<Vec<u8>> = Vec::new();
    let mut colon = None;
    while let Some((_, text)) = lines.next_if(|line| !is_row(line)) {
        match field(&text, colon) {
            Some((at, name, value)) => {
                colon = Some(at);
                names.push(name);
                values.push(value);
            }
            None => {
                if let Some(last) = values.last_mut() {
                    last.push(b'\n');
                    last.extend_from_slice(&text);
                }
            }
        }
    }
    if let Some(last) = values.last_mut() {
        strip_talk(last);
    }
    if names != *known {
        queue.push_back(Item::Columns(names.clone()));
        *known = names;
    }
    queue.push_back(Item::Row(Row { line, cells: values.iter().map(|value| cell(value)).collect() }));
}

/// The field that a line begins, if its colon stands where those of the row stand.
fn field(line: &[u8], colon: Option<usize>) -> Option<(usize, String, Vec<u8>)> {
    let at = match colon {
        Some(at) => at,
        None => line
            .windows(2)
            .position(|two| two == b": ")
            .or_else(|| line.len().checked_sub(1).filter(|_| line.ends_with(b":")))?,
    };
    let name = line.get(..at)?.trim_ascii();
    // A line of a text may have a colon there too; names of columns are words or calls such as `sum(timer_wait)`.
    let is_name =
        !name.is_empty() && line.get(at - 1).is_some_and(|b| !b.is_ascii_whitespace()) && !name.contains(&b'"');
    let rest = line.get(at..)?.strip_prefix(b":")?;
    let value = if rest.is_empty() { rest } else { rest.strip_prefix(b" ")? };
    is_name.then(|| (at, column(name), value.to_vec()))
}

/// Takes `1 row in set` and the blank line before it off the last value.
fn strip_talk(value: &mut Vec<u8>) {
    while let Some(at) = value.iter().rposition(|&b| b == b'\n') {
        let last = value.get(at + 1..).unwrap_or(&[]);
        if !(last.is_empty() || is_row_count(last) || last == b"Bye") {
            break;
        }
        value.truncate(at);
    }
}
