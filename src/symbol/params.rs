//! Parameter lists, qualifiers and clone suffixes: what distinguishes overloads and copies of one function.
//!
//! One rule, on the readable name, for names that the tracer demangled and names that we did: from the end, drop clone suffixes and qualifiers, then
//! the last balanced parameter list. Everything before it stays, so that `(anonymous namespace)::f`, `operator()` and
//! `std::function<void (int)>` come out whole.

/// Suffixes that compilers give to copies and parts of a function: `f.part.0`, `f.constprop.0.isra.1`, `f.cold`.
const CLONES: &[&str] =
    &["part", "cold", "isra", "constprop", "lto_priv", "llvm", "localalias", "clone", "resume", "destroy", "cleanup"];
/// What may stand after the parameter list of a member function.
const QUALIFIERS: &[&str] = &[" const", " volatile", " &&", " &", " noexcept"];

/// The name without clone suffixes and, unless `keep_params`, without parameter list and qualifiers.
pub(super) fn shorten(name: &str, keep_params: bool) -> &str {
    let name = strip_clones(name);
    if keep_params {
        return name;
    }
    let unqualified = strip_qualifiers(name);
    match parameter_list(unqualified) {
        Some(at) => strip_clones(unqualified.get(..at).unwrap_or(name)),
        None => name,
    }
}

/// Drops ` [clone .part.0]` and `.part.0` from the end, as often as they stand there.
fn strip_clones(mut name: &str) -> &str {
    loop {
        let bracketed = name.strip_suffix(']').and_then(|head| head.rfind(" [clone ")).and_then(|at| name.get(..at));
        match bracketed.or_else(|| strip_dotted(name)).filter(|rest| !rest.is_empty()) {
            Some(rest) => name = rest,
            None => return name,
        }
    }
}

/// `f.part.0` and `f.cold` without their suffix; `f.0` is one, too, where a known word stands before the number.
fn strip_dotted(name: &str) -> Option<&str> {
    let mut rest = name;
    loop {
        let (head, last) = rest.rsplit_once('.')?;
        if CLONES.contains(&last) {
            return Some(head);
        }
        // Numbers, and the hash of an LLVM local (`f.llvm.17295342`).
        if last.is_empty() || !last.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        rest = head;
    }
}

fn strip_qualifiers(mut name: &str) -> &str {
    while let Some(rest) = QUALIFIERS.iter().find_map(|qualifier| name.strip_suffix(qualifier)) {
        name = rest;
    }
    name
}

/// Where the parameter list at the end of the name begins.
///
/// `None` if there is none: the name ends otherwise, the parenthesis belongs to `operator()` or `(anonymous namespace)`, or a blank stands
/// before it (`eval (file.py:3)` is no list of C++).
fn parameter_list(name: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut start = None;
    if !name.ends_with(')') {
        return None;
    }
    for (at, byte) in name.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    start = Some(at);
                    break;
                }
            }
            _ => {}
        }
    }
    let start = start?;
    let (before, list) = name.split_at_checked(start)?;
    let is_operator =
        list == "()" && before.ends_with("operator") && !before.get(..before.len() - 8)?.ends_with(is_word);
    let scope_ends = before.is_empty() || before.ends_with("::") || before.ends_with(' ');
    (!is_operator && !scope_ends).then_some(start)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
