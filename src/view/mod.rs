//! Views: one file an output, from the [`model`] to bytes.
//!
//! A new view is a file here, a line in [`ALL`], and goldens in tests. A view prints the notes of its trace wherever the output has a place for
//! them; nothing from the input goes out unescaped.

mod boxes;
mod csv;
mod diff;
mod digest;
mod digits;
mod draw;
mod flame;
mod folded;
mod functions;
mod heatmap;
mod hist;
mod json;
mod labels;
mod log;
mod numbers;
mod palette;
mod pprof;
mod query_diff;
mod report;
mod slowlog;
mod speedscope;
mod stacks;
mod text;
mod top;
mod tree;

use std::io::Write;
use std::path::Path;

pub use diff::{Compare, Comparison, Side};
pub use digest::DigestOptions;
pub use draw::Picture;
pub use palette::Palette;
pub use text::harmless;

use crate::error::{Error, Result};
use crate::model::{self, Consumer, KeyKind, Trace};

/// Options of all views; each view takes those it knows.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Show texts in full, however wide the terminal is
    #[arg(long, help_heading = "Logs")]
    pub wide: bool,
    /// Show times in UTC in place of the zone of the traced machine
    #[arg(long, help_heading = "Logs")]
    pub utc: bool,
    /// Order: `time` for records; the others for a digest
    #[arg(long, value_name = "BY", help_heading = "Logs")]
    pub sort: Option<Sort>,
    /// What a distribution under a stack weighs: its count, or an estimate of its sum
    #[arg(long, value_name = "WHAT", default_value = "count", hide_default_value = true, help_heading = "Stacks")]
    pub weight: Weight,
    /// Draw a function that calls itself directly as one frame
    #[arg(long, help_heading = "Stacks")]
    pub fold_recursion: bool,
    /// Label of all samples in a pprof profile
    #[arg(long, value_name = "NAME=VALUE", value_parser = pprof::parse_label, help_heading = "Stacks")]
    pub label: Vec<(String, String)>,
    /// Looks of pictures.
    #[command(flatten)]
    pub picture: Picture,
    /// Order and length of a digest.
    #[command(flatten)]
    pub digest: DigestOptions,
    /// Extension of the output's name, for views of several forms.
    #[arg(skip)]
    pub extension: Option<String>,
    /// Columns of the terminal, if the output is one.
    #[arg(skip)]
    pub columns: Option<usize>,
    /// Whether colours may be used.
    #[arg(skip)]
    pub color: bool,
}

/// Order of records, and of the kinds of statements in a digest: the greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// By time; dumps are only nearly in this order.
    Time,
    /// Digest: by the time of all statements of a kind together; the default.
    Total,
    /// Digest: by number.
    Count,
    /// Digest: by mean time.
    Avg,
    /// Digest: by the time that 95 of 100 do not exceed.
    P95,
    /// Digest: by the greatest time.
    Max,
    /// Digest: by rows read.
    Rows,
    /// Digest: by failures.
    Errors,
}

/// Weight of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Weight {
    /// How many values it holds.
    #[default]
    Count,
    /// The middle of each bucket times its count.
    Time,
}

/// One view.
pub struct View {
    /// Its name for `-f`.
    pub name: &'static str,
    /// Extensions of `-o` that imply it.
    pub extensions: &'static [&'static str],
    /// What it is, in one line.
    pub about: &'static str,
    /// Writes the trace.
    pub write: fn(&Trace, &Options, &mut dyn Write) -> Result<()>,
    /// Writes records while they are read, for views that can; what it prints is what `write` prints.
    pub stream: Option<Stream>,
}

/// Makes what writes records as they come.
pub type Stream = fn(&Options, Box<dyn Write>) -> Box<dyn Consumer>;

/// All views.
pub static ALL: &[View] = &[
    log::VIEW,
    json::VIEW,
    csv::VIEW,
    hist::VIEW,
    folded::VIEW,
    flame::FLAME,
    flame::ICICLE,
    top::VIEW,
    speedscope::VIEW,
    pprof::VIEW,
    digest::TABLE,
    digest::JSON,
    digest::CSV,
    slowlog::VIEW,
    heatmap::VIEW,
    report::VIEW,
];

/// The view that is asked for by `-f`, or by the extension of `-o`, or that suits the data.
pub fn choose(format: Option<&str>, output: Option<&Path>, trace: &Trace) -> Result<&'static View> {
    match asked_for(format, output)? {
        Some(view) => Ok(view),
        None if extension(output) == Some("svg") => by_name(picture_for(trace)),
        None => by_name(default_for(trace)),
    }
}

/// The view that the command names, whatever the data is; none: it depends on the data.
pub fn asked_for(format: Option<&str>, output: Option<&Path>) -> Result<Option<&'static View>> {
    if let Some(name) = format {
        return by_name(name).map(Some);
    }
    let extension = extension(output);
    Ok(extension.and_then(|extension| ALL.iter().find(|view| view.extensions.contains(&extension))))
}

/// The view of a stream of records that has no name: a log. `None` if the output is a picture.
pub fn of_records(output: Option<&Path>) -> Option<&'static View> {
    if extension(output) == Some("svg") { None } else { Some(&log::VIEW) }
}

/// Says in the notes what a view is going to leave out.
pub fn note_left_out(view: &View, trace: &mut Trace, options: &Options) {
    if OF_STACKS.contains(&view.name) {
        stacks::note_left_out(trace, options);
    }
}

/// Views that show stacks, of one unit.
const OF_STACKS: &[&str] = &["folded", "flame", "icicle", "top", "speedscope", "pprof"];

fn extension(output: Option<&Path>) -> Option<&str> {
    output.and_then(Path::extension).and_then(|extension| extension.to_str())
}

fn has_records(trace: &Trace) -> bool {
    trace.query_count > 0 || trace.events.iter().any(|table| !table.rows.is_empty())
}

fn has_stacks(trace: &Trace) -> bool {
    let mut filled = trace.series.iter().filter(|series| !series.is_empty());
    filled.any(|series| series.has_stack || series.keys.iter().any(|key| key.kind == KeyKind::Path))
}

fn default_for(trace: &Trace) -> &'static str {
    if has_records(trace) {
        "log"
    } else if has_stacks(trace) {
        "folded"
    } else if trace.series.iter().any(|series| !series.is_empty())
        && trace.series.iter().all(|series| series.is_distribution() || series.is_empty())
    {
        "hist"
    } else {
        "log"
    }
}

fn picture_for(trace: &Trace) -> &'static str {
    match trace.heading.picture {
        _ if has_records(trace) && !has_stacks(trace) => "heatmap",
        Some(model::Picture::Icicle) => "icicle",
        _ => "flame",
    }
}

/// Query records as they came, or by time if that is asked for.
fn in_order<'a>(trace: &'a Trace, options: &Options) -> Vec<&'a model::Query<'static>> {
    let mut order: Vec<_> = trace.queries.iter().collect();
    if options.sort == Some(Sort::Time) {
        order.sort_by_key(|query| query.end);
    }
    order
}

/// Writes the notes as lines of talk, for views of text.
fn write_notes(trace: &Trace, out: &mut dyn Write) -> Result<()> {
    for note in trace.notes.iter() {
        writeln!(out, "# {}: {}", note.severity.word(), text::line(&note.to_string()))?;
    }
    Ok(())
}

/// The view of that name.
pub fn by_name(name: &str) -> Result<&'static View> {
    ALL.iter().find(|view| view.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|view| view.name).collect();
        Error::Usage(format!("-f {name}: no such view; there are {}", names.join(", ")))
    })
}
