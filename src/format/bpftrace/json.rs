//! `bpftrace -f json`: one object a line, `{"type": "map", "data": {"@name": {"key": 12}}}`.
//!
//! Types: `map` (numbers or texts), `stats` (also of `avg()`), `hist` and `lhist`. Keys are one text, parts between commas; stacks are frames
//! between line feeds. bpftrace 0.27 takes the blanks out of keys, so different keys may look equal: equal names in one object are all
//! read, none replaces another. It also prints the counts of buckets in hex without a mark, which is no JSON where a letter
//! occurs: if one count of a file has a letter, all are hex.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;

use super::map::{Cell, Keys, Maps};
use super::text;
use crate::model::{Distribution, Trace};

/// Whether the line is an object of bpftrace.
pub(super) fn is_line(line: &[u8]) -> bool {
    line.starts_with(b"{\"type\": \"") && memchr::memmem::find(line, b"\"data\": ").is_some()
}

/// Histograms wait until it is known how their counts are written.
#[derive(Default)]
pub(super) struct Documents {
    waiting: Vec<(u64, String)>,
    hex: bool,
}

impl Documents {
    pub(super) fn line(&mut self, number: u64, line: Vec<u8>, trace: &mut Trace) {
        match String::from_utf8_lossy(&line).into_owned() {
            text if text.starts_with("{\"type\": \"printf\"") || text.starts_with("{\"type\": \"time\"") => {
                trace.loss("line is no map (the program's own output?), skipped", number);
            }
            text if text.starts_with("{\"type\": \"attached_probes\"")
                || text.starts_with("{\"type\": \"lost_events\"") => {}
            text => {
                self.hex |=
                    is_histogram(&text) && counts(&text).any(|count| count.bytes().any(|b| matches!(b, b'a'..=b'f')));
                self.waiting.push((number, text));
            }
        }
    }

    pub(super) fn finish(self, maps: &mut Maps, trace: &mut Trace) {
        let histograms = self.waiting.iter().any(|(_, text)| is_histogram(text));
        if histograms && !self.hex {
            trace.notes.info("counts of histograms are read as decimal; bpftrace 0.27 prints them in hex, which these digits do not show");
        }
        for (number, text) in self.waiting {
            let plain = if self.hex && is_histogram(&text) { decimal(&text) } else { text };
            match serde_json::from_str::<Document>(&plain) {
                Ok(document) => document.maps(maps, trace),
                Err(_) => trace.loss("line is no valid JSON, skipped", number),
            }
        }
    }
}

fn is_histogram(text: &str) -> bool {
    text.starts_with("{\"type\": \"hist\"") || text.starts_with("{\"type\": \"lhist\"")
}

const COUNT: &str = "\"count\": ";

fn counts(text: &str) -> impl Iterator<Item = &str> {
    text.split(COUNT).skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or(""))
}

/// The same text with counts in decimal.
fn decimal(text: &str) -> String {
    let mut parts = text.split(COUNT);
    let mut plain = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let length = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (digits, rest) = part.split_at(length);
        plain.push_str(COUNT);
        match u64::from_str_radix(digits, 16) {
            Ok(count) => plain.push_str(&count.to_string()),
            Err(_) => plain.push_str(digits),
        }
        plain.push_str(rest);
    }
    plain
}

#[derive(serde::Deserialize)]
struct Document {
    r#type: String,
    data: Pairs<Node>,
}

/// What a map or a key holds.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Node {
    Number(i64),
    Large(u64),
    Buckets(Vec<Bucket>),
    Keyed(Pairs<Node>),
    /// A text, or what no version of bpftrace prints.
    Other(#[expect(dead_code)] Json),
}

#[derive(serde::Deserialize)]
struct Bucket {
    min: Option<i64>,
    max: Option<i64>,
    count: u64,
}

impl Document {
    fn maps(self, maps: &mut Maps, trace: &mut Trace) {
        let averages = self.r#type == "stats";
        for (name, node) in self.data.0 {
            let name = name.strip_prefix('@').unwrap_or(&name);
            match node {
                Node::Keyed(pairs) if stats(&pairs).is_none() => {
                    for (key, node) in pairs.0 {
                        match cell(node, averages) {
                            // Blanks are gone from keys, so equal ones may be different rows: never a new print of the map.
                            Some(cell) => maps.add(name, ",", &unique(&key, maps), (keys(&key), cell), trace),
                            None => trace.notes.info(format!("map @{name} holds texts, no numbers: left out")),
                        }
                    }
                }
                node => match cell(node, averages) {
                    Some(cell) => maps.add(name, ",", b"", (Keys::default(), cell), trace),
                    None => trace.notes.info(format!("map @{name} holds texts, no numbers: left out")),
                },
            }
            maps.finish(trace);
        }
    }
}

/// A text that no other row has.
fn unique(key: &str, maps: &Maps) -> Vec<u8> {
    format!("{}\0{key}", maps.len()).into_bytes()
}

fn cell(node: Node, averages: bool) -> Option<Cell> {
    match node {
        Node::Number(number) if averages => Some(Cell::Average(number.into())),
        Node::Number(number) => Some(Cell::Number(number.into())),
        Node::Large(number) => Some(Cell::Number(number.into())),
        Node::Keyed(pairs) => stats(&pairs),
        Node::Buckets(buckets) => {
            let mut spread = Distribution::new();
            for bucket in buckets {
                let low = bucket.min.map_or(i128::MIN, i128::from);
                // Both bounds are inside.
                let high =
                    bucket.max.filter(|&max| i128::from(max) >= low).map_or(i128::MAX, |max| i128::from(max) + 1);
                spread.add(low, high, bucket.count.into());
            }
            Some(Cell::Spread(spread))
        }
        Node::Other(_) => None,
    }
}

/// `{"count": 3, "average": 4, "total": 12}`
fn stats(pairs: &Pairs<Node>) -> Option<Cell> {
    let number = |name: &str| {
        pairs.0.iter().find(|(key, _)| key == name).and_then(|(_, node)| match node {
            Node::Number(number) => Some(i128::from(*number)),
            Node::Large(number) => Some(i128::from(*number)),
            _ => None,
        })
    };
    number("average")?;
    Some(Cell::Stats { count: number("count")?, total: number("total")? })
}

fn keys(key: &str) -> Keys {
    text::keys(key.as_bytes())
}

/// The members of an object, equal names included.
struct Pairs<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Pairs<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Members(std::marker::PhantomData))
    }
}
