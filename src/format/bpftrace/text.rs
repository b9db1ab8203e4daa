//! One entry of a map as text. Keys and values may hold anything, line feeds too, so an entry goes on until its value makes sense.

use super::super::lookahead::Lookahead;
use super::buckets;
use super::map::{Cell, Keys, Maps};
use crate::model::{Distribution, Trace};

/// The name of the map whose entry begins with this line, without `@`.
pub(super) fn name(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"@")?;
    let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let (name, after) = rest.split_at(length);
    // `@a:=5` is SQL.
    (after.starts_with(b"[") || after.starts_with(b": ") || after == b":")
        .then(|| std::str::from_utf8(name).unwrap_or(""))
}

/// Reads the entry at hand.
pub(super) fn entry(lines: &mut Lookahead<'_>, maps: &mut Maps, trace: &mut Trace) {
    let Some((_, line)) = lines.next() else { return };
    let name = name(&line).unwrap_or("").to_owned();
    let mut text = line.get(1 + name.len()..).unwrap_or(&[]).to_vec();
    loop {
        let found = if text.starts_with(b"[") { after_key(&text) } else { Some((1, text.get(1..).unwrap_or(&[]))) };
        let cell = found
            .and_then(|(end, value)| Some((end, if value.is_empty() { histogram(lines)? } else { number_of(value)? })));
        if let Some((end, cell)) = cell {
            let key = if text.starts_with(b"[") { text.get(1..end).unwrap_or(&[]) } else { &[] };
            let keys = if text.starts_with(b"[") { keys(key) } else { Keys::default() };
            return maps.add(&name, ", ", key, (keys, cell), trace);
        }
        let Some((_, more)) = lines.next_if(|line| self::name(line).is_none()) else { break };
        text.push(b'\n');
        text.extend_from_slice(&more);
    }
    trace.notes.info(format!("map @{name} holds texts, no numbers: left out"));
}

/// Where the bracket that ends the key stands, and what follows its colon: the last one that does so on this line.
fn after_key(text: &[u8]) -> Option<(usize, &[u8])> {
    let at = memchr::memmem::rfind(text, b"]:")?;
    let value = text.get(at + 2..)?;
    (!value.contains(&b'\n')).then_some((at, value))
}

/// The buckets that follow, if the next line is one.
fn histogram(lines: &mut Lookahead<'_>) -> Option<Cell> {
    lines.peek().and_then(buckets::parse)?;
    let mut spread = Distribution::new();
    while let Some((_, line)) = lines.next_if(|line| buckets::parse(line).is_some()) {
        let (low, high, count) = buckets::parse(&line)?;
        spread.add(low, high, count);
    }
    Some(Cell::Spread(spread))
}

/// ` 12`, ` { .count = 3, .average = 4, .total = 12 }` or, from older versions, ` count 3, average 4, total 12`.
fn number_of(value: &[u8]) -> Option<Cell> {
    let text = std::str::from_utf8(value).ok()?.strip_prefix(' ')?;
    if let Ok(number) = text.parse() {
        return Some(Cell::Number(number));
    }
    let inner = text.strip_prefix("{ ").and_then(|rest| rest.strip_suffix(" }")).unwrap_or(text);
    let part = |name: &str| {
        inner.split(", ").find_map(|part| {
            let rest = part.strip_prefix('.').unwrap_or(part).strip_prefix(name)?;
            rest.trim_start_matches([' ', '=']).parse::<i128>().ok()
        })
    };
    Some(Cell::Stats { count: part("count")?, total: part("total")? })
}

/// Takes stacks out of a key. A stack is a line feed, frames on lines of their own, a line feed; other keys stand before and after.
pub(super) fn keys(key: &[u8]) -> Keys {
    let lines: Vec<&[u8]> = key.split(|&b| b == b'\n').collect();
    let (Some((first, rest)), true) = (lines.split_first(), lines.len() > 1) else {
        return Keys { scalars: Some(key.to_vec()), stack: None };
    };
    let Some((last, inner)) = rest.split_last() else { return Keys { scalars: Some(key.to_vec()), stack: None } };
    let is_stack = (first.is_empty() || first.ends_with(b", ") || first.ends_with(b","))
        && inner.iter().all(|line| frame(line).is_some() || is_between(line));
    if !is_stack {
        return Keys { scalars: Some(key.to_vec()), stack: None };
    }
    let before = first.strip_suffix(b", ").unwrap_or(first);
    let after = last.strip_prefix(b",").map_or(*last, <[u8]>::trim_ascii_start);
    let scalars: Vec<&[u8]> = [before, after].into_iter().filter(|part| !part.is_empty()).collect();
    // An empty line stands between two stacks.
    let frames = inner.iter().map(|line| frame(line).unwrap_or_default()).collect();
    Keys { scalars: (!scalars.is_empty()).then(|| scalars.join(&b", "[..])), stack: Some(frames) }
}

fn is_between(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), b"," | b"")
}

/// The name in a frame's line: `name+123`, `0x7f…`, or with `perf` `7f… name+123 (/usr/sbin/mariadbd)`.
fn frame(line: &[u8]) -> Option<Vec<u8>> {
    let text = line.trim_ascii();
    let hex = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit);
    let perf = memchr::memchr(b' ', text).filter(|&at| text.ends_with(b")") && text.get(..at).is_some_and(hex));
    if let Some(at) = perf {
        let inner = text.get(at + 1..)?;
        let end = memchr::memmem::rfind(inner, b" (")?;
        return inner.get(..end).map(|name| if name == b"0" { b"0x0".to_vec() } else { name.to_vec() });
    }
    let offset = memchr::memrchr(b'+', text).and_then(|at| text.get(at + 1..));
    let named = offset.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    let address = text.strip_prefix(b"0x").is_some_and(hex);
    if named || address {
        return Some(text.to_vec());
    }
    // `raw` prints addresses without 0x; a null address is `0` in every mode.
    (hex(text) && (text.len() >= 8 || text == b"0")).then(|| [b"0x", text].concat())
}
