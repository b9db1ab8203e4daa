//! Folded stacks: `root;frame;leaf 42`, sorted, safe for flamegraph.pl and inferno.
//!
//! Lines are sorted without being written first: each frame gets its rank among all frames, and stacks are compared rank by rank.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;

use super::labels::Labels;
use super::stacks::{Stacks, safe_frame};
use super::{Options, View};
use crate::error::Result;
use crate::model::Trace;

/// Entry in the table of views.
pub(super) const VIEW: View =
    View { name: "folded", extensions: &["folded"], about: "folded stacks, one a line", write, stream: None };

/// A stack: where its frames begin and end, and its weight.
type Line = (usize, usize, i128);

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let stacks = Stacks::select(trace, options)?;
    let mut labels = Labels::default();
    let (mut frames, mut lines): (Vec<u32>, Vec<Line>) = (Vec::new(), Vec::new());
    stacks.each_numbered(&mut labels, |stack, weight| {
        let start = frames.len();
        frames.extend_from_slice(stack);
        lines.push((start, frames.len(), weight));
    });
    let texts: Vec<Cow<'_, str>> = labels.texts().iter().map(|text| safe_frame(text)).collect();
    let ranks = Ranks::of(&texts);
    for &(start, end, _) in &lines {
        if let Some((last, before)) = frames.get_mut(start..end).and_then(<[u32]>::split_last_mut) {
            before.iter_mut().for_each(|frame| *frame = ranks.rank(*frame, false));
            *last = ranks.rank(*last, true);
        }
    }
    let path = |&(start, end, _): &Line| frames.get(start..end).unwrap_or(&[]);
    lines.sort_unstable_by(|a, b| path(a).cmp(path(b)));
    let mut text = String::new();
    for equal in lines.chunk_by(|a, b| path(a) == path(b)) {
        let weight = equal.iter().fold(0i128, |sum, line| sum.saturating_add(line.2));
        text.clear();
        for &rank in equal.first().map_or(&[][..], path) {
            text.push_str(ranks.text(rank));
            text.push(';');
        }
        text.pop();
        _ = writeln!(text, " {weight}");
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// The order of frames in lines. A frame has two ranks: as the last one of a stack nothing follows it, else a `;` does.
struct Ranks<'a> {
    /// Ranks of each frame: within a stack, and at its end.
    ranks: Vec<[u32; 2]>,
    /// The text of each rank.
    texts: Vec<&'a str>,
}

impl<'a> Ranks<'a> {
    fn of(texts: &'a [Cow<'a, str>]) -> Ranks<'a> {
        let mut order: Vec<(&str, usize, bool)> =
            texts.iter().enumerate().flat_map(|(at, text)| [(&**text, at, false), (&**text, at, true)]).collect();
        order.sort_unstable_by(|a, b| compare((a.0, a.2), (b.0, b.2)));
        let mut ranks = Ranks { ranks: vec![[0; 2]; texts.len()], texts: Vec::with_capacity(order.len()) };
        for equal in order.chunk_by(|a, b| a.0 == b.0 && a.2 == b.2) {
            let rank = u32::try_from(ranks.texts.len()).unwrap_or(u32::MAX);
            ranks.texts.extend(equal.first().map(|frame| frame.0));
            for &(_, at, is_last) in equal {
                if let Some(place) = ranks.ranks.get_mut(at).and_then(|both| both.get_mut(usize::from(is_last))) {
                    *place = rank;
                }
            }
        }
        ranks
    }

    fn rank(&self, frame: u32, is_last: bool) -> u32 {
        self.ranks.get(frame as usize).map_or(0, |&[within, last]| if is_last { last } else { within })
    }

    fn text(&self, rank: u32) -> &'a str {
        self.texts.get(rank as usize).copied().unwrap_or("")
    }
}

/// Compares two frames as they stand in lines: with a `;` behind them, or, at the end, with nothing.
fn compare((a, a_last): (&str, bool), (b, b_last): (&str, bool)) -> std::cmp::Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let common = a.len().min(b.len());
    let behind = |text: &[u8], is_last: bool| text.get(common).copied().or((!is_last).then_some(b';'));
    a.get(..common)
        .cmp(&b.get(..common))
        .then_with(|| behind(a, a_last).cmp(&behind(b, b_last)))
        .then(a.len().cmp(&b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks sort as the lines themselves do.
    #[test]
    fn ranks_sort_like_lines() {
        let texts: Vec<Cow<'_, str>> =
            ["a", "a b", "a!", "a1", "aZ", "a:", "<", "ab", "é"].into_iter().map(Cow::Borrowed).collect();
        let ranks = Ranks::of(&texts);
        let mut stacks: Vec<Vec<u32>> = Vec::new();
        for first in 0..9 {
            stacks.push(vec![first]);
            stacks.extend((0..9).map(|second| vec![first, second]));
        }
        let ranked = |stack: &[u32]| -> Vec<u32> {
            stack.iter().enumerate().map(|(at, &frame)| ranks.rank(frame, at + 1 == stack.len())).collect()
        };
        let joined = |stack: &[u32]| -> String {
            stack.iter().map(|&frame| texts[frame as usize].as_ref()).collect::<Vec<_>>().join(";")
        };
        let mut by_rank = stacks.clone();
        by_rank.sort_by_key(|stack| ranked(stack));
        stacks.sort_by_key(|stack| joined(stack));
        assert_eq!(by_rank, stacks);
    }
}
