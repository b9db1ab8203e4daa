//! pprof: stacks as a gzip'd protocol buffer, for `go tool pprof` and for stores of profiles.
//!
//! Keys become labels, and so do those of `--label`; keys of rows without a stack are frames. Source of the format: profile.proto of
//! github.com/google/pprof. Its few messages are written here: a protocol buffer compiler for five of them would be more to read.

use std::io::Write;

use flate2::{Compression, GzBuilder};
use hashbrown::HashMap;

use super::stacks::Stacks;
use super::{Options, View};
use crate::error::{Error, Result};
use crate::model::Trace;
use crate::units::Unit;

/// Entry in the table of views.
pub(super) const VIEW: View = View {
    name: "pprof",
    extensions: &["pb", "pprof"],
    about: "profile for `go tool pprof` and its kin",
    write,
    stream: None,
};

// Numbers of the fields in profile.proto.
mod profile {
    pub(super) const SAMPLE_TYPE: u64 = 1;
    pub(super) const SAMPLE: u64 = 2;
    pub(super) const MAPPING: u64 = 3;
    pub(super) const LOCATION: u64 = 4;
    pub(super) const FUNCTION: u64 = 5;
    pub(super) const STRING_TABLE: u64 = 6;
    pub(super) const TIME_NANOS: u64 = 9;
    pub(super) const DURATION_NANOS: u64 = 10;
    pub(super) const COMMENT: u64 = 13;
}

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let stacks = Stacks::select(trace, options)?;
    let mut strings = Strings::default();
    let mut message = Message::default();
    let (kind, unit) = value_type(&stacks.unit);
    let mut value = Message::default();
    value.number(1, strings.id(kind));
    value.number(2, strings.id(&unit));
    message.message(profile::SAMPLE_TYPE, &value);
    let mut places = Places::default();
    let mut too_large = false;
    stacks.each_labelled(|labels, frames, weight| {
        let mut sample = Message::default();
        let locations: Vec<u64> = frames.iter().rev().map(|frame| places.id(frame)).collect();
        sample.packed(1, &locations);
        // Two's complement, as int64 is written.
        let weight = i64::try_from(weight).unwrap_or_else(|_| {
            too_large = true;
            if weight < 0 { i64::MIN } else { i64::MAX }
        });
        sample.packed(2, &[weight as u64]);
        let given = options.label.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, text) in labels.iter().copied().chain(given) {
            let mut label = Message::default();
            label.number(1, strings.id(name));
            label.number(2, strings.id(text));
            sample.message(3, &label);
        }
        message.message(profile::SAMPLE, &sample);
    });
    if too_large {
        return Err(Error::Usage("a weight is beyond 64 bits, which pprof cannot hold: try -f json".into()));
    }
    places.write(&mut message, &mut strings);
    let heading = &trace.heading;
    if let Some(start) = heading.start {
        message.number(profile::TIME_NANOS, start as u64);
        if let Some(length) = heading.stop.and_then(|stop| stop.checked_sub(start)).filter(|length| *length > 0) {
            message.number(profile::DURATION_NANOS, length as u64);
        }
    }
    for note in trace.notes.iter() {
        message.number(profile::COMMENT, strings.id(&note.to_string()));
    }
    for text in &strings.texts {
        message.bytes(profile::STRING_TABLE, text.as_bytes());
    }
    // No time in the header: the same input gives the same bytes.
    let mut gzip = GzBuilder::new().mtime(0).write(out, Compression::default());
    gzip.write_all(&message.0)?;
    gzip.finish()?;
    Ok(())
}

fn value_type(unit: &Unit) -> (&'static str, String) {
    match unit {
        Unit::Nanoseconds => ("time", "nanoseconds".into()),
        Unit::Microseconds => ("time", "microseconds".into()),
        Unit::Milliseconds => ("time", "milliseconds".into()),
        Unit::Seconds => ("time", "seconds".into()),
        Unit::Picoseconds => ("time", "picoseconds".into()),
        Unit::Bytes => ("space", "bytes".into()),
        Unit::Count | Unit::Samples => ("samples", "count".into()),
        Unit::Unknown => ("weight", "count".into()),
        unit => ("weight", unit.to_string()),
    }
}

/// Locations, functions and mappings: one location a distinct frame.
#[derive(Default)]
struct Places<'a> {
    frames: Vec<&'a str>,
    index: HashMap<&'a str, u64>,
}

impl<'a> Places<'a> {
    fn id(&mut self, frame: &'a str) -> u64 {
        *self.index.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            self.frames.len() as u64
        })
    }

    fn write(&self, message: &mut Message, strings: &mut Strings) {
        let mut modules: Vec<&str> = Vec::new();
        let mut module_ids: HashMap<&str, u64> = HashMap::new();
        for (number, frame) in (1u64..).zip(&self.frames) {
            let module = frame.rfind('`').and_then(|at| frame.get(..at)).unwrap_or("");
            let module_id = *module_ids.entry(module).or_insert_with(|| {
                modules.push(module);
                modules.len() as u64
            });
            let mut line = Message::default();
            line.number(1, number);
            let mut location = Message::default();
            location.number(1, number);
            location.number(2, module_id);
            location.message(4, &line);
            message.message(profile::LOCATION, &location);
            let mut function = Message::default();
            function.number(1, number);
            function.number(2, strings.id(frame));
            function.number(3, strings.id(frame));
            message.message(profile::FUNCTION, &function);
        }
        for (number, module) in (1u64..).zip(modules) {
            let mut mapping = Message::default();
            mapping.number(1, number);
            mapping.number(5, strings.id(module));
            // has_functions: nothing is left to symbolize.
            mapping.number(7, 1);
            message.message(profile::MAPPING, &mapping);
        }
    }
}

/// The table of strings; the first is empty.
struct Strings {
    texts: Vec<String>,
    index: HashMap<String, u64>,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings { texts: vec![String::new()], index: HashMap::from([(String::new(), 0)]) }
    }
}

impl Strings {
    fn id(&mut self, text: &str) -> u64 {
        if let Some(&id) = self.index.get(text) {
            return id;
        }
        let id = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.index.insert(text.to_owned(), id);
        id
    }
}

/// A protocol buffer message in the making.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value as u8) | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// An integer; 0 is what an absent one means.
    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }

    fn packed(&mut self, field: u64, values: &[u64]) {
        let mut packed = Message::default();
        values.iter().for_each(|&value| packed.varint(value));
        self.message(field, &packed);
    }
}

/// Reads a label as people type it.
pub(super) fn parse_label(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
