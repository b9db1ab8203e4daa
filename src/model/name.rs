//! Names: every text of a key or a frame, kept once and called by number.
//!
//! A frame comes as the raw bytes of its line. What it is called in pictures (offset stripped, demangled, addresses merged) is
//! worked out once per distinct raw line; two raw lines with one name share its number.

use std::collections::HashMap;

use super::frame_lines::{FrameLines, LineId, without_offset};
use super::texts::Texts;
use crate::symbol::Cleaner;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// All names of a trace.
#[derive(Default)]
pub struct Names {
    cleaner: Cleaner,
    texts: Texts,
    unresolved: Vec<bool>,
    lines: FrameLines,
    replaced: u64,
    /// Texts that are not UTF-8.
    odd: HashMap<Vec<u8>, NameId>,
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
                // Each distinct text is counted once.
                if let Some(&name) = self.odd.get(text) {
                    return name;
                }
                self.replaced += 1;
                let name = self.intern(&String::from_utf8_lossy(text), false);
                self.odd.insert(text.to_vec(), name);
                name
            }
        }
    }

    /// The length of a name's text, if `rest` begins with it.
    pub fn begins(&self, id: NameId, rest: &[u8]) -> Option<usize> {
        let text = self.texts.get(id.0);
        rest.starts_with(text).then_some(text.len())
    }

    /// The number of a frame, given the text of its line without indent.
    pub fn frame(&mut self, raw: &[u8]) -> NameId {
        let line = self.line(raw);
        self.name_of(line)
    }

    /// The number of a frame's line, given without indent.
    pub fn line(&mut self, raw: &[u8]) -> LineId {
        if let Some(line) = self.lines.find(raw) {
            return line;
        }
        let lossy = String::from_utf8_lossy(raw);
        let replaced = matches!(lossy, std::borrow::Cow::Owned(_));
        self.replaced += u64::from(replaced);
        let clean = self.cleaner.clean(&lossy);
        // Whether the name is that of the line with any other offset, too.
        let any_offset = !replaced
            && !self.cleaner.offsets
            && !self.cleaner.addresses
            && without_offset(raw)
                .and_then(|symbol| raw.get(symbol.len()..))
                .is_some_and(|offset| !clean.text.as_bytes().ends_with(offset));
        let name = self.intern(&clean.text, clean.unresolved);
        self.lines.add(raw, name, any_offset)
    }

    /// The frame of a line.
    pub fn name_of(&self, line: LineId) -> NameId {
        self.lines.name(line)
    }

    /// Whether the number of this line is also that of every other that differs from `raw` in its offset only, if `raw` has one.
    pub fn stands_for_alike(&self, line: LineId, raw: &[u8]) -> bool {
        without_offset(raw).is_none() || self.lines.has_any_offset(line)
    }

    /// Remembers that `line` came after `before`.
    pub fn follow(&mut self, before: LineId, line: LineId) {
        self.lines.follow(before, line);
    }

    /// The line that `rest` begins with, and its length, if it came before and can be nothing but a frame wherever frames stand.
    pub fn known(&mut self, before: LineId, rest: &[u8]) -> Option<(LineId, usize)> {
        self.lines.known(before, rest)
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
