//! speedscope: stacks as JSON for the viewer of that name (speedscope.app).
//!
//! One sampled profile. Source of the format: its published schema, file-format-schema.json. Times in picoseconds become nanoseconds with
//! decimals, since the format has no smaller unit.

use std::io::Write;

use hashbrown::HashMap;
use serde::Serialize;
use serde_json::Number;

use super::flame::title;
use super::json::Harmless;
use super::stacks::Stacks;
use super::{Options, View};
use crate::error::Result;
use crate::model::Trace;
use crate::units::Unit;

/// Entry in the table of views.
pub(super) const VIEW: View =
    View { name: "speedscope", extensions: &["speedscope"], about: "JSON for speedscope.app", write, stream: None };

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    exporter: &'static str,
    #[serde(rename = "activeProfileIndex")]
    active: u32,
    shared: Shared<'a>,
    profiles: [Profile; 1],
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Profile {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start: u32,
    #[serde(rename = "endValue")]
    end: Number,
    samples: Vec<Vec<usize>>,
    weights: Vec<Number>,
}

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let stacks = Stacks::select(trace, options)?;
    let mut index: HashMap<&str, usize> = HashMap::new();
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let (mut samples, mut weights, mut total) = (Vec::new(), Vec::new(), 0i128);
    stacks.each(|path, weight| {
        // The viewer draws a sample for a time: there is none of 0 or below.
        if weight <= 0 {
            return;
        }
        let numbers = path.iter().map(|&name| {
            *index.entry(name).or_insert_with(|| {
                frames.push(Frame { name });
                frames.len() - 1
            })
        });
        samples.push(numbers.collect());
        weights.push(number(weight, &stacks.unit));
        total = total.saturating_add(weight);
    });
    let name = options.picture.title.clone().unwrap_or_else(|| title(&trace.heading));
    let end = number(total, &stacks.unit);
    let profile =
        Profile { kind: "sampled", name: name.clone(), unit: unit(&stacks.unit), start: 0, end, samples, weights };
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name,
        exporter: concat!("seatrace ", env!("CARGO_PKG_VERSION")),
        active: 0,
        shared: Shared { frames },
        profiles: [profile],
    };
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Harmless);
    file.serialize(&mut serializer).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn unit(unit: &Unit) -> &'static str {
    match unit {
        Unit::Picoseconds | Unit::Nanoseconds => "nanoseconds",
        Unit::Microseconds => "microseconds",
        Unit::Milliseconds => "milliseconds",
        Unit::Seconds => "seconds",
        Unit::Bytes => "bytes",
        _ => "none",
    }
}

/// A weight as a number of any size.
fn number(weight: i128, unit: &Unit) -> Number {
    let text = match unit {
        Unit::Picoseconds if weight % 1000 != 0 => format!("{}.{:03}", weight / 1000, weight % 1000),
        Unit::Picoseconds => (weight / 1000).to_string(),
        _ => weight.to_string(),
    };
    text.parse().unwrap_or_else(|_| Number::from(0))
}
