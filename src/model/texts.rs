//! Distinct texts, each kept once and called by a number.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Texts one after another, and where to find them.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

/// The number of a text or a row, and enough of its hash to tell most others apart, and to let the table grow, without a look at it.
pub(super) struct Slot {
    pub(super) hash: u32,
    pub(super) index: u32,
}

impl Slot {
    /// The hash by which the table sorts.
    pub(super) fn spread(&self) -> u64 {
        u64::from(self.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Texts {
    /// The number of a text, if it is there.
    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        let wanted = Slot { hash: self.hash(text), index: 0 };
        let same = |slot: &Slot| slot.hash == wanted.hash && self.get(slot.index) == text;
        self.table.find(wanted.spread(), same).map(|slot| slot.index)
    }

    /// Adds a text that is not there.
    pub(super) fn add(&mut self, text: &[u8]) -> u32 {
        let index = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        let slot = Slot { hash: self.hash(text), index };
        self.table.insert_unique(slot.spread(), slot, Slot::spread);
        index
    }

    /// The text of that number.
    pub(super) fn get(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or(&[])
    }

    fn hash(&self, text: &[u8]) -> u32 {
        self.hasher.hash_one(text) as u32
    }
}
