//! Symbols: from the text of a frame, as a tracer prints it, to the name that pictures show.
//!
//! A frame is `module`, a backquote, a function and an offset: ``mariadbd`_ZN3THD5awakeEv+0x4``. The same function must get the same name
//! whether the tracer demangled it or not, in every build: offsets, parameter lists, hashes and suffixes of compiler clones
//! go, addresses without a symbol become `[unknown]` of their module. Each of these can be kept by an option.

mod demangle;
mod params;

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

/// What frames without a symbol are called.
const UNKNOWN: &str = "[unknown]";

impl Cleaner {
    /// The name of the frame that was printed as `raw` (indent taken off).
    pub fn clean<'a>(&self, raw: &'a str) -> Cleaned<'a> {
        let (frame, note) = split_annotation(raw.trim());
        let (module, symbol) = split_module(frame);
        if is_address(symbol, module) {
            return self.unresolved(raw.trim(), module, symbol);
        }
        let (name, offset) = split_offset(symbol);
        if name.is_empty() || name == UNKNOWN {
            return Cleaned { text: Cow::Borrowed(raw.trim()), unresolved: name == UNKNOWN };
        }
        let readable = demangle::demangle(name, self.hashes);
        let readable = match readable {
            Cow::Borrowed(text) => Cow::Borrowed(params::shorten(text, self.params)),
            Cow::Owned(text) => Cow::Owned(params::shorten(&text, self.params).to_owned()),
        };
        let offset = if self.offsets { offset } else { "" };
        if let Cow::Borrowed(text) = readable
            && note.is_empty()
            && offset.is_empty()
            && let Some(whole) = frame.get(..module.len() + text.len())
            && whole.ends_with(text)
        {
            return Cleaned { text: Cow::Borrowed(whole), unresolved: false };
        }
        Cleaned { text: Cow::Owned([module, &readable, offset, note].concat()), unresolved: false }
    }

    fn unresolved<'a>(&self, raw: &'a str, module: &'a str, address: &str) -> Cleaned<'a> {
        let text = match (self.addresses, module) {
            (true, _) => Cow::Borrowed(raw),
            (false, "") => match address.split_once(":0x") {
                Some((module, _)) => Cow::Owned(format!("{module}`{UNKNOWN}")),
                None => Cow::Borrowed(UNKNOWN),
            },
            (false, module) => Cow::Owned(format!("{module}{UNKNOWN}")),
        };
        Cleaned { text, unresolved: true }
    }
}

/// Splits after the last backquote: link maps of illumos have one of their own (``LM1`libc.so.1`malloc``).
fn split_module(frame: &str) -> (&str, &str) {
    match frame.rfind('`') {
        Some(at) => frame.split_at(at + 1),
        None => ("", frame),
    }
}

/// Splits `+0x1f` off, at the very end only: operators and closures may hold a plus.
fn split_offset(symbol: &str) -> (&str, &str) {
    match symbol.rfind("+0x") {
        Some(at) if symbol.get(at + 3..).is_some_and(is_hex) => symbol.split_at(at),
        _ => (symbol, ""),
    }
}

/// Splits off what a ustack helper said of the frame (` [/app/jobs.sql:42]`), but not a compiler's `[clone .part.0]`, nor an ABI tag.
fn split_annotation(frame: &str) -> (&str, &str) {
    match frame.rfind(" [") {
        Some(at)
            if at > 0 && frame.ends_with(']') && !frame.get(at..).is_some_and(|tail| tail.starts_with(" [clone ")) =>
        {
            frame.split_at(at)
        }
        _ => (frame, ""),
    }
}

/// `0x18bc3d388`, or `libc.so.6:0x2a1b` as Linux prints it under `noresolve`.
fn is_address(symbol: &str, module: &str) -> bool {
    let (place, offset) = split_offset(symbol);
    let bare = if offset.is_empty() { symbol } else { place };
    match bare.rsplit_once("0x") {
        Some(("", digits)) => is_hex(digits),
        Some((before, digits)) => {
            module.is_empty() && before.len() > 1 && before.ends_with(':') && !before.ends_with("::") && is_hex(digits)
        }
        None => false,
    }
}

fn is_hex(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
