//! XML form (`-X`): `<resultset>` with `<row>`s of `<field name="…">text</field>`; NULL is `<field name="…" xsi:nil="true" />`.
//!
//! The client writes one element a line; a text may go over several. Nothing else of XML occurs, so no XML parser is needed.

use std::collections::VecDeque;

use super::super::lookahead::Lookahead;
use super::{Item, Row, column};

/// The first line of such a file, or of a further result.
pub(super) fn is_start(line: &[u8]) -> bool {
    line.starts_with(b"<?xml") || line.starts_with(b"<resultset")
}

/// Reads up to `</resultset>`.
pub(super) fn read(lines: &mut Lookahead<'_>, queue: &mut VecDeque<Item>) {
    let mut known: Vec<String> = Vec::new();
    let mut row: Vec<(String, Option<Vec<u8>>)> = Vec::new();
    let mut begin = 0;
    while let Some((number, text)) = lines.next() {
        let line = text.trim_ascii();
        if line.starts_with(b"<row") {
            begin = number;
            row.clear();
        } else if line.starts_with(b"<field") {
            row.extend(field(line.to_vec(), lines));
        } else if line.starts_with(b"</row") {
            let (names, cells): (Vec<String>, Vec<Option<Vec<u8>>>) = row.drain(..).unzip();
            if names != known {
                queue.push_back(Item::Columns(names.clone()));
                known = names;
            }
            queue.push_back(Item::Row(Row { line: begin, cells }));
        } else if line.starts_with(b"</resultset") {
            return;
        }
    }
}

fn field(mut text: Vec<u8>, lines: &mut Lookahead<'_>) -> Option<(String, Option<Vec<u8>>)> {
    let at = |text: &[u8], what: &[u8]| text.windows(what.len()).position(|window| window == what);
    let name_at = at(&text, b"name=\"")? + 6;
    let name: Vec<u8> = text.get(name_at..)?.iter().copied().take_while(|&b| b != b'"').collect();
    let name = column(&plain(&name));
    let open = name_at + text.get(name_at..)?.iter().position(|&b| b == b'>')?;
    if text.get(..open).is_some_and(|tag| tag.ends_with(b"/")) {
        return Some((name, None));
    }
    while at(&text, b"</field>").is_none() {
        let Some((_, next)) = lines.next() else { break };
        text.push(b'\n');
        text.extend_from_slice(&next);
    }
    let end = at(&text, b"</field>").unwrap_or(text.len());
    Some((name, text.get(open + 1..end).map(plain)))
}

/// Undoes the five entities that the client writes.
fn plain(text: &[u8]) -> Vec<u8> {
    let entities: [(&[u8], u8); 5] =
        [(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&apos;", b'\''), (b"&amp;", b'&')];
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let entity = entities.iter().find(|(name, _)| rest.starts_with(name));
        plain.push(entity.map_or(first, |&(_, byte)| byte));
        rest = entity.map_or(after, |(name, _)| rest.get(name.len()..).unwrap_or(&[]));
    }
    plain
}
