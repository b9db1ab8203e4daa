//! A D program cut into what the rules look at: header, pragmas, declarations, clauses and their words.
//!
//! This is no D compiler: it knows comments, strings, words and brackets, and that a top-level thing that ends in `;` is a
//! declaration while one with a body is a clause.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, a keyword, or a macro argument (`$1`, `$$2`, `$target`).
    Word,
    /// A number.
    Number,
    /// A string, with its quotes.
    Text,
    /// An operator or bracket.
    Sign,
}

/// One token and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    pub line: usize,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }
}

/// Probes, predicate, body.
#[derive(Clone, Debug)]
pub struct Clause {
    pub probes: Vec<String>,
    pub predicate: Vec<Token>,
    pub body: Vec<Token>,
    pub line: usize,
}

impl Clause {
    /// All tokens, in order.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.predicate.iter().chain(&self.body)
    }

    /// The calls of `name`: the tokens of each of their arguments.
    pub fn calls(&self, name: &str) -> Vec<Vec<Vec<Token>>> {
        let starts = self.body.windows(2).enumerate().filter(|(_, pair)| pair[0].is(name) && pair[1].is("("));
        starts.map(|(at, _)| arguments(&self.body[at + 1..])).collect()
    }
}

/// The parts of a program.
#[derive(Debug, Default)]
pub struct Program {
    /// The lines of the first comment, without ` * `.
    pub header: Vec<String>,
    /// `#` lines: line and text.
    pub directives: Vec<(usize, String)>,
    /// Declarations, without the closing `;`.
    pub declarations: Vec<Vec<Token>>,
    pub clauses: Vec<Clause>,
    /// Lines on which a `//` comment stands.
    pub line_comments: Vec<usize>,
    /// The text without comments, as long as the original.
    pub code: String,
}

impl Program {
    pub fn parse(source: &str) -> Result<Program, String> {
        let (code, line_comments) = without_comments(source)?;
        let mut program = Program { header: header(source), line_comments, code: code.clone(), ..Program::default() };
        let mut rest = 0;
        while let Some(skipped) = code[rest..].find(|c: char| !c.is_whitespace()) {
            let start = rest + skipped;
            let line = line_of(&code, start);
            if code[start..].starts_with('#') {
                let end = code[start..].find('\n').map_or(code.len(), |length| start + length);
                program.directives.push((line, code[start..end].trim().to_owned()));
                rest = end;
                continue;
            }
            let end = end_of_thing(&code, start).ok_or(format!("line {line}: no end of what begins here"))?;
            let text = &code[start..end];
            match text.strip_suffix(';') {
                Some(declaration) => program.declarations.push(tokens(declaration, line)?),
                None => program.clauses.push(clause(text, line)?),
            }
            rest = end;
        }
        Ok(program)
    }

    /// All tokens of all clauses.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.clauses.iter().flat_map(Clause::tokens)
    }
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

fn header(source: &str) -> Vec<String> {
    let Some(comment) = source.strip_prefix("/*\n").and_then(|rest| rest.split_once(" */")) else { return Vec::new() };
    let lines = comment.0.lines();
    lines.map(|line| line.strip_prefix(" * ").or(line.strip_prefix(" *")).unwrap_or(line).to_owned()).collect()
}

/// Blanks in place of comments, so that positions and lines stay.
fn without_comments(source: &str) -> Result<(String, Vec<usize>), String> {
    let (mut code, mut line_comments) = (String::new(), Vec::new());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("/*") {
            let end = rest.find("*/").ok_or("a comment has no end")? + 2;
            code.extend(rest[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            end
        } else if rest.starts_with("//") {
            line_comments.push(line_of(&code, code.len()));
            let end = rest.find('\n').unwrap_or(rest.len());
            code.extend(std::iter::repeat_n(' ', end));
            end
        } else if c == '"' {
            let end = end_of_text(rest).ok_or("a string has no end")?;
            code.push_str(&rest[..end]);
            end
        } else {
            code.push(c);
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    Ok((code, line_comments))
}

/// Length of the string literal at the beginning of `text`.
fn end_of_text(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// End of a declaration (behind `;`) or clause (behind `}`).
fn end_of_thing(code: &str, start: usize) -> Option<usize> {
    let declares = ["enum", "struct", "union", "typedef", "inline", "translator"];
    let word: String = code[start..].chars().take_while(|c| c.is_alphanumeric()).collect();
    let (mut at, mut depth) = (start, 0);
    while let Some(c) = code[at..].chars().next() {
        match c {
            '"' => at += end_of_text(&code[at..])? - 1,
            '{' => depth += 1,
            '}' if depth == 1 && !declares.contains(&word.as_str()) => return Some(at + 1),
            '}' => depth -= 1,
            ';' if depth == 0 => return Some(at + 1),
            _ => {}
        }
        at += c.len_utf8();
    }
    None
}

fn clause(text: &str, line: usize) -> Result<Clause, String> {
    let open = text.find('{').ok_or(format!("line {line}: neither `;` nor a body"))?;
    let (head, body) = (&text[..open], &text[open + 1..text.len() - 1]);
    let (probes, predicate, predicate_line) = match head.split_once('/') {
        Some((probes, rest)) => {
            let end = rest.rfind('/').ok_or(format!("line {line}: the predicate has no end"))?;
            (probes, &rest[..end], line + probes.matches('\n').count())
        }
        None => (head, "", line),
    };
    Ok(Clause {
        probes: probes.split(',').map(|probe| probe.trim().to_owned()).collect(),
        predicate: tokens(predicate, predicate_line)?,
        body: tokens(body, line + head.matches('\n').count())?,
        line,
    })
}

const SIGNS: [&str; 23] = [
    "->", "++", "--", "==", "!=", "<=", ">=", "&&", "||", "^^", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "::", "...", "##",
];

pub fn tokens(code: &str, mut line: usize) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '`';
        let (kind, length) = if c.is_whitespace() {
            line += usize::from(c == '\n');
            rest = &rest[c.len_utf8()..];
            continue;
        } else if c == '"' {
            (Kind::Text, end_of_text(rest).ok_or(format!("line {line}: a string has no end"))?)
        } else if c.is_ascii_digit() {
            (Kind::Number, rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else if word(c) {
            (Kind::Word, rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else {
            (Kind::Sign, SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(c.len_utf8(), |sign| sign.len()))
        };
        found.push(Token { kind, text: rest[..length].to_owned(), line });
        rest = &rest[length..];
    }
    Ok(found)
}

/// The arguments of a call or the keys of an array: `tokens` starts with the opening bracket.
pub fn arguments(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut found = vec![Vec::new()];
    let mut depth = 0;
    for token in tokens {
        let (opens, closes) = (["(", "["].iter().any(|s| token.is(s)), [")", "]"].iter().any(|s| token.is(s)));
        if closes {
            depth -= 1;
            if depth == 0 {
                break;
            }
        }
        if depth == 1 && token.is(",") {
            found.push(Vec::new());
        } else if depth > 0
            && let Some(last) = found.last_mut()
        {
            last.push(token.clone());
        }
        depth += i32::from(opens);
    }
    if found == [Vec::new()] { Vec::new() } else { found }
}
