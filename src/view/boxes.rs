//! Boxes: where each shape of a picture lies, and how it is written into the SVG.

use std::fmt::Write as _;
use std::ops::Range;

use super::draw::Shape;

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
        push_4_digits(out, left);
        for text in ["%\" y=\"", level.y, "\" width=\""] {
            out.push_str(text);
        }
        push_4_digits(out, right - left);
        let [red, green, blue] = shape.color;
        let Range { start, end } = placed.start..placed.end;
        _ = write!(
            out,
            "%\" height=\"{}\" fill=\"rgb({red},{green},{blue})\" fg:x=\"{start}\" fg:w=\"{}\"/><text x=\"",
            level.height,
            end - start
        );
        push_4_digits(out, left + 100.0 * 3.0 / self.image_width);
        for text in ["%\" y=\"", level.text_y, "\">", label, "</text></g>"] {
            out.push_str(text);
        }
    }
}

/// Appends a number with four digits behind the point, as `{:.4}` does, which takes most of the time of a picture.
fn push_4_digits(out: &mut String, value: f64) {
    let scaled = value * 10_000.0;
    let whole = scaled.floor();
    let part = scaled - whole;
    // Near the middle of two results the product's own rounding could decide: there, and for what is no usual number, the slow way.
    if !(0.0..1e9).contains(&scaled) || (part - 0.5).abs() < 1e-4 {
        _ = write!(out, "{value:.4}");
        return;
    }
    let digits = whole as u64 + u64::from(part > 0.5);
    _ = write!(out, "{}.{:04}", digits / 10_000, digits % 10_000);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_the_standard_library_does() {
        let mut state = 1u64;
        let awkward = [0.0, 0.00005, 0.00015, 0.99995, 99.99995, 100.0, 100.25, 1e-9, -0.0, -1.0, 1e12, f64::NAN];
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 * 101.0
        });
        for value in awkward.into_iter().chain((0..1 << 12).map(|at| f64::from(at) / 32.0)).chain(random.take(100_000))
        {
            let mut fast = String::new();
            push_4_digits(&mut fast, value);
            assert_eq!(fast, format!("{value:.4}"));
        }
    }
}
