//! Names: every text of a key or a frame, kept once and called by number.
//!
//! A frame comes as the raw bytes of its line. What it is called in pictures (offset stripped, demangled, addresses merged) is
//! worked out once per distinct raw line; two raw lines with one name share its number. Each raw line remembers which one came after it
//! last time: a reader tries that one first, since a function mostly has the same caller again.

use std::collections::HashMap;

use super::texts::Texts;
use crate::symbol::Cleaner;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// The number of a distinct raw line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineId(u32);

/// No line.
const NONE: LineId = LineId(u32::MAX);

/// A distinct raw line.
struct Line {
    name: NameId,
    /// Those that came after it, the last one first.
    next: [LineId; 2],
}

/// All names of a trace.
#[derive(Default)]
pub struct Names {
    cleaner: Cleaner,
    texts: Texts,
    unresolved: Vec<bool>,
    raw: Texts,
    lines: Vec<Line>,
    /// Raw lines without their offset, where nothing of the offset is shown, and their names.
    symbols: Texts,
    symbol_names: Vec<NameId>,
    replaced: u64,
    details: HashMap<NameId, String>,
}

impl Names {
    /// Names whose frames are cleaned that way.
    pub fn new(cleaner: Cleaner) -> Names {
        Names { cleaner, ..Names::default() }
    }

    /// The number of a text that is shown as it is; bytes that are not UTF-8 are replaced and counted.
    pub fn text(&mut self, text: &[u8]) -> NameId {
        if let Some(index) = self.texts.find(text) {
            return NameId(index);
        }
        match std::str::from_utf8(text) {
            Ok(text) => self.add(text, false),
            Err(_) => {
                self.replaced += 1;
                self.intern(&String::from_utf8_lossy(text), false)
            }
        }
    }

    /// The number of a frame, given the text of its line without indent.
    pub fn frame(&mut self, raw: &[u8]) -> NameId {
        let line = self.line(raw);
        self.name_of(line)
    }

    /// The number of a frame's line, given without indent.
    pub fn line(&mut self, raw: &[u8]) -> LineId {
        if let Some(index) = self.raw.find(raw) {
            return LineId(index);
        }
        let name = self.clean(raw);
        self.lines.push(Line { name, next: [NONE; 2] });
        LineId(self.raw.add(raw))
    }

    /// The frame of a line.
    pub fn name_of(&self, line: LineId) -> NameId {
        self.lines.get(line.0 as usize).map_or(NameId(0), |line| line.name)
    }

    /// Remembers that `line` came after `before`.
    pub fn follow(&mut self, before: LineId, line: LineId) {
        if let Some(Line { next, .. }) = self.lines.get_mut(before.0 as usize)
            && next[0] != line
        {
            *next = [line, next[0]];
        }
    }

    /// The line that `rest` begins with, and its length, if it came before and can be nothing but a frame wherever it stands.
    pub fn known(&mut self, before: LineId, rest: &[u8]) -> Option<(LineId, usize)> {
        let followers = self.lines.get(before.0 as usize)?.next;
        for line in followers.into_iter().filter(|&line| line != NONE) {
            let text = self.raw.get(line.0);
            if rest.get(text.len()) == Some(&b'\n') && rest.starts_with(text) && is_plain(text) {
                let length = text.len();
                self.follow(before, line);
                return Some((line, length));
            }
        }
        let text = rest.get(..memchr::memchr(b'\n', rest)?).filter(|text| is_plain(text))?;
        let line = LineId(self.raw.find(text)?);
        self.follow(before, line);
        Some((line, text.len()))
    }

    /// The name of a raw line that is new. Lines that differ in their offset only are cleaned once.
    fn clean(&mut self, raw: &[u8]) -> NameId {
        let symbol = without_offset(raw).filter(|_| !self.cleaner.offsets && !self.cleaner.addresses);
        let known = symbol.and_then(|symbol| self.symbols.find(symbol));
        if let Some(&name) = known.and_then(|index| self.symbol_names.get(index as usize)) {
            return name;
        }
        let lossy = String::from_utf8_lossy(raw);
        let replaced = matches!(lossy, std::borrow::Cow::Owned(_));
        self.replaced += u64::from(replaced);
        let clean = self.cleaner.clean(&lossy);
        let (name, text) = (self.intern(&clean.text, clean.unresolved), clean.text);
        if let Some(symbol) = symbol
            && !replaced
            && !raw.get(symbol.len()..).is_some_and(|offset| text.as_bytes().ends_with(offset))
        {
            self.symbols.add(symbol);
            self.symbol_names.push(name);
        }
        name
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.unresolved.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.unresolved.is_empty()
    }

    /// The text of a name.
    pub fn get(&self, id: NameId) -> &str {
        std::str::from_utf8(self.texts.get(id.0)).unwrap_or("")
    }

    /// Whether the name stands for frames without a symbol.
    pub fn is_unresolved(&self, id: NameId) -> bool {
        self.unresolved.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Says more of a name than its text: rows and loops of a plan's step. Pictures show it in the frame's tooltip.
    pub fn describe(&mut self, id: NameId, detail: String) {
        self.details.insert(id, detail);
    }

    /// What else is known of a name.
    pub fn detail(&self, id: NameId) -> Option<&str> {
        self.details.get(&id).map(String::as_str)
    }

    /// What else is known of the name with that text.
    pub fn detail_of(&self, text: &str) -> Option<&str> {
        if self.details.is_empty() {
            return None;
        }
        self.detail(NameId(self.texts.find(text.as_bytes())?))
    }

    /// How many distinct texts had bytes that are not UTF-8 (shown as U+FFFD).
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// How the frames are cleaned.
    pub fn cleaner(&self) -> &Cleaner {
        &self.cleaner
    }

    fn intern(&mut self, text: &str, unresolved: bool) -> NameId {
        match self.texts.find(text.as_bytes()) {
            Some(index) => NameId(index),
            None => self.add(text, unresolved),
        }
    }

    fn add(&mut self, text: &str, unresolved: bool) -> NameId {
        self.unresolved.push(unresolved);
        NameId(self.texts.add(text.as_bytes()))
    }
}

/// Whether a line can be nothing but a frame, where frames stand: no number, and no note on the frame before.
fn is_plain(text: &[u8]) -> bool {
    !matches!(text.first(), None | Some(b'[' | b' ')) && text.iter().any(u8::is_ascii_alphabetic)
}

/// The line before its `+0x1f`, if it ends in one.
fn without_offset(raw: &[u8]) -> Option<&[u8]> {
    let digits = raw.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let symbol = raw.get(..raw.len().checked_sub(digits)?)?.strip_suffix(b"+0x")?;
    (digits > 0).then_some(symbol)
}
