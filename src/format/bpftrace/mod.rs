//! bpftrace: the maps that it prints when it ends, as text or with `-f json`.
//!
//! ```text
//! @[                                  a stack, innermost frame first, offsets in decimal
//!         do_command(THD*, bool)+327
//!         handle_one_connection+109
//! , mariadbd]: 12                     further keys after a comma
//!
//! @us[app]:                           a histogram; K, M, G, T are powers of 1024
//! [512, 1K)           12 |@@@@|
//! ```
//!
//! Text does not say where one key ends and the next begins: a map is taken to have as many keys as its poorest row has parts between
//! `, `, and what is over belongs to the last. Nor does it say the function, so plain numbers are added up. The unit is the map's name
//! where that is one (`@us`, `@read_ns`). Maps of texts are left out, and said. What a program prints itself is no map: counted.
//! Sources: bpftrace's output.cpp and map printing; samples of bpftrace 0.27.1.

mod buckets;
mod json;
mod map;
mod text;

use super::lookahead::Lookahead;
use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::Trace;

/// Entry in the table of formats.
pub(super) const FORMAT: Format = Format { name: "bpftrace", about: "maps of bpftrace, text or -f json", fits, read };

fn fits(head: &[u8]) -> Fit {
    let mut lines = head.split(|&b| b == b'\n');
    // A file may begin with what the program printed; maps come when it ends, perhaps behind the part that is looked at.
    if lines.any(|line| text::name(line).is_some() || json::is_line(line) || is_banner(line)) {
        Fit::Sure
    } else {
        Fit::No("no line `@name[key]: value`".into())
    }
}

/// `Attaching 2 probes...`
fn is_banner(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"Attaching ").or_else(|| line.strip_prefix(b"Attached "));
    rest.is_some_and(|rest| {
        rest.first().is_some_and(u8::is_ascii_digit) && memchr::memmem::find(rest, b" probe").is_some()
    })
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let mut maps = map::Maps::default();
    let mut documents = json::Documents::default();
    let mut lines = Lookahead::new(lines);
    while let Some(line) = lines.peek() {
        if text::name(line).is_some() {
            text::entry(&mut lines, &mut maps, trace);
        } else if let Some((number, line)) = lines.next() {
            if json::is_line(&line) {
                documents.line(number, line, trace);
            } else if !(line.trim_ascii().is_empty() || is_banner(&line) || line.starts_with(b"WARNING: ")) {
                trace.loss("line is no map (the program's own output?), skipped", number);
            }
        }
    }
    documents.finish(&mut maps, trace);
    maps.finish(trace);
    Ok(())
}
