//! Names: every text of a key or a frame, kept once and called by number.
//!
//! A frame comes as the raw bytes of its line. What it is called in pictures (offset stripped, demangled, addresses merged) is
//! worked out once per distinct raw line; two raw lines with one name share its number.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::symbol::Cleaner;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// All names of a trace.
#[derive(Default)]
pub struct Names {
    cleaner: Cleaner,
    texts: Arena,
    unresolved: Vec<bool>,
    by_text: HashTable<u32>,
    raw: Arena,
    raw_name: Vec<NameId>,
    by_raw: HashTable<u32>,
    hasher: DefaultHashBuilder,
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
        match std::str::from_utf8(text) {
            Ok(text) => self.intern(text, false),
            Err(_) => {
                self.replaced += 1;
                self.intern(&String::from_utf8_lossy(text), false)
            }
        }
    }

    /// The number of a frame, given the text of its line without indent.
    pub fn frame(&mut self, raw: &[u8]) -> NameId {
        let hash = hash_of(&self.hasher, raw);
        if let Some(&index) = self.by_raw.find(hash, |&index| self.raw.get(index) == raw) {
            return self.raw_name.get(index as usize).copied().unwrap_or(NameId(0));
        }
        let lossy = String::from_utf8_lossy(raw);
        if matches!(lossy, std::borrow::Cow::Owned(_)) {
            self.replaced += 1;
        }
        let clean = self.cleaner.clean(&lossy);
        let id = self.intern(&clean.text, clean.unresolved);
        let index = self.raw.push(raw);
        self.raw_name.push(id);
        let (arena, hasher) = (&self.raw, &self.hasher);
        self.by_raw.insert_unique(hash, index, |&index| hash_of(hasher, arena.get(index)));
        id
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
        let hash = hash_of(&self.hasher, text.as_bytes());
        let index = self.by_text.find(hash, |&index| self.texts.get(index) == text.as_bytes())?;
        self.detail(NameId(*index))
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
        let hash = hash_of(&self.hasher, text.as_bytes());
        if let Some(&index) = self.by_text.find(hash, |&index| self.texts.get(index) == text.as_bytes()) {
            return NameId(index);
        }
        let index = self.texts.push(text.as_bytes());
        self.unresolved.push(unresolved);
        let (arena, hasher) = (&self.texts, &self.hasher);
        self.by_text.insert_unique(hash, index, |&index| hash_of(hasher, arena.get(index)));
        NameId(index)
    }
}

fn hash_of(hasher: &DefaultHashBuilder, bytes: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    bytes.hash(&mut state);
    std::hash::Hasher::finish(&state)
}

/// Byte strings one after another; each is called by its index.
#[derive(Default)]
struct Arena {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Arena {
    fn push(&mut self, text: &[u8]) -> u32 {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX)
    }

    fn get(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or(&[])
    }
}
