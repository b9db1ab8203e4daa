//! Doctor's report: as text for people, as JSON for programs.
//!
//! The text is at most 80 columns wide where words allow it. A reason that several scripts share is told once, as a numbered note.

use std::fmt::Write as _;

use serde::Serialize;

use super::finding::{Finding, State};
use super::verdict::{Verdict, Works};
use super::{Examined, Report};

const WIDTH: usize = 80;
/// Columns before what a finding says.
const INDENT: usize = 23;

/// The report for people.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let system = report.flavor.map_or("this system".to_owned(), |flavor| flavor.to_string());
    let _ = writeln!(out, "System: {system}");
    report.system.iter().for_each(|finding| line(&mut out, finding));
    // Servers of one executable have all in common but their names.
    let mut groups: Vec<(Vec<&Examined>, String)> = Vec::new();
    for examined in &report.examined {
        let body = body(report, examined);
        match groups.iter_mut().find(|(_, known)| *known == body) {
            Some((members, _)) => members.push(examined),
            None => groups.push((vec![examined], body)),
        }
    }
    for (members, body) in groups {
        out.push('\n');
        members.iter().for_each(|member| heading(&mut out, member));
        out.push_str(&body);
    }
    out.push('\n');
    wrapped(&mut out, "", "", &conclusion(report));
    out
}

fn line(out: &mut String, finding: &Finding) {
    let mark = match finding.state {
        State::Good => "ok",
        State::Bad => "NO",
        State::Doubt => "?",
    };
    let first = format!("  {mark:<3} {:<16} ", finding.about);
    wrapped(out, &first, &" ".repeat(INDENT), &finding.says);
    if !finding.remedy.is_empty() {
        let first = format!("{}> ", " ".repeat(INDENT));
        wrapped(out, &first, &" ".repeat(INDENT + 2), &finding.remedy);
    }
}

/// The target, and what is known of it.
fn heading(out: &mut String, examined: &Examined) {
    let text = match &examined.target {
        Some(target) if target.about.is_empty() => target.name.clone(),
        Some(target) => format!("{}: {}", target.name, target.about),
        None => "No server is running: no process is called mariadbd or mysqld".into(),
    };
    wrapped(out, "", "  ", &text);
}

/// What was found in the target's executable, and the scripts.
fn body(report: &Report, examined: &Examined) -> String {
    let mut out = String::new();
    if let Some(target) = &examined.target {
        target.findings.iter().for_each(|finding| line(&mut out, finding));
    }
    let condition = if examined.is_foreign(report.flavor) {
        format!(" on {}", examined.flavor)
    } else if report.stops().next().is_some() {
        ", once what is marked NO above is out of the way".into()
    } else {
        String::new()
    };
    out.push('\n');
    wrapped(&mut out, "", "  ", &format!("Scripts{condition}"));
    table(&mut out, &examined.verdicts);
    out
}

fn table(out: &mut String, verdicts: &[Verdict]) {
    let mut notes: Vec<(&str, &str)> = Vec::new();
    let width = verdicts.iter().map(|verdict| verdict.script.len()).max().unwrap_or(0);
    for verdict in verdicts {
        let note = (verdict.because.as_str(), verdict.remedy.as_str());
        let mark = if note == ("", "") {
            String::new()
        } else {
            let known = notes.iter().position(|known| *known == note);
            let number = known.unwrap_or_else(|| {
                notes.push(note);
                notes.len() - 1
            });
            format!("[{}]", number + 1)
        };
        let works = match (verdict.works, verdict.form) {
            (Works::Yes, _) => "works".to_owned(),
            (Works::Form, Some(form)) => format!("works as {form}"),
            (Works::Unknown, _) => "cannot be told".into(),
            _ => "does not".to_owned(),
        };
        let row = format!("  {:<width$}  {works:<32} {mark}", verdict.script);
        let _ = writeln!(out, "{}", row.trim_end());
    }
    for (number, (because, remedy)) in notes.iter().enumerate() {
        let first = format!("  [{}] ", number + 1);
        let next = " ".repeat(first.len());
        wrapped(out, &first, &next, because);
        if !remedy.is_empty() {
            wrapped(out, &format!("{next}> "), &format!("{next}  "), remedy);
        }
    }
}

/// Whether query-time can run, and how; or what stands in the way first.
fn conclusion(report: &Report) -> String {
    let able = report.examined.iter().find(|one| one.can_run_query_time());
    if let Some(stop) = report.stops().next().filter(|_| able.is_none_or(|one| !one.is_foreign(report.flavor))) {
        return format!("Nothing can be traced as it is: {}: {}", stop.about, stop.says);
    }
    match able {
        Some(one) if one.is_foreign(report.flavor) => format!("query-time can run on {} with this server", one.flavor),
        Some(one) => match one.target.as_ref().and_then(|target| target.pid) {
            Some(pid) => format!("query-time can run: seatrace run query-time -p {pid}{}", given(report)),
            None => "query-time can run on a process of this executable".into(),
        },
        None => "query-time cannot run: the reason stands above".into(),
    }
}

/// The options that doctor was given, for the command that it names.
fn given(report: &Report) -> String {
    let spelled = report.options.iter().map(|(name, value)| match value {
        Some(value) => format!(" -x {name}={value}"),
        None => format!(" -x {name}"),
    });
    spelled.collect()
}

/// Text in lines of at most [`WIDTH`] columns; no control byte of a path or message reaches the terminal.
fn wrapped(out: &mut String, first: &str, next: &str, text: &str) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let word = crate::view::harmless(word);
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{}", line.trim_end());
            line = next.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

#[derive(Serialize)]
struct Json<'a> {
    system: Option<String>,
    query_time: bool,
    findings: &'a [Finding],
    targets: Vec<JsonTarget<'a>>,
}

#[derive(Serialize)]
struct JsonTarget<'a> {
    name: Option<&'a str>,
    pid: Option<i32>,
    about: Option<&'a str>,
    system: String,
    frame_pointers: Option<bool>,
    probes: Vec<String>,
    findings: &'a [Finding],
    scripts: &'a [Verdict],
}

/// The report for programs: one object on one line.
pub fn json(report: &Report) -> serde_json::Result<String> {
    let targets = report.examined.iter().map(|one| {
        let target = one.target.as_ref();
        let binary = target.and_then(|target| target.binary.as_ref());
        let probes = binary.iter().flat_map(|binary| &binary.probes);
        JsonTarget {
            name: target.map(|target| target.name.as_str()),
            pid: target.and_then(|target| target.pid),
            about: target.map(|target| target.about.as_str()).filter(|about| !about.is_empty()),
            system: one.flavor.word().into(),
            frame_pointers: target.and_then(|target| target.frame_pointers),
            probes: probes
                .flat_map(|(provider, names)| names.iter().map(move |name| format!("{provider}:::{name}")))
                .collect(),
            findings: target.map_or(&[], |target| target.findings.as_slice()),
            scripts: &one.verdicts,
        }
    });
    let whole = Json {
        system: report.flavor.map(|flavor| flavor.word().to_owned()),
        query_time: report.query_time_runs(),
        findings: &report.system,
        targets: targets.collect(),
    };
    serde_json::to_string(&whole).map(|text| text + "\n")
}
