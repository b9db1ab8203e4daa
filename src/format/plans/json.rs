//! Plans in JSON: MariaDB's ANALYZE FORMAT=JSON, and MySQL's EXPLAIN ANALYZE FORMAT=JSON (version 2).
//!
//! MariaDB nests objects; the member's name says what a step is (`table`, `filesort`, `temporary_table`, `subquery_cache`). Lists
//! (`nested_loop`, `subqueries`, `query_specifications`) are no steps, their elements are. Times are milliseconds over all loops:
//! - `r_total_time_ms` of a block, a filesort or an old server's table holds the steps below, but a filesort's leaves out a
//!   `temporary_table` that it sorts;
//! - `r_table_time_ms` and `r_other_time_ms` of a table are added; a derived table's leave out or hold its block, as the server likes, so
//!   the larger counts;
//! - other `r_…_time_ms` (`r_unpack_time_ms` of a join buffer) are a step's own.
//!
//! Objects without times become steps with no time of their own, so that no node kind, known or not, breaks a plan.
//! MariaDB prints invalid JSON where a condition holds quotes or backslashes: such text is repaired, and said.

use serde_json::{Map, Value};

use super::steps::{self, Step};
use super::{ESTIMATES, RUN_ANALYZE, refusal};
use crate::error::Result;
use crate::model::Trace;

/// What a plan in JSON has near its begin.
pub(super) const MARKS: &[&str] =
    &["\"query_block\"", "\"query_optimization\"", "\"query_plan\"", "\"actual_last_row_ms\""];

/// Reads all documents of a text.
pub(super) fn read(text: &str, line: u64, trace: &mut Trace) -> Result<()> {
    let documents = match parse(text) {
        Ok(documents) => documents,
        Err(first) => {
            let repaired = parse(&repair(text)).map_err(|_| {
                let line = line.saturating_add(first.line() as u64).saturating_sub(1);
                refusal(
                    trace,
                    line,
                    &format!("no valid JSON: {first}"),
                    "is the plan complete? Print it with --raw, or with \\G at its end",
                )
            })?;
            trace.notes.info("the server printed invalid JSON (quotes or backslashes in a condition), repaired");
            repaired
        }
    };
    let mut shown = false;
    for document in &documents {
        let Value::Object(object) = document else { continue };
        if has_word(document) {
            let cause = "times are the word REPLACED, as in the server's own test results: there is nothing to weigh";
            return Err(refusal(trace, line, cause, RUN_ANALYZE));
        }
        if !is_measured(document) {
            return Err(refusal(trace, line, ESTIMATES, RUN_ANALYZE));
        }
        let roots = match mysql(object) {
            Some(root) => vec![root],
            None => below(object),
        };
        steps::show(&roots, trace);
        shown = true;
    }
    if shown { Ok(()) } else { Err(refusal(trace, line, "no plan in this JSON", RUN_ANALYZE)) }
}

/// Documents one after another. serde_json ends at 128 levels, so no text makes the walk below deep.
fn parse(text: &str) -> serde_json::Result<Vec<Value>> {
    serde_json::Deserializer::from_str(text).into_iter().collect()
}

/// Escapes quotes, line feeds and stray backslashes inside strings. The server prints one member a line: a text goes from the
/// quote after the colon to the last quote of that line, or of the line where a text with line feeds ends.
fn repair(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len() + 16);
    let mut open: Option<String> = None;
    for line in text.lines() {
        let ended = ["\",", "\""].iter().find(|end| line.ends_with(**end)).copied();
        if let Some(value) = &mut open {
            value.push('\n');
            let Some(end) = ended else {
                value.push_str(line);
                continue;
            };
            value.push_str(line.strip_suffix(end).unwrap_or(line));
            push_text(&mut repaired, value, end);
            open = None;
        } else if let Some((member, value)) = member(line) {
            repaired.push_str(member);
            match ended.and_then(|end| Some((value.strip_suffix(end)?, end))) {
                Some((value, end)) => push_text(&mut repaired, value, end),
                None => open = Some(value.to_owned()),
            }
        } else {
            repaired.push_str(line);
            repaired.push('\n');
        }
    }
    repaired
}

/// `    "name": "` and what follows it.
fn member(line: &str) -> Option<(&str, &str)> {
    let at = line.find("\": \"")? + 4;
    line.trim_start().starts_with('"').then(|| line.split_at(at))
}

fn push_text(repaired: &mut String, value: &str, end: &str) {
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|next| matches!(next, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                repaired.push('\\');
                repaired.extend(chars.next());
            }
            '\\' => repaired.push_str("\\\\"),
            '"' => repaired.push_str("\\\""),
            '\n' => repaired.push_str("\\n"),
            c if c.is_control() => repaired.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => repaired.push(c),
        }
    }
    repaired.push_str(end);
    repaired.push('\n');
}

fn is_time(key: &str) -> bool {
    key.starts_with("r_") && key.ends_with("time_ms")
}

/// Whether anything in it was measured; a plan that was never executed still has its time of optimization.
fn is_measured(value: &Value) -> bool {
    any_member(value, &|key, value| {
        (is_time(key) || key.starts_with("actual_") || key == "r_loops") && !value.is_string()
    })
}

fn has_word(value: &Value) -> bool {
    any_member(value, &|key, value| is_time(key) && value.is_string())
}

fn any_member(value: &Value, wanted: &dyn Fn(&str, &Value) -> bool) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, value)| wanted(key, value) || any_member(value, wanted)),
        Value::Array(list) => list.iter().any(|value| any_member(value, wanted)),
        _ => false,
    }
}

/// The steps that the members of an object are.
fn below(object: &Map<String, Value>) -> Vec<Step> {
    let mut steps = Vec::new();
    for (key, value) in object {
        match value {
            Value::Object(inner) if is_step(key, value) => steps.push(step(key, inner)),
            Value::Array(list) => steps.extend(list.iter().filter_map(Value::as_object).flat_map(below)),
            _ => {}
        }
    }
    steps
}

/// Objects that describe a step rather than being one (`r_engine_stats`, `index_merge`) have neither times nor tables in them.
fn is_step(key: &str, value: &Value) -> bool {
    !key.starts_with("r_")
        && (key == "table"
            || any_member(value, &|key, value| {
                (is_time(key) && value.is_number()) || key == "table" || key == "query_block"
            }))
}

fn step(key: &str, object: &Map<String, Value>) -> Step {
    let total = object.get("r_total_time_ms").and_then(Value::as_f64).and_then(steps::nanoseconds);
    let parts: Vec<i128> = object
        .iter()
        .filter(|(key, _)| is_time(key))
        .filter_map(|(_, value)| value.as_f64().and_then(steps::nanoseconds))
        .collect();
    let sum = (!parts.is_empty()).then(|| parts.iter().fold(0, |sum: i128, part| sum.saturating_add(*part)));
    let alone = match total {
        Some(_) => key == "filesort" && object.contains_key("temporary_table"),
        None => key != "table",
    };
    Step { name: title(key, object), detail: detail(object), time: total.or(sum), alone, children: below(object) }
}

fn title(key: &str, object: &Map<String, Value>) -> String {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    match key {
        "query_block" => match object.get("select_id") {
            Some(id) => format!("query_block #{id}"),
            None => "query_block".into(),
        },
        "table" => {
            let Some(name) = text("table_name") else { return text("message").unwrap_or(key).to_owned() };
            let write = ["update", "delete", "insert"].into_iter().find(|word| object.contains_key(*word));
            let how: Vec<&str> = [write.or_else(|| text("access_type")), text("key")].into_iter().flatten().collect();
            if how.is_empty() { name.to_owned() } else { format!("{name} ({})", how.join(" ")) }
        }
        "filesort" => text("sort_key").map_or(key.to_owned(), |sort| format!("filesort ({sort})")),
        _ => text("table_name").map_or(key.to_owned(), |name| format!("{key} {name}")),
    }
}

fn detail(object: &Map<String, Value>) -> String {
    let value = |name: &str| object.get(name).filter(|value| !value.is_null() && !value.is_object());
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let members = [
        ("r_rows", "rows per loop"),
        ("r_output_rows", "rows sorted"),
        ("r_loops", "loops"),
        ("rows", "rows estimated"),
        ("r_filtered", "% of them pass"),
    ];
    let mut parts: Vec<String> =
        members.iter().filter_map(|(name, words)| Some(format!("{} {words}", plain(value(name)?)))).collect();
    let pages = object.get("r_engine_stats").and_then(|stats| stats.get("pages_accessed"));
    parts.extend(pages.map(|pages| format!("{pages} pages")));
    parts.extend(
        ["index_condition", "attached_condition", "having_condition"].iter().filter_map(|name| value(name)).map(plain),
    );
    parts.join("; ")
}

/// MySQL's form: `operation`, `inputs`, and `actual_…` members per loop.
fn mysql(object: &Map<String, Value>) -> Option<Step> {
    let object = object.get("query_plan").and_then(Value::as_object).unwrap_or(object);
    let name = object.get("operation")?.as_str()?.to_owned();
    let number = |name: &str| object.get(name).and_then(Value::as_f64);
    let loops = number("actual_loops");
    let time = number("actual_last_row_ms").and_then(|time| steps::nanoseconds(time * loops.unwrap_or(1.0)));
    let lists = object.values().filter_map(Value::as_array).flatten();
    let children = lists.filter_map(Value::as_object).filter_map(mysql).collect();
    let shown = |words: &str, value: Option<f64>| value.map(|value| format!("{value} {words}"));
    let detail = match loops {
        Some(loops) if loops > 0.0 => [shown("rows per loop", number("actual_rows")), shown("loops", Some(loops))],
        _ => [Some("never executed".to_owned()), None],
    };
    let detail: Vec<String> =
        detail.into_iter().chain([shown("rows estimated", number("estimated_rows"))]).flatten().collect();
    Some(Step { name, detail: detail.join("; "), time, alone: false, children })
}
