//! Flame graphs and icicle graphs of one trace.

use std::io::Write;

use super::draw::{Drawing, Shape, inner_width};
use super::palette::GREY;
use super::stacks::Stacks;
use super::tree::{Node, Tree};
use super::{Options, View, text};
use crate::error::{Error, Result};
use crate::model::{Heading, Trace};

/// Entry in the table of views.
pub(super) const FLAME: View =
    View { name: "flame", extensions: &[], about: "flame graph (SVG)", write: write_flame, stream: None };
/// Entry in the table of views.
pub(super) const ICICLE: View = View {
    name: "icicle",
    extensions: &[],
    about: "icicle graph (SVG): roots at the top",
    write: write_icicle,
    stream: None,
};

fn write_flame(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    write(trace, options, options.picture.inverted, out)
}

fn write_icicle(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    write(trace, options, true, out)
}

fn write(trace: &Trace, options: &Options, inverted: bool, out: &mut dyn Write) -> Result<()> {
    let stacks = Stacks::select(trace, options)?;
    let notes = trace.notes.iter().map(|note| note.to_string()).collect();
    let title = options.picture.title.clone().unwrap_or_else(|| title(&trace.heading));
    draw(&stacks, title, notes, options, inverted, out)
}

/// Draws stacks, with that title and what is to be said below it.
pub(super) fn draw(
    stacks: &Stacks<'_>,
    title: String,
    notes: Vec<String>,
    options: &Options,
    inverted: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let picture = &options.picture;
    let tree = Tree::of([stacks], picture.reverse);
    let [total] = tree.whole();
    if total <= 0 {
        return Err(Error::Usage("all weights are 0 or below: there is nothing to draw".into()));
    }
    let amount = |value: i128| match &picture.countname {
        Some(name) => format!("{} {name}", text::thousands(value)),
        None if stacks.unit == crate::units::Unit::Unknown => format!("weight {}", text::thousands(value)),
        None => text::amount(value, &stacks.unit),
    };
    let detail = |node: &Node<'_, 1>| {
        let ([own], [all]) = (node.own, node.total);
        let share = format!("{}, {}%", amount(all), text::percent(all, total));
        let share = match own {
            0 => format!("{share}; self 0"),
            own if own == all => share,
            own => format!("{share}; self {}, {}%", amount(own), text::percent(own, total)),
        };
        match stacks.names.detail_of(node.name).filter(|more| !more.is_empty()) {
            Some(more) => format!("{share}; {more}"),
            None => share,
        }
    };
    let colors = picture.colors.unwrap_or_default();
    let narrowest = picture.minwidth.unwrap_or(0.1).max(0.0) * total as f64 / inner_width(picture);
    let narrowest = narrowest.min(total as f64);
    let width = |at: usize| tree.totals().get(at).map_or(0, |&[total]| total);
    let layout = Layout { tree: &tree, narrowest, width: &width };
    let (shapes, hidden) = layout.shapes(&|node| (detail(node), colors.color(node.name)), &|weight| {
        format!("{}, {}%", amount(weight), text::percent(weight, total))
    });
    let mut facts = vec![picture.subtitle.clone().unwrap_or_else(|| format!("total {}", amount(total)))];
    if hidden.frames > 0 {
        facts.push(hidden.said(total));
    }
    if tree.negative.0 > 0 {
        let (count, sum) = tree.negative;
        facts.push(format!("{count} stacks with weights below 0 are not drawn, together {}", amount(sum)));
    }
    facts.extend(notes);
    Drawing { title, facts, inverted, picture, shapes }.write(out)
}

/// What a picture is called: by the input's own title, its script, or its file.
pub(super) fn title(heading: &Heading) -> String {
    if let Some(title) = &heading.title {
        return title.clone();
    }
    let name = match &heading.script {
        Some(script) => script.clone(),
        None if heading.inputs.is_empty() => "Flame graph".into(),
        None => heading.inputs.iter().map(|input| file_name(input)).collect::<Vec<_>>().join(", "),
    };
    match heading.target.filter(|&pid| pid > 0) {
        Some(pid) => format!("{name}, process {pid}"),
        None => name,
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

/// From a tree to boxes: what is too narrow becomes one grey box a caller, so that it does not look like the caller's own.
pub(super) struct Layout<'a, 't, const N: usize> {
    /// The frames.
    pub(super) tree: &'a Tree<'t, N>,
    /// Narrower boxes are put together.
    pub(super) narrowest: f64,
    /// Width of a frame: that of a caller is at least the sum of its callees'.
    pub(super) width: &'a dyn Fn(usize) -> i128,
}

/// How many boxes may stand on each other. Real stacks end far below; a picture of a million would be of no use, and of gigabytes.
const HIGHEST: usize = 2000;

/// What was too narrow, or too far from the root, to be drawn.
#[derive(Default)]
pub(super) struct Hidden {
    /// Some of it lies beyond [`HIGHEST`].
    deep: bool,
    /// How many frames.
    pub(super) frames: usize,
    /// The weight that passes through them.
    pub(super) weight: i128,
}

impl Hidden {
    /// It as a sentence.
    pub(super) fn said(&self, total: i128) -> String {
        let frames = text::thousands(self.frames as i128);
        let which = if self.deep { format!("narrow frames or deeper than {HIGHEST}") } else { "narrow frames".into() };
        format!("hidden in grey: {frames} {which}, {}%", text::percent(self.weight, total))
    }
}

impl<const N: usize> Layout<'_, '_, N> {
    /// The boxes, given tooltip and colour of a frame and the tooltip of a grey box of that weight; and what is hidden in grey.
    pub(super) fn shapes(
        &self,
        look: &dyn Fn(&Node<'_, N>) -> (String, super::palette::Rgb),
        grey: &dyn Fn(i128) -> String,
    ) -> (Vec<Shape>, Hidden) {
        let sizes = self.sizes();
        let mut hidden = Hidden::default();
        let mut shapes: Vec<Shape> = Vec::new();
        let mut wide: Vec<(&str, usize)> = Vec::new();
        // Number of the node, of the box that it stands on, and its height.
        let mut waiting: Vec<(usize, Option<usize>, usize)> = vec![(0, None, 0)];
        while let Some((at, below, height)) = waiting.pop() {
            let node = self.tree.node(at);
            let (detail, color) = look(&node);
            let number = push(&mut shapes, below, node.name.to_owned(), detail, color, (self.width)(at));
            let mut small = Hidden::default();
            wide.clear();
            for child in self.tree.callees(at) {
                let weight = (self.width)(child);
                if weight > 0 && weight as f64 >= self.narrowest && height < HIGHEST {
                    wide.push((self.tree.node(child).name, child));
                } else if weight > 0 {
                    hidden.deep |= height >= HIGHEST;
                    small.frames += sizes.get(child).map_or(1, |&size| size as usize);
                    small.weight = small.weight.saturating_add(weight);
                }
            }
            wide.sort_unstable_by(|a, b| a.0.cmp(b.0));
            waiting.extend(wide.iter().map(|&(_, child)| (child, Some(number), height + 1)));
            hidden.frames += small.frames;
            hidden.weight = hidden.weight.saturating_add(small.weight);
            if small.weight > 0 && small.weight as f64 >= self.narrowest {
                let name = format!("{} frames", text::thousands(small.frames as i128));
                push(&mut shapes, Some(number), name, grey(small.weight), GREY, small.weight);
            }
        }
        // Boxes stand in the order of their names, grey ones last: so far it is the other way round.
        shapes.iter_mut().for_each(|shape| shape.children.reverse());
        (shapes, hidden)
    }

    /// How many frames each frame holds, with itself.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![1u32; self.tree.len()];
        for at in (1..sizes.len()).rev() {
            let size = sizes.get(at).copied().unwrap_or(0);
            if let Some(parent) = sizes.get_mut(self.tree.parent(at)) {
                *parent += size;
            }
        }
        sizes
    }
}

fn push(
    shapes: &mut Vec<Shape>,
    below: Option<usize>,
    name: String,
    detail: String,
    color: super::palette::Rgb,
    width: i128,
) -> usize {
    let number = shapes.len();
    shapes.push(Shape { name, detail, color, width: width.unsigned_abs(), children: Vec::new() });
    if let Some(parent) = below.and_then(|below| shapes.get_mut(below)) {
        parent.children.push(number);
    }
    number
}
