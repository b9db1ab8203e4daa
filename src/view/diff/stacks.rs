//! The difference of stacks, and of rows by key, which are stacks of one frame.

use std::io::Write;

use serde::Serialize;

use super::{Comparison, Side};
use crate::error::{Error, Result};
use crate::units::Unit;
use crate::view::draw::{Drawing, inner_width};
use crate::view::flame::{Layout, title};
use crate::view::functions::functions;
use crate::view::json::write_line;
use crate::view::palette::of_change;
use crate::view::stacks::{Stacks, safe_frame};
use crate::view::text;
use crate::view::tree::{Node, Tree};

/// Rows of the table, if nobody asks for more.
const ROWS: usize = 40;

pub(super) fn write(comparison: &Comparison<'_>, form: &str, out: &mut dyn Write) -> Result<()> {
    let (before, after) = (comparison.before, comparison.after);
    let mut sides = [
        Stacks::to_compare(before, comparison.options, after)?,
        Stacks::to_compare(after, comparison.options, before)?,
    ];
    let [first, second] = &mut sides;
    if first.unit != second.unit {
        let told = format!("BEFORE is in {}, AFTER in {}", first.count_name(), second.count_name());
        return Err(Error::Usage(format!("{told}: they cannot be compared")));
    }
    let raw = [first.total(), second.total()];
    if comparison.compare.normalize {
        first.normalize(second.total());
    }
    let tree = Tree::of([&*first, &*second], comparison.options.picture.reverse);
    let difference = Difference { comparison, unit: first.unit.clone(), tree, raw };
    match form {
        "flame" => difference.draw(comparison.options.picture.inverted, out),
        "icicle" => difference.draw(true, out),
        "json" => difference.write_json(out),
        "folded" => difference.write_folded(out),
        _ => difference.write_table([first, second], out),
    }
}

struct Difference<'a> {
    comparison: &'a Comparison<'a>,
    unit: Unit,
    tree: Tree<'a, 2>,
    /// Totals before they were scaled.
    raw: [i128; 2],
}

impl Difference<'_> {
    fn amount(&self, value: i128) -> String {
        text::amount(value, &self.unit)
    }

    /// `+1.200 ms`, `0`, `-3.400 ms`.
    fn change(&self, [before, after]: [i128; 2]) -> String {
        let change = after.saturating_sub(before);
        if change > 0 { format!("+{}", self.amount(change)) } else { self.amount(change) }
    }

    fn draw(&self, inverted: bool, out: &mut dyn Write) -> Result<()> {
        let (compare, picture) = (self.comparison.compare, &self.comparison.options.picture);
        let widths = self.widths();
        let whole = widths.first().copied().unwrap_or(0);
        if whole <= 0 {
            return Err(Error::Usage("the side to show has no weight: try --show both".into()));
        }
        let pair = |node: &Node<'_, 2>| if compare.by_self { node.own } else { node.total };
        let largest = self.tree.nodes().skip(1).map(|node| change(pair(&node)).unsigned_abs()).max().unwrap_or(0);
        let largest = largest.max(1) as f64;
        let narrowest =
            (picture.minwidth.unwrap_or(0.1).max(0.0) * whole as f64 / inner_width(picture)).min(whole as f64);
        let width = |at: usize| widths.get(at).copied().unwrap_or(0);
        let layout = Layout { tree: &self.tree, narrowest, width: &width };
        let look = |node: &Node<'_, 2>| (self.tooltip(node), of_change(change(pair(node)) as f64 / largest));
        let (shapes, hidden) =
            layout.shapes(&look, &|width| format!("{}% of the picture", text::percent(width, whole)));
        let mut facts = Vec::new();
        facts.extend(picture.subtitle.clone());
        let [before, after] = self.tree.whole();
        facts.push(format!("{} -> {} ({})", self.amount(before), self.amount(after), self.percent([before, after])));
        facts.push(self.shape_said());
        facts.extend(self.normalized());
        facts.extend((hidden.frames > 0).then(|| hidden.said(whole)));
        let traces = [self.comparison.before, self.comparison.after];
        facts.extend(traces.iter().flat_map(|trace| trace.notes.iter()).map(|note| note.to_string()));
        let names = || format!("{} -> {}", title(&traces[0].heading), title(&traces[1].heading));
        let title = picture.title.clone().unwrap_or_else(names);
        Drawing { title, facts, inverted, picture, shapes }.write(out)
    }

    /// Widths of all frames, by the side that is shown.
    fn widths(&self) -> Vec<i128> {
        let totals = self.tree.totals().iter();
        match self.comparison.compare.show {
            Side::Before => totals.map(|total| total[0]).collect(),
            Side::After => totals.map(|total| total[1]).collect(),
            Side::Both => {
                let mut widths: Vec<i128> = self.tree.nodes().map(|node| node.own[0].max(node.own[1])).collect();
                for at in (1..widths.len()).rev() {
                    let width = widths.get(at).copied().unwrap_or(0);
                    if let Some(parent) = widths.get_mut(self.tree.parent(at)) {
                        *parent = parent.saturating_add(width);
                    }
                }
                widths
            }
        }
    }

    /// What the widths are, and what has no place in them.
    fn shape_said(&self) -> String {
        let missing = |side: usize, other: usize| -> i128 {
            let vanished = |node: &Node<'_, 2>| {
                let parent = self.tree.node(node.parent);
                node.total.get(other) == Some(&0) && parent.total.get(other) != Some(&0)
            };
            let nodes = self.tree.nodes().skip(1).filter(vanished);
            nodes
                .filter_map(|node| node.total.get(side).copied())
                .fold(0, |sum: i128, weight| sum.saturating_add(weight))
        };
        let no_place = |weight: i128, whose: &str| match weight {
            0 => String::new(),
            weight => format!("; {} of {whose} have no place in it", self.amount(weight)),
        };
        match self.comparison.compare.show {
            Side::Before => format!("widths of BEFORE{}", no_place(missing(1, 0), "AFTER")),
            Side::After => format!("widths of AFTER{}", no_place(missing(0, 1), "BEFORE")),
            Side::Both => "red grew, blue shrank; width: the larger of both".into(),
        }
    }

    fn normalized(&self) -> Option<String> {
        let scaled = self.comparison.compare.normalize && self.raw[0] > 0 && self.raw[1] > 0;
        scaled.then(|| format!("normalized: BEFORE, {}, is scaled to the total of AFTER", self.amount(self.raw[0])))
    }

    fn tooltip(&self, node: &Node<'_, 2>) -> String {
        let told = |pair: [i128; 2]| {
            let [before, after] = pair;
            if before == after {
                return format!("{}, unchanged", self.amount(after));
            }
            format!("{} -> {}, {}, {}", self.amount(before), self.amount(after), self.change(pair), self.percent(pair))
        };
        let own = if node.own == [0; 2] { "0".into() } else { told(node.own) };
        format!("{}; self {own}", told(node.total))
    }

    /// `+200%`, `gone`, `new`.
    fn percent(&self, [before, after]: [i128; 2]) -> String {
        match (before, after) {
            (before, after) if before == after => "0%".into(),
            (0, _) => "new".into(),
            (_, 0) => "gone".into(),
            (before, after) => {
                let percent = change([before, after]) as f64 / before as f64 * 100.0;
                format!("{percent:+.1}%").replace(".0%", "%")
            }
        }
    }

    /// Functions, wherever they are called, that changed most.
    fn write_table(&self, sides: [&Stacks<'_>; 2], out: &mut dyn Write) -> Result<()> {
        let mut functions = functions(&sides);
        functions.retain(|function| function.own[0] != function.own[1] || function.total[0] != function.total[1]);
        functions.sort_by(|a, b| {
            let size = |pair: [i128; 2]| change(pair).unsigned_abs();
            size(b.own).cmp(&size(a.own)).then(size(b.total).cmp(&size(a.total))).then(a.name.cmp(b.name))
        });
        let totals = self.tree.whole();
        let told = format!("{} -> {}", self.amount(totals[0]), self.amount(totals[1]));
        if functions.is_empty() {
            writeln!(out, "# no difference: {told}")?;
            return self.comparison.write_all_notes(out);
        }
        writeln!(out, "# total {told}, {} ({})", self.change(totals), self.percent(totals))?;
        if let Some(line) = self.normalized() {
            writeln!(out, "# {line}")?;
        }
        let limit = match self.comparison.options.digest.top.unwrap_or(ROWS) {
            0 => usize::MAX,
            limit => limit,
        };
        let heads =
            ["SELF CHANGE", "SELF BEFORE", "SELF AFTER", "TOTAL CHANGE", "", "FRAME"].map(String::from).to_vec();
        let rows = functions.iter().take(limit).map(|function| {
            vec![
                self.change(function.own),
                self.amount(function.own[0]),
                self.amount(function.own[1]),
                self.change(function.total),
                self.percent(function.total),
                text::line(function.name).into_owned(),
            ]
        });
        let columns = self.comparison.options.columns.filter(|_| !self.comparison.options.wide);
        text::write_columns(out, std::iter::once(heads).chain(rows), columns.unwrap_or(usize::MAX))?;
        if functions.len() > limit {
            writeln!(out, "# {} more have changed: --top 0 shows all", functions.len() - limit)?;
        }
        self.comparison.write_all_notes(out)
    }

    /// One line a frame in its place that changed, and one for the whole.
    fn write_json(&self, out: &mut dyn Write) -> Result<()> {
        let unit = self.unit.to_string();
        write_line(out, &serde_json::json!({"type": "seatrace-diff", "version": 1}))?;
        let mut counts = [0u64; 4];
        for (at, node) in self.tree.nodes().enumerate().skip(1) {
            if node.own == [0, 0] && node.total == [0, 0]
                || node.own[0] == node.own[1] && node.total[0] == node.total[1]
            {
                continue;
            }
            let set = match node.total {
                [0, _] => 0,
                [_, 0] => 1,
                [before, after] if after >= before => 2,
                _ => 3,
            };
            if let Some(count) = counts.get_mut(set) {
                *count += 1;
            }
            let stack = self.path(at);
            write_line(
                out,
                &ChangeLine {
                    kind_of_line: "change",
                    set: SETS.get(set).copied().unwrap_or(""),
                    stack: &stack,
                    unit: &unit,
                    before: node.total[0],
                    after: node.total[1],
                    self_before: node.own[0],
                    self_after: node.own[1],
                },
            )?;
        }
        let [before, after] = self.tree.whole();
        write_line(
            out,
            &TotalLine {
                kind_of_line: "total",
                unit: &unit,
                before,
                after,
                normalized_from: self.normalized().map(|_| self.raw[0]),
                new: counts[0],
                gone: counts[1],
                grown: counts[2],
                shrunk: counts[3],
            },
        )
    }

    /// Stacks with two counts, as inferno and flamegraph.pl read a difference.
    fn write_folded(&self, out: &mut dyn Write) -> Result<()> {
        let mut lines: Vec<String> = Vec::new();
        for (at, node) in self.tree.nodes().enumerate().skip(1).filter(|(_, node)| node.own != [0, 0]) {
            let path: Vec<_> = self.path(at).into_iter().map(safe_frame).collect();
            lines.push(format!("{} {} {}", path.join(";"), node.own[0], node.own[1]));
        }
        lines.sort_unstable();
        for line in lines {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn path(&self, mut at: usize) -> Vec<&str> {
        let mut path = Vec::new();
        while at > 0 {
            let node = self.tree.node(at);
            path.push(node.name);
            at = node.parent;
        }
        path.reverse();
        path
    }
}

const SETS: [&str; 4] = ["new", "gone", "grown", "shrunk"];

#[derive(Serialize)]
struct ChangeLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    set: &'static str,
    stack: &'a [&'a str],
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    before: i128,
    after: i128,
    self_before: i128,
    self_after: i128,
}

#[derive(Serialize)]
struct TotalLine<'a> {
    #[serde(rename = "type")]
    kind_of_line: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    before: i128,
    after: i128,
    #[serde(skip_serializing_if = "Option::is_none")]
    normalized_from: Option<i128>,
    new: u64,
    gone: u64,
    grown: u64,
    shrunk: u64,
}

fn change([before, after]: [i128; 2]) -> i128 {
    after.saturating_sub(before)
}
