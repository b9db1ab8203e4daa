//! Rules on what a script prints: each record and each row as its heading declares it.

use std::collections::BTreeMap;

use crate::program::{Clause, Kind, Token};
use crate::rules::{Script, choices, conversions, is_literal};

/// A line of a printf format: its text without the newline.
fn lines(format: &Token) -> Vec<String> {
    let inner = format.text.trim_matches('"');
    inner.split_inclusive("\\n").map(|line| line.trim_end_matches("\\n").to_owned()).collect()
}

/// All format lines that are printed in a clause, by printf or printa, in order.
fn printed(clause: &Clause) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    for (at, pair) in clause.body.windows(3).enumerate() {
        if !(pair[0].is("printf") || pair[0].is("printa")) || !pair[1].is("(") || pair[2].kind != Kind::Text {
            continue;
        }
        let _ = at;
        found.extend(lines(&pair[2]).into_iter().map(|line| (pair[0].is("printa"), line)));
    }
    found
}

/// The headings that a script prints, each as it stands in its format.
pub fn headings(script: &Script) -> Vec<String> {
    let all = script.program.clauses.iter().flat_map(printed);
    all.map(|(_, line)| line).filter(|line| line.starts_with("# record") || line.starts_with("# aggregation")).collect()
}

/// Kinds that a heading declares: name to fields.
fn declared(script: &Script) -> BTreeMap<String, Vec<String>> {
    let all = script.program.clauses.iter().flat_map(printed).filter_map(|(_, line)| {
        let mut parts = line.strip_prefix("# record\\t")?.split("\\t").map(str::to_owned).collect::<Vec<_>>();
        (!parts.is_empty()).then(|| (parts.remove(0), parts))
    });
    all.collect()
}

const TYPES: [&str; 11] = ["int", "wall", "ns", "us", "ms", "bytes", "rows", "text", "path", "frames", "kernel"];

fn type_complaint(field: &str) -> Option<String> {
    let (name, kind) = field.split_once(':')?;
    let kind = kind.split('/').next().unwrap_or(kind);
    (!TYPES.contains(&kind) || name.is_empty()).then(|| format!("{field}: no type of the dump format"))
}

/// Each record has the fields that `# record` declares, texts by %S.
pub fn records(script: &Script) -> Vec<String> {
    let declared = declared(script);
    let choices = choices(script);
    let mut found: Vec<String> = declared.values().flatten().filter_map(|field| type_complaint(field)).collect();
    for clause in &script.program.clauses {
        for call in clause.calls("printf") {
            let Some(format) = call.first().and_then(|argument| argument.first()) else { continue };
            let at = format.line;
            let mut argument = 1;
            for line in lines(format) {
                let parts: Vec<&str> = line.split("\\t").collect();
                let here = argument;
                argument += conversions(&line).len();
                let Some(fields) = parts.first().and_then(|kind| declared.get(*kind)) else {
                    if !line.starts_with("# ") && !line.is_empty() && line != "\\" {
                        found.push(format!("line {at}: `{line}` is neither a heading nor a declared record"));
                    }
                    continue;
                };
                if parts.len() != fields.len() + 1 {
                    found.push(format!("line {at}: {} values, {} fields are declared", parts.len() - 1, fields.len()));
                    continue;
                }
                let mut value = here;
                for (part, field) in parts.iter().skip(1).zip(fields) {
                    let own = call.get(value).is_some_and(|argument| is_literal(argument, &choices));
                    value += conversions(part).len();
                    found.extend(value_complaint(part, field, own).map(|what| format!("line {at}: {what}")));
                }
            }
        }
    }
    found
}

/// `own`: the value is a text of the script itself.
fn value_complaint(part: &str, field: &str, own: bool) -> Option<String> {
    let kind = field.split_once(':').map_or("", |(_, kind)| kind);
    let is_text = kind == "text" || kind == "path";
    let fits = match conversions(part).as_slice() {
        [] => is_text || part.is_empty() || part.parse::<i64>().is_ok(),
        [one] if one.as_str() == part => {
            if is_text {
                one == "%S" || (one == "%s" && own)
            } else {
                one.ends_with(['d', 'u', 'i'])
            }
        }
        _ => is_text,
    };
    (!fits).then(|| format!("{field} is printed by {part}"))
}

/// Each aggregation is printed between its heading and its end, in one clause, as the heading declares it.
pub fn rows(script: &Script) -> Vec<String> {
    let mut found = Vec::new();
    for clause in &script.program.clauses {
        let mut open: Option<(String, Vec<String>)> = None;
        for (is_printa, line) in printed(clause) {
            let parts: Vec<&str> = line.split("\\t").collect();
            match parts.as_slice() {
                ["# aggregation", name, _function, _unit, keys @ ..] => {
                    found.extend(keys.iter().filter_map(|key| type_complaint(key)));
                    open = Some(((*name).to_owned(), keys.iter().map(|key| (*key).to_owned()).collect()));
                }
                ["# end", name] => {
                    if open.as_ref().is_none_or(|(opened, _)| opened != name) {
                        found.push(format!("line {}: # end {name} ends nothing in its clause", clause.line));
                    }
                    open = None;
                }
                _ if is_printa && !line.starts_with("# ") && !line.is_empty() => match &open {
                    Some((name, keys)) => {
                        found.extend(row_complaint(&line, keys).map(|what| format!("@{name}: {what}")))
                    }
                    None => found.push(format!("line {}: `{line}` is printed under no heading", clause.line)),
                },
                _ => {}
            }
        }
        if let Some((name, _)) = open {
            found.push(format!("line {}: {name} has no # end in its clause", clause.line));
        }
    }
    found
}

/// The row's conversions against the keys of the heading: `%S` and `%d` by tabs, stacks by `%k`, the value last.
fn row_complaint(line: &str, keys: &[String]) -> Option<String> {
    let parts = conversions(line);
    let Some((value, given)) = parts.split_last() else { return Some(format!("`{line}` prints nothing")) };
    if !value.contains('@') {
        return Some(format!("`{line}` does not end in the value"));
    }
    if given.len() != keys.len() {
        return Some(format!("{} keys are printed, {} are declared", given.len(), keys.len()));
    }
    for (conversion, key) in given.iter().zip(keys) {
        let kind = key.split_once(':').map_or("", |(_, kind)| kind);
        let wanted = match kind.split('/').next().unwrap_or(kind) {
            "text" | "path" => "%S",
            "frames" | "kernel" => "%k",
            _ => "%d",
        };
        if conversion != wanted {
            return Some(format!("{key} is printed by {conversion}"));
        }
    }
    None
}
