//! Dump form: `INSERT INTO` statements of mariadb-dump, phpMyAdmin and other clients.
//!
//! The names of the columns stand in the statement, or in the `CREATE TABLE` before it, one a line. Tables without known columns are
//! passed over: a dump may hold a whole server. Texts are in quotes, with `\'` and `''` for quotes inside.

use std::collections::{HashMap, VecDeque};

use super::super::lookahead::Lookahead;
use super::{Cell, Item, Row, column};

/// Names of the columns of tables whose `CREATE TABLE` has been read.
pub(super) type Created = HashMap<Vec<u8>, Vec<String>>;

/// Lines that begin something in a dump: statements and comments. What is none of the two that matter is passed over.
pub(super) fn is_line(line: &[u8]) -> bool {
    let words: [&[u8]; 11] = [
        b"INSERT INTO `",
        b"CREATE TABLE `",
        b"-- ",
        b"--",
        b"/*!",
        b"/*M!",
        b"DROP TABLE ",
        b"LOCK TABLES ",
        b"UNLOCK TABLES",
        b"SET ",
        b"COMMIT;",
    ];
    words.iter().any(|word| if *word == b"--" { line == *word } else { line.starts_with(word) })
}

/// Reads one statement or comment.
pub(super) fn read(
    lines: &mut Lookahead<'_>,
    created: &mut Created,
    is_header: fn(&[String]) -> bool,
    queue: &mut VecDeque<Item>,
) {
    let Some((number, mut text)) = lines.next() else { return };
    if let Some((table, _)) = text.strip_prefix(b"CREATE TABLE ").and_then(quoted) {
        let mut names = Vec::new();
        while let Some((_, line)) = lines.next_if(|line| !line.starts_with(b")")) {
            names.extend(quoted(line.trim_ascii_start()).map(|(name, _)| column(&name)));
        }
        lines.next();
        created.insert(table, names);
    } else if text.starts_with(b"INSERT INTO ") {
        // A statement ends at a semicolon that ends a line; a text with one there is inside quotes.
        while !(text.trim_ascii_end().ends_with(b";") && is_closed(&text)) {
            let Some((_, more)) = lines.next() else { break };
            text.push(b'\n');
            text.extend_from_slice(&more);
        }
        insert(&text, number, created, is_header, queue);
    }
}

fn insert(
    text: &[u8],
    line: u64,
    created: &Created,
    is_header: fn(&[String]) -> bool,
    queue: &mut VecDeque<Item>,
) -> Option<()> {
    let (table, mut rest) = quoted(text.strip_prefix(b"INSERT INTO ")?)?;
    let mut names = created.get(&table).cloned().unwrap_or_default();
    rest = rest.trim_ascii_start();
    if let Some(mut list) = rest.strip_prefix(b"(") {
        names.clear();
        while let Some((name, after)) = quoted(list.trim_ascii_start()) {
            names.push(column(&name));
            list = after.strip_prefix(b",").unwrap_or(after);
        }
        rest = list.strip_prefix(b")")?.trim_ascii_start();
    }
    if !is_header(&names) {
        return None;
    }
    queue.push_back(Item::Columns(names));
    rest = rest.strip_prefix(b"VALUES")?;
    while let Some(inside) = rest.trim_ascii_start().strip_prefix(b"(") {
        let (cells, after) = tuple(inside)?;
        queue.push_back(Item::Row(Row { line, cells }));
        let after = after.trim_ascii_start();
        rest = after.strip_prefix(b",").unwrap_or(after);
    }
    Some(())
}

/// The values up to the closing parenthesis, and what follows it.
fn tuple(text: &[u8]) -> Option<(Vec<Cell>, &[u8])> {
    let mut cells = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        rest = rest.strip_prefix(b"_binary ").unwrap_or(rest);
        if rest.starts_with(b"'") {
            let (value, after) = string(rest)?;
            cells.push(Some(value));
            rest = after.trim_ascii_start();
        } else {
            let end = rest.iter().position(|b| matches!(b, b',' | b')'))?;
            let (value, after) = rest.split_at(end);
            cells.push(super::cell(value.trim_ascii()));
            rest = after;
        }
        let (&next, after) = rest.split_first()?;
        rest = after;
        match next {
            b',' => {}
            b')' => return Some((cells, rest)),
            _ => return None,
        }
    }
}

/// A text in single quotes, and what follows it.
fn string(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    let mut at = 1;
    loop {
        let byte = *text.get(at)?;
        let next = text.get(at + 1).copied();
        at += 1;
        match (byte, next) {
            (b'\\', Some(escaped)) => {
                value.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'0' => 0,
                    b'Z' => 26,
                    other => other,
                });
                at += 1;
            }
            (b'\'', Some(b'\'')) => {
                value.push(b'\'');
                at += 1;
            }
            (b'\'', _) => return Some((value, text.get(at..).unwrap_or(&[]))),
            _ => value.push(byte),
        }
    }
}

/// A name in backticks at the begin of the text, and what follows it; a schema before it is dropped.
fn quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let rest = text.strip_prefix(b"`")?;
    let end = memchr::memchr(b'`', rest)?;
    let (name, after) = (rest.get(..end)?, rest.get(end + 1..)?);
    match after.strip_prefix(b".") {
        Some(table) => quoted(table),
        None => Some((name.to_vec(), after)),
    }
}

/// Whether no quote is open at the end.
fn is_closed(text: &[u8]) -> bool {
    let mut open = false;
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' if open => {
                bytes.next();
            }
            b'\'' => open = !open,
            _ => {}
        }
    }
    !open
}
