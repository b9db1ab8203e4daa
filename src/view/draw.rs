//! Drawing: nested boxes as an SVG that can be zoomed and searched. The only file that knows inferno.
//!
//! inferno draws what stands around the boxes, and brings the script. The boxes themselves are written here (see [`super::boxes`]), since
//! its lines cannot carry every name (`;`, a number at the end, `_[k]`), its XML does not survive control characters, its tooltips tell
//! no self weight and its sums end at 64 bits; and because it takes ten times as long for them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;

use inferno::flamegraph::{Direction, Options as Inferno, TextTruncateDirection};

use super::boxes::{Boxes, Level, Pen};
use super::palette::{Palette, Rgb};
use super::text;
use crate::error::Result;

/// How pictures look. The names are flamegraph.pl's.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Pictures (names as in flamegraph.pl)")]
pub struct Picture {
    /// Title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Second line
    #[arg(long, value_name = "TEXT")]
    pub subtitle: Option<String>,
    /// Width in pixels; default: that of the window
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub width: Option<u32>,
    /// Height of a frame in pixels (16)
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(4..=200))]
    pub height: Option<u32>,
    /// Frames narrower than that are drawn together, as one grey box (0.1)
    #[arg(long, value_name = "PIXELS")]
    pub minwidth: Option<f64>,
    /// Font (monospace)
    #[arg(long, value_name = "NAME")]
    pub fonttype: Option<String>,
    /// Size of the font (12)
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(4..=100))]
    pub fontsize: Option<u32>,
    /// What the weights are called; default: by their unit
    #[arg(long, value_name = "TEXT")]
    pub countname: Option<String>,
    /// What the frames are called in the line of details (Function:)
    #[arg(long, value_name = "TEXT")]
    pub nametype: Option<String>,
    /// Palette: hot, mem, io, wakeup, chain, red, green, blue, yellow, purple, aqua, orange
    #[arg(long, value_name = "PALETTE")]
    pub colors: Option<Palette>,
    /// Colours by the names of functions: always so here
    #[arg(long, hide = true)]
    pub hash: bool,
    /// Merge stacks from their leaves: who calls this function
    #[arg(long)]
    pub reverse: bool,
    /// Roots at the top: an icicle graph
    #[arg(long)]
    pub inverted: bool,
    /// A comment inside the SVG
    #[arg(long, value_name = "TEXT")]
    pub notes: Option<String>,
}

/// A box with the boxes on it.
pub(super) struct Shape {
    /// The text on it.
    pub(super) name: String,
    /// What its tooltip tells more.
    pub(super) detail: String,
    /// Its colour.
    pub(super) color: Rgb,
    /// Its width: at least the sum of its children's.
    pub(super) width: u128,
    /// Those on it, from left to right; all have larger numbers.
    pub(super) children: Vec<usize>,
}

/// A picture to draw.
pub(super) struct Drawing<'a> {
    /// First line.
    pub(super) title: String,
    /// What stands below it, the most important first.
    pub(super) facts: Vec<String>,
    /// Roots at the top.
    pub(super) inverted: bool,
    /// The user's options.
    pub(super) picture: &'a Picture,
    /// The boxes; the first is the root.
    pub(super) shapes: Vec<Shape>,
}

/// Width where the user gives none, and no script adapts it to the window.
const WIDTH: u32 = 1200;
/// What inferno leaves free on both sides together.
const PADDING: u32 = 20;
/// Width of a character in parts of the font's size.
const CHARACTER: f64 = 0.59;
/// Where inferno's boxes begin.
const FRAMES: &str = "<svg id=\"frames\"";
/// Longer names are cut: they cannot be read, and they would stand in the file once a box.
const LONGEST_NAME: usize = 1000;
/// Characters of facts under the title that fit in a picture of the usual width.
const LONGEST_SUBTITLE: usize = 150;

/// Pixels that all frames share.
pub(super) fn inner_width(picture: &Picture) -> f64 {
    f64::from(picture.width.unwrap_or(WIDTH).saturating_sub(PADDING))
}

impl Drawing<'_> {
    /// Draws it.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let boxes = Boxes::of(&self.shapes);
        // One stack as high as the picture: what inferno draws around it is all that is needed, and how high its boxes lie.
        let line = format!("{} {}", vec!["f"; boxes.height()].join(";"), boxes.whole);
        let mut svg = Vec::new();
        let lines = (boxes.whole > 0).then_some(line.as_str());
        inferno::flamegraph::from_lines(&mut self.options(), lines, &mut svg)?;
        self.put_boxes(&boxes, &String::from_utf8_lossy(&svg), out)
    }

    fn options(&self) -> Inferno<'static> {
        let picture = self.picture;
        let mut options = Inferno::default();
        options.title = xml_text(&self.title).into_owned();
        options.subtitle = Some(xml_text(&self.subtitle()).into_owned());
        options.image_width = picture.width.and_then(|width| usize::try_from(width).ok());
        options.frame_height = picture.height.and_then(|height| usize::try_from(height).ok()).unwrap_or(16);
        options.font_size = usize::try_from(self.font_size()).unwrap_or(12);
        options.font_width = CHARACTER;
        options.min_width = 0.0;
        options.no_sort = true;
        options.text_truncate_direction =
            if self.cuts_left() { TextTruncateDirection::Left } else { TextTruncateDirection::Right };
        options.direction = if self.inverted { Direction::Inverted } else { Direction::Straight };
        // These two go into a style sheet and a script: only harmless characters.
        let word = |text: &String| text.chars().filter(|&c| c.is_alphanumeric() || " ,-_:".contains(c)).collect();
        options.font_type = picture.fonttype.as_ref().map_or("monospace".into(), word);
        options.name_type = picture.nametype.as_ref().map_or("Function:".into(), word);
        options.notes = xml_text(picture.notes.as_deref().unwrap_or("")).replace("--", "- -");
        options
    }

    /// Whether names lose their start on narrow boxes: that is the module, where they have one.
    fn cuts_left(&self) -> bool {
        self.shapes.iter().any(|shape| shape.name.contains('`'))
    }

    fn font_size(&self) -> u32 {
        self.picture.fontsize.unwrap_or(12)
    }

    /// As many facts as fit; all of them are in the description.
    fn subtitle(&self) -> String {
        let mut line = String::new();
        for (index, fact) in self.facts.iter().enumerate() {
            let left = self.facts.len() - index;
            if !line.is_empty() && line.len() + fact.len() > LONGEST_SUBTITLE {
                _ = write!(line, "; {left} more in the description");
                break;
            }
            if !line.is_empty() {
                line.push_str("; ");
            }
            text::push_line(&mut line, fact);
            text::cut(&mut line, 0, LONGEST_SUBTITLE);
        }
        line
    }

    /// Puts the boxes in the place of inferno's, and a description in front.
    fn put_boxes(&self, boxes: &Boxes, svg: &str, out: &mut dyn Write) -> Result<()> {
        let (head, rest) = svg.split_once("<defs>").unwrap_or(("", svg));
        let facts: Vec<String> = self.facts.iter().map(|fact| xml_escape(fact).into_owned()).collect();
        write!(out, "{head}<desc>{}\n{}</desc><defs>", xml_escape(&self.title), facts.join("\n"))?;
        // Only behind it, since the user's own text may stand before.
        let (before, frames) = rest.rsplit_once(FRAMES).unwrap_or(("", rest));
        let mut parts = frames.split("<g>");
        write!(out, "{before}{FRAMES}{}", parts.next().unwrap_or(""))?;
        let pen = Pen {
            levels: parts.filter_map(Level::of).collect(),
            whole: boxes.whole,
            image_width: f64::from(self.picture.width.unwrap_or(WIDTH)),
        };
        let cuts_left = self.cuts_left();
        let mut text = String::new();
        for placed in &boxes.placed {
            let Some(shape) = self.shapes.get(placed.shape) else { continue };
            text.clear();
            // The script takes the last parenthesis off again where it wants the name alone.
            let detail = shape.detail.replace('(', "[");
            let label = self.label(shape, cuts_left);
            pen.write(&mut text, placed, shape, [&self.name(shape), &xml_escape(&detail), &xml_escape(&label)]);
            out.write_all(text.as_bytes())?;
        }
        out.write_all(frames.rsplit_once("</g>").map_or("", |(_, tail)| tail).as_bytes())?;
        Ok(())
    }

    fn name<'s>(&self, shape: &'s Shape) -> Cow<'s, str> {
        let start = text::start(&shape.name, LONGEST_NAME);
        if start.len() < shape.name.len() {
            Cow::Owned(xml_escape(&format!("{start}…")).into_owned())
        } else {
            xml_escape(start)
        }
    }

    /// As much of the name as fits on the box.
    fn label(&self, shape: &Shape, cuts_left: bool) -> String {
        let whole = self.shapes.first().map_or(1, |root| root.width.max(1));
        let pixels = inner_width(self.picture) * (shape.width as f64 / whole as f64);
        let fits = ((pixels - 3.0) / (f64::from(self.font_size()) * CHARACTER)).floor();
        if fits < 3.0 {
            return String::new();
        }
        let fits = fits as usize;
        let mut label = text::line(text::start(&shape.name, LONGEST_NAME)).into_owned();
        if cuts_left {
            text::cut_start(&mut label, fits);
        } else {
            text::cut(&mut label, 0, fits);
        }
        label
    }
}

/// Text that XML 1.0 can hold, on one line; still to be escaped.
fn xml_text(text: &str) -> Cow<'_, str> {
    let line = text::line(text);
    if line.is_ascii() { line } else { Cow::Owned(line.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")) }
}

/// Text between tags and in attributes.
pub(super) fn xml_escape(text: &str) -> Cow<'_, str> {
    let text = xml_text(text);
    if !text.bytes().any(|byte| b"<>&\"'".contains(&byte)) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}
