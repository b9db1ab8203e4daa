//! Rules on the comment on top of a script: its form, and that it tells the truth about the program.

use std::collections::BTreeSet;

use seatrace::scripts::{Header, OptionKind, TargetNeed, Token as Place};

use crate::program::Kind;
use crate::rules::{Script, macro_argument};

const GROUPS: [&str; 6] = ["queries", "waits", "stacks", "files", "server", "system"];
/// Sections in their order; true: must be there.
const SECTIONS: [(&str, bool); 9] = [
    ("GROUP", true),
    ("USAGE", true),
    ("NEEDS", false),
    ("OPTIONS", false),
    ("FIELDS", true),
    ("OUTPUT", true),
    ("OVERHEAD", true),
    ("SEE ALSO", false),
    ("SPDX-License-Identifier: MIT OR Apache-2.0", true),
];

/// First line, sections and their order, group, usage.
pub fn order(script: &Script) -> Vec<String> {
    let mut found = Vec::new();
    let lines = &script.program.header;
    if !lines.first().is_some_and(|line| line.starts_with(&format!("{}.d - ", script.form))) {
        found.push(format!("header: the first line is not `{}.d - purpose`", script.form));
    }
    let place = |section: &str| lines.iter().position(|line| line.starts_with(section));
    let mut last = 0;
    for (section, must) in SECTIONS {
        match place(section) {
            None if must => found.push(format!("header: no section {section}")),
            None => {}
            Some(at) if at < last => found.push(format!("header: {section} stands too early")),
            Some(at) => last = at,
        }
    }
    let value = |section: &str| place(section).and_then(|at| lines.get(at)?.strip_prefix(section)).unwrap_or("").trim();
    if !GROUPS.contains(&value("GROUP")) {
        found.push(format!("header: GROUP {}: use one of {}", value("GROUP"), GROUPS.join(", ")));
    }
    let usage = value("USAGE");
    if !(usage.starts_with("dtrace -q -s ") && usage.contains(&format!(" {}.d", script.form))) {
        found.push(format!("header: USAGE {usage}: not `dtrace -q -s {}.d …`", script.form));
    }
    found
}

/// What it costs is an estimate and says so, or was measured: then the page says so too, with a number.
pub fn overhead(script: &Script) -> Vec<String> {
    let lines = script.program.header.iter().skip_while(|line| !line.starts_with("OVERHEAD")).skip(1);
    let text: Vec<&str> = lines.take_while(|line| line.starts_with(' ')).map(|line| line.trim()).collect();
    let text = text.join(" ");
    let page = seatrace::scripts::by_name(script.name).map(|script| script.page).unwrap_or_default();
    let is_backed = page.lines().any(|line| line.contains("measured") && line.contains(|it: char| it.is_ascii_digit()));
    let mut found = Vec::new();
    if !text.starts_with("Estimated: ") && !text.contains("measured") {
        found.push("header: OVERHEAD: begin with `Estimated: `, or say what was measured".into());
    }
    if text.contains("measured") && !is_backed {
        found.push("header: OVERHEAD: measured, but the page has no line with the number and `measured`".into());
    }
    found
}

fn header(script: &Script) -> Result<Header, Vec<String>> {
    Header::parse(script.source).map_err(|wrong| vec![format!("header: {wrong}")])
}

/// Options stand in the program as they say, and every macro argument is an option.
pub fn options(script: &Script) -> Vec<String> {
    let header = match header(script) {
        Ok(header) => header,
        Err(wrong) => return wrong,
    };
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    let mut arguments = BTreeSet::new();
    for option in &header.options {
        if !names.insert(&option.name) {
            found.push(format!("header: --{} stands there twice", option.name));
        }
        match &option.token {
            Place::Number(number) => _ = arguments.insert(format!("${number}")),
            Place::Text(number) => _ = arguments.insert(format!("$${number}")),
            Place::Constant(before, number, after) => {
                let token = format!("{before}{number}{after}");
                if !stands_in(&script.program.code, &token) {
                    found.push(format!("header: --{}: {token} stands nowhere in the program", option.name));
                }
                if option.kind == OptionKind::Text {
                    found.push(format!("header: --{}: a text cannot stand in the program itself", option.name));
                }
            }
        }
        if option.about.is_empty() {
            found.push(format!("header: --{} says nothing of itself", option.name));
        }
    }
    let mut used: BTreeSet<String> = script.program.tokens().filter_map(macro_argument).map(str::to_owned).collect();
    // The user may name the functions: `pid$target::$$1:entry`.
    let probes = script.program.clauses.iter().flat_map(|clause| &clause.probes);
    used.extend(probes.filter_map(|probe| probe.split(':').find(|part| part.starts_with("$$"))).map(str::to_owned));
    found.extend(used.difference(&arguments).map(|argument| format!("{argument} is no option of the header")));
    found.extend(
        arguments.difference(&used).map(|argument| format!("header: {argument} stands nowhere in the program")),
    );
    found
}

/// Whether `token` stands in the code, not as a part of a longer word.
fn stands_in(code: &str, token: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(token).any(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(is_word);
        let after = code[at + token.len()..].chars().next().is_some_and(is_word);
        !before && !after
    })
}

/// NEEDS names what the program uses, no more and no less.
pub fn needs(script: &Script) -> Vec<String> {
    let header = match header(script) {
        Ok(header) => header,
        Err(wrong) => return wrong,
    };
    let mut found = Vec::new();
    let (mut probes, mut functions, mut providers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for probe in script.program.clauses.iter().flat_map(|clause| &clause.probes) {
        let parts: Vec<&str> = probe.split(':').collect();
        match parts.as_slice() {
            ["mysql$target", _, _, name] => _ = probes.insert(*name),
            ["pid$target", _, function, _] if function.starts_with("$$") => {}
            ["pid$target", module, function, _] if !module.starts_with("lib") => _ = functions.insert(*function),
            [provider, ..] if !["BEGIN", "END", "ERROR", "dtrace", "pid$target"].contains(provider) => {
                // A timer alone is in every DTrace; sampling is worth naming.
                let provider = if provider.starts_with("profile") { "profile" } else { provider };
                if !provider.starts_with("tick-") {
                    providers.insert(provider);
                }
            }
            _ => {}
        }
    }
    found.extend(differences("probes", &header.probes, &probes));
    found.extend(differences("functions", &header.functions, &functions));
    found.extend(differences("providers", &header.providers, &providers));
    if !header.probes.is_empty() && header.provider != "mysql" {
        found.push(format!("header: NEEDS probes: provider {}", header.provider));
    }
    if let Some(system) =
        header.systems.iter().find(|system| !["linux", "macos", "illumos", "freebsd"].contains(&system.as_str()))
    {
        found.push(format!("header: NEEDS system {system}: no such system"));
    }
    let heads = script.program.clauses.iter().flat_map(|clause| &clause.probes).any(|probe| probe.contains("$target"));
    let target = heads || script.program.tokens().any(|token| token.kind == Kind::Word && token.text == "$target");
    match header.target {
        TargetNeed::No if target => found.push("header: NEEDS target no, but the program uses $target".into()),
        TargetNeed::Yes if !target => {
            found.push("header: NEEDS target yes, but the program does not use $target".into())
        }
        _ => {}
    }
    found
}

fn differences(what: &str, said: &[String], used: &BTreeSet<&str>) -> Vec<String> {
    let said: BTreeSet<&str> = said.iter().map(String::as_str).collect();
    let missing = used.difference(&said).map(|name| format!("header: NEEDS {what} lacks {name}"));
    let idle = said.difference(used).map(|name| format!("header: NEEDS {what} {name}, which the program does not use"));
    missing.chain(idle).collect()
}
