//! Frames as pictures call them, by number: stacks are compared, sorted and merged as numbers, each text is looked at once.

use hashbrown::HashMap;

/// Distinct frames of one trace, or of two to compare.
#[derive(Default)]
pub(super) struct Labels<'a> {
    texts: Vec<&'a str>,
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Labels<'a> {
    /// The number of a frame.
    pub(super) fn number(&mut self, text: &'a str) -> u32 {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            u32::try_from(self.texts.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// The frame of that number.
    pub(super) fn text(&self, number: u32) -> &'a str {
        self.texts.get(number as usize).copied().unwrap_or("")
    }

    /// All frames in the order of their numbers.
    pub(super) fn texts(&self) -> &[&'a str] {
        &self.texts
    }
}
