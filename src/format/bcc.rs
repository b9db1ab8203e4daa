//! Stacks of bcc and libbpf-tools: offcputime, profile, wakeuptime and their kin, folded (`-f`) or as they print by default.
//!
//! Folded: `comm;outermost;…;innermost 120`; `-` or `--` between user and kernel frames (`-d`) is no frame. By default, innermost first:
//!
//! ```text
//!     finish_task_switch          kernel frames
//!     schedule
//!     --                          the divider, with -d
//!     __nanosleep                 user frames
//!     main
//!     -                mysqld (4242)
//!         1500
//! ```
//!
//! libbpf-tools number frames: `#0  0xffffffff81 name+0x1c`. `[Missed User Stack]` stands for frames that could not be had. The tools do
//! not say the unit in folded output; their warnings do: offcputime loses stacks that "could not be displayed" and counts microseconds.
//! Sources: tools/offcputime.py, tools/profile.py and libbpf-tools/offcputime.c of bcc.

use super::lookahead::Lookahead;
use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Function, NameId, Trace, Value};
use crate::units::Unit;

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "bcc", about: "stacks of bcc's offcputime, profile and wakeuptime, folded or not", fits, read };

fn fits(head: &[u8]) -> Fit {
    let lines: Vec<&[u8]> = head.split(|&b| b == b'\n').collect();
    let marked =
        lines.iter().any(|line| unit_of(line).is_some() || folded(line).is_some_and(|(stack, _)| has_mark(stack)));
    let block = lines.windows(2).any(|pair| match pair {
        [process, value] => comm(process).is_some() && number(value).is_some(),
        _ => false,
    });
    if marked || block {
        Fit::Sure
    } else {
        Fit::No("no divider, no missed stack, and no `-  comm (pid)` over a number".into())
    }
}

/// What the tools print around their stacks, with the unit that it tells.
fn unit_of(line: &[u8]) -> Option<Unit> {
    let has = |word: &str| memchr::memmem::find(line, word.as_bytes()).is_some();
    if line.starts_with(b"WARNING: ") && has("stack traces") {
        // profile says "could not be displayed" only, wakeuptime and offcputime "lost and could not be displayed".
        Some(if has("lost") { Unit::Microseconds } else { Unit::Samples })
    } else if line.starts_with(b"Tracing off-CPU time (us)") || line.starts_with(b"Tracing blocked time (us)") {
        Some(Unit::Microseconds)
    } else if line.starts_with(b"Sampling at ") && has(" Hertz") {
        Some(Unit::Samples)
    } else {
        None
    }
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let unit = lines.head().split(|&b| b == b'\n').find_map(unit_of).unwrap_or_default();
    let function = if unit == Unit::Microseconds { Function::Sum } else { Function::Count };
    if unit == Unit::Unknown {
        trace.notes.info("the unit is not told: offcputime and wakeuptime count microseconds, profile counts samples");
    }
    let series = trace.series(None, function, unit, &[], true);
    let mut lines = Lookahead::new(lines);
    let mut block: Vec<NameId> = Vec::new();
    while let Some((at, line)) = lines.next() {
        if let Some(frame) = block_frame(&line) {
            match comm(&line).filter(|_| lines.peek().and_then(number).is_some()) {
                Some(process) => {
                    let process = trace.names.text(process);
                    let weight = lines.next().and_then(|(_, line)| number(&line)).unwrap_or(0);
                    block.push(process);
                    block.reverse();
                    trace.row(series, &[], &block, Value::Number(weight));
                    block.clear();
                }
                None if is_divider(frame) => {}
                None => block.push(trace.names.frame(bare(frame))),
            }
            continue;
        }
        lost_block(&mut block, at, trace);
        if let Some((stack, weight)) = folded(&line) {
            let mut names: Vec<NameId> = Vec::new();
            for frame in stack.split(|&b| b == b';').filter(|frame| !is_divider(frame)) {
                // The first is the name of the process.
                names.push(if names.is_empty() { trace.names.text(frame) } else { trace.names.frame(frame) });
            }
            trace.row(series, &[], &names, Value::Number(weight));
        } else {
            other(&line, at, trace);
        }
    }
    lost_block(&mut block, 0, trace);
    Ok(())
}

/// Frames without a process and a number behind them.
fn lost_block(block: &mut Vec<NameId>, line: u64, trace: &mut Trace) {
    if !block.is_empty() {
        trace.loss("stack without a process and a number, skipped", line);
        block.clear();
    }
}

/// Lines that are no stack: what a tool says, or damage.
fn other(line: &[u8], at: u64, trace: &mut Trace) {
    let text = String::from_utf8_lossy(line);
    if let Some(count) = text.strip_prefix("WARNING: ").and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok()) {
        trace.losses("stacks that the tool could not show (its own warning)", count);
    } else if !text.trim().is_empty()
        && unit_of(line).is_none()
        && !text.starts_with("Detaching")
        && !text.starts_with("^C")
    {
        trace.loss("line is no stack, skipped", at);
    }
}

/// `stack 120`
fn folded(line: &[u8]) -> Option<(&[u8], i128)> {
    let at = memchr::memrchr(b' ', line).filter(|&at| at > 0 && !line.starts_with(b" "))?;
    Some((line.get(..at)?, number(line.get(at..)?)?))
}

fn number(text: &[u8]) -> Option<i128> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// A line of a block: indented, and no number.
fn block_frame(line: &[u8]) -> Option<&[u8]> {
    let frame = line.trim_ascii();
    (line.starts_with(b" ") && !frame.is_empty() && number(frame).is_none()).then_some(frame)
}

/// `-                mysqld (4242)`
fn comm(line: &[u8]) -> Option<&[u8]> {
    let rest = line.trim_ascii().strip_prefix(b"-")?;
    let name = rest.strip_prefix(b" ")?.trim_ascii_start().strip_suffix(b")")?;
    let at = memchr::memrchr(b'(', name)?;
    let pid = name.get(at + 1..)?;
    let is_pid = !pid.is_empty() && pid.iter().all(u8::is_ascii_digit);
    is_pid.then(|| name.get(..at).unwrap_or(name).trim_ascii_end())
}

fn is_divider(frame: &[u8]) -> bool {
    frame == b"-" || frame == b"--"
}

fn has_mark(stack: &[u8]) -> bool {
    stack
        .split(|&b| b == b';')
        .skip(1)
        .any(|frame| is_divider(frame) || frame == b"[Missed User Stack]" || frame == b"[Missed Kernel Stack]")
}

/// `#0  0xffffffff81 name+0x1c` without number and address.
fn bare(frame: &[u8]) -> &[u8] {
    let Some(rest) = frame.strip_prefix(b"#") else { return frame };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = rest.get(digits..).unwrap_or(rest).trim_ascii_start();
    let Some(at) = memchr::memchr(b' ', rest).filter(|_| rest.starts_with(b"0x")) else { return rest };
    rest.get(at..).unwrap_or(rest).trim_ascii_start()
}
