//! Demangling: C++ (Itanium), Rust (legacy and v0), and Java's class names.
//!
//! Names come from files, so every demangler works under a limit of input, depth and output. A name that cannot be
//! demangled stays as it is.

use std::borrow::Cow;
use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longer mangled names are shown as they are; DTrace itself cuts names far below this.
const LONGEST: usize = 16 << 10;
/// Longest readable name; a short mangled name can stand for an exponentially long one.
const LONGEST_READABLE: usize = 64 << 10;
/// Deepest nesting that is followed. cpp_demangle tries each way to read a template, so that a wrong name costs twice as much with
/// every few levels: 1 s at 128. None of 84,490 names of MariaDB, libstdc++ and LLVM needs more than this.
const DEPTH: u32 = 80;

/// The readable form of a function's name.
pub(super) fn demangle(name: &str, keep_hash: bool) -> Cow<'_, str> {
    let readable = if name.len() > LONGEST {
        None
    } else if name.starts_with("_R") || name.starts_with("__R") {
        rust(name, keep_hash)
    } else if name.starts_with("_Z") || name.starts_with("__Z") {
        rust_legacy(name, keep_hash).or_else(|| cpp(name))
    } else {
        half_demangled_rust(name, keep_hash).or_else(|| java(name))
    };
    match readable {
        Some(readable) => Cow::Owned(readable),
        None if keep_hash => Cow::Borrowed(name),
        None => Cow::Borrowed(split_hash(name).0),
    }
}

fn cpp(name: &str) -> Option<String> {
    // macOS keeps the extra underscore of Mach-O.
    let name = if name.starts_with("__Z") { name.get(1..)? } else { name };
    let (symbol, suffix) = name.split_at(name.find(['.', '@', ' ']).unwrap_or(name.len()));
    let options = ParseOptions::default().recursion_limit(DEPTH);
    let parsed = Symbol::new_with_options(symbol, &options).ok()?;
    let mut out = Bounded::default();
    parsed.structured_demangle(&mut out, &DemangleOptions::new().recursion_limit(DEPTH)).ok()?;
    Some(out.text + suffix)
}

fn rust(name: &str, keep_hash: bool) -> Option<String> {
    let parsed = rustc_demangle::try_demangle(name).ok()?;
    let mut out = Bounded::default();
    if keep_hash { write!(out, "{parsed}") } else { write!(out, "{parsed:#}") }.ok()?;
    Some(out.text)
}

/// Legacy Rust names are C++ names that end in a hash: `_ZN4core3fmt5write17h0123456789abcdefE`.
fn rust_legacy(name: &str, keep_hash: bool) -> Option<String> {
    let end = name.find("E.").unwrap_or(name.len().checked_sub(1)?);
    let hash = end.checked_sub(19).and_then(|start| name.get(start..end))?;
    let is_rust = hash.strip_prefix("17h").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_rust { rust(name, keep_hash) } else { None }
}

/// What a C++ demangler makes of a legacy Rust name: ``_$LT$T$u20$as$u20$core..fmt..Debug$GT$::fmt::h0123456789abcdef``.
fn half_demangled_rust(name: &str, keep_hash: bool) -> Option<String> {
    let escaped = ["$LT$", "$GT$", "$u", "$RF$", "$C$", "$BP$", "$LP$", "$RP$"].iter().any(|mark| name.contains(mark));
    if !escaped {
        return None;
    }
    let (path, hash) = split_hash(name);
    let mut mangled = String::from("_ZN");
    for part in path.split("::").filter(|part| !part.is_empty()) {
        write!(mangled, "{}{part}", part.len()).ok()?;
    }
    write!(mangled, "17h{}E", hash.unwrap_or("0000000000000000")).ok()?;
    rust(&mangled, keep_hash && hash.is_some())
}

/// Splits `::h0123456789abcdef` off.
fn split_hash(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            (path, Some(hash))
        }
        _ => (name, None),
    }
}

/// `Lshop/Db;::query` is `shop/Db::query`; inlined calls are chained with `->`.
fn java(name: &str) -> Option<String> {
    if !name.contains(";::") {
        return None;
    }
    let parts: Vec<Cow<'_, str>> = name
        .split("->")
        .map(|part| match part.strip_prefix('L').and_then(|class| class.split_once(";::")) {
            Some((class, method)) => Cow::Owned(format!("{class}::{method}")),
            None => Cow::Borrowed(part),
        })
        .collect();
    Some(parts.join("->"))
}

/// Takes text up to [`LONGEST_READABLE`]; more is an error, which ends the demangler's work.
#[derive(Default)]
struct Bounded {
    text: String,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > LONGEST_READABLE {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}
