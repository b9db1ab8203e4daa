//! Tokens of SQL text, as MariaDB and MySQL read it, from bytes in any encoding that keeps ASCII.
//!
//! Rules that matter here: quotes are doubled or escaped by a backslash; `--` begins a comment only before a blank; an identifier may
//! begin with digits; what stands in a versioned comment (`/*!50000 … */`, `/*M! … */`) is code.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Blanks, comments and optimizer hints.
    Space,
    /// Keyword, name or variable (`@x`, `@@x`).
    Word,
    /// Name in backticks.
    Name,
    /// String, with its charset prefix if it has one (`_utf8'x'`, `N'x'`, `x'41'`).
    Text,
    /// Number without sign.
    Number,
    /// `?`, `:name` is two tokens; `...` as performance_schema shortens lists.
    Placeholder,
    /// Any other single byte.
    Mark(u8),
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub text: &'a [u8],
    /// Its end is missing: an open quote or comment runs to the end of the text.
    pub open: bool,
}

/// Gives the tokens of a text in order; their bytes put together are the text.
pub struct Lexer<'a> {
    rest: &'a [u8],
    /// Inside a versioned comment: its `*/` is a blank.
    versioned: bool,
    /// The last token was a `.` after a name: what follows is a name even if it begins with digits.
    qualified: bool,
    named: bool,
}

/// Classes of bytes; bytes of other encodings count as letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Letter,
    Digit,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0usize;
    while byte < 256 {
        #[allow(clippy::indexing_slicing)]
        {
            classes[byte] = match byte as u8 {
                b' ' | b'\t' | b'\n' | b'\r' | 11 | 12 => Class::Blank,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 128..=255 => Class::Letter,
                b'0'..=b'9' => Class::Digit,
                _ => Class::Other,
            };
        }
        byte += 1;
    }
    classes
};

#[inline]
fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Other)
}

fn is_name(byte: u8) -> bool {
    matches!(class(byte), Class::Letter | Class::Digit)
}

/// How many bytes from the start are `wanted`.
#[inline]
fn run(text: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !wanted(byte)).unwrap_or(text.len())
}

impl<'a> Lexer<'a> {
    /// Tokens of a text.
    pub fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer { rest: text, versioned: false, qualified: false, named: false }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn take(&mut self, kind: Kind, length: usize, open: bool) -> Option<Token<'a>> {
        let (text, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, &[]));
        self.rest = rest;
        self.qualified = self.named && kind == Kind::Mark(b'.');
        self.named = matches!(kind, Kind::Word | Kind::Name);
        Some(Token { kind, text, open })
    }

    fn slash(&mut self) -> Option<Token<'a>> {
        let text = self.rest;
        if !text.starts_with(b"/*") {
            return self.take(Kind::Mark(b'/'), 1, false);
        }
        let inner = text.get(2..).unwrap_or(&[]);
        if let Some(code) = inner.strip_prefix(b"!").or_else(|| inner.strip_prefix(b"M!")) {
            self.versioned = true;
            let opening = text.len() - code.len();
            return self.take(Kind::Space, opening + run(code, |byte| byte.is_ascii_digit()), false);
        }
        match memchr::memmem::find(inner, b"*/") {
            Some(end) => self.take(Kind::Space, end + 4, false),
            None => self.take(Kind::Space, text.len(), true),
        }
    }

    fn line_comment(&mut self) -> Option<Token<'a>> {
        let length = memchr::memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        self.take(Kind::Space, length, false)
    }

    fn quoted(&mut self, kind: Kind, prefix: usize) -> Option<Token<'a>> {
        let text = self.rest.get(prefix..).unwrap_or(&[]);
        let Some((&quote, inner)) = text.split_first() else { return self.take(kind, self.rest.len(), true) };
        let mut at = 0;
        while let Some(found) = inner.get(at..).and_then(|rest| memchr::memchr2(quote, b'\\', rest)) {
            at += found;
            if inner.get(at) == Some(&b'\\') {
                // In a name in backticks a backslash is a letter like any other.
                at += if quote == b'`' { 1 } else { 2 };
            } else if inner.get(at + 1) == Some(&quote) {
                at += 2;
            } else {
                return self.take(kind, prefix + at + 2, false);
            }
        }
        self.take(kind, self.rest.len(), true)
    }

    fn word(&mut self) -> Option<Token<'a>> {
        let length = run(self.rest, is_name);
        let prefix = self.rest.get(..length).unwrap_or(&[]);
        if matches!(self.rest.get(length), Some(b'\'' | b'"')) && is_text_prefix(prefix) {
            return self.quoted(Kind::Text, length);
        }
        self.take(Kind::Word, length, false)
    }

    fn variable(&mut self) -> Option<Token<'a>> {
        let signs = run(self.rest, |byte| byte == b'@').min(2);
        match self.rest.get(signs) {
            Some(b'\'' | b'"' | b'.') | None => self.take(Kind::Mark(b'@'), signs, false),
            Some(b'`') => self.quoted(Kind::Name, signs),
            Some(_) => {
                let name = self.rest.get(signs..).unwrap_or(&[]);
                let length = run(name, |byte| is_name(byte) || byte == b'.');
                self.take(if length == 0 { Kind::Mark(b'@') } else { Kind::Word }, signs + length, false)
            }
        }
    }

    /// A number; or a name that begins with digits, if letters follow that no number has.
    fn number(&mut self) -> Option<Token<'a>> {
        let text = self.rest;
        let whole = run(text, is_name);
        if self.qualified {
            return self.take(Kind::Word, whole, false);
        }
        let word = text.get(..whole).unwrap_or(&[]);
        if is_radix(word) {
            return self.take(Kind::Number, whole, false);
        }
        let digits = run(text, |byte| byte.is_ascii_digit());
        let mut end = digits;
        let fraction = text.get(digits) == Some(&b'.');
        if fraction {
            end += 1 + run(text.get(digits + 1..).unwrap_or(&[]), |byte| byte.is_ascii_digit());
        }
        end += exponent(text.get(end..).unwrap_or(&[]));
        if text.get(end).copied().is_some_and(is_name) && !fraction {
            return self.take(Kind::Word, whole, false);
        }
        self.take(Kind::Number, end, false)
    }

    fn other(&mut self, byte: u8) -> Option<Token<'a>> {
        let after = self.rest.get(1).copied();
        match byte {
            b'\'' | b'"' => self.quoted(Kind::Text, 0),
            b'`' => self.quoted(Kind::Name, 0),
            b'@' => self.variable(),
            b'/' => self.slash(),
            b'#' => self.line_comment(),
            b'-' if after == Some(b'-') && self.rest.get(2).is_none_or(|&byte| byte <= b' ') => self.line_comment(),
            b'*' if after == Some(b'/') && self.versioned => {
                self.versioned = false;
                self.take(Kind::Space, 2, false)
            }
            b'.' if self.rest.starts_with(b"...") => self.take(Kind::Placeholder, 3, false),
            b'.' if !self.named && after.is_some_and(|byte| byte.is_ascii_digit()) => self.number(),
            b'?' => self.take(Kind::Placeholder, 1, false),
            mark => self.take(Kind::Mark(mark), 1, false),
        }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    #[inline]
    fn next(&mut self) -> Option<Token<'a>> {
        let &byte = self.rest.first()?;
        match class(byte) {
            Class::Blank => {
                let length = run(self.rest, |byte| class(byte) == Class::Blank);
                self.take(Kind::Space, length, false)
            }
            Class::Letter => self.word(),
            Class::Digit => self.number(),
            Class::Other => self.other(byte),
        }
    }
}

/// Whether a quote right after that word belongs to it: a charset (`_utf8mb4`), or `N`, `x`, `b`.
fn is_text_prefix(word: &[u8]) -> bool {
    match word {
        [one] => matches!(one.to_ascii_lowercase(), b'n' | b'x' | b'b'),
        [b'_', ..] => true,
        _ => false,
    }
}

/// `0x1F` and `0b01`; with a capital the server takes them for names, but what looks like a literal is one here.
fn is_radix(word: &[u8]) -> bool {
    match word {
        [b'0', b'x' | b'X', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit),
        [b'0', b'b' | b'B', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(|digit| matches!(digit, b'0' | b'1'))
        }
        _ => false,
    }
}

/// Length of `e5`, `E-5` at the start; 0 if there is none.
fn exponent(text: &[u8]) -> usize {
    let Some(b'e' | b'E') = text.first() else { return 0 };
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match run(text.get(1 + sign..).unwrap_or(&[]), |byte| byte.is_ascii_digit()) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let shown = Lexer::new(text.as_bytes()).map(|token| (token.kind, std::str::from_utf8(token.text).unwrap()));
        shown.filter(|(kind, _)| *kind != Kind::Space).collect()
    }

    #[test]
    fn quotes_are_doubled_or_escaped() {
        assert_eq!(
            kinds(r#"'it''s' "a\"b" 'x\\' `a``b`"#),
            [(Kind::Text, "'it''s'"), (Kind::Text, r#""a\"b""#), (Kind::Text, r"'x\\'"), (Kind::Name, "`a``b`"),]
        );
    }

    #[test]
    fn a_name_may_begin_with_digits_or_follow_a_dot() {
        assert_eq!(
            kinds("2nd_table t.1 1e3 1.5e-3 .5 0x1F 5."),
            [
                (Kind::Word, "2nd_table"),
                (Kind::Word, "t"),
                (Kind::Mark(b'.'), "."),
                (Kind::Word, "1"),
                (Kind::Number, "1e3"),
                (Kind::Number, "1.5e-3"),
                (Kind::Number, ".5"),
                (Kind::Number, "0x1F"),
                (Kind::Number, "5."),
            ]
        );
    }

    #[test]
    fn what_versioned_comments_hold_is_code() {
        assert_eq!(
            kinds("/*!40001 sql_no_cache */ * /* no */ /*M!100100 x*/-- y\n1--1"),
            [
                (Kind::Word, "sql_no_cache"),
                (Kind::Mark(b'*'), "*"),
                (Kind::Word, "x"),
                (Kind::Number, "1"),
                (Kind::Mark(b'-'), "-"),
                (Kind::Mark(b'-'), "-"),
                (Kind::Number, "1"),
            ]
        );
    }
}
