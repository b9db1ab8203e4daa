//! A heat map: how many statements took how long, over time. An SVG without script; a cell tells itself when the pointer rests on it.
//!
//! Colours run from yellow over grey to dark blue, which everybody can tell apart, also in grey print, by the logarithm of the count.

use std::fmt::Write as _;
use std::io::Write;

use super::digest::{Fold, fold};
use super::draw::xml_escape;
use super::text::{self, Clock};
use super::{Options, View};
use crate::error::{Error, Result};
use crate::model::{FieldType, FieldValue, Heat, Trace, Workload};

/// Entry in the table of views.
pub(super) const VIEW: View = View {
    name: "heatmap",
    extensions: &[],
    about: "latency over time (SVG), of queries or of other records with a duration",
    write: |trace, options, out| fold(trace, options, out, render),
    stream: Some(|options, out| Fold::stream(options, out, render)),
};

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 64.0;
const ROW: f64 = 13.0;
const BOTTOM: f64 = 92.0;
/// Lines of notes below the picture.
const NOTES: usize = 4;

/// From few to many.
const SCALE: [[u8; 3]; 8] = [
    [255, 234, 70],
    [208, 197, 90],
    [170, 167, 111],
    [135, 139, 120],
    [102, 112, 113],
    [72, 87, 108],
    [31, 60, 109],
    [0, 32, 77],
];

fn render(workload: &Workload, said: &[String], trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let (heat, what) = heat_of(workload, trace);
    let title = options.picture.title.clone().unwrap_or_else(|| format!("Latency of {what} over time"));
    let mut notes: Vec<String> = trace.notes.iter().map(ToString::to_string).chain(said.iter().cloned()).collect();
    if what == "statements" && !with_duration(trace).is_empty() {
        notes.push(format!("not shown: records of {}", with_duration(trace).join(", ")));
    }
    let zone = if options.utc { 0 } else { trace.heading.zone.unwrap_or(0) };
    let map = Map { heat: &heat, title: &title, what: &what, notes: &notes, zone };
    let Some(svg) = map.svg(true) else {
        return Err(Error::Usage("a heat map needs records with a time and a duration: this input has none".into()));
    };
    out.write_all(svg.as_bytes())?;
    Ok(())
}

/// The heat of the statements; without any, that of other records.
pub(super) fn heat_of(workload: &Workload, trace: &Trace) -> (Heat, String) {
    if workload.heat.columns().is_some() {
        return (workload.heat.clone(), "statements".into());
    }
    let mut heat = Heat::default();
    for table in &trace.events {
        let at = |kind: FieldType| table.schema.fields.iter().position(|field| field.kind == kind);
        let (Some(wall), Some(duration)) = (at(FieldType::Wall), at(FieldType::Duration)) else { continue };
        for row in &table.rows {
            if let (Some(FieldValue::Int(end)), Some(FieldValue::Int(took))) = (row.get(wall), row.get(duration)) {
                heat.add(i64::try_from(*end).ok(), u64::try_from(*took).unwrap_or(0));
            }
        }
    }
    (heat, format!("records of {}", with_duration(trace).join(", ")))
}

/// Kinds of records that have a time and a duration.
fn with_duration(trace: &Trace) -> Vec<String> {
    let has = |table: &&crate::model::EventTable, kind| table.schema.fields.iter().any(|field| field.kind == kind);
    let tables = trace.events.iter().filter(|table| has(table, FieldType::Wall) && has(table, FieldType::Duration));
    tables.map(|table| table.schema.kind.clone()).collect()
}

/// A picture to draw.
pub(super) struct Map<'a> {
    pub(super) heat: &'a Heat,
    pub(super) title: &'a str,
    /// What is counted.
    pub(super) what: &'a str,
    pub(super) notes: &'a [String],
    /// Zone of the times, in seconds east of UTC.
    pub(super) zone: i32,
}

/// Where cells are drawn.
struct Frame {
    first: i64,
    columns: i64,
    lowest: u8,
    highest: u8,
    cell: f64,
    bottom: f64,
}

impl Map<'_> {
    /// The picture; with a ground of its own unless it stands inside a page. `None` without cells.
    pub(super) fn svg(&self, alone: bool) -> Option<String> {
        let (first, last) = self.heat.columns()?;
        let lowest = self.heat.cells().map(|cell| cell.1).min()?;
        let highest = self.heat.cells().map(|cell| cell.1).max()?;
        let columns = last.saturating_sub(first).saturating_add(1);
        let bottom = TOP + ROW * f64::from(highest - lowest + 1);
        let cell = ((WIDTH - LEFT - RIGHT) / columns as f64).min(40.0);
        let frame = Frame { first, columns, lowest, highest, cell, bottom };
        let notes = self.notes.len().min(NOTES);
        let height = bottom + BOTTOM + 15.0 * notes as f64;
        let mut svg = String::new();
        let ground = if alone { " style=\"color:#222;background:#fff\"" } else { "" };
        _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             role=\"img\" aria-label=\"{}\" font-family=\"sans-serif\" font-size=\"12\"{ground}>",
            xml_escape(self.title)
        );
        if alone {
            _ = writeln!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
        }
        self.words(&mut svg, &frame);
        self.cells(&mut svg, &frame);
        svg.push_str("</svg>\n");
        Some(svg)
    }

    fn words(&self, svg: &mut String, frame: &Frame) {
        let total: u64 = self.heat.cells().map(|cell| cell.2).sum();
        let mut clock = Clock::new(self.zone);
        let width = duration(self.heat.width().unsigned_abs());
        let about =
            format!("{} {}, {width} a column, times in {}", text::thousands(total.into()), self.what, clock.zone());
        let about = match self.heat.outside() {
            0 => about,
            outside => format!("{about}; {} more at quite other times", text::thousands(outside.into())),
        };
        line(svg, LEFT, 24.0, "font-size=\"17\"", self.title);
        line(svg, LEFT, 44.0, "", &about);
        for row in frame.lowest..=frame.highest {
            if row % 6 == 0 || row == frame.lowest {
                let y = frame.y(row) + ROW;
                line(svg, LEFT - 8.0, y, "text-anchor=\"end\"", &duration(Heat::lower(row)));
            }
        }
        let step = (frame.columns / 8).max(1).max((90.0 / frame.cell) as i64);
        let mut column = frame.first;
        while column < frame.first.saturating_add(frame.columns) {
            let label = self.stamp(&mut clock, column);
            line(svg, frame.x(column), frame.bottom + 18.0, "", &label);
            column = column.saturating_add(step);
        }
        self.legend(svg, frame);
        for (at, note) in self.notes.iter().take(NOTES).enumerate() {
            let note = if at + 1 == NOTES && self.notes.len() > NOTES { "and further notes" } else { note };
            let mut note = text::line(note).into_owned();
            text::cut(&mut note, 0, 170);
            line(svg, LEFT, frame.bottom + 84.0 + 15.0 * at as f64, "", &note);
        }
    }

    fn legend(&self, svg: &mut String, frame: &Frame) {
        let most = self.most();
        let y = frame.bottom + 40.0;
        for (at, color) in SCALE.iter().enumerate() {
            let x = LEFT + 30.0 * at as f64;
            _ = writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"30\" height=\"12\" fill=\"{}\"/>", hex(*color));
        }
        line(svg, LEFT, y + 26.0, "", "1");
        let right = LEFT + 30.0 * SCALE.len() as f64;
        line(svg, right, y + 26.0, "text-anchor=\"end\"", &text::thousands(most.into()));
        line(svg, right + 10.0, y + 11.0, "", "in a cell");
    }

    fn most(&self) -> u64 {
        self.heat.cells().map(|cell| cell.2).max().unwrap_or(1)
    }

    fn cells(&self, svg: &mut String, frame: &Frame) {
        let most = (self.most() as f64).ln().max(f64::MIN_POSITIVE);
        let mut clock = Clock::new(self.zone);
        svg.push_str("<g shape-rendering=\"crispEdges\">\n");
        let (width, height) = (frame.cell * frame.columns as f64, frame.bottom - TOP);
        _ = writeln!(svg, "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height}\" fill=\"#fff\"/>");
        for (column, row, count) in self.heat.cells() {
            let share = (count as f64).ln() / most;
            let color = hex(shade(if self.most() == 1 { 0.0 } else { share }));
            let from = self.stamp(&mut clock, column);
            let range = format!("{} to {}", duration(Heat::lower(row)), duration(Heat::lower(row + 1)));
            _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{ROW}\" fill=\"{color}\"><title>{from}, {range}: {}</title></rect>",
                frame.x(column),
                frame.y(row),
                frame.cell,
                text::thousands(count.into())
            );
        }
        svg.push_str("</g>\n");
    }

    /// When a column begins: as fine as columns are wide.
    fn stamp(&self, clock: &mut Clock, column: i64) -> String {
        const DAY: i64 = 86_400_000_000_000;
        let width = self.heat.width();
        let (date, time, nanosecond) = clock.read(column.saturating_mul(width));
        if width >= DAY {
            date.to_owned()
        } else if width < 1_000_000_000 {
            format!("{time}.{:03}", nanosecond / 1_000_000)
        } else {
            time.to_owned()
        }
    }
}

impl Frame {
    fn x(&self, column: i64) -> f64 {
        LEFT + self.cell * column.saturating_sub(self.first) as f64
    }

    fn y(&self, row: u8) -> f64 {
        TOP + ROW * f64::from(self.highest.saturating_sub(row))
    }
}

fn line(svg: &mut String, x: f64, y: f64, more: &str, words: &str) {
    _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"currentColor\" {more}>{}</text>", xml_escape(words));
}

/// A colour between those of the scale.
fn shade(share: f64) -> [u8; 3] {
    let at = share.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let low = at.floor();
    let color = |index: f64| SCALE.get(index as usize).copied().unwrap_or([0, 32, 77]);
    let (from, to) = (color(low), color(low + 1.0));
    let mut mixed = [0u8; 3];
    for (mixed, (from, to)) in mixed.iter_mut().zip(from.into_iter().zip(to)) {
        *mixed = (f64::from(from) + (f64::from(to) - f64::from(from)) * (at - low)).round() as u8;
    }
    mixed
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A round duration in its largest unit: `1.5 ms`, `10 s`, `7 d`.
pub(super) fn duration(nanoseconds: u64) -> String {
    const UNITS: [(u64, &str); 7] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    let fits =
        |unit: &&(u64, &str)| nanoseconds >= unit.0 && (unit.0 < 60_000_000_000 || nanoseconds.is_multiple_of(unit.0));
    let (size, word) = UNITS.iter().find(fits).copied().unwrap_or((1, "ns"));
    let tenths = nanoseconds / (size / 10).max(1);
    if size == 1 || tenths.is_multiple_of(10) {
        format!("{} {word}", nanoseconds / size)
    } else {
        format!("{}.{} {word}", tenths / 10, tenths % 10)
    }
}
