//! Views: one file an output, from the [`model`](crate::model) to bytes.
//!
//! A new view is a file here, a line in [`ALL`], and goldens in tests. A view prints the notes of its trace wherever the output has a place for
//! them; nothing from the input goes out unescaped.

mod folded;

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};
use crate::model::Trace;

/// Options of all views; each view takes those it knows.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Show texts in full, however wide the terminal is
    #[arg(long)]
    pub wide: bool,
    /// Show times in UTC in place of the zone of the traced machine
    #[arg(long)]
    pub utc: bool,
    /// Columns of the terminal, if the output is one.
    #[arg(skip)]
    pub columns: Option<usize>,
    /// Whether colours may be used.
    #[arg(skip)]
    pub color: bool,
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
}

/// All views.
pub static ALL: &[View] = &[folded::VIEW];

/// The view that is asked for by `-f`, or by the extension of `-o`, or that suits the data.
pub fn choose(format: Option<&str>, output: Option<&Path>, trace: &Trace) -> Result<&'static View> {
    if let Some(name) = format {
        return by_name(name);
    }
    let extension = output.and_then(Path::extension).and_then(|extension| extension.to_str());
    match extension.and_then(|extension| ALL.iter().find(|view| view.extensions.contains(&extension))) {
        Some(view) => Ok(view),
        None => by_name(default_for(trace)),
    }
}

fn default_for(_trace: &Trace) -> &'static str {
    "folded"
}

/// The view of that name.
pub fn by_name(name: &str) -> Result<&'static View> {
    ALL.iter().find(|view| view.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|view| view.name).collect();
        Error::Usage(format!("-f {name}: no such view; there are {}", names.join(", ")))
    })
}
