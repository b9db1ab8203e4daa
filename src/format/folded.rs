//! Folded stacks: `root;frame;leaf 42`, one stack a line, as FlameGraph's collapsers print them.
//!
//! What stands behind the last blank is the weight; frames are shown as they are, also if they end in a number. A second weight is read only
//! if the caller says so, or if the first line is [`TWO_COUNTS`]. Weights with a decimal point are multiplied by a power of ten, all alike.
//! Lines that begin with `# ` are comments. Source of the format: FlameGraph's README; inferno for comments.

use super::{Fit, Format, Options, number};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Function, NameId, Names, SeriesId, Trace, Value};
use crate::units::Unit;

/// Entry in the table of formats.
pub(super) const FORMAT: Format = Format { name: "folded", about: "folded stacks: `root;leaf 42`", fits, read };

/// First line of a folded file whose lines have two weights, before and after.
pub const TWO_COUNTS: &str = "# seatrace: two counts, before and after";
/// Digits behind the decimal point that are kept.
const MAX_DECIMALS: u32 = 9;

fn fits(head: &[u8]) -> Fit {
    let (mut good, mut bad, mut parted, mut first_bad) = (0u32, 0u32, false, None);
    // The last line may be cut.
    let whole = memchr::memrchr(b'\n', head).and_then(|end| head.get(..end)).unwrap_or(head);
    for line in whole.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).take(200) {
        if line.is_empty() || line.starts_with(b"# ") {
            continue;
        }
        // Other tools put their numbers in columns.
        let columns = |frames: &[u8]| frames.first() == Some(&b' ') || frames.last() == Some(&b' ');
        match split(line) {
            Some((frames, _)) if !columns(frames) => {
                good = good.saturating_add(1);
                parted |= frames.contains(&b';');
            }
            _ => {
                bad = bad.saturating_add(1);
                first_bad = first_bad.or(Some(line));
            }
        }
    }
    match first_bad {
        None if good > 0 => Fit::Likely,
        // A few bad lines between stacks are skipped.
        Some(_) if parted && good / 2 >= bad => Fit::Likely,
        Some(line) => {
            let start = String::from_utf8_lossy(line.get(..60).unwrap_or(line));
            Fit::No(format!("no `stack weight` in `{start}`"))
        }
        None => Fit::No("no line".into()),
    }
}

fn read(lines: &mut Lines, trace: &mut Trace, options: &Options) -> Result<()> {
    let mut reader = Reader { two_counts: options.two_counts, ..Reader::default() };
    loop {
        if !lines.is_ready() {
            trace.idle()?;
        }
        let number = lines.number().saturating_add(1);
        let Some(line) = lines.next() else { break };
        reader.two_counts |= number == 1 && line == TWO_COUNTS.as_bytes();
        if !reader.line(line, trace) {
            trace.loss("line is no folded stack, skipped", number);
        }
    }
    reader.tell(trace);
    Ok(())
}

#[derive(Default)]
struct Reader {
    two_counts: bool,
    /// The series of the weights, and of those before them.
    series: Option<(SeriesId, Option<SeriesId>)>,
    /// The frames of the last line, each with the place behind it, and their text: lines are mostly sorted and begin alike.
    stack: Vec<NameId>,
    ends: Vec<usize>,
    text: Vec<u8>,
    callees: Callees,
}

/// The two frames that came last after each: mostly it is one of them again, which is seen without a look into the table of names.
#[derive(Default)]
struct Callees(Vec<[Option<NameId>; 2]>);

impl Callees {
    /// The frame that `rest` begins with and its length, if it is one of those.
    fn known(&self, caller: Option<NameId>, rest: &[u8], names: &Names) -> Option<(NameId, usize)> {
        self.0.get(caller?.0 as usize)?.iter().flatten().find_map(|&name| {
            let length = names.begins(name, rest).filter(|&length| length > 0)?;
            matches!(rest.get(length), None | Some(b';')).then_some((name, length))
        })
    }

    /// Remembers that a frame came after its caller.
    fn follow(&mut self, caller: Option<NameId>, name: NameId) {
        let Some(caller) = caller else { return };
        let at = caller.0 as usize;
        if at >= self.0.len() {
            self.0.resize(at.saturating_add(1), [None; 2]);
        }
        if let Some(last) = self.0.get_mut(at).filter(|last| last[0] != Some(name)) {
            *last = [Some(name), last[0]];
        }
    }
}

impl Reader {
    /// Takes a line; false if it is none of this format.
    fn line(&mut self, line: &[u8], trace: &mut Trace) -> bool {
        if line.starts_with(b"# ") || line.trim_ascii().is_empty() {
            return true;
        }
        let Some((mut frames, after)) = split(line) else { return false };
        let before = split(frames).filter(|_| self.two_counts);
        if let Some((shorter, _)) = before {
            frames = shorter;
        }
        let (after_id, before_id) = self.series(trace);
        self.frames(frames, trace);
        add(after_id, &self.stack, after, trace);
        if let (Some(id), Some((_, weight))) = (before_id, before) {
            add(id, &self.stack, weight, trace);
        }
        true
    }

    /// Reads the frames of a line into `stack`.
    fn frames(&mut self, frames: &[u8], trace: &mut Trace) {
        let same = common(&self.text, frames);
        // A frame is known if it ends, in both lines, in the same place; at the end of a line stands no `;`.
        let known = self.ends.iter().take_while(|&&end| end < same).count();
        self.stack.truncate(known);
        self.ends.truncate(known);
        let mut start = self.ends.last().map_or(0, |end| end.saturating_add(1));
        while let Some(rest) = frames.get(start..).filter(|rest| !rest.is_empty()) {
            let caller = self.stack.last().copied();
            let known = self.callees.known(caller, rest, &trace.names);
            let length = known.map_or_else(|| memchr::memchr(b';', rest).unwrap_or(rest.len()), |(_, length)| length);
            let end = start.saturating_add(length);
            if length > 0 {
                let text = rest.get(..length).unwrap_or(rest);
                let name = known.map_or_else(|| trace.names.text(text), |(name, _)| name);
                self.callees.follow(caller, name);
                self.stack.push(name);
                self.ends.push(end);
            }
            start = end.saturating_add(1);
        }
        self.text.truncate(same);
        self.text.extend_from_slice(frames.get(same..).unwrap_or(&[]));
    }

    fn series(&mut self, trace: &mut Trace) -> (SeriesId, Option<SeriesId>) {
        *self.series.get_or_insert_with(|| {
            let mut series = |name| trace.series(name, Function::Count, Unit::Unknown, &[], true);
            if self.two_counts { (series(Some("after")), Some(series(Some("before")))) } else { (series(None), None) }
        })
    }

    fn tell(&self, trace: &mut Trace) {
        let Some((id, _)) = self.series else { return };
        let decimals = trace.series_of(id).map_or(0, |series| series.decimals());
        if decimals > 0 {
            let factor = 10u64.saturating_pow(decimals);
            trace.notes.info(format!("weights have fractions: all are multiplied by {factor}"));
        }
    }
}

/// How many bytes two texts have in common at their start.
fn common(a: &[u8], b: &[u8]) -> usize {
    let (a_blocks, _) = a.as_chunks::<32>();
    let (b_blocks, _) = b.as_chunks::<32>();
    let same = a_blocks.iter().zip(b_blocks).take_while(|(a, b)| a == b).count() * 32;
    let rest = a.iter().skip(same).zip(b.iter().skip(same)).take_while(|(a, b)| a == b).count();
    same.saturating_add(rest)
}

/// Adds a weight at the series' scale, or makes the scale finer.
fn add(id: SeriesId, stack: &[NameId], weight: Weight, trace: &mut Trace) {
    let Some(series) = trace.series_mut(id) else { return };
    if weight.decimals > series.decimals() {
        series.set_decimals(weight.decimals);
    }
    let factor = 10i128.saturating_pow(series.decimals().saturating_sub(weight.decimals));
    trace.row(id, &[], stack, Value::Number(weight.value.saturating_mul(factor)));
    if weight.rounded {
        trace.notes.info("weights with more than nine decimals, cut there");
    }
}

/// A weight: `value` divided by 10 to the power of `decimals`.
#[derive(Clone, Copy)]
struct Weight {
    value: i128,
    decimals: u32,
    rounded: bool,
}

/// Splits a line into its frames and its weight.
fn split(line: &[u8]) -> Option<(&[u8], Weight)> {
    let line = line.trim_ascii_end();
    let at = memchr::memrchr(b' ', line)?;
    let weight = weight(line.get(at.saturating_add(1)..)?)?;
    Some((line.get(..at)?, weight))
}

fn weight(text: &[u8]) -> Option<Weight> {
    let Some(point) = memchr::memchr(b'.', text) else {
        return Some(Weight { value: number::parse(text)?, decimals: 0, rounded: false });
    };
    let whole = number::parse(text.get(..point)?)?;
    let digits = text.get(point.saturating_add(1)..).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let digits =
        digits.get(..digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last.saturating_add(1)))?;
    let kept = digits.get(..MAX_DECIMALS as usize).unwrap_or(digits);
    let decimals = u32::try_from(kept.len()).ok()?;
    let part = if kept.is_empty() { 0 } else { number::parse(kept)? };
    let part = if text.first() == Some(&b'-') { part.wrapping_neg() } else { part };
    let value = whole.checked_mul(10i128.checked_pow(decimals)?)?.checked_add(part)?;
    Some(Weight { value, decimals, rounded: kept.len() < digits.len() })
}
