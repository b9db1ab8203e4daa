//! Lines of frames: each distinct one is kept once, with the name that it stands for.
//!
//! A function prints as many lines as it has places of call, which differ in their offset alone. Where offsets are not shown, one entry stands
//! for all of them. Each entry remembers which ones came after it: a reader tries those first, since a function mostly has the
//! same callers again.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::NameId;

/// The number of a distinct line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineId(u32);

impl LineId {
    /// It as a number, counted from 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// No line.
const NONE: LineId = LineId(u32::MAX);

/// A distinct line, or all that differ in their offset only.
struct Line {
    start: usize,
    length: u32,
    /// The text is followed by any `+0x1f`.
    has_offset: bool,
    name: NameId,
    /// Those that came after it, the last one first.
    next: [LineId; 2],
}

/// A line's number, and enough of its hash to tell most others apart without a look at the text.
struct Slot {
    hash: u32,
    line: LineId,
}

impl Slot {
    /// The hash by which the table sorts.
    fn spread(&self) -> u64 {
        u64::from(self.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// All distinct lines.
#[derive(Default)]
pub struct FrameLines {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    table: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

impl FrameLines {
    /// The number of a line, if it is there.
    pub fn find(&self, raw: &[u8]) -> Option<LineId> {
        let with_offset = without_offset(raw).and_then(|symbol| self.get(symbol, true));
        with_offset.or_else(|| self.get(raw, false))
    }

    /// Adds a line that is not there, and its name; with `any_offset` it stands for all that differ in their offset only.
    pub fn add(&mut self, raw: &[u8], name: NameId, any_offset: bool) -> LineId {
        let symbol = without_offset(raw).filter(|_| any_offset);
        let (text, has_offset) = (symbol.unwrap_or(raw), symbol.is_some());
        let slot = Slot {
            hash: self.hash(text, has_offset),
            line: LineId(u32::try_from(self.lines.len()).unwrap_or(u32::MAX)),
        };
        let (start, length) = (self.bytes.len(), u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.bytes.extend_from_slice(text);
        self.lines.push(Line { start, length, has_offset, name, next: [NONE; 2] });
        let line = slot.line;
        self.table.insert_unique(slot.spread(), slot, Slot::spread);
        line
    }

    /// The name of a line.
    pub(super) fn name(&self, line: LineId) -> NameId {
        self.lines.get(line.0 as usize).map_or(NameId(0), |line| line.name)
    }

    /// Whether a line stands for all that differ in their offset only.
    pub(super) fn has_any_offset(&self, line: LineId) -> bool {
        self.lines.get(line.0 as usize).is_some_and(|line| line.has_offset)
    }

    /// Remembers that `line` came after `before`.
    pub fn follow(&mut self, before: LineId, line: LineId) {
        if let Some(Line { next, .. }) = self.lines.get_mut(before.0 as usize)
            && next[0] != line
        {
            *next = [line, next[0]];
        }
    }

    /// The line that `rest` begins with, and its length, if it is there and can be nothing but a frame wherever frames stand.
    pub fn known(&mut self, before: LineId, rest: &[u8]) -> Option<(LineId, usize)> {
        if !rest.first().is_some_and(|first| first.is_ascii_graphic() && *first != b'[') {
            return None;
        }
        for line in self.lines.get(before.0 as usize)?.next {
            if let Some(length) = self.lines.get(line.0 as usize).and_then(|line| self.begins(rest, line)) {
                self.follow(before, line);
                return Some((line, length));
            }
        }
        let text = rest.get(..memchr::memchr(b'\n', rest)?)?;
        let line = self.find(text).filter(|_| text.iter().any(u8::is_ascii_alphabetic))?;
        self.follow(before, line);
        Some((line, text.len()))
    }

    /// Length of the line at the beginning of `rest`, if it is this one.
    fn begins(&self, rest: &[u8], line: &Line) -> Option<usize> {
        let length = line.length as usize;
        let behind = rest.get(length..)?;
        if behind.first() != Some(if line.has_offset { &b'+' } else { &b'\n' }) {
            return None;
        }
        let text = self.text(line);
        if !rest.starts_with(text) || !text.iter().any(u8::is_ascii_alphabetic) {
            return None;
        }
        if !line.has_offset {
            return Some(length);
        }
        let digits = behind.strip_prefix(b"+0x")?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let end = digits.saturating_add(3);
        (digits > 0 && behind.get(end) == Some(&b'\n')).then(|| length.saturating_add(end))
    }

    fn text(&self, line: &Line) -> &[u8] {
        self.bytes.get(line.start..line.start.saturating_add(line.length as usize)).unwrap_or(&[])
    }

    fn get(&self, text: &[u8], has_offset: bool) -> Option<LineId> {
        let wanted = Slot { hash: self.hash(text, has_offset), line: NONE };
        let same = |slot: &Slot| {
            slot.hash == wanted.hash
                && self
                    .lines
                    .get(slot.line.0 as usize)
                    .is_some_and(|line| line.has_offset == has_offset && self.text(line) == text)
        };
        self.table.find(wanted.spread(), same).map(|slot| slot.line)
    }

    fn hash(&self, text: &[u8], has_offset: bool) -> u32 {
        let mut state = self.hasher.build_hasher();
        state.write(text);
        (state.finish() as u32) ^ u32::from(has_offset)
    }
}

/// The line before its `+0x1f`, if it ends in one.
pub(super) fn without_offset(raw: &[u8]) -> Option<&[u8]> {
    let digits = raw.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let symbol = raw.get(..raw.len().checked_sub(digits)?)?.strip_suffix(b"+0x")?;
    (digits > 0).then_some(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let mut lines = FrameLines::default();
        let whole = lines.add(b"m`f", NameId(1), false);
        let any = lines.add(b"m`f+0x1", NameId(2), true);
        let one = lines.add(b"m`g+0x1", NameId(3), false);
        assert_eq!(lines.find(b"m`f"), Some(whole));
        assert_eq!(lines.find(b"m`f+0xabc"), Some(any));
        assert_eq!(lines.find(b"m`g+0x1"), Some(one));
        for other in [&b"m`g"[..], b"m`g+0x2", b"m`f+0x", b"m`f+0xz", b"m`f+0x1+0x2", b"m`"] {
            assert_eq!(lines.find(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn known_lines_are_whole_lines() {
        let mut lines = FrameLines::default();
        let any = lines.add(b"m`f+0x1", NameId(2), true);
        let whole = lines.add(b"m`h", NameId(1), false);
        let number = lines.add(b"12", NameId(3), false);
        let note = lines.add(b"[ a]", NameId(4), false);
        for _ in 0..2 {
            // The second time they are found as followers.
            assert_eq!(lines.known(whole, b"m`f+0xff\nx"), Some((any, 8)));
            assert_eq!(lines.known(any, b"m`h\n"), Some((whole, 3)));
        }
        lines.follow(any, number);
        lines.follow(whole, note);
        for rest in
            [&b"m`f+0xff"[..], b"m`f+0x\n", b"m`f+0xff+0x1\n", b"m`h ", b"m`hh\n", b"12\n", b"[ a]\n", b"\n", b""]
        {
            assert_eq!(lines.known(any, rest), None, "{}", String::from_utf8_lossy(rest));
            assert_eq!(lines.known(whole, rest), None, "{}", String::from_utf8_lossy(rest));
        }
    }
}
