//! Boxes: where each shape of a picture lies, and how it is written into the SVG.

use super::draw::Shape;
use super::text::{push_number, push_rounded};

/// Beyond it, the widths in JavaScript would not be whole.
const WIDEST: u128 = 1 << 52;

/// A shape in its place.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// Number of the shape.
    pub(super) shape: usize,
    /// How many boxes it stands on.
    pub(super) depth: usize,
    start: u64,
    end: u64,
}

/// The boxes of a picture.
pub(super) struct Boxes {
    /// Boxes in the order of the file: each when it ends, a caller before the callees that end with it.
    pub(super) placed: Vec<Placed>,
    /// Width of the root.
    pub(super) whole: u64,
}

impl Boxes {
    /// Places the shapes; the first is the root. Widths are made smaller where they would not fit.
    pub(super) fn of(shapes: &[Shape]) -> Boxes {
        let scale = shapes.first().map_or(0, |root| root.width) / WIDEST + 1;
        let mut boxes = Boxes { placed: Vec::with_capacity(shapes.len()), whole: 0 };
        // The callers of a shape and itself; and likewise of the last one with a weight of its own, as boxes that have not ended.
        let (mut path, mut open): (Vec<usize>, Vec<Placed>) = (Vec::new(), Vec::new());
        let mut waiting = vec![(0, 0)];
        while let Some((at, depth)) = waiting.pop() {
            let Some(shape) = shapes.get(at) else { continue };
            waiting.extend(shape.children.iter().rev().map(|&child| (child, depth + 1)));
            path.truncate(depth);
            path.push(at);
            let above = shape.children.iter().filter_map(|&child| shapes.get(child)).map(|child| child.width).sum();
            let own = shape.width.saturating_sub(above);
            // Weight of the root itself needs a box to be counted; no view gives it one.
            if own > 0 && depth > 0 {
                let shared = open.iter().zip(&path).take_while(|(known, at)| known.shape == **at).count();
                boxes.end(&mut open, shared);
                let start = boxes.whole;
                let begun = path.iter().enumerate().skip(shared);
                open.extend(begun.map(|(depth, &shape)| Placed { shape, depth, start, end: start }));
                boxes.whole += u64::try_from(own / scale).unwrap_or(u64::MAX).max(1);
            }
        }
        boxes.end(&mut open, 0);
        boxes
    }

    /// How many boxes stand on each other, above the root.
    pub(super) fn height(&self) -> usize {
        self.placed.iter().map(|placed| placed.depth).max().unwrap_or(0)
    }

    fn end(&mut self, open: &mut Vec<Placed>, from: usize) {
        let end = self.whole;
        self.placed.extend(open.drain(from.min(open.len())..).map(|placed| Placed { end, ..placed }));
    }
}

/// The rectangles of one depth: how they lie from top to bottom, as written.
pub(super) struct Level<'a> {
    /// Upper edge and height of the rectangle, and the line of its text.
    y: &'a str,
    height: &'a str,
    text_y: &'a str,
}

impl<'a> Level<'a> {
    /// Takes them from a box that inferno wrote.
    pub(super) fn of(written: &'a str) -> Option<Level<'a>> {
        let (_, rectangle) = written.split_once("<rect")?;
        let (rectangle, text) = rectangle.split_once("<text")?;
        Some(Level {
            y: attribute(rectangle, " y=\"")?,
            height: attribute(rectangle, " height=\"")?,
            text_y: attribute(text, " y=\"")?,
        })
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(name)?.1.split_once('"').map(|(value, _)| value)
}

/// Writes boxes as inferno does, so that its script finds what it looks for.
pub(super) struct Pen<'a> {
    /// By depth.
    pub(super) levels: Vec<Level<'a>>,
    /// Width of the root.
    pub(super) whole: u64,
    /// Width of the picture in pixels.
    pub(super) image_width: f64,
}

impl Pen<'_> {
    /// Appends a box. Name, tooltip and label come as XML.
    pub(super) fn write(&self, out: &mut String, placed: &Placed, shape: &Shape, [name, detail, label]: [&str; 3]) {
        let Some(level) = self.levels.get(placed.depth) else { return };
        let percent = 100.0 / self.whole as f64;
        let (left, right) = (placed.start as f64 * percent, placed.end as f64 * percent);
        out.push_str("<g><title>");
        for text in [name, " (", detail, ")</title><rect x=\""] {
            out.push_str(text);
        }
        push_rounded::<4>(out, left);
        for text in ["%\" y=\"", level.y, "\" width=\""] {
            out.push_str(text);
        }
        push_rounded::<4>(out, right - left);
        for text in ["%\" height=\"", level.height, "\" fill=\"rgb("] {
            out.push_str(text);
        }
        let [red, green, blue] = shape.color.map(i128::from);
        for (number, behind) in [
            (red, ","),
            (green, ","),
            (blue, ")\" fg:x=\""),
            (placed.start.into(), "\" fg:w=\""),
            ((placed.end - placed.start).into(), "\"/><text x=\""),
        ] {
            push_number(out, number, 0);
            out.push_str(behind);
        }
        push_rounded::<4>(out, left + 100.0 * 3.0 / self.image_width);
        for text in ["%\" y=\"", level.text_y, "\">", label, "</text></g>"] {
            out.push_str(text);
        }
    }
}
