//! Batch form: one line a row, cells between tabs; with `-r` a text may go over several lines.
//!
//! CSV with a header comes here too, since only the separator differs as long as no cell has quotes.

use super::super::lookahead::Lookahead;
use super::{Item, Row, Tables, boxed, cell, column, csv, is_row_count, vertical};

/// Reads one row or header of a batch result.
pub(super) fn read(tables: &mut Tables<'_>) {
    let Some((line, mut text)) = tables.lines.next() else { return };
    if tables.width == 0 {
        tables.separator = csv::separator(&text, tables.is_header);
    }
    if tables.separator != b'\t' {
        return csv::read(tables, line, text);
    }
    let count = split(&text).count();
    // Names of columns are words: a row with a number is none, which spares most rows a closer look.
    let may_be_header = !split(&text).any(|cell| cell.first().is_some_and(u8::is_ascii_digit));
    let names: Vec<String> = if may_be_header { split(&text).map(column).collect() } else { Vec::new() };
    // In a result of one column a tab is part of a raw text, a plan for example.
    let unlike = tables.width > 1 && count > tables.width;
    if unlike || (tables.is_header)(&names) {
        tables.width = count;
        tables.first_cell.clear();
        tables.queue.push_back(Item::Columns(split(&text).map(column).collect()));
        return;
    }
    if tables.width == 0 {
        tables.width = count;
    }
    while split(&text).count() < tables.width && join_next(&mut tables.lines, &mut text) {}
    tables.first_cell = split(&text).next().unwrap_or(&[]).to_vec();
    while let Some(next) = tables.lines.peek() {
        if !continues(next, tables.width, &tables.first_cell, tables.is_header) {
            break;
        }
        join_next(&mut tables.lines, &mut text);
    }
    // What is over goes to the last cell: a tab in a raw text.
    let cells = text.splitn(tables.width, |&b| b == b'\t').map(cell).collect();
    tables.queue.push_back(Item::Row(Row { line, cells }));
}

fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| b == b'\t')
}

fn join_next(lines: &mut Lookahead<'_>, text: &mut Vec<u8>) -> bool {
    let Some((_, next)) = lines.next_if(|line| !boxed::is_border(line) && !vertical::is_row(line)) else {
        return false;
    };
    text.push(b'\n');
    text.extend_from_slice(&next);
    true
}

/// Whether a line is the rest of the last cell of the row before: it has fewer cells, and does not begin as rows do.
fn continues(line: &[u8], width: usize, first_cell: &[u8], is_header: fn(&[String]) -> bool) -> bool {
    let cells = split(line).count();
    if cells >= width || boxed::is_border(line) || vertical::is_row(line) || is_row_count(line) {
        return false;
    }
    let first = split(line).next().unwrap_or(&[]);
    let alike = cells > 1
        && !first.is_empty()
        && is_number(first) == is_number(first_cell)
        && (is_number(first) || is_event(first));
    let names: Vec<String> = split(line).map(column).collect();
    !alike && !is_header(&names)
}

fn is_number(cell: &[u8]) -> bool {
    !cell.is_empty() && cell.iter().all(u8::is_ascii_digit)
}

fn is_event(cell: &[u8]) -> bool {
    [&b"statement/"[..], b"stage/", b"wait/", b"transaction"].iter().any(|word| cell.starts_with(word))
}
