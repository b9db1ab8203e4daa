//! Stacks: the rows of a trace as paths of frames with a weight, for every view that shows call trees.
//!
//! Keys stand before the frames, as outermost frames. One picture has one unit: aggregations of another unit, and those whose values
//! cannot be added, are left out and named with their total.

use std::borrow::Cow;
use std::collections::HashMap;

use super::labels::Labels;
use super::{Options, Weight, text};
use crate::error::{Error, Result};
use crate::model::{Function, KeyKind, NO_STACK, NameId, Names, Row, Series, Trace};
use crate::units::Unit;

/// What a key without text is called.
const EMPTY: &str = "[empty]";

/// The series of a trace that one picture shows.
pub(super) struct Stacks<'a> {
    /// Unit of the weights.
    pub(super) unit: Unit,
    /// Texts of the frames, and their details.
    pub(super) names: &'a Names,
    series: Vec<&'a Series>,
    by_time: bool,
    fold_recursion: bool,
    /// Weights are multiplied by the first and divided by the second.
    scale: (i128, i128),
    /// Thread and process numbers, which differ in every run, are taken off the keys.
    without_numbers: bool,
    /// What stands for the texts of statements.
    statements: Option<&'a Fingerprints>,
}

/// Fingerprints of statements' texts.
pub(super) type Fingerprints = HashMap<NameId, String>;

impl<'a> Stacks<'a> {
    /// Selects what can be drawn together.
    pub(super) fn select(trace: &'a Trace, options: &Options) -> Result<Stacks<'a>> {
        let by_time = options.weight == Weight::Time;
        let Some(first) = best(trace) else {
            return Err(Error::Usage("there are no stacks in it to show: try -f log or -f json".into()));
        };
        let unit = weight_unit(first, by_time);
        let series = trace.series.iter().filter(|series| fits(series, first, &unit, by_time)).collect();
        Ok(Stacks {
            unit,
            names: &trace.names,
            series,
            by_time,
            fold_recursion: options.fold_recursion,
            scale: (1, 1),
            without_numbers: false,
            statements: None,
        })
    }

    /// The stacks of one series, with fingerprints in place of the texts that have one.
    pub(super) fn of_series(
        trace: &'a Trace,
        series: &'a Series,
        statements: &'a Fingerprints,
        options: &Options,
    ) -> Stacks<'a> {
        let by_time = options.weight == Weight::Time;
        Stacks {
            unit: weight_unit(series, by_time),
            names: &trace.names,
            series: vec![series],
            by_time,
            fold_recursion: options.fold_recursion,
            scale: (1, 1),
            without_numbers: false,
            statements: Some(statements),
        }
    }

    /// The stacks of a trace to compare: keys without the numbers of threads. An empty trace, of the same unit as `other`, has none.
    pub(super) fn to_compare(trace: &'a Trace, options: &Options, other: &Trace) -> Result<Stacks<'a>> {
        let mut stacks = match best(trace) {
            Some(_) => Stacks::select(trace, options)?,
            None => {
                let unit = Stacks::select(other, options)?.unit;
                let (names, fold_recursion) = (&trace.names, options.fold_recursion);
                Stacks {
                    unit,
                    names,
                    series: Vec::new(),
                    by_time: false,
                    fold_recursion,
                    scale: (1, 1),
                    without_numbers: true,
                    statements: None,
                }
            }
        };
        stacks.without_numbers = true;
        Ok(stacks)
    }

    /// Scales the weights so that their sum becomes `total`.
    pub(super) fn normalize(&mut self, total: i128) {
        let sum = self.total();
        if sum > 0 && total > 0 {
            self.scale = (total, sum);
        }
    }

    /// Calls `visit` with every path and its weight, in the order of the input.
    pub(super) fn each(&self, mut visit: impl FnMut(&[&'a str], i128)) {
        let mut frames: Vec<&'a str> = Vec::new();
        for series in &self.series {
            for row in series.rows() {
                frames.clear();
                self.path(series, &row, &mut frames, None);
                visit(&frames, self.weight(&row));
            }
        }
    }

    /// Like [`Stacks::each`], with the frames by number.
    pub(super) fn each_numbered(&self, labels: &mut Labels<'a>, mut visit: impl FnMut(&[u32], i128)) {
        const UNSEEN: u32 = u32::MAX;
        let mut of_names: Vec<u32> = vec![UNSEEN; self.names.len()];
        let (mut keys, mut frames) = (Vec::new(), Vec::new());
        for series in &self.series {
            for row in series.rows() {
                keys.clear();
                frames.clear();
                self.key_frames(series, &row, &mut keys, None);
                if keys.is_empty() && row.stack.is_empty() {
                    keys.push(NO_STACK);
                }
                frames.extend(keys.iter().map(|text| labels.number(text)));
                for &id in row.stack {
                    let Some(number) = of_names.get_mut(id.0 as usize) else { continue };
                    if *number == UNSEEN {
                        *number = labels.number(self.names.get(id));
                    }
                    frames.push(*number);
                }
                if self.fold_recursion {
                    frames.dedup();
                }
                visit(&frames, self.weight(&row));
            }
        }
    }

    /// Like [`Stacks::each`], with the keys of rows with a stack as labels, name and text, in place of frames.
    pub(super) fn each_labelled(&self, mut visit: impl FnMut(&[(&'a str, &'a str)], &[&'a str], i128)) {
        let (mut labels, mut frames) = (Vec::new(), Vec::new());
        for series in &self.series {
            for row in series.rows() {
                labels.clear();
                frames.clear();
                self.path(series, &row, &mut frames, Some(&mut labels));
                visit(&labels, &frames, self.weight(&row));
            }
        }
    }

    /// Sum of all weights.
    pub(super) fn total(&self) -> i128 {
        let rows = self.series.iter().flat_map(|series| series.rows());
        rows.fold(0, |sum: i128, row| sum.saturating_add(self.weight(&row)))
    }

    /// What an amount is called: the unit's word, `weight` if it is not known.
    pub(super) fn count_name(&self) -> String {
        match &self.unit {
            Unit::Unknown => "weight".into(),
            unit => unit.to_string(),
        }
    }

    fn weight(&self, row: &Row<'_>) -> i128 {
        let weight = match row.distribution {
            Some(distribution) if self.by_time => distribution.estimated_sum(),
            _ => row.value,
        };
        match self.scale {
            (1, 1) => weight,
            (up, down) => match weight.checked_mul(up).and_then(|product| product.checked_add(down / 2)) {
                Some(product) => product.div_euclid(down),
                None => (weight as f64 / down as f64 * up as f64).round() as i128,
            },
        }
    }

    /// The frames of a row: keys and stack. With `labels`, keys of a stack go there.
    fn path(
        &self,
        series: &'a Series,
        row: &Row<'a>,
        frames: &mut Vec<&'a str>,
        labels: Option<&mut Vec<(&'a str, &'a str)>>,
    ) {
        self.key_frames(series, row, frames, labels);
        frames.extend(row.stack.iter().map(|&id| self.names.get(id)));
        if frames.is_empty() {
            frames.push(NO_STACK);
        }
        if self.fold_recursion {
            frames.dedup();
        }
    }

    /// The frames of a row's keys, and of a stack that is empty.
    fn key_frames(
        &self,
        series: &'a Series,
        row: &Row<'a>,
        frames: &mut Vec<&'a str>,
        mut labels: Option<&mut Vec<(&'a str, &'a str)>>,
    ) {
        for (key, &id) in series.keys.iter().zip(row.keys) {
            let statement = self.statements.and_then(|statements| statements.get(&id));
            let text = statement.map_or_else(|| self.names.get(id), String::as_str);
            let text = if self.without_numbers && series.has_stack { without_number(text) } else { text };
            match (key.kind, &mut labels) {
                (KeyKind::Int, _) if self.without_numbers && series.has_stack => {}
                (KeyKind::Path, _) => {
                    frames.extend(text.split(';').map(|frame| if frame.is_empty() { EMPTY } else { frame }));
                }
                (_, Some(labels)) if series.has_stack => labels.push((key.name.as_deref().unwrap_or("key"), text)),
                _ => frames.push(if text.is_empty() { EMPTY } else { text }),
            }
        }
        if series.has_stack && row.stack.is_empty() {
            frames.push(NO_STACK);
        }
    }
}

/// `worker-12` is `worker`: the next run has another number there.
fn without_number(text: &str) -> &str {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = name.trim_end_matches(['-', '_', '/', ':', '#', ' ', '.']);
    if name.is_empty() { text } else { name }
}

/// Says, in the notes of the trace, what pictures of it leave out.
pub(super) fn note_left_out(trace: &mut Trace, options: &Options) {
    let by_time = options.weight == Weight::Time;
    let Some(first) = best(trace) else { return };
    let unit = weight_unit(first, by_time);
    let mut sentences: Vec<String> = Vec::new();
    for series in trace.series.iter().filter(|series| !series.is_empty()) {
        if !fits(series, first, &unit, by_time) {
            let name = series.name.as_deref().map_or(String::new(), |name| format!(" `{name}`"));
            let unit = weight_unit(series, by_time);
            let told = if series.is_additive() {
                format!("total {}", text::amount(series.total(), &unit))
            } else {
                format!("{} values that cannot be added", series.len())
            };
            sentences.push(format!("left out: aggregation{name} of another kind or unit, {told}"));
        }
    }
    if by_time && first.is_distribution() {
        sentences.push("weights are estimates: the middle of each bucket times its count".into());
    }
    sentences.into_iter().for_each(|sentence| trace.notes.info(sentence));
}

/// How well a series suits a picture; the larger the better.
fn rank(series: &Series) -> (bool, bool, bool) {
    let has_path = series.keys.iter().any(|key| key.kind == KeyKind::Path);
    (series.has_stack || has_path, series.is_additive(), !series.is_distribution())
}

/// The first of the series that suit a picture best.
fn best(trace: &Trace) -> Option<&Series> {
    let mut filled = trace.series.iter().filter(|series| !series.is_empty());
    let first = filled.next()?;
    Some(filled.fold(first, |best, series| if rank(series) > rank(best) { series } else { best }))
}

fn fits(series: &Series, first: &Series, unit: &Unit, by_time: bool) -> bool {
    let (drawn, additive, _) = rank(series);
    let (first_drawn, first_additive, _) = rank(first);
    !series.is_empty()
        && drawn == first_drawn
        && additive == first_additive
        && (additive || std::ptr::eq(series, first))
        && weight_unit(series, by_time) == *unit
}

fn weight_unit(series: &Series, by_time: bool) -> Unit {
    match series.function {
        Function::Quantize | Function::Lquantize | Function::Llquantize if !by_time => Unit::Count,
        _ => series.unit.clone(),
    }
}

/// The frame as folded lines may hold it, so that flamegraph.pl and inferno read it back as one frame: no `;`, no control
/// character, no blank before a number at its end (which would be a second count), no `# ` in front (a comment).
pub(super) fn safe_frame(frame: &str) -> Cow<'_, str> {
    let ends_in_number = frame.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    let edges = frame.starts_with([' ', '#']) || frame.ends_with(' ') || frame.is_empty();
    if !ends_in_number && !edges && frame.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b';') {
        return Cow::Borrowed(frame);
    }
    let mut safe = text::line(frame).trim().replace(';', ":");
    if safe.is_empty() {
        return Cow::Borrowed(EMPTY);
    }
    if let Some((head, last)) = safe.rsplit_once(' ')
        && last.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        safe = format!("{head}\u{a0}{last}");
    }
    // Alone it would come before the blank of the weight.
    if safe == "#" {
        safe = "[#]".to_owned();
    } else if let Some(rest) = safe.strip_prefix("# ") {
        safe = format!("#\u{a0}{rest}");
    }
    Cow::Owned(safe)
}
