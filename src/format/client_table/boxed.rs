//! Boxed form: `+---+` lines around rows of `| cell | cell |`.
//!
//! The client pads by display width and not at all after a line feed in a cell, so borders do not say where cells end. Bars do: those
//! left of the widest column are counted from the left, the others from the right, and what is between is the widest cell,
//! which may hold bars itself.

use std::collections::VecDeque;

use super::super::lookahead::Lookahead;
use super::{Item, Row, cell, column};

/// `+----+---+`
pub(super) fn is_border(line: &[u8]) -> bool {
    line.len() > 2 && line.starts_with(b"+-") && line.iter().all(|b| matches!(b, b'+' | b'-')) && line.ends_with(b"+")
}

/// Reads one table, from its first border to its last.
pub(super) fn read(lines: &mut Lookahead<'_>, is_header: fn(&[String]) -> bool, queue: &mut VecDeque<Item>) {
    let Some((_, border)) = lines.next() else { return };
    let widths: Vec<usize> = border.split(|&b| b == b'+').map(<[u8]>::len).filter(|&width| width > 0).collect();
    let mut first = true;
    while let Some((line, text)) = row(lines, widths.len()) {
        let cells = split(&text, &widths);
        if std::mem::take(&mut first) {
            let names: Vec<String> = cells.iter().map(|text| column(text)).collect();
            let ruled = lines.peek().is_some_and(is_border);
            if is_header(&names) || ruled {
                queue.push_back(Item::Columns(names));
                lines.next_if(is_border);
                continue;
            }
        }
        queue.push_back(Item::Row(Row { line, cells: cells.into_iter().map(|text| cell(&text)).collect() }));
    }
    lines.next_if(is_border);
}

/// The lines of one row, joined; `None` where the table ends.
fn row(lines: &mut Lookahead<'_>, columns: usize) -> Option<(u64, Vec<u8>)> {
    let (line, mut text) = lines.next_if(|line| line.starts_with(b"|"))?;
    let bars = |text: &[u8]| text.windows(3).filter(|three| three == b" | ").count() + 2 > columns;
    while !(text.ends_with(b"|") && bars(&text) && ends_here(lines.peek())) {
        // A cell with a line feed: its row ends at the line that brings the last bar.
        let Some((_, next)) = lines.next_if(|line| !is_border(line)) else { break };
        text.push(b'\n');
        text.extend_from_slice(&next);
    }
    Some((line, text))
}

fn ends_here(next: Option<&[u8]>) -> bool {
    next.is_none_or(|line| line.starts_with(b"|") || is_border(line))
}

fn split(text: &[u8], widths: &[usize]) -> Vec<Vec<u8>> {
    let widest = widths.iter().enumerate().max_by_key(|&(_, width)| width).map_or(0, |(at, _)| at);
    let text = text.strip_prefix(b"|").unwrap_or(text);
    let mut rest = text.strip_suffix(b"|").unwrap_or(text);
    let mut left = Vec::with_capacity(widths.len());
    for _ in 0..widest {
        let at = find(rest, |window| window.position(|three| three == b" | "));
        let (cell, after) = cut(rest, at);
        left.push(trim(cell));
        rest = after;
    }
    let mut right = Vec::new();
    for _ in widest + 1..widths.len() {
        let at = find(rest, |window| window.rposition(|three| three == b" | "));
        let (before, cell) = cut(rest, at);
        right.push(trim(cell));
        rest = before;
    }
    left.push(trim(rest));
    left.extend(right.into_iter().rev());
    left
}

fn find(text: &[u8], pick: impl Fn(&mut std::slice::Windows<'_, u8>) -> Option<usize>) -> Option<usize> {
    pick(&mut text.windows(3))
}

/// The parts before and after the bar at `at`; without one everything is the first.
fn cut(text: &[u8], at: Option<usize>) -> (&[u8], &[u8]) {
    let at = at.unwrap_or(text.len());
    (text.get(..at).unwrap_or(&[]), text.get(at + 2..).unwrap_or(&[]))
}

fn trim(text: &[u8]) -> Vec<u8> {
    text.trim_ascii().to_vec()
}
