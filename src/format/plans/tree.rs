//! MySQL's tree: `-> step  (cost=c rows=e) (actual time=first..last rows=r loops=l)`, four blanks of indent a level.
//!
//! Times are milliseconds per loop, up to the first and the last row; a step took `last` times `l`. `(never executed)` stands in
//! place of the times. Conditions may hold anything, arrows, parentheses and line feeds too, so the measured part is looked for at the
//! end of a line and must be whole; lines without an arrow go on with the text before.

use super::steps::{self, MAX_DEPTH, Step};
use super::{ESTIMATES, RUN_ANALYZE, refusal};
use crate::error::Result;
use crate::model::Trace;

/// What every measured tree has; the last one marks a tree without times.
pub(super) const MARKS: &[&str] = &["(actual time=", "(never executed)", "(cost="];

/// Reads all trees of a text.
pub(super) fn read(text: &str, line: u64, trace: &mut Trace) -> Result<()> {
    let lines = gather(text, line, trace);
    if lines.is_empty() {
        return Err(refusal(trace, line, "no step of a plan in this text", RUN_ANALYZE));
    }
    if !lines.iter().any(|line| line.measured.is_some()) {
        return Err(refusal(trace, line, ESTIMATES, RUN_ANALYZE));
    }
    let mut lines = lines.into_iter().peekable();
    let mut roots = Vec::new();
    while lines.peek().is_some() {
        roots.extend(below(None, 0, &mut lines));
    }
    steps::show(&roots, trace);
    Ok(())
}

/// A step's line.
struct Line {
    indent: usize,
    name: String,
    estimate: Option<String>,
    measured: Option<Measured>,
}

/// What stands behind a step that was or could have been executed.
struct Measured {
    /// Milliseconds per loop.
    time: f64,
    rows: String,
    loops: String,
}

impl Measured {
    fn never() -> Measured {
        Measured { time: 0.0, rows: String::new(), loops: String::new() }
    }
}

/// Lines with an arrow, each with the lines that go on with its text.
fn gather(text: &str, first: u64, trace: &mut Trace) -> Vec<Line> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, line) in (first..).zip(text.lines()) {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        match (trimmed.strip_prefix("-> "), lines.last_mut()) {
            (Some(step), _) if indent / 4 <= MAX_DEPTH => lines.push((indent, step.trim_end().to_owned())),
            (Some(_), _) => trace.loss(format!("step nested deeper than {MAX_DEPTH}, skipped"), number),
            (None, _) if trimmed.is_empty() => {}
            (None, Some((_, before))) if parse(before).1.is_none() => {
                before.push(' ');
                before.push_str(line.trim());
            }
            (None, _) => trace.loss("line that is no step of a plan, skipped", number),
        }
    }
    lines
        .into_iter()
        .map(|(indent, text)| {
            let (rest, measured) = parse(&text);
            let (name, estimate) = estimate(rest);
            Line { indent, name: name.trim().to_owned(), estimate: estimate.map(str::to_owned), measured }
        })
        .collect()
}

/// All steps that are indented deeper than `parent`, as a tree.
fn below(parent: Option<usize>, depth: usize, lines: &mut std::iter::Peekable<std::vec::IntoIter<Line>>) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(line) = lines.next_if(|line| parent.is_none_or(|indent| line.indent > indent) && depth <= MAX_DEPTH)
    {
        let children = below(Some(line.indent), depth + 1, lines);
        let loops = line.measured.as_ref().and_then(|found| found.loops.parse::<f64>().ok()).unwrap_or(0.0);
        let time = line.measured.as_ref().and_then(|found| steps::nanoseconds(found.time * loops));
        steps.push(Step { detail: detail(&line), name: line.name, time, alone: false, children });
    }
    steps
}

fn detail(line: &Line) -> String {
    let measured = match &line.measured {
        None => String::new(),
        Some(found) if found.loops.is_empty() => "never executed".to_owned(),
        Some(found) => format!("{} rows per loop, {} loops", found.rows, found.loops),
    };
    let estimate = line.estimate.as_ref().map(|text| format!("estimated: {text}"));
    [Some(measured), estimate].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Takes the measured part off the end.
fn parse(text: &str) -> (&str, Option<Measured>) {
    if let Some(rest) = text.strip_suffix("(never executed)") {
        return (rest, Some(Measured::never()));
    }
    let found = text.rfind("(actual time=").and_then(|at| {
        let (rest, tail) = text.split_at(at);
        Some((rest, measured(tail)?))
    });
    match found {
        Some((rest, measured)) => (rest, Some(measured)),
        None => (text, None),
    }
}

/// `(actual time=0.1..2.5 rows=3 loops=4)` and nothing behind it.
fn measured(text: &str) -> Option<Measured> {
    let inner = text.strip_prefix("(actual time=")?.strip_suffix(')')?;
    let mut parts = inner.split(' ');
    let (_, last) = parts.next()?.split_once("..")?;
    let rows = parts.next()?.strip_prefix("rows=")?;
    let loops = parts.next()?.strip_prefix("loops=")?;
    let time: f64 = last.parse().ok()?;
    let whole =
        parts.next().is_none() && time.is_finite() && rows.parse::<f64>().is_ok() && loops.parse::<f64>().is_ok();
    whole.then(|| Measured { time, rows: rows.to_owned(), loops: loops.to_owned() })
}

/// Takes `(cost=1.2 rows=3)` off the end.
fn estimate(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end();
    let found = text.rfind("(cost=").and_then(|at| {
        let (rest, tail) = text.split_at(at);
        let inner = tail.strip_prefix('(')?.strip_suffix(')')?;
        (!inner.contains(['(', ')'])).then_some((rest, inner))
    });
    found.map_or((text, None), |(rest, inner)| (rest, Some(inner)))
}
