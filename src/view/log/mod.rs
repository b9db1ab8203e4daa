//! The log: one line a query, as it comes; other records and aggregations by key as tables below.
//!
//! On a terminal a line is cut to its width, so that a query of 10 kB does not fill the screen; into a file or a pipe goes everything. Records
//! stand in the order of the dump, which is nearly that of time. What comes from the server is escaped: it cannot move the cursor.

mod page;
mod table;

use std::io::Write;

use self::page::{MILLISECONDS, Page};
use super::text::{self, Clock};
use super::{Options, View, digits, in_order};
use crate::error::{Error, Result};
use crate::model::{Consumer, Heading, Query, QueryKind, Trace};

/// Entry in the table of views.
pub(super) const VIEW: View = View {
    name: "log",
    extensions: &["log", "txt"],
    about: "one line a query or record; rows by key",
    write,
    stream: Some(stream),
};

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut log = Log::new(options.clone(), out);
    for query in in_order(trace, options) {
        log.query(&trace.heading, query)?;
    }
    log.rest(trace)
}

fn stream(options: &Options, out: Box<dyn Write>) -> Box<dyn Consumer> {
    Box::new(Stream { log: Log::new(options.clone(), out) })
}

/// A log that is written while the input is read.
struct Stream {
    log: Log<Box<dyn Write>>,
}

impl Consumer for Stream {
    fn query(&mut self, heading: &Heading, query: &Query<'_>) -> Result<()> {
        self.log.query(heading, query)
    }

    fn idle(&mut self) -> Result<()> {
        self.log.flush()
    }

    fn finish(self: Box<Self>, trace: &Trace) -> Result<()> {
        let mut log = self.log;
        log.rest(trace)?;
        log.flush()
    }
}

/// Widths of the columns before the text.
const CONNECTION: usize = 5;
const WHO: usize = 14;
const DATABASE: usize = 8;
const STATUS: usize = 6;

struct Log<W: Write> {
    page: Page<W>,
    options: Options,
    clock: Option<Clock>,
    /// The day whose date was written last.
    day: Option<i64>,
    /// A text that cannot be shown as it is, in the making; kept for its memory.
    text: String,
    /// Columns of a line; `usize::MAX` without a limit.
    columns: usize,
}

impl<W: Write> Log<W> {
    fn new(options: Options, out: W) -> Log<W> {
        let columns = options.columns.filter(|_| !options.wide).unwrap_or(usize::MAX);
        Log { page: Page::new(out), options, clock: None, day: None, text: String::new(), columns }
    }

    fn query(&mut self, heading: &Heading, query: &Query<'_>) -> Result<()> {
        if self.clock.is_none() {
            self.clock = Some(clock(heading, &self.options));
            self.page.push(head().as_bytes());
            self.page.end_line()?;
        }
        self.push_time(query.end)?;
        self.page.push_number::<CONNECTION>(query.connection);
        self.push_names(query);
        self.page.push_number::<STATUS>(query.status);
        self.page.push_milliseconds(query.elapsed);
        self.push_text(query);
        self.page.end_line()?;
        Ok(())
    }

    /// The time of day; a line with the date goes before the first record of a day.
    fn push_time(&mut self, end: Option<i64>) -> Result<()> {
        let (Some(end), Some(clock)) = (end, &mut self.clock) else {
            self.page.push(b"-            ");
            return Ok(());
        };
        let nanosecond = clock.set(end);
        if self.day != clock.day() {
            self.day = clock.day();
            self.page.push(format!("# {} {}", clock.date(), clock.zone()).as_bytes());
            self.page.end_line()?;
        }
        let [a, b, c] = digits::three(nanosecond / 1_000_000);
        self.page.push(clock.time());
        self.page.push(&[b'.', a, b, c, b' ']);
        Ok(())
    }

    /// Who sent it, and in which database. Nearly all names are shown as they are: they are appended first and looked at together then.
    fn push_names(&mut self, query: &Query<'_>) {
        let user = query.user.as_deref().unwrap_or("");
        let host = query.host.as_deref().unwrap_or("");
        let (user, at) = match (user, host) {
            ("", "") => ("-", ""),
            (user, "") => (user, ""),
            (user, _) => (user, "@"),
        };
        let database = query.database.as_deref().filter(|name| !name.is_empty()).unwrap_or("-");
        if self.columns == usize::MAX {
            let before = self.page.length();
            self.page.push_plain([user, at, host], WHO);
            self.page.push_plain([database], DATABASE);
            if text::is_plain(self.page.line()) {
                return;
            }
            self.page.shorten(before);
        }
        self.push_escaped([user, at, host], WHO);
        self.push_escaped([database], DATABASE);
    }

    /// A column of texts that may need escapes, or a cut.
    fn push_escaped<const PARTS: usize>(&mut self, parts: [&str; PARTS], wide: usize) {
        let limit = if self.columns == usize::MAX { usize::MAX } else { wide };
        self.text.clear();
        for part in parts {
            text::push_line(&mut self.text, part);
        }
        text::fit(&mut self.text, 0, wide, limit);
        self.page.push(self.text.as_bytes());
    }

    /// The statement, last, since it may hold anything.
    fn push_text(&mut self, query: &Query<'_>) {
        let command = if query.kind == QueryKind::Admin { "administrator command: " } else { "" };
        let mark = if query.cut { " [cut]" } else { "" };
        if self.columns == usize::MAX && text::is_plain(query.text.as_bytes()) {
            for part in [command, &query.text, mark].into_iter().filter(|part| !part.is_empty()) {
                self.page.push(part.as_bytes());
            }
            return;
        }
        let line = &mut self.text;
        line.clear();
        line.push_str(command);
        // What cannot be seen need not be escaped either; four bytes a column are enough for every character.
        let seen = self.columns.saturating_mul(4);
        text::push_line(line, text::start(&query.text, seen));
        if self.columns < usize::MAX {
            let before = std::str::from_utf8(self.page.line()).map_or(0, text::width);
            let room = self.columns.saturating_sub(before);
            text::cut(line, 0, room.saturating_sub(mark.len()).max(1));
        }
        line.push_str(mark);
        self.page.push(line.trim_end().as_bytes());
    }

    /// What stands below the queries: other records, rows by key, notes.
    fn rest(&mut self, trace: &Trace) -> Result<()> {
        let mut clock = clock(&trace.heading, &self.options);
        let mut empty = self.clock.is_none();
        let out = self.page.out()?;
        for table in table::all(trace, &mut clock) {
            if !empty {
                writeln!(out)?;
            }
            empty = false;
            table.write(out, self.columns)?;
        }
        if empty {
            if trace.series.iter().any(|series| !series.is_empty()) {
                return Err(Error::Usage(
                    "there are only stacks in it, which are no log: try -f folded, flame or top".into(),
                ));
            }
            writeln!(out, "{}", head())?;
        }
        super::write_notes(trace, out)
    }

    fn flush(&mut self) -> Result<()> {
        self.page.out()?.flush().map_err(Error::from)
    }
}

fn clock(heading: &Heading, options: &Options) -> Clock {
    Clock::new(if options.utc { 0 } else { heading.zone.unwrap_or(0) })
}

fn head() -> String {
    format!(
        "{:<12} {:>CONNECTION$} {:<WHO$} {:<DATABASE$} {:>STATUS$} {:>MILLISECONDS$} QUERY",
        "TIME", "CONN", "USER@HOST", "DATABASE", "STATUS", "ms"
    )
}
