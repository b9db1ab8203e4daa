//! Symbols: from the text of a frame, as a tracer prints it, to the name that pictures show.

use std::borrow::Cow;

/// What of a frame's text is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaner {
    /// Keep parameter lists of C++ names.
    pub params: bool,
    /// Keep bare addresses in place of `[unknown]`.
    pub addresses: bool,
    /// Keep `+0x…` offsets.
    pub offsets: bool,
    /// Keep hashes of Rust names.
    pub hashes: bool,
}

/// The name of a frame.
pub struct Cleaned<'a> {
    /// What to show.
    pub text: Cow<'a, str>,
    /// Whether no symbol was found for it.
    pub unresolved: bool,
}

impl Cleaner {
    /// The name of the frame that was printed as `raw` (indent taken off).
    pub fn clean<'a>(&self, raw: &'a str) -> Cleaned<'a> {
        let text = match raw.rsplit_once("+0x") {
            Some((name, offset))
                if !self.offsets && !offset.is_empty() && offset.bytes().all(|b| b.is_ascii_hexdigit()) =>
            {
                name
            }
            _ => raw,
        };
        Cleaned { text: Cow::Borrowed(text), unresolved: false }
    }
}
