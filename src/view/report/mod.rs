//! The report: one HTML file that shows a trace to somebody who has only a browser. It loads nothing and needs no network.
//!
//! What is in it: the sums and what stands out, the losses, the digest, the spread of latencies and how it moved over time, the flame
//! graphs, the notes. Each flame graph stands in a frame of its own: two of them in one page would break each other's search and zoom.
//! Texts from the trace pass the template's escaping; nothing else puts them into the page.

mod charts;
mod findings;
mod rows;

use std::collections::BTreeSet;
use std::io::Write;

use askama::Template;

use super::digest::{Fold, fold};
use super::heatmap::{Map, heat_of};
use super::stacks::{Fingerprints, Stacks};
use super::{Options, View, flame, text};
use crate::error::Result;
use crate::model::{KeyKind, NameId, Series, Severity, Trace, Workload};
use crate::sql;
use rows::Row;

/// Entry in the table of views.
pub(super) const VIEW: View = View {
    name: "report",
    extensions: &["html", "htm"],
    about: "one HTML page: digest, latency, heat map, flame graphs, notes",
    write: |trace, options, out| fold(trace, options, out, render),
    stream: Some(|options, out| Fold::stream(options, out, render)),
};

/// Narrowest frame of a flame graph in pixels: pages stay small.
const NARROWEST: f64 = 0.4;
/// Width of a flame graph, before the frame scales it.
const WIDTH: u32 = 1240;
/// Lowest and highest frame around one, in pixels; a higher picture scrolls.
const LOWEST: u32 = 240;
const HIGHEST: u32 = 900;

/// The page.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    title: String,
    about: Vec<String>,
    cards: Vec<Card>,
    findings: Vec<String>,
    losses: Vec<String>,
    notes: Vec<String>,
    rows: Vec<Row>,
    hidden: Option<String>,
    waits: Vec<charts::Bar>,
    histogram: Option<charts::Histogram>,
    heat: Option<String>,
    flames: Vec<Flame>,
    css: &'static str,
    script: &'static str,
}

/// A number of the summary.
struct Card {
    name: &'static str,
    value: String,
}

/// A flame graph.
struct Flame {
    title: String,
    about: String,
    /// A whole document, for a frame.
    document: String,
    /// Height of the frame in pixels.
    height: u32,
}

fn render(workload: &Workload, said: &[String], trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let of = |severity: Severity| {
        let notes = trace.notes.iter().filter(move |note| note.severity == severity);
        notes.map(|note| text::line(&note.to_string()).into_owned())
    };
    let zone = if options.utc { 0 } else { trace.heading.zone.unwrap_or(0) };
    let (heat, what) = heat_of(workload, trace);
    let heat_title = format!("Latency of {what} over time");
    let (rows, hidden) = rows::rows(workload, options);
    let page = Page {
        title: title(trace, options),
        about: about(workload, trace, zone),
        cards: cards(workload),
        findings: findings::findings(workload),
        losses: of(Severity::Loss).collect(),
        notes: of(Severity::Info).chain(said.iter().map(|note| text::line(note).into_owned())).collect(),
        rows,
        hidden,
        waits: charts::waits(workload),
        histogram: charts::histogram(workload, &heat),
        heat: Map { heat: &heat, title: &heat_title, what: &what, notes: &[], zone }.svg(false),
        flames: flames(trace, options)?,
        css: include_str!("report.css"),
        script: include_str!("report.js"),
    };
    Ok(page.write_into(out)?)
}

fn title(trace: &Trace, options: &Options) -> String {
    let name = options.picture.title.clone().unwrap_or_else(|| flame::title(&trace.heading));
    let mut name = text::line(&name).into_owned();
    text::cut(&mut name, 0, 60);
    name
}

/// Where the data is from and when.
fn about(workload: &Workload, trace: &Trace, zone: i32) -> Vec<String> {
    let mut about = Vec::new();
    let mut inputs: Vec<String> = trace.heading.inputs.iter().map(|name| text::line(name).into_owned()).collect();
    inputs.dedup();
    // One file needs no name: a report made live is that of its dump, whatever that is called.
    if inputs.len() > 1 {
        about.push(format!("Read from {}", inputs.join(", ")));
    }
    let mut clock = text::Clock::new(zone);
    let mut stamp = |time: i64| {
        let (date, time, _) = clock.read(time);
        format!("{date} {time}")
    };
    let range = workload.range.or(trace.heading.start.zip(trace.heading.stop));
    if let Some((first, last)) = range {
        let (first, last) = (stamp(first), stamp(last));
        about.push(format!("From {first} to {last} {}", clock.zone()));
    }
    about
}

fn cards(workload: &Workload) -> Vec<Card> {
    let mut cards = Vec::new();
    if workload.count() == 0 {
        return cards;
    }
    let mut card = |name, value: String| cards.push(Card { name, value });
    let classes = workload.classes();
    card("statements", text::thousands(workload.count().into()));
    card("kinds", text::thousands(classes.len() as i128));
    card("time of all", rows::time(workload.total()));
    if workload.latency.count > 0 {
        card("half took at most", rows::time(workload.latency.quantile(0.5).into()));
        card("95% took at most", rows::time(workload.latency.quantile(0.95).into()));
        card("99% took at most", rows::time(workload.latency.quantile(0.99).into()));
        card("longest", rows::time(workload.latency.max.into()));
    }
    let known = classes.iter().filter_map(|class| class.errors).reduce(|sum, errors| sum.saturating_add(errors));
    if let Some(errors) = known {
        card("failed", text::thousands(errors.into()));
    }
    cards
}

/// One flame graph a series of stacks.
fn flames(trace: &Trace, options: &Options) -> Result<Vec<Flame>> {
    let has_stacks = |series: &&Series| {
        let is_path = series.keys.iter().any(|key| key.kind == KeyKind::Path);
        (series.has_stack || is_path) && series.is_additive() && series.total() > 0
    };
    let mut options = options.clone();
    options.picture.minwidth = Some(options.picture.minwidth.unwrap_or(NARROWEST));
    // A picture that adapts its width to its frame would do so before the frame has one.
    options.picture.width = Some(options.picture.width.unwrap_or(WIDTH));
    options.picture.title = None;
    let mut flames = Vec::new();
    for series in trace.series.iter().filter(has_stacks) {
        let statements = fingerprints(trace, series);
        let stacks = Stacks::of_series(trace, series, &statements, &options);
        let title = flame_title(series.name.as_deref().unwrap_or("Stacks"));
        let mut svg = Vec::new();
        flame::draw(&stacks, title.clone(), Vec::new(), &options, options.picture.inverted, &mut svg)?;
        let svg = String::from_utf8_lossy(&svg);
        let total = text::amount(stacks.total(), &stacks.unit);
        flames.push(Flame {
            height: height(&svg).clamp(LOWEST, HIGHEST),
            about: format!("{} different stacks, together {total}", text::thousands(series.len() as i128)),
            document: document(&title, &svg),
            title,
        });
    }
    Ok(flames)
}

/// The statements of a series: a thousand texts of one kind would be a thousand slivers.
fn fingerprints(trace: &Trace, series: &Series) -> Fingerprints {
    let is_statement = |name: &str| ["query", "statement"].contains(&name);
    let Some(at) = series.keys.iter().position(|key| key.name.as_deref().is_some_and(is_statement)) else {
        return Fingerprints::new();
    };
    let limit = trace.heading.strsize.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
    let ids: BTreeSet<NameId> = series.rows().filter_map(|row| row.keys.get(at).copied()).collect();
    let of = |id: NameId| {
        let text = trace.names.get(id);
        (id, sql::fingerprint_of(text, text.len().saturating_add(1) >= limit))
    };
    ids.into_iter().map(of).collect()
}

/// What the aggregations of the bundled scripts show, for somebody who does not know them.
const TITLES: [(&str, &str); 6] = [
    ("qp_phase", "Time of the statements by phase"),
    ("on_cpu", "What the server computed (on the CPU)"),
    ("off_cpu", "What its threads waited for (off the CPU)"),
    ("blocked_calls", "What its threads waited for (in system calls)"),
    ("query_on_cpu", "What the statements computed (on the CPU)"),
    ("query_off_cpu", "What the statements waited for (off the CPU)"),
];

fn flame_title(name: &str) -> String {
    let known = TITLES.iter().find(|(known, _)| *known == name);
    known.map_or_else(|| text::line(name).replace('_', " "), |(_, title)| (*title).to_owned())
}

/// What the picture says of its height.
fn height(svg: &str) -> u32 {
    let after = svg.split(" height=\"").nth(1).and_then(|rest| rest.split(['"', '.']).next());
    after.and_then(|digits| digits.parse().ok()).unwrap_or(HIGHEST)
}

/// A picture as a document for a frame. Of one that is too high the lower end is shown, where the roots are. It does not write its
/// state into an address, which such a document has not.
fn document(title: &str, svg: &str) -> String {
    // Inside HTML there is no XML declaration and no document type of SVG.
    let svg = svg.find("<svg").and_then(|at| svg.get(at..)).unwrap_or("");
    let title = super::draw::xml_escape(title);
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>body{{margin:0;background:#fff}}svg{{display:block}}body>svg{{width:100%;min-width:44rem;height:auto}}</style>\
         </head><body><script>history.replaceState=()=>{{}};addEventListener(\"load\",()=>scrollTo(0,1e6));</script>{svg}</body></html>"
    )
}
