//! The slow query log of MariaDB, MySQL and Percona Server, as query records.
//!
//! An event is header lines that begin with `#`, then perhaps `use DB;`, then `SET timestamp=N;`, then the statement and `;`. Facts from
//! the servers' own logs (tests/data/slowlog) and sources:
//! - Times are seconds with six decimals. `SET timestamp` is when the statement was logged (MariaDB, MySQL before 8.0.14) or began.
//! - `# Time:` is the local time of the server (MariaDB, once a second) or ISO 8601 with a zone (MySQL 5.7 and later, each event).
//!   A session that sets its timestamp changes both: such statements stand at another time.
//! - `use` is written only when the database changes; MariaDB tells it again as `Schema:`, which may be empty.
//! - A restart or FLUSH LOGS writes a banner of three lines in the middle of the file, after which the database is unknown.
//! - A statement may hold anything, also lines that look like headers: an event ends only where a line that ends in `;` is
//!   followed by a header.

mod event;
mod header;

use crate::error::Result;
use crate::format::{Fit, Format, Options};
use crate::input::Lines;
use crate::model::Trace;

use event::{Event, Place};

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "slow-log", about: "slow query log of MariaDB, MySQL or Percona Server", fits, read };

/// Longest statement that is kept whole.
const MAX_TEXT: usize = 16 << 20;

fn fits(head: &[u8]) -> Fit {
    if head.starts_with(b"# seatrace\t") {
        return Fit::No("begins like a seatrace dump".into());
    }
    let starts =
        |prefix: &[u8]| head.starts_with(prefix) || memchr::memmem::find(head, &[b"\n", prefix].concat()).is_some();
    if starts(b"# Query_time: ") || starts(b"# User@Host: ") {
        Fit::Sure
    } else {
        Fit::No("no line begins with `# Query_time:`".into())
    }
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut reader = Reader::default();
    trace.heading.script.get_or_insert_with(|| "slow log".into());
    loop {
        if !lines.is_ready() {
            trace.idle()?;
        }
        let Some(line) = lines.next() else { break };
        if reader.ends_before(line) {
            reader.emit(trace, false)?;
        }
        if !reader.line(line) {
            trace.loss("line belongs to no event of a slow log, skipped", lines.number());
        }
    }
    reader.emit(trace, true)?;
    reader.notes(trace, lines.number());
    Ok(())
}

/// Reads line by line; keeps one event.
#[derive(Default)]
struct Reader {
    event: Event,
    place: Place,
    /// Database of the last `use` in this file and since the last banner.
    database: Vec<u8>,
    events: u64,
    banners: u64,
    cut: u64,
    unfinished: bool,
    replaced: u64,
    rate: u64,
    zone: Option<i32>,
}

impl Reader {
    /// Whether the event so far is complete, since this line begins something new.
    fn ends_before(&self, line: &[u8]) -> bool {
        let complete = match self.place {
            Place::Start | Place::Banner => return false,
            // Headers only: a further event may begin, if this one had no statement at all.
            Place::Header => self.event.is_measured() && begins_event(line),
            Place::Text => self.event.terminated && (begins_event(line) || is_banner(line)),
            Place::Done => true,
        };
        complete && !line.is_empty()
    }

    /// Takes in a line; false if it belongs nowhere.
    fn line(&mut self, line: &[u8]) -> bool {
        match self.place {
            Place::Text => self.event.push_text(line),
            Place::Start | Place::Banner | Place::Header | Place::Done => return self.before_text(line),
        }
        true
    }

    fn before_text(&mut self, line: &[u8]) -> bool {
        if let Some(header) = line.strip_prefix(b"#") {
            if let Some(command) = header.strip_prefix(b" administrator command: ") {
                self.event.set_admin(command);
                self.place = Place::Done;
                return true;
            }
            // A statement may begin with a comment.
            if self.place != Place::Header || !self.event.has_timestamp() || begins_event(line) {
                self.event.header(header);
                self.place = Place::Header;
                return true;
            }
        }
        if is_banner(line) {
            self.banners += u64::from(self.events > 0);
            self.database.clear();
            self.place = Place::Banner;
            return true;
        }
        if self.place == Place::Banner && is_banner_rest(line) || line.is_empty() && self.place != Place::Header {
            return true;
        }
        if self.place != Place::Header {
            return false;
        }
        if self.event.setting(line, &mut self.database) {
            return true;
        }
        self.event.begin_text(line);
        self.place = Place::Text;
        true
    }

    /// Hands the event on, if there is one.
    fn emit(&mut self, trace: &mut Trace, last: bool) -> Result<()> {
        let place = std::mem::take(&mut self.place);
        if place == Place::Start || place == Place::Banner || !self.event.is_measured() && place == Place::Header {
            self.event.clear();
            return Ok(());
        }
        self.events += 1;
        if place == Place::Text && !self.event.terminated {
            self.unfinished = last;
            self.event.cut = true;
        }
        self.cut += u64::from(self.event.overlong);
        if self.zone.is_none() {
            self.zone = self.event.zone();
            trace.heading.zone = trace.heading.zone.or(self.zone);
        }
        self.rate = self.rate.max(self.event.rate);
        let zone = self.zone;
        let (query, replaced) = self.event.query(&self.database, zone);
        self.replaced += u64::from(replaced);
        let done = trace.query(query);
        self.event.clear();
        done
    }

    fn notes(&self, trace: &mut Trace, line: u64) {
        let input = trace.input().to_owned();
        if self.unfinished {
            trace.loss("the log ends inside a statement", line);
        }
        if self.cut > 0 {
            trace.losses(format!("statement longer than {} MB, cut", MAX_TEXT >> 20), self.cut);
        }
        if self.banners > 0 {
            trace.notes.info(format!("{input}: the server restarted or the log was flushed, {} times", self.banners));
        }
        if self.replaced > 0 {
            let count = self.replaced;
            trace.notes.info(format!("{input}: {count} statements hold bytes that are not UTF-8, shown as U+FFFD"));
        }
        if self.rate > 1 {
            let rate = self.rate;
            trace
                .notes
                .info(format!("{input}: the server logged one of {rate} (log_slow_rate_limit): true sums are larger"));
        }
    }
}

/// Whether the line is the first of an event.
fn begins_event(line: &[u8]) -> bool {
    line.starts_with(b"# User@Host: ") || line.starts_with(b"# Time: ")
}

/// The first line of what a server writes when it opens its log: `PATH, Version: 8.0.36 (…). started with:`.
fn is_banner(line: &[u8]) -> bool {
    line.first() != Some(&b'#')
        && memchr::memmem::find(line, b", Version: ")
            .and_then(|at| line.get(at..))
            .is_some_and(|rest| memchr::memmem::find(rest, b"started with:").is_some())
}

/// The other two lines: ports and sockets, and names of columns.
fn is_banner_rest(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ' || byte == b'\t').filter(|word| !word.is_empty());
    match words.next() {
        Some(first) if first.eq_ignore_ascii_case(b"tcp") => {
            words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"port:"))
        }
        Some(b"Time") => words.next() == Some(b"Id"),
        _ => false,
    }
}
