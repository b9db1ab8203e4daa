//! `seatrace sql`: the statements that export performance_schema in the forms that `replay` reads.

use std::io::Write;

use clap::Args;

use crate::error::{Error, Result};
use crate::output::Output;

/// Shown by `seatrace sql --help`; a test runs each.
pub(super) const EXAMPLES: &str = "Examples:
  seatrace sql setup | mariadb
  seatrace sql hierarchy | mariadb -B performance_schema | seatrace replay -o stages.svg
  seatrace sql digests | mariadb -B performance_schema | seatrace replay";

/// `seatrace sql [NAME]`
#[derive(Args)]
pub(super) struct Sql {
    /// Which statement; none: list them
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// A statement with its name.
struct Statement {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

macro_rules! statement {
    ($name:literal, $about:literal) => {
        Statement { name: $name, about: $about, text: include_str!(concat!("sql/", $name, ".sql")) }
    };
}

/// All of them, in the order of the list.
static STATEMENTS: &[Statement] = &[
    statement!("setup", "switch on what the others need"),
    statement!("waits", "the last waits, for a flame graph"),
    statement!("summary", "all waits since the start, summed by the server"),
    statement!("stages", "all stages of statements, summed by the server"),
    statement!("hierarchy", "the last statements, stages and waits inside each other"),
    statement!("statements", "the last statements with their texts, for a log or a digest"),
    statement!("digests", "classes of statements, summed by the server"),
];

impl Sql {
    /// Prints one statement, or the list.
    pub(super) fn run(&self) -> Result<()> {
        let mut out = Output::create(None)?;
        match &self.name {
            None => list(&mut out)?,
            Some(name) => {
                let found = STATEMENTS.iter().find(|statement| statement.name == name);
                out.write_all(found.ok_or_else(|| unknown(name))?.text.as_bytes())?;
            }
        }
        out.finish()
    }
}

fn list(out: &mut Output) -> Result<()> {
    for statement in STATEMENTS {
        writeln!(out, "{:<11} {}", statement.name, statement.about)?;
    }
    writeln!(out, "\nseatrace sql NAME | mariadb -B performance_schema | seatrace replay")?;
    Ok(())
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = STATEMENTS.iter().map(|statement| statement.name).collect();
    Error::Usage(format!("sql {name}: no such statement; there are {}", names.join(", ")))
}
