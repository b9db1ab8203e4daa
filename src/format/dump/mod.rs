//! The seatrace dump: what the bundled D scripts print. docs/dump-format.md is its specification.
//!
//! Records become queries and events, aggregations become series. Times are nanoseconds in queries and events; series keep the unit that their
//! heading names. A bad record or row costs that record; only a newer version of the format stops the reading.

mod aggregation;
mod heading;
mod record;
mod values;

use aggregation::Aggregation;
use record::Kind;

use super::{Fit, Format, Options, diagnostic};
use crate::error::{Error, Result};
use crate::input::Lines;
use crate::model::{Heading, Severity, Trace};

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "dump", about: "seatrace dump: what the bundled scripts print", fits, read };

/// The version of the format that this reader knows.
const VERSION: u32 = 1;

fn fits(head: &[u8]) -> Fit {
    for line in head.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii_end();
        if line.starts_with(b"# seatrace\t") {
            return Fit::Sure;
        }
        let comment = line.starts_with(b"#") && !line.starts_with(b"# ");
        if !(line.is_empty() || comment || diagnostic::is_one(line)) {
            break;
        }
    }
    Fit::No("no `# seatrace` heading at its start".into())
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut reader = Reader::default();
    loop {
        if !lines.is_ready() {
            trace.idle()?;
        }
        let number = lines.number().saturating_add(1);
        let Some(line) = lines.next() else { break };
        reader.line(line, number, trace)?;
        if let Some(aggregation) = &mut reader.aggregation {
            aggregation.known_frames(lines, trace);
        }
    }
    let number = lines.number();
    reader.end_dump(number, trace);
    reader.tell(trace);
    if lines.is_unterminated() {
        trace.loss("the last line has no end: it may be cut", number);
    }
    Ok(())
}

/// Everything that headings have said so far.
#[derive(Default)]
struct Reader {
    kinds: Vec<Kind>,
    /// The kind of the record before: most records are of the same kind.
    last: usize,
    aggregation: Option<Aggregation>,
    /// Scripts that have begun and not ended: several may print into one dump.
    open: u64,
    unknown: u64,
    texts: record::Texts,
}

impl Reader {
    fn line(&mut self, line: &[u8], number: u64, trace: &mut Trace) -> Result<()> {
        if line.first() == Some(&b'd') && diagnostic::read(line, trace) {
            return Ok(());
        }
        if let Some(text) = line.strip_prefix(b"# ")
            && (self.aggregation.as_ref().is_none_or(|open| !open.is_row(line)) || heading::is_known(text))
        {
            return self.heading(text, number, trace);
        }
        if let Some(aggregation) = &mut self.aggregation {
            aggregation.line(line, number, trace);
            return Ok(());
        }
        if line.is_empty() || line.first() == Some(&b'#') {
            return Ok(());
        }
        self.record(line, number, trace)
    }

    fn record(&mut self, line: &[u8], number: u64, trace: &mut Trace) -> Result<()> {
        let of = |at: usize| {
            let kind = self.kinds.get(at)?;
            kind.values(line).map(|values| (at, kind, values))
        };
        let Some((at, kind, values)) = of(self.last).or_else(|| (0..self.kinds.len()).find_map(of)) else {
            trace.loss("line of no declared kind, passed over", number);
            return Ok(());
        };
        self.last = at;
        if kind.read(values, &mut self.texts, trace)? {
            return Ok(());
        }
        trace.loss(format!("{} record with other values than declared, passed over", kind.name()), number);
        Ok(())
    }

    fn heading(&mut self, text: &[u8], number: u64, trace: &mut Trace) -> Result<()> {
        let text = String::from_utf8_lossy(text);
        let mut fields = text.split('\t');
        let word = fields.next().unwrap_or("").trim_end();
        let fields: Vec<&str> = fields.collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or("").trim_end();
        if !matches!(word, "note" | "lost" | "end") {
            self.close_aggregation(number, trace);
        }
        match word {
            "seatrace" => return self.begin_dump(field(0), number, trace),
            "script" => trace.heading.merge(Heading {
                script: Some(field(0).to_owned()),
                version: field(1).parse().ok(),
                ..Heading::default()
            }),
            "start" => trace.heading.merge(heading::start(field(0), field(1))),
            "target" => trace.heading.merge(Heading { target: field(0).parse().ok(), ..Heading::default() }),
            "strsize" => {
                self.texts.strsize = field(0).parse().ok();
                trace.heading.merge(Heading { strsize: self.texts.strsize, ..Heading::default() });
            }
            "record" => match Kind::declared(&fields) {
                Some(kind) => {
                    self.kinds.retain(|other| other.name() != kind.name());
                    if self.kinds.len() >= Trace::SHAPES {
                        trace.loss(format!("more than {} kinds of records", Trace::SHAPES), number);
                        return Ok(());
                    }
                    self.kinds.push(kind);
                    self.last = 0;
                }
                None => trace.loss("`# record` without a kind", number),
            },
            "aggregation" => match Aggregation::declared(&fields, self.texts.strsize, trace) {
                Ok(aggregation) => self.aggregation = Some(aggregation),
                Err(cause) => trace.loss(format!("`# aggregation`: {cause}: its rows are passed over"), number),
            },
            "end" => {
                if let Some(aggregation) = self.aggregation.take() {
                    self.texts.cut.keys = self.texts.cut.keys.saturating_add(aggregation.finish(number, trace));
                }
            }
            "pass" => trace.begin_pass(field(0), heading::is_cumulative(field(2))),
            "note" => trace.notes.info(fields.join(" ")),
            "lost" => heading::lost(field(0), field(1), trace),
            "stop" => {
                self.open = self.open.saturating_sub(1);
                trace.heading.merge(Heading { stop: field(0).parse().ok(), ..Heading::default() });
            }
            _ => self.unknown = self.unknown.saturating_add(1),
        }
        Ok(())
    }

    fn begin_dump(&mut self, version: &str, number: u64, trace: &mut Trace) -> Result<()> {
        if version.parse::<u32>().is_ok_and(|version| version > VERSION) {
            return Err(Error::Input {
                file: trace.input().to_owned(),
                line: number,
                cause: format!("this dump is of version {version}; this seatrace knows version {VERSION}"),
                remedy: "read it with a newer seatrace".into(),
            });
        }
        self.close_aggregation(number, trace);
        if self.open == 0 {
            self.kinds.clear();
            self.texts.strsize = None;
        }
        self.open = self.open.saturating_add(1);
        trace.end_dump();
        Ok(())
    }

    fn close_aggregation(&mut self, number: u64, trace: &mut Trace) {
        if let Some(aggregation) = self.aggregation.take() {
            trace.loss("aggregation without `# end`: rows may be missing", number);
            self.texts.cut.keys = self.texts.cut.keys.saturating_add(aggregation.finish(number, trace));
        }
    }

    fn end_dump(&mut self, number: u64, trace: &mut Trace) {
        self.close_aggregation(number, trace);
        let open = std::mem::take(&mut self.open);
        if open > 0 {
            let place = format!("{}:{number}", trace.input());
            trace.notes.add(Severity::Loss, "no `# stop`: the dump was cut short".into(), open, 0, Some(place));
        }
    }

    fn tell(&self, trace: &mut Trace) {
        if self.unknown > 0 {
            trace.notes.add(Severity::Info, "headings of an unknown word, passed over".into(), self.unknown, 0, None);
        }
        let strsize = self.texts.strsize.map_or(String::new(), |size| format!(" at {} bytes", size.saturating_sub(1)));
        if self.texts.cut.queries > 0 {
            let text = format!("statements whose text was cut{strsize} (-x strsize=… keeps more)");
            trace.losses(text, self.texts.cut.queries);
        }
        if self.texts.cut.keys > 0 {
            trace.losses(format!("other texts that were cut{strsize} (-x strsize=… keeps more)"), self.texts.cut.keys);
        }
    }
}
