//! The rules that every bundled script keeps, each a function from a script to its complaints.

use std::collections::{BTreeMap, BTreeSet};

use seatrace::scripts::{Header, OptionKind, Token as Place};

use crate::dialect::{self, Sort, refused};
use crate::program::{Clause, Kind, Program, Token, arguments};

/// One D program under judgement.
pub struct Script<'a> {
    /// File name without `.d`.
    pub form: &'a str,
    /// Name of the script that it is a form of.
    pub name: &'a str,
    pub source: &'a str,
    pub program: Program,
    /// Of `MIFL`: where it runs.
    pub systems: String,
}

type Complaints = Vec<String>;

/// All rules.
pub const RULES: &[fn(&Script) -> Complaints] = &[
    text,
    directives,
    statements,
    words,
    probes,
    keys,
    aggregations,
    declarations,
    prefix,
    cleared,
    strings,
    begin_and_end,
    crate::header::order,
    crate::header::options,
    crate::header::needs,
    crate::header::overhead,
    crate::shapes::records,
    crate::shapes::rows,
];

/// What is wrong with a script, with its name and lines.
pub fn judge(script: &Script) -> Complaints {
    let found = RULES.iter().flat_map(|rule| rule(script));
    found.map(|complaint| format!("{}.d: {complaint}", script.form)).collect()
}

fn complain(complaints: &mut Complaints, line: usize, what: impl Into<String>) {
    complaints.push(format!("line {line}: {}", what.into()));
}

/// Plain text: no `//` (Linux since 2.0.4 only), no `#!` (its options differ by system), ASCII, one last newline.
fn text(script: &Script) -> Complaints {
    let mut found = Vec::new();
    for line in &script.program.line_comments {
        complain(&mut found, *line, "a // comment: older DTraces of Linux refuse it");
    }
    for (at, line) in script.source.lines().enumerate() {
        if !line.is_ascii() {
            complain(&mut found, at + 1, "not ASCII");
        }
        if line.ends_with([' ', '\t']) {
            complain(&mut found, at + 1, "blanks at its end");
        }
    }
    if !script.source.ends_with("}\n") {
        found.push("does not end in `}` and a newline".into());
    }
    found
}

/// `#pragma D option` alone, with options that the systems know, before the first declaration.
fn directives(script: &Script) -> Complaints {
    let mut found = Vec::new();
    let mut set = BTreeSet::new();
    let first = script.program.clauses.first().map_or(usize::MAX, |clause| clause.line);
    for (line, directive) in &script.program.directives {
        let Some(option) = directive.strip_prefix("#pragma D option ") else {
            complain(&mut found, *line, format!("{directive}: only `#pragma D option`"));
            continue;
        };
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        set.insert(name);
        if let Some(why) = refused(Sort::Option, name, &script.systems) {
            complain(&mut found, *line, why);
        }
        if name == "strsize" && value.parse::<u64>().map_or(true, |size| size > dialect::MAX_STRSIZE) {
            complain(&mut found, *line, format!("strsize={value}: {} at the most, in bytes", dialect::MAX_STRSIZE));
        }
        if *line > first {
            complain(&mut found, *line, "a pragma behind a clause");
        }
    }
    if !set.contains("quiet") {
        found.push("no `#pragma D option quiet`: other text would stand between the lines of the dump".into());
    }
    let uses_arguments = script.program.tokens().any(|token| macro_argument(token).is_some());
    if uses_arguments && !set.contains("defaultargs") {
        found.push("uses $N without `#pragma D option defaultargs`".into());
    }
    found
}

/// `$1` or `$$1` as its text.
pub fn macro_argument(token: &Token) -> Option<&str> {
    let digits = token.text.trim_start_matches('$');
    let is_argument =
        token.kind == Kind::Word && token.text.starts_with('$') && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_argument && !digits.is_empty()).then_some(token.text.as_str())
}

fn statements(script: &Script) -> Complaints {
    let mut found = Vec::new();
    for token in script.program.tokens().filter(|token| dialect::STATEMENTS.iter().any(|word| token.is(word))) {
        complain(
            &mut found,
            token.line,
            format!("`{}`: no statement of D on Linux; use predicates and ?:", token.text),
        );
    }
    found
}

/// Functions, variables and members: each word by its place.
fn words(script: &Script) -> Complaints {
    let mut found = Vec::new();
    let known = declared(script);
    for clause in &script.program.clauses {
        for part in [&clause.predicate, &clause.body] {
            for (at, token) in part.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
                let before = at.checked_sub(1).and_then(|at| part.get(at)).map_or("", |token| token.text.as_str());
                let after = part.get(at + 1).map_or("", |token| token.text.as_str());
                let base = at.checked_sub(2).and_then(|at| part.get(at)).map_or("", |token| token.text.as_str());
                let sort = match (before, after) {
                    ("->", _) if base == "self" || base == "this" => continue,
                    ("->" | ".", _) => Sort::Member,
                    ("@", _) => continue,
                    (_, "(") if !known.contains(&token.text) => Sort::Function,
                    _ => Sort::Variable,
                };
                if sort == Sort::Variable && (is_plain(token) || known.contains(&token.text)) {
                    continue;
                }
                if let Some(why) = refused(sort, &token.text, &script.systems) {
                    complain(&mut found, token.line, why);
                }
            }
        }
    }
    found
}

/// A type, a keyword or a macro argument: no variable.
fn is_plain(token: &Token) -> bool {
    let keywords = ["self", "this", "sizeof", "stringof", "offsetof", "xlate"];
    dialect::TYPES.split_whitespace().chain(keywords).any(|word| token.is(word))
        || ["$target", "$pid"].iter().any(|word| token.is(word))
        || macro_argument(token).is_some()
}

/// Globals, constants and inlines that the program declares.
fn declared(script: &Script) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for declaration in &script.program.declarations {
        let of_thread = declaration.first().is_some_and(|token| token.is("self") || token.is("this"));
        if declaration.first().is_some_and(|token| token.is("enum")) {
            let words = declaration.iter().filter(|token| token.kind == Kind::Word && !token.is("enum"));
            found.extend(words.map(|token| token.text.clone()));
        } else if let Some(name) = declared_name(declaration).filter(|_| !of_thread) {
            found.insert(name);
        }
    }
    found
}

/// The name in `int64_t name`, `self int name[int]`, `inline int name = 3`.
fn declared_name(declaration: &[Token]) -> Option<String> {
    let end = declaration.iter().position(|token| token.is("[") || token.is("=")).unwrap_or(declaration.len());
    let named = declaration.get(..end)?.iter().rev().find(|token| token.kind == Kind::Word);
    named.map(|token| token.text.clone())
}

/// Probe descriptions: providers and probes of the table, `$target` and no globs with static probes, no globs over everything.
fn probes(script: &Script) -> Complaints {
    let mut found = Vec::new();
    for clause in &script.program.clauses {
        for probe in &clause.probes {
            found.extend(
                probe_complaint(probe, &script.systems).map(|what| format!("line {}: {probe}: {what}", clause.line)),
            );
        }
    }
    found
}

fn probe_complaint(probe: &str, systems: &str) -> Option<String> {
    if ["BEGIN", "END", "ERROR", "dtrace:::BEGIN", "dtrace:::END", "dtrace:::ERROR"].contains(&probe) {
        return None;
    }
    let timer = probe.strip_prefix("profile:::").unwrap_or(probe);
    if let Some((kind @ ("profile" | "tick"), rate)) = timer.split_once('-') {
        let digits = rate.bytes().take_while(u8::is_ascii_digit).count();
        let unit = rate.get(digits..).unwrap_or("");
        let fits = digits > 0 && ["", "hz", "s", "sec", "ms", "msec", "us", "ns", "m", "h", "d"].contains(&unit);
        return (!fits).then(|| format!("no {kind} probe: a literal number and hz, s, ms, us or ns"));
    }
    let parts: Vec<&str> = probe.split(':').collect();
    let [provider, module, function, name] = parts.as_slice() else {
        return Some("not provider:module:function:name".into());
    };
    let bare = provider.trim_end_matches("$target").trim_end_matches(|c: char| c == '*' || c.is_ascii_digit());
    if let Some(why) = refused(Sort::Provider, bare, systems) {
        return Some(why);
    }
    match bare {
        "pid" | "mysql" if !provider.ends_with("$target") => Some("needs $target".into()),
        "mysql" if name.contains(['*', '?']) || name.is_empty() => {
            Some("a glob in a static probe's name: Linux refuses it".into())
        }
        "mysql" if !module.is_empty() || !function.is_empty() => {
            Some("module and function differ by build: leave them out".into())
        }
        "pid" if !["entry", "return"].contains(name) => Some("entry or return: offsets differ by build".into()),
        "pid" | "syscall" | "fbt" if function.is_empty() || function.trim_matches('*').is_empty() => {
            Some("every function of it".into())
        }
        "syscall" if !module.is_empty() => Some("the module differs by system: leave it out".into()),
        _ => refused(Sort::Probe, &format!("{bare}:{name}"), systems),
    }
}

/// At most six keys.
fn keys(script: &Script) -> Complaints {
    let mut found = Vec::new();
    for clause in &script.program.clauses {
        for part in [&clause.predicate, &clause.body] {
            for (at, token) in part.iter().enumerate().filter(|(_, token)| token.is("[")) {
                let count = arguments(part.get(at..).unwrap_or_default()).len();
                if count > dialect::MAX_KEYS {
                    complain(&mut found, token.line, format!("{count} keys; {} at the most", dialect::MAX_KEYS));
                }
            }
        }
    }
    found
}

/// Where an aggregation is assigned: name and function.
pub fn assignments(clause: &Clause) -> Vec<(String, String, usize)> {
    let body = &clause.body;
    let mut found = Vec::new();
    for (at, token) in body.iter().enumerate().filter(|(_, token)| token.is("@")) {
        let Some(name) = body.get(at + 1).filter(|name| name.kind == Kind::Word) else { continue };
        let mut depth = 0;
        let rest = body.get(at + 2..).unwrap_or_default();
        let after = rest.iter().position(|token| {
            depth += i32::from(token.is("[")) - i32::from(token.is("]"));
            depth == 0 && !token.is("]")
        });
        let Some(after) = after.filter(|after| rest.get(*after).is_some_and(|token| token.is("="))) else { continue };
        let function = rest.get(after + 1).map_or(String::new(), |token| token.text.clone());
        found.push((name.text.clone(), function, token.line));
    }
    found
}

/// One function each, and printed only further down than collected (`failed to resolve @x: Unknown variable name`).
fn aggregations(script: &Script) -> Complaints {
    let mut found = Vec::new();
    let mut functions: BTreeMap<String, String> = BTreeMap::new();
    for clause in &script.program.clauses {
        for (name, function, line) in assignments(clause) {
            let known = functions.entry(name.clone()).or_insert_with(|| function.clone());
            if *known != function {
                complain(&mut found, line, format!("@{name} is {known} and {function}"));
            }
        }
        for (at, token) in clause.body.iter().enumerate().filter(|(_, token)| token.is("@")) {
            let name = clause.body.get(at + 1).map_or("", |name| name.text.as_str());
            if name.is_empty() || name == "[" || name == "=" {
                complain(&mut found, token.line, "an aggregation without a name");
            } else if !functions.contains_key(name) {
                complain(&mut found, token.line, format!("@{name} is used before it is collected"));
            }
        }
    }
    found
}

/// What is assigned is declared with a type: globals, and `self->`.
fn declarations(script: &Script) -> Complaints {
    let mut found = Vec::new();
    let mut of_thread = BTreeSet::new();
    for declaration in script.program.declarations.iter().filter(|it| it.first().is_some_and(|token| token.is("self")))
    {
        of_thread.extend(declared_name(declaration));
    }
    for declaration in &script.program.declarations {
        let pairs = declaration.windows(2).filter(|pair| pair[0].text.ends_with("_t") && pair[1].is(","));
        for pair in pairs {
            let what = "before another key: DTrace 2.0.7 says `syntax error near \",\"`; int and string work";
            complain(&mut found, pair[0].line, format!("{} {what}", pair[0].text));
        }
    }
    for (name, line) in thread_locals(script) {
        if !of_thread.contains(&name) {
            complain(&mut found, line, format!("self->{name} is not declared"));
        }
    }
    found
}

/// Every `self->NAME` with its line.
fn thread_locals(script: &Script) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for clause in &script.program.clauses {
        for part in [&clause.predicate, &clause.body] {
            let triples = part.windows(3).filter(|three| three[0].is("self") && three[1].is("->"));
            found.extend(triples.map(|three| (three[2].text.clone(), three[2].line)));
        }
    }
    found
}

/// Names that live as long as the handle: several scripts may share one, so each has a prefix of its own.
pub fn lasting_names(script: &Script) -> BTreeSet<String> {
    let mut names = declared(script);
    names.extend(thread_locals(script).into_iter().map(|(name, _)| name));
    names
}

/// The script's prefix, if all its lasting names share one of two to four letters.
pub fn prefix_of(script: &Script) -> Result<Option<String>, String> {
    let mut prefix: Option<String> = None;
    for name in lasting_names(script) {
        let own = name.split_once('_').map_or("", |(own, _)| own);
        if !(2..=4).contains(&own.len()) {
            return Err(format!("{name} has no prefix of two to four letters"));
        }
        match &prefix {
            Some(first) if first != own => return Err(format!("{name} has another prefix than {first}_")),
            _ => prefix = Some(own.to_owned()),
        }
    }
    Ok(prefix)
}

/// Names have the script's prefix; an aggregation may have the script's own name instead, since people read it.
fn prefix(script: &Script) -> Complaints {
    let prefix = match prefix_of(script) {
        Ok(prefix) => prefix,
        Err(wrong) => return vec![wrong],
    };
    let mut found = Vec::new();
    let own = script.name.replace('-', "_");
    for (name, _, line) in script.program.clauses.iter().flat_map(assignments) {
        let prefixed = prefix.as_ref().is_some_and(|prefix| name.starts_with(&format!("{prefix}_")));
        if !prefixed && !name.starts_with(&own) {
            complain(&mut found, line, format!("@{name} has neither the script's prefix nor its name"));
        }
    }
    found
}

/// Every thread-local that is set is also cleared: a value that stays costs a dynamic variable a thread.
fn cleared(script: &Script) -> Complaints {
    let mut found = Vec::new();
    let mut set: BTreeMap<String, usize> = BTreeMap::new();
    let mut freed = BTreeSet::new();
    for clause in &script.program.clauses {
        for (at, _) in clause.body.iter().enumerate().filter(|(_, token)| token.is("self")) {
            let Some(name) = clause.body.get(at + 2) else { continue };
            let mut depth = 0;
            let rest = clause.body.get(at + 3..).unwrap_or_default();
            let after = rest.iter().position(|token| {
                depth += i32::from(token.is("[")) - i32::from(token.is("]"));
                depth == 0 && !token.is("]")
            });
            let Some(after) = after else { continue };
            let sign = rest.get(after).map_or("", |token| token.text.as_str());
            let (value, end) = (rest.get(after + 1), rest.get(after + 2));
            match sign {
                "=" if value.is_some_and(|value| value.text == "0" || value.text == "NULL")
                    && end.is_some_and(|end| end.is(";")) =>
                {
                    freed.insert(name.text.clone());
                }
                "--" => {
                    freed.insert(name.text.clone());
                }
                "=" if rest.iter().take_while(|token| !token.is(";")).any(|token| token.is("?"))
                    && rest.iter().take_while(|token| !token.is(";")).any(|token| token.text == "0") =>
                {
                    freed.insert(name.text.clone());
                }
                "=" | "+=" | "++" | "-=" => {
                    set.entry(name.text.clone()).or_insert(name.line);
                }
                _ => {}
            }
        }
    }
    for (name, line) in set.iter().filter(|(name, _)| !freed.contains(*name)) {
        complain(&mut found, *line, format!("self->{name} is set and never cleared"));
    }
    found
}

/// Conversions: known ones; a text by `%S`, so that no byte of it ends a line or a field.
fn strings(script: &Script) -> Complaints {
    let mut found = Vec::new();
    let choices = choices(script);
    for clause in &script.program.clauses {
        for name in ["printf", "printa"] {
            for call in clause.calls(name) {
                let Some(format) =
                    call.first().and_then(|argument| argument.first()).filter(|token| token.kind == Kind::Text)
                else {
                    found.push(format!("line {}: {name} without a format: it prints texts as hex dumps", clause.line));
                    continue;
                };
                for (at, conversion) in conversions(&format.text).iter().enumerate() {
                    let known = dialect::CONVERSIONS.split(' ').any(|known| conversion.ends_with(known))
                        && !conversion.contains("hh");
                    if !known {
                        complain(&mut found, format.line, format!("{conversion}: not every printf knows it"));
                    }
                    let is_ours = call.get(at + 1).is_some_and(|argument| is_literal(argument, &choices));
                    if conversion.ends_with('s') && !(name == "printf" && is_ours) {
                        complain(
                            &mut found,
                            format.line,
                            format!("{conversion} of a text that is not the script's own: use %S"),
                        );
                    }
                }
            }
        }
    }
    found
}

/// The conversions of a format with their flags, `%%` left out.
pub fn conversions(format: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        rest = &rest[at..];
        let length = 1 + rest.chars().skip(1).take_while(|c| "-+ #0123456789.*@hlL".contains(*c)).count() + 1;
        let conversion: String = rest.chars().take(length).collect();
        rest = &rest[conversion.len()..];
        if !conversion.ends_with('%') {
            found.push(conversion);
        }
    }
    found
}

/// The text arguments (`$$1`) whose values are words of a list in the header, which `run` checks.
pub fn choices(script: &Script) -> Vec<String> {
    let header = Header::parse(script.source).unwrap_or_default();
    let listed = header.options.into_iter().filter(|option| matches!(option.kind, OptionKind::Words(_)));
    let tokens = listed.filter_map(|option| match option.token {
        Place::Text(number) => Some(format!("$${number}")),
        _ => None,
    });
    tokens.collect()
}

/// A text of the program itself: a literal, one of `choices`, a choice between those, or a part of the probe's name.
pub fn is_literal(argument: &[Token], choices: &[String]) -> bool {
    let names = ["probename", "probefunc", "probemod", "probeprov"];
    let is_own = |one: &Token| {
        one.kind == Kind::Text || names.iter().any(|name| one.is(name)) || choices.iter().any(|choice| one.is(choice))
    };
    if let [one] = argument {
        return is_own(one);
    }
    let pieces: Vec<&[Token]> = argument.split(|token| token.is("?") || token.is(":")).collect();
    // condition ? value : condition ? value : value
    let values = pieces
        .iter()
        .skip(1)
        .filter(|piece| !piece.iter().any(|token| token.is("==") || token.is("!=") || token.is("<")));
    pieces.len() > 2 && values.clone().count() > 0 && values.clone().all(|piece| matches!(piece, [one] if is_own(one)))
}

/// BEGIN prints the headings, END `# stop`; neither has a process to look into.
fn begin_and_end(script: &Script) -> Complaints {
    let mut found = Vec::new();
    let of = |name: &str| -> Vec<&Clause> {
        script.program.clauses.iter().filter(|clause| clause.probes.iter().any(|probe| probe.ends_with(name))).collect()
    };
    let printed = |clauses: &[&Clause]| -> String {
        let calls = clauses.iter().flat_map(|clause| clause.calls("printf"));
        calls.filter_map(|call| Some(call.first()?.first()?.text.trim_matches('"').to_owned())).collect()
    };
    let (begin, end) = (of("BEGIN"), of("END"));
    let headings = printed(&begin);
    if !headings.starts_with(&format!("# seatrace\\t1\\n# script\\t{}\\t", script.name)) {
        found.push(format!("BEGIN does not start with `# seatrace\\t1` and `# script\\t{}\\t`", script.name));
    }
    if !headings.contains("# start\\t%d\\t%Y\\n") {
        found.push("BEGIN prints no `# start\\t%d\\t%Y`".into());
    }
    let sized = script.program.directives.iter().find_map(|(_, text)| text.strip_prefix("#pragma D option strsize="));
    if let Some(size) = sized.filter(|size| !headings.contains(&format!("# strsize\\t{size}\\n"))) {
        found.push(format!("BEGIN prints no `# strsize\\t{size}`: a reader cannot know which texts were cut"));
    }
    if !printed(&end).ends_with("# stop\\t%d\\n") {
        found.push("END does not end in `# stop\\t%d`".into());
    }
    for clause in begin.iter().chain(&end) {
        let word = ["copyin", "copyinstr", "ustack", "execname", "stack", "arg0", "arg1"];
        if let Some(token) = clause.tokens().find(|token| word.iter().any(|word| token.is(word))) {
            complain(&mut found, token.line, format!("{} in BEGIN or END, which have no process", token.text));
        }
    }
    found
}
