//! Units: of what a number is a count. Times inside are nanoseconds; other units stay as the input has them.

use std::fmt;
use std::time::Duration;

/// Unit of a series.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Not told.
    #[default]
    Unknown,
    /// Occurrences.
    Count,
    /// Samples of a profiler.
    Samples,
    /// Picoseconds (performance_schema).
    Picoseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Rows of a table.
    Rows,
    /// Any other word of the input.
    Other(String),
}

impl Unit {
    /// The unit that a dump calls so.
    pub fn from_word(word: &str) -> Unit {
        match word {
            "" => Unit::Unknown,
            "count" => Unit::Count,
            "samples" => Unit::Samples,
            "ps" => Unit::Picoseconds,
            "ns" => Unit::Nanoseconds,
            "us" => Unit::Microseconds,
            "ms" => Unit::Milliseconds,
            "s" => Unit::Seconds,
            "bytes" => Unit::Bytes,
            "rows" => Unit::Rows,
            other => Unit::Other(other.to_owned()),
        }
    }

    /// How many picoseconds one is, for times.
    pub fn picoseconds(&self) -> Option<i128> {
        match self {
            Unit::Picoseconds => Some(1),
            Unit::Nanoseconds => Some(1_000),
            Unit::Microseconds => Some(1_000_000),
            Unit::Milliseconds => Some(1_000_000_000),
            Unit::Seconds => Some(1_000_000_000_000),
            _ => None,
        }
    }
}

impl fmt::Display for Unit {
    /// The word that dumps use; nothing if it is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Unknown => "",
            Unit::Count => "count",
            Unit::Samples => "samples",
            Unit::Picoseconds => "ps",
            Unit::Nanoseconds => "ns",
            Unit::Microseconds => "us",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Bytes => "bytes",
            Unit::Rows => "rows",
            Unit::Other(word) => word,
        })
    }
}

/// Reads a duration as people type it: `10ms`, `1.5s`, `2m`, `1h`, `1d`, `300us`, `5` (seconds). Errors say what is accepted.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale: u64 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        other => return Err(format!("unit `{other}` is not known: use ns, us, ms, s, m, h or d, as in 10ms")),
    };
    let value: f64 = number.parse().map_err(|_| format!("`{text}` is no time: write it as 10ms, 1.5s or 2m"))?;
    let nanoseconds = value * scale as f64;
    if !nanoseconds.is_finite() || nanoseconds > 1e18 {
        return Err(format!("`{text}` is too long"));
    }
    Ok(Duration::from_nanos(nanoseconds.round() as u64))
}
