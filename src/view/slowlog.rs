//! Query records as MariaDB writes its slow log, for mariadb-dumpslow, pt-query-digest and whatever else reads one.
//!
//! Every event tells its database, so that parts of the log stand alone. What MariaDB has no line for (error number, further
//! attributes) goes to the end of the line of `Rows_affected`, which those tools read or pass over. Times keep their nanoseconds. Text goes out as
//! it is unless the output is a terminal; only a line of it that those tools would take for a header is indented by a blank.

use std::borrow::Cow;
use std::io::Write;

use super::text::{self, Clock};
use super::{Options, View, in_order};
use crate::error::Result;
use crate::model::{Consumer, Heading, Query, QueryKind, Trace};

/// Entry in the table of views.
pub(super) const VIEW: View = View {
    name: "slowlog",
    extensions: &["slow"],
    about: "query records as a slow log of MariaDB",
    write,
    stream: Some(|options, out| Box::new(SlowLog::new(options, out))),
};

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut log = SlowLog::new(options, out);
    for query in in_order(trace, options) {
        log.query(&trace.heading, query)?;
    }
    Ok(())
}

struct SlowLog<W> {
    out: W,
    utc: bool,
    /// Control characters would reach a terminal.
    terminal: bool,
    clock: Option<Clock>,
    /// The time that was told last.
    told: Option<i64>,
}

impl<W: Write> SlowLog<W> {
    fn new(options: &Options, out: W) -> SlowLog<W> {
        SlowLog { out, utc: options.utc, terminal: options.columns.is_some(), clock: None, told: None }
    }

    fn query(&mut self, heading: &Heading, query: &Query<'_>) -> Result<()> {
        if self.clock.is_none() {
            let zone = if self.utc { 0 } else { heading.zone.unwrap_or(0) };
            self.clock = Some(Clock::new(zone));
            self.out.write_all(BANNER)?;
        }
        self.time(query.end)?;
        self.account(query)?;
        self.numbers(query)?;
        if let Some(database) = query.database.as_deref().filter(|name| !name.is_empty()) {
            writeln!(self.out, "use {};", quoted(&text::line(database)))?;
        }
        if let Some(end) = query.end {
            writeln!(self.out, "SET timestamp={};", end.div_euclid(1_000_000_000))?;
        }
        self.statement(query)
    }

    fn time(&mut self, end: Option<i64>) -> Result<()> {
        let (Some(end), Some(clock)) = (end, &mut self.clock) else { return Ok(()) };
        if self.told == Some(end) {
            return Ok(());
        }
        self.told = Some(end);
        let (date, time, nanosecond) = clock.read(end);
        // `2026-11-30` as `261130`.
        let date: String = date.chars().skip(2).filter(|&c| c != '-').collect();
        let time = time.strip_prefix('0').map_or(Cow::Borrowed(time), |time| Cow::Owned(format!(" {time}")));
        writeln!(self.out, "# Time: {date} {time}{}", fraction(nanosecond))?;
        Ok(())
    }

    fn account(&mut self, query: &Query<'_>) -> Result<()> {
        let user = text::line(query.user.as_deref().unwrap_or(""));
        let host = query.host.as_deref().unwrap_or("");
        let address = attribute(query, "ip").unwrap_or("");
        let is_address = !host.is_empty() && host.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b'.' | b':'));
        let (host, address) = if is_address && address.is_empty() { ("", host) } else { (host, address) };
        let (host, address) = (text::line(host), text::line(address));
        writeln!(self.out, "# User@Host: {user}[{user}] @ {host} [{address}]")?;
        let connection = query.connection.unwrap_or(0);
        let database = text::line(query.database.as_deref().unwrap_or(""));
        let cached = text::line(attribute(query, "QC_hit").unwrap_or("No"));
        writeln!(self.out, "# Thread_id: {connection}  Schema: {database}  QC_hit: {cached}")?;
        Ok(())
    }

    fn numbers(&mut self, query: &Query<'_>) -> Result<()> {
        let [elapsed, locked] = [query.elapsed, query.lock_time].map(|time| seconds(time.unwrap_or(0)));
        let [sent, examined, affected] =
            [query.rows_sent, query.rows_examined, query.rows_affected].map(|rows| rows.unwrap_or(0));
        writeln!(
            self.out,
            "# Query_time: {elapsed}  Lock_time: {locked}  Rows_sent: {sent}  Rows_examined: {examined}"
        )?;
        let bytes = text::line(attribute(query, "Bytes_sent").unwrap_or("0"));
        write!(self.out, "# Rows_affected: {affected}  Bytes_sent: {bytes}")?;
        if let Some(status) = query.status {
            write!(self.out, "  Last_errno: {status}")?;
        }
        if query.kind == QueryKind::Routine && attribute(query, "Stored_routine").is_none() {
            write!(self.out, "  Stored_routine: -")?;
        }
        let is_line = |name: &str| matches!(name, "explain" | "warning");
        for (name, value) in &query.attributes {
            let is_told = matches!(&**name, "ip" | "QC_hit" | "Bytes_sent" | "Last_errno");
            let is_word = !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
            if !is_told && !is_line(name) && is_word {
                let value: String = text::line(value).chars().map(|c| if c == ' ' { '_' } else { c }).collect();
                write!(self.out, "  {name}: {value}")?;
            }
        }
        self.out.write_all(b"\n")?;
        for (name, value) in query.attributes.iter().filter(|(name, _)| is_line(name)) {
            let prefix = if name == "explain" { "explain: " } else { "" };
            let value: String =
                value.chars().map(|c| if c != '\t' && text::is_unsafe(c) { '\u{fffd}' } else { c }).collect();
            writeln!(self.out, "# {prefix}{value}")?;
        }
        Ok(())
    }

    fn statement(&mut self, query: &Query<'_>) -> Result<()> {
        if query.kind == QueryKind::Admin {
            writeln!(self.out, "# administrator command: {};", text::line(&query.text))?;
            return Ok(());
        }
        let mut before: Option<&str> = None;
        for line in query.text.split('\n') {
            if before.is_some() {
                self.out.write_all(b"\n")?;
            }
            if before.map_or_else(|| looks_like_header(line), |before| before.ends_with(';') && looks_like_begin(line))
            {
                self.out.write_all(b" ")?;
            }
            if self.terminal {
                let safe = |c: char| if c != '\t' && text::is_unsafe(c) { '\u{fffd}' } else { c };
                let line: String = line.chars().map(safe).collect();
                self.out.write_all(line.as_bytes())?;
            } else {
                self.out.write_all(line.as_bytes())?;
            }
            before = Some(line);
        }
        self.out.write_all(b";\n")?;
        Ok(())
    }
}

impl<W: Write> Consumer for SlowLog<W> {
    fn query(&mut self, heading: &Heading, query: &Query<'_>) -> Result<()> {
        SlowLog::query(self, heading, query)
    }

    fn idle(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(mut self: Box<Self>, _trace: &Trace) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// The first lines of a log; mariadb-dumpslow knows them by the path at the start.
const BANNER: &[u8] = b"/usr/sbin/mariadbd, Version: 0 (written by seatrace). started with:\n\
Tcp port: 0  Unix socket: none\nTime\t\t    Id Command\tArgument\n";

fn attribute<'q>(query: &'q Query<'_>, name: &str) -> Option<&'q str> {
    query.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| &**value)
}

/// Seconds with six decimals; with nine where there are nanoseconds.
fn seconds(nanoseconds: u64) -> String {
    let (second, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    if rest % 1000 == 0 { format!("{second}.{:06}", rest / 1000) } else { format!("{second}.{rest:09}") }
}

/// The part of a second after the point; nothing if it is 0.
fn fraction(nanosecond: u32) -> String {
    match nanosecond {
        0 => String::new(),
        nanosecond if nanosecond % 1000 == 0 => format!(".{:06}", nanosecond / 1000),
        nanosecond => format!(".{nanosecond:09}"),
    }
}

/// A name after `use`: in backticks only if it needs them, since mariadb-dumpslow does not know those.
fn quoted(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    if is_plain { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}

/// Whether a statement's first line would be taken for a line before it (by pt-query-digest, which tells case).
fn looks_like_header(line: &str) -> bool {
    ["#", "use ", "SET timestamp", "SET insert_id", "SET last_insert_id"].iter().any(|start| line.starts_with(start))
}

/// Whether a line after one that ends in `;` would be taken for the begin of something new.
fn looks_like_begin(line: &str) -> bool {
    line.starts_with('#') || line.contains(", Version: ")
}
