//! The log: one line a query, as it comes; other records and aggregations by key as tables below.
//!
//! On a terminal a line is cut to its width, so that a query of 10 kB does not fill the screen; into a file or a pipe goes everything. Records
//! stand in the order of the dump, which is nearly that of time. What comes from the server is escaped: it cannot move the cursor.

mod table;

use std::io::Write;

use super::text::{self, Clock};
use super::{Options, View};
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
    let mut order: Vec<&Query<'_>> = trace.queries.iter().collect();
    if options.sort == Some(super::Sort::Time) {
        order.sort_by_key(|query| query.end);
    }
    for query in order {
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
        self.log.out.flush().map_err(Error::from)
    }

    fn finish(self: Box<Self>, trace: &Trace) -> Result<()> {
        let mut log = self.log;
        log.rest(trace)?;
        log.out.flush().map_err(Error::from)
    }
}

/// Widths of the columns before the text.
const CONNECTION: usize = 5;
const WHO: usize = 14;
const DATABASE: usize = 8;
const STATUS: usize = 6;
const MILLISECONDS: usize = 9;

struct Log<W> {
    out: W,
    options: Options,
    clock: Option<Clock>,
    /// The date that was written last.
    date: String,
    /// The line in the making, kept for its memory.
    line: String,
    number: String,
    /// Columns of a line; `usize::MAX` without a limit.
    columns: usize,
}

impl<W: Write> Log<W> {
    fn new(options: Options, out: W) -> Log<W> {
        let columns = options.columns.filter(|_| !options.wide).unwrap_or(usize::MAX);
        Log { out, options, clock: None, date: String::new(), line: String::new(), number: String::new(), columns }
    }

    fn query(&mut self, heading: &Heading, query: &Query<'_>) -> Result<()> {
        if self.clock.is_none() {
            self.clock = Some(clock(heading, &self.options));
            self.line.clear();
            push_head(&mut self.line);
            writeln!(self.out, "{}", self.line)?;
        }
        self.line.clear();
        self.push_time(query.end)?;
        self.push_fields(query);
        self.push_text(query);
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    /// The time of day; a line with the date goes before the first record of a day.
    fn push_time(&mut self, end: Option<i64>) -> Result<()> {
        let (Some(end), Some(clock)) = (end, &mut self.clock) else {
            self.line.push_str("-            ");
            return Ok(());
        };
        let (date, ..) = clock.read(end);
        if date != self.date {
            self.date.clear();
            self.date.push_str(date);
            writeln!(self.out, "# {} {}", self.date, clock.zone())?;
        }
        let (_, time, nanosecond) = clock.read(end);
        self.line.push_str(time);
        text::push_milli(&mut self.line, nanosecond);
        self.line.push(' ');
        Ok(())
    }

    fn push_fields(&mut self, query: &Query<'_>) {
        let line = &mut self.line;
        push_or_dash(line, query.connection.map(i128::from), CONNECTION);
        let limit = |width: usize| if self.columns == usize::MAX { usize::MAX } else { width };
        let from = line.len();
        match (query.user.as_deref().unwrap_or(""), query.host.as_deref().unwrap_or("")) {
            ("", "") => line.push('-'),
            (user, host) => {
                text::push_line(line, user);
                if !host.is_empty() {
                    line.push('@');
                    text::push_line(line, host);
                }
            }
        }
        text::fit(line, from, WHO, limit(WHO));
        let from = line.len();
        text::push_line(line, query.database.as_deref().filter(|name| !name.is_empty()).unwrap_or("-"));
        text::fit(line, from, DATABASE, limit(DATABASE));
        push_or_dash(line, query.status.map(i128::from), STATUS);
        self.number.clear();
        match query.elapsed {
            Some(elapsed) => text::push_milliseconds(&mut self.number, i128::from(elapsed)),
            None => self.number.push('-'),
        }
        text::push_right(line, &self.number, MILLISECONDS);
        line.push(' ');
    }

    /// The statement, last, since it may hold anything.
    fn push_text(&mut self, query: &Query<'_>) {
        let line = &mut self.line;
        let from = line.len();
        if query.kind == QueryKind::Admin {
            line.push_str("administrator command: ");
        }
        // What cannot be seen need not be escaped either; four bytes a column are enough for every character.
        let seen = self.columns.saturating_mul(4);
        let text = text::start(&query.text, seen);
        text::push_line(line, text);
        let mark = if query.cut { " [cut]" } else { "" };
        if self.columns < usize::MAX {
            let room = self.columns.saturating_sub(text::width(line.get(..from).unwrap_or("")));
            text::cut(line, from, room.saturating_sub(mark.len()).max(1));
        }
        line.push_str(mark);
        line.truncate(line.trim_end().len());
    }

    /// What stands below the queries: other records, rows by key, notes.
    fn rest(&mut self, trace: &Trace) -> Result<()> {
        let mut clock = clock(&trace.heading, &self.options);
        let mut empty = self.clock.is_none();
        for table in table::all(trace, &mut clock) {
            if !empty {
                writeln!(self.out)?;
            }
            empty = false;
            table.write(&mut self.out, self.columns)?;
        }
        if empty {
            if trace.series.iter().any(|series| !series.is_empty()) {
                return Err(Error::Usage(
                    "there are only stacks in it, which are no log: try -f folded, flame or top".into(),
                ));
            }
            push_head(&mut self.line);
            writeln!(self.out, "{}", self.line)?;
        }
        super::write_notes(trace, &mut self.out)
    }
}

fn push_or_dash(line: &mut String, number: Option<i128>, wide: usize) {
    match number {
        Some(number) => text::push_number(line, number, wide),
        None => text::push_right(line, "-", wide),
    }
    line.push(' ');
}

fn clock(heading: &Heading, options: &Options) -> Clock {
    Clock::new(if options.utc { 0 } else { heading.zone.unwrap_or(0) })
}

fn push_head(line: &mut String) {
    use std::fmt::Write as _;
    _ = write!(
        line,
        "{:<12} {:>CONNECTION$} {:<WHO$} {:<DATABASE$} {:>STATUS$} {:>MILLISECONDS$} QUERY",
        "TIME", "CONN", "USER@HOST", "DATABASE", "STATUS", "ms"
    );
}
