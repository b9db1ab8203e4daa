//! Stacks that were cut at the depth limit. DTrace leaves no mark, and its text does not tell the limit, so it is judged by content.
//!
//! The deepest stacks are taken for cut if several end at the same depth and begin with frames that no shallower stack begins with: whole
//! stacks begin with one of a few functions, cut ones anywhere. They get an outermost frame of their own.

use std::collections::HashSet;

use super::{CUT_STACK, NameId, Names, Notes, Passes, Row, Series, Severity, Value};

/// Shallower limits are asked for on purpose: `ustack(3)` means those three frames.
const LEAST: usize = 12;
/// That many stacks of the greatest depth, at least, so that it is no accident.
const MANY: usize = 3;

/// Marks the stacks of all series whose depth the input does not tell, and says how many there are.
pub(super) fn mark(series: &mut [Series], names: &mut Names, notes: &mut Notes) {
    let mark = names.text(CUT_STACK.as_bytes());
    for series in series.iter_mut().filter(|series| series.has_stack && series.depth.is_none()) {
        let Some(cut) = cut_roots(series, mark) else { continue };
        let mut marked = series.empty_like(series.keys.clone());
        let (mut count, mut weight) = (0u64, 0i128);
        for row in series.rows() {
            let value = row.distribution.map_or(Value::Number(row.value), |all| Value::Distribution(all.clone()));
            if is_cut(&row, &cut) {
                count = count.saturating_add(1);
                weight = weight.saturating_add(if series.is_additive() { row.value } else { 0 });
                let stack: Vec<NameId> = std::iter::once(mark).chain(row.stack.iter().copied()).collect();
                marked.add(row.keys, &stack, value);
            } else {
                marked.add(row.keys, row.stack, value);
            }
        }
        marked.end_dump(Passes::Sum);
        *series = marked;
        let text = format!(
            "stacks of {} frames that look cut at the root, marked {CUT_STACK} (-x ustackframes=… keeps more)",
            cut.depth
        );
        notes.add(Severity::Info, text, count, weight, None);
    }
}

/// Which stacks are cut.
struct Cut {
    depth: usize,
    roots: HashSet<NameId>,
}

fn is_cut(row: &Row<'_>, cut: &Cut) -> bool {
    row.stack.len() == cut.depth && row.stack.first().is_some_and(|root| cut.roots.contains(root))
}

fn cut_roots(series: &Series, mark: NameId) -> Option<Cut> {
    let depth = series.rows().map(|row| row.stack.len()).max().filter(|&depth| depth >= LEAST)?;
    let (mut deepest, mut before) = (0usize, 0usize);
    let (mut at_limit, mut shallower) = (HashSet::new(), HashSet::new());
    for row in series.rows() {
        let Some(&root) = row.stack.first() else { continue };
        if root == mark {
            return None;
        }
        if row.stack.len() == depth {
            deepest = deepest.saturating_add(1);
            at_limit.insert(root);
        } else {
            before = before.saturating_add(usize::from(row.stack.len().saturating_add(1) == depth));
            shallower.insert(root);
        }
    }
    let roots: HashSet<NameId> = at_limit.difference(&shallower).copied().collect();
    // Stacks thin out with depth; at a limit they pile up.
    let piled = deepest >= MANY && deepest > before;
    (piled && roots.len() >= 2 && roots.len() * 2 >= at_limit.len()).then_some(Cut { depth, roots })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Function, Trace};
    use crate::units::Unit;

    /// Stacks of these depths and root names; frames above the root are all different.
    fn marked(stacks: &[(usize, &str)]) -> Vec<String> {
        let mut trace = Trace::default();
        let id = trace.series(None, Function::Count, Unit::Unknown, &[], true);
        for (at, (depth, root)) in stacks.iter().enumerate() {
            let mut frames = vec![trace.names.text(root.as_bytes())];
            frames.extend((1..*depth).map(|frame| trace.names.text(format!("f{at}_{frame}").as_bytes())));
            trace.row(id, &[], &frames, Value::Number(1));
        }
        trace.finish();
        let roots = trace.series[0].rows().map(|row| trace.names.get(row.stack[0]).to_owned());
        roots.collect()
    }

    #[test]
    fn deep_stacks_with_odd_roots_are_cut() {
        let stacks = [(20, "a"), (20, "b"), (20, "c"), (19, "start"), (7, "start"), (20, "start")];
        assert_eq!(marked(&stacks), [CUT_STACK, CUT_STACK, CUT_STACK, "start", "start", "start"]);
    }

    #[test]
    fn whole_stacks_stay() {
        assert_eq!(marked(&[(20, "start"), (20, "start"), (20, "start"), (4, "start")])[0], "start");
        assert_eq!(marked(&[(3, "a"), (3, "b"), (3, "c")])[0], "a");
        assert_eq!(marked(&[(20, "a"), (20, "b"), (5, "a")])[0], "a");
    }
}
