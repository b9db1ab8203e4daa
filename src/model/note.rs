//! Notes: what a person must know beside the numbers. Every loss is one.
//!
//! Equal notes are counted, with the first lines where they occurred, so that a million bad lines are one sentence.

use std::fmt;

/// Whether a note tells of lost data. `--strict` fails on losses only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Data was lost, cut or skipped.
    Loss,
    /// Something to know; nothing was lost.
    Info,
}

impl Severity {
    /// The word before a note for people.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Loss => "warning",
            Severity::Info => "note",
        }
    }
}

/// One sentence with its count and places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Loss or information.
    pub severity: Severity,
    /// The sentence without count and place, e.g. `line is not a folded stack, skipped`.
    pub text: String,
    /// How often it happened.
    pub count: u64,
    /// Weight that it stands for, in the unit of the data; 0 where it has none.
    pub weight: i128,
    /// The first places, `file:line`; at most [`Notes::PLACES`].
    pub places: Vec<String>,
}

impl fmt::Display for Note {
    /// `text: 12 times, weight 345 (first at dump:3, dump:9)`; the count only if it is not 1, the weight only if it is not 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.count > 1 {
            write!(f, ": {} times", self.count)?;
        }
        if self.weight != 0 {
            write!(f, ", weight {}", self.weight)?;
        }
        match self.places.as_slice() {
            [] => Ok(()),
            [one] => write!(f, " ({one})"),
            many => write!(f, " (first at {})", many.join(", ")),
        }
    }
}

/// What is said in place of notes that are too many.
const FURTHER: &str = "further notes, not told one by one";

/// All notes of a trace, in the order of their first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    notes: Vec<Note>,
}

impl Notes {
    /// How many places a note keeps.
    pub const PLACES: usize = 3;
    /// How many different notes are kept; further ones are counted together. Their texts come from inputs.
    pub const KINDS: usize = 200;

    /// Adds one occurrence of a loss.
    pub fn loss(&mut self, text: impl Into<String>, place: Option<String>) {
        self.add(Severity::Loss, text.into(), 1, 0, place);
    }

    /// Adds one piece of information; said once, however often it is added.
    pub fn info(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.iter().any(|note| note.text == text) {
            self.add(Severity::Info, text, 1, 0, None);
        }
    }

    /// Adds `count` occurrences that stand for `weight`.
    pub fn add(&mut self, severity: Severity, text: String, count: u64, weight: i128, place: Option<String>) {
        let note = match self.notes.iter_mut().position(|note| note.text == text && note.severity == severity) {
            Some(index) => self.notes.get_mut(index),
            None if self.notes.len() >= Notes::KINDS && text != FURTHER => {
                return self.add(severity, FURTHER.into(), count, weight, place);
            }
            None => {
                self.notes.push(Note { severity, text, count: 0, weight: 0, places: Vec::new() });
                self.notes.last_mut()
            }
        };
        if let Some(note) = note {
            note.count = note.count.saturating_add(count);
            note.weight = note.weight.saturating_add(weight);
            note.places.extend(place.filter(|_| note.places.len() < Notes::PLACES));
        }
    }

    /// Takes over the notes of another trace.
    pub fn merge(&mut self, other: &Notes) {
        for note in &other.notes {
            self.add(note.severity, note.text.clone(), note.count, note.weight, None);
            if let Some(mine) = self.notes.iter_mut().find(|mine| mine.text == note.text) {
                let room = Notes::PLACES.saturating_sub(mine.places.len());
                mine.places.extend(note.places.iter().take(room).cloned());
            }
        }
    }

    /// The notes in order.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter()
    }

    /// Only the losses.
    pub fn losses(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.severity == Severity::Loss)
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }
}
