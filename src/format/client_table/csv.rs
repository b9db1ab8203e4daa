//! CSV with a header line, as Workbench, HeidiSQL or `SELECT … INTO OUTFILE … FIELDS TERMINATED BY ','` write it.

use super::{Cell, Item, Row, Tables, cell, column};

/// A comma if the line is a header when split there, else a tab.
pub(super) fn separator(line: &[u8], is_header: fn(&[String]) -> bool) -> u8 {
    let names: Vec<String> = split(line).0.iter().map(|name| column(name)).collect();
    if names.len() > 1 && !line.contains(&b'\t') && is_header(&names) { b',' } else { b'\t' }
}

/// Reads the record that begins with this line.
pub(super) fn read(tables: &mut Tables<'_>, line: u64, mut text: Vec<u8>) {
    // A quoted cell may hold line feeds: an odd number of quotes means that the record goes on.
    while text.iter().filter(|&&b| b == b'"').count() % 2 == 1 {
        let Some((_, next)) = tables.lines.next() else { break };
        text.push(b'\n');
        text.extend_from_slice(&next);
    }
    let (texts, quoted) = split(&text);
    let names: Vec<String> = texts.iter().map(|name| column(name)).collect();
    if (tables.is_header)(&names) {
        tables.width = names.len();
        tables.queue.push_back(Item::Columns(names));
        return;
    }
    let cells: Vec<Cell> =
        texts.into_iter().zip(quoted).map(|(text, quoted)| if quoted { Some(text) } else { cell(&text) }).collect();
    tables.queue.push_back(Item::Row(Row { line, cells }));
}

/// The cells of a record, and which of them stood in quotes.
fn split(text: &[u8]) -> (Vec<Vec<u8>>, Vec<bool>) {
    let (mut cells, mut quoted) = (vec![Vec::new()], vec![false]);
    let mut inside = false;
    let mut bytes = text.iter().peekable();
    while let Some(&byte) = bytes.next() {
        match (byte, inside) {
            (b'"', true) if bytes.peek() == Some(&&b'"') => {
                bytes.next();
                push(&mut cells, b'"');
            }
            (b'"', _) => {
                inside = !inside;
                if let Some(last) = quoted.last_mut() {
                    *last = true;
                }
            }
            (b',', false) => {
                cells.push(Vec::new());
                quoted.push(false);
            }
            _ => push(&mut cells, byte),
        }
    }
    (cells, quoted)
}

fn push(cells: &mut [Vec<u8>], byte: u8) {
    if let Some(last) = cells.last_mut() {
        last.push(byte);
    }
}
