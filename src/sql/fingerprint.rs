//! The fingerprint of a statement: what it does, without its literals.
//!
//! Lower case, blanks and comments as one blank, literals and NULL as `?`, lists as `(?+)`, `limit` without its numbers. It follows
//! pt-query-digest where that is safe; where it differs, tests/queries/fingerprint.rs says why. No part of a literal is ever in
//! it. A statement of which the end is missing ends in `...`, so that it is not taken for a whole one.

use md5::{Digest, Md5};

use super::lexer::{Kind, Lexer, Token};
use super::lists::{Bracket, Lists};

/// The fingerprint of one statement. For many, a [`Fingerprinter`] is quicker.
pub fn fingerprint(text: &str) -> String {
    fingerprint_of(text, false)
}

/// Likewise; `cut` says that the statement went on.
pub fn fingerprint_of(text: &str, cut: bool) -> String {
    let mut worker = Fingerprinter::default();
    String::from_utf8_lossy(worker.fingerprint(text.as_bytes(), cut)).into_owned()
}

/// Makes fingerprints, one after another, in memory that it keeps.
#[derive(Default)]
pub struct Fingerprinter {
    out: Vec<u8>,
    lists: Lists,
    state: State,
}

/// What the tokens so far mean for the next one.
#[derive(Default)]
struct State {
    /// A blank is due before the next token.
    blank: bool,
    /// What the last token was.
    last: Last,
    /// Output length and due blank before a run of signs that may belong to a number.
    signs: Option<(usize, bool)>,
    limit: Limit,
    /// After `order by`: `asc` is left out.
    order_by: bool,
    /// After the first row of `values`; and the output length before the comma that followed it.
    rows: Option<Option<usize>>,
    /// The first word was `call`: nothing after the name of the procedure counts.
    call: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Start,
    /// A value or name: a sign after it is an operator.
    Operand,
    /// A string literal; a further one continues it.
    Text,
    Keyword,
    In,
    Values,
    Order,
    Mark,
}

/// Progress in `limit A, B` and `limit A offset B`: `B` belongs to it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Limit {
    #[default]
    No,
    Word,
    First,
    /// After the comma or `offset`; the length of the output before it.
    Comma(usize),
}

impl Fingerprinter {
    /// The fingerprint of a text; `cut` says that the statement went on.
    pub fn fingerprint(&mut self, text: &[u8], cut: bool) -> &[u8] {
        self.out.clear();
        self.lists.clear();
        self.state = State::default();
        let mut cut = cut;
        let mut lexer = Lexer::new(text);
        while let Some(token) = lexer.next() {
            cut |= token.open;
            if token.kind == Kind::Space {
                self.state.blank = !self.out.is_empty();
                continue;
            }
            // A fingerprint's own sign of a cut text, and performance_schema's.
            if token.text == b"..." && lexer.rest().is_empty() {
                cut = true;
                continue;
            }
            if token.kind == Kind::Mark(b'(') && self.skips_row() {
                cut |= !skip_row(&mut lexer);
                continue;
            }
            if !self.token(token) {
                return &self.out;
            }
        }
        self.finish(cut)
    }

    /// Whether a bracket that opens now begins a further row of `values`, which is left out.
    fn skips_row(&mut self) -> bool {
        let Some(Some(comma)) = self.state.rows else { return false };
        self.out.truncate(comma);
        self.state.rows = Some(None);
        self.state.blank = false;
        true
    }

    /// Takes in one token; whether more are wanted.
    fn token(&mut self, token: Token<'_>) -> bool {
        match token.kind {
            Kind::Text => self.literal(Last::Text),
            Kind::Number | Kind::Placeholder => self.literal(Last::Operand),
            // What follows a backtick that never closes may be anything.
            Kind::Name if token.open => self.literal(Last::Operand),
            Kind::Name => self.name(token.text),
            Kind::Word => return self.word(token.text),
            Kind::Mark(b'(') => {
                if self.state.call {
                    return false;
                }
                self.open();
            }
            Kind::Mark(b')') => self.close(),
            Kind::Mark(mark) => self.mark(mark),
            Kind::Space => {}
        }
        true
    }

    fn write(&mut self, bytes: &[u8]) {
        if std::mem::take(&mut self.state.blank) {
            self.without_comment_signs();
            self.out.push(b' ');
        }
        self.out.extend_from_slice(bytes);
    }

    /// Takes off two minus signs before a blank or the end (`----` and a comment leaves them): they would begin a comment to whoever reads
    /// the fingerprint.
    fn without_comment_signs(&mut self) {
        while self.out.ends_with(b"--") {
            self.out.truncate(self.out.len() - 2);
            while let Some(b' ') = self.out.last() {
                self.out.pop();
            }
        }
    }

    fn literal(&mut self, last: Last) {
        let state = &mut self.state;
        if last == Last::Text && state.last == Last::Text {
            state.blank = false;
            return;
        }
        if let Some((length, blank)) = state.signs.take() {
            self.out.truncate(length);
            state.blank = blank;
        }
        if let Limit::Comma(length) = state.limit {
            self.out.truncate(length);
            (state.limit, state.blank, state.last) = (Limit::No, false, Last::Operand);
            return;
        }
        state.limit = if state.limit == Limit::Word { Limit::First } else { Limit::No };
        state.last = last;
        state.rows = None;
        self.write(b"?");
    }

    fn name(&mut self, text: &[u8]) {
        self.lists.not_literal();
        let blank = self.state.blank;
        self.state = State {
            blank,
            last: Last::Operand,
            order_by: self.state.order_by,
            call: self.state.call,
            ..State::default()
        };
        let start = self.out.len();
        self.write(text);
        self.lower(start);
    }

    fn word(&mut self, text: &[u8]) -> bool {
        let start = self.out.len();
        let (before, limit) = (self.state.last, self.state.limit);
        let word = Word::of(text);
        match word {
            Word::Null => {
                self.literal(Last::Operand);
                return true;
            }
            Word::Asc if self.state.order_by => {
                self.state.blank = false;
                return true;
            }
            Word::Use if before == Last::Start => {
                self.out.extend_from_slice(b"use ?");
                return false;
            }
            _ => {}
        }
        self.name(text);
        self.state.last = match word {
            Word::In => Last::In,
            Word::Values => Last::Values,
            Word::Order => Last::Order,
            Word::Keyword | Word::By | Word::Limit | Word::Offset => Last::Keyword,
            _ => Last::Operand,
        };
        self.state.limit = match (word, limit) {
            (Word::Limit, _) => Limit::Word,
            (Word::Offset, Limit::First) => Limit::Comma(start),
            _ => Limit::No,
        };
        self.state.order_by |= word == Word::By && before == Last::Order;
        self.state.call = self.state.call || (word == Word::Call && before == Last::Start);
        true
    }

    fn lower(&mut self, from: usize) {
        if let Some(written) = self.out.get_mut(from..) {
            written.make_ascii_lowercase();
        }
    }

    fn open(&mut self) {
        let bracket = match self.state.last {
            Last::In => Bracket::In,
            Last::Values => Bracket::Values,
            Last::Mark => Bracket::Row,
            _ => Bracket::Plain,
        };
        self.lists.open(bracket, self.out.len());
        self.mark_written(b'(');
        self.state.last = Last::Mark;
    }

    fn close(&mut self) {
        let blank = std::mem::take(&mut self.state.blank);
        let (bracket, short) = self.lists.close(&mut self.out);
        if !short {
            self.state.blank = blank;
            self.mark_written(b')');
        }
        self.state.signs = None;
        self.state.limit = Limit::No;
        self.state.last = Last::Operand;
        self.state.rows = (bracket == Bracket::Values).then_some(None);
    }

    fn mark(&mut self, mark: u8) {
        let before = self.out.len();
        let state = &mut self.state;
        let sign = matches!(mark, b'-' | b'+') && !matches!(state.last, Last::Operand | Last::Text);
        let signs = if sign { state.signs.or(Some((before, state.blank))) } else { None };
        let limit = if mark == b',' && state.limit == Limit::First { Limit::Comma(before) } else { Limit::No };
        let limit = if sign { state.limit } else { limit };
        let rows = state.rows.filter(|_| mark == b',').map(|_| Some(before));
        if mark != b',' && !sign {
            self.lists.not_literal();
        }
        self.mark_written(mark);
        let state = &mut self.state;
        (state.signs, state.limit, state.rows) = (signs, limit, rows);
        state.last = if mark == b'*' && state.last != Last::Operand { Last::Operand } else { Last::Mark };
        if mark == b';' {
            state.order_by = false;
        }
    }

    fn mark_written(&mut self, mark: u8) {
        self.write(&[mark]);
        (self.state.signs, self.state.limit, self.state.rows) = (None, Limit::No, None);
    }

    fn finish(&mut self, cut: bool) -> &[u8] {
        let cut = cut || self.lists.is_open();
        if let (true, Some(Some(comma))) = (cut, self.state.rows) {
            self.out.truncate(comma);
        }
        self.lists.cut(&mut self.out);
        while let Some(b';' | b' ') = self.out.last() {
            self.out.pop();
        }
        if cut {
            while self.out.ends_with(b".") {
                self.out.pop();
            }
            self.out.extend_from_slice(b"...");
        }
        self.without_comment_signs();
        &self.out
    }
}

/// Passes over the rest of a row, up to its closing bracket; whether there was one.
fn skip_row(lexer: &mut Lexer<'_>) -> bool {
    let mut depth = 1u32;
    for token in lexer {
        match token.kind {
            Kind::Mark(b'(') => depth += 1,
            Kind::Mark(b')') if depth == 1 => return true,
            Kind::Mark(b')') => depth -= 1,
            _ => {}
        }
    }
    false
}

/// Words that change what follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    In,
    Values,
    Limit,
    Offset,
    Order,
    By,
    Asc,
    Null,
    Use,
    Call,
    /// A sign after it belongs to the number.
    Keyword,
    Other,
}

impl Word {
    fn of(text: &[u8]) -> Word {
        let mut lower = [0u8; 8];
        let Some(lower) = lower.get_mut(..text.len()) else {
            return if text.eq_ignore_ascii_case(b"distinctrow") { Word::Keyword } else { Word::Other };
        };
        lower.copy_from_slice(text);
        lower.make_ascii_lowercase();
        match &*lower {
            b"in" => Word::In,
            b"values" | b"value" => Word::Values,
            b"limit" => Word::Limit,
            b"offset" => Word::Offset,
            b"order" => Word::Order,
            b"by" => Word::By,
            b"asc" => Word::Asc,
            b"null" => Word::Null,
            b"use" => Word::Use,
            b"call" => Word::Call,
            b"select" | b"between" | b"and" | b"or" | b"not" | b"when" | b"then" | b"else" | b"where" | b"on"
            | b"having" | b"set" | b"return" | b"like" | b"is" | b"case" | b"div" | b"mod" | b"xor" | b"regexp"
            | b"rlike" | b"distinct" | b"all" | b"interval" | b"if" | b"elseif" | b"while" | b"until" | b"default"
            | b"using" | b"do" | b"to" => Word::Keyword,
            _ => Word::Other,
        }
    }
}

/// The id of a fingerprint: its MD5 in capitals, which is pt-query-digest's id where both have the same fingerprint.
pub fn id(fingerprint: &str) -> String {
    Md5::digest(fingerprint.as_bytes()).iter().map(|byte| format!("{byte:02X}")).collect()
}
