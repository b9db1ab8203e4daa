//! Results as the `mariadb` and `mysql` clients print them: columns and rows, whatever the form.
//!
//! | form | printed by | how it is told |
//! | --- | --- | --- |
//! | batch | `-B`, a pipe | cells between tabs; `\n`, `\t`, `\\`, `\0` in a cell are escapes (not with `-r`) |
//! | boxed | `-t`, a terminal | `+---+` lines around `\| cell \| cell \|`; a cell with line feeds goes over several lines |
//! | vertical | `\G`, `-E` | `*** 1. row ***`, then `name: value`; a value with line feeds goes over several lines |
//! | XML | `-X` | `<resultset>`, `<row>`, `<field name="…">` |
//! | CSV | other clients | cells between commas, in quotes where they need them |
//! | dump | mariadb-dump, phpMyAdmin | `INSERT INTO` statements |
//!
//! Several results may follow each other, in different forms, with the client's talk (`3 rows in set`) between them. `NULL` as a whole
//! cell is taken for an unknown value: the first three forms cannot tell it from a text of these four letters.
//! Sources: `print_table_data` and its neighbours in client/mysql.cc, and runs of MariaDB 11.8.

mod batch;
mod boxed;
mod csv;
mod insert;
mod vertical;
mod xml;

use std::collections::VecDeque;

use super::lookahead::Lookahead;
use crate::input::Lines;

/// The value of a cell; `None`: NULL.
pub(super) type Cell = Option<Vec<u8>>;

/// What comes next in the results.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A result begins: the names of its columns, in lower case.
    Columns(Vec<String>),
    /// A row. Without `Columns` before it the client printed no names (`-N`).
    Row(Row),
}

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Line where it begins.
    pub(super) line: u64,
    /// Its cells, as many as there are columns unless the input is damaged.
    pub(super) cells: Vec<Cell>,
}

/// Reads results one item at a time.
pub(super) struct Tables<'a> {
    lines: Lookahead<'a>,
    is_header: fn(&[String]) -> bool,
    /// Cells per row of the current batch or CSV result; 0: none yet.
    width: usize,
    separator: u8,
    /// The first cell of the last batch row, to tell a row's begin from the rest of a raw text.
    first_cell: Vec<u8>,
    vertical: Vec<String>,
    created: insert::Created,
    queue: VecDeque<Item>,
}

impl<'a> Tables<'a> {
    /// Reads from `lines`; `is_header` knows the columns of the format, which is what tells a batch's header from a row.
    pub(super) fn new(lines: &'a mut Lines, is_header: fn(&[String]) -> bool) -> Tables<'a> {
        Tables {
            lines: Lookahead::new(lines),
            is_header,
            width: 0,
            separator: b'\t',
            first_cell: Vec::new(),
            vertical: Vec::new(),
            created: insert::Created::new(),
            queue: VecDeque::new(),
        }
    }

    /// The next item; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.queue.pop_front() {
                return Some(item);
            }
            let line = self.lines.peek()?;
            if boxed::is_border(line) {
                self.width = 0;
                boxed::read(&mut self.lines, self.is_header, &mut self.queue);
            } else if vertical::is_row(line) {
                self.width = 0;
                vertical::read(&mut self.lines, &mut self.vertical, &mut self.queue);
            } else if xml::is_start(line) {
                self.width = 0;
                xml::read(&mut self.lines, &mut self.queue);
            } else if self.width == 0 && insert::is_line(line) {
                insert::read(&mut self.lines, &mut self.created, self.is_header, &mut self.queue);
            } else if is_talk(line) || line.iter().all(u8::is_ascii_whitespace) {
                self.skip_talk();
            } else {
                batch::read(self);
            }
        }
    }

    /// Takes a line of the client's own, and with `----` the statement that `-vv` repeats up to the next such line.
    fn skip_talk(&mut self) {
        let Some((_, line)) = self.lines.next() else { return };
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        self.width = 0;
        if is_rule(&line) {
            while self.lines.next().is_some_and(|(_, line)| !is_rule(&line)) {}
        }
    }
}

/// The names of the columns of the first result in these bytes, or of the first known one further on, where its form leaves no doubt
/// (a line of words is a batch's header only at the begin).
pub(super) fn first_columns(head: &[u8], is_header: fn(&[String]) -> bool) -> Option<Vec<String>> {
    let mut lines = Lines::from_bytes(head);
    let mut tables = Tables::new(&mut lines, is_header);
    let first = tables.next()?;
    if let Item::Columns(names) = &first
        && is_header(names)
    {
        return Some(names.clone());
    }
    while let Some(item) = tables.next() {
        match item {
            Item::Columns(names) if tables.width == 0 && is_header(&names) => return Some(names),
            _ => {}
        }
    }
    match first {
        Item::Columns(names) => Some(names),
        Item::Row(_) => None,
    }
}

/// Undoes the escapes of a batch cell.
pub(super) fn unescape(cell: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(cell.len());
    let mut bytes = cell.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => plain.push(b'\n'),
            Some(b't') => plain.push(b'\t'),
            Some(b'0') => plain.push(0),
            Some(b'\\') => plain.push(b'\\'),
            // No escape of the client: the output is raw.
            Some(&other) => plain.extend([b'\\', other]),
            None => plain.push(b'\\'),
        }
    }
    plain
}

/// A name of a column as it is compared: trimmed, lower case.
fn column(name: &[u8]) -> String {
    String::from_utf8_lossy(name).trim().to_lowercase()
}

/// A cell's text as its value.
pub(super) fn cell(text: &[u8]) -> Cell {
    if text == b"NULL" || text == b"\\N" { None } else { Some(text.to_vec()) }
}

fn is_rule(line: &[u8]) -> bool {
    line.len() >= 10 && line.iter().all(|&b| b == b'-')
}

/// Lines that a client prints around its results.
fn is_talk(line: &[u8]) -> bool {
    let starts = |word: &[u8]| line.starts_with(word);
    is_rule(line)
        || is_row_count(line)
        || [&b"Empty set"[..], b"Query OK", b"mysql> ", b"MariaDB [", b"mysql: ", b"ERROR ", b"Warning"]
            .iter()
            .any(|word| starts(word))
        || line == b"Bye"
}

/// `3 rows in set (0.02 sec)`
fn is_row_count(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = line.get(digits..).unwrap_or(&[]);
    digits > 0 && (rest.starts_with(b" row in set") || rest.starts_with(b" rows in set"))
}

#[cfg(test)]
mod tests;
