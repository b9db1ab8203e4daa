//! Functions, wherever they are called, with their own and their total weight.

use hashbrown::{HashMap, HashSet};

use super::stacks::Stacks;

/// A function of one trace, or of two to compare.
pub(super) struct Function<'a> {
    /// Its frame.
    pub(super) name: &'a str,
    /// Weight of the stacks that end in it.
    pub(super) own: [i128; 2],
    /// Weight of the stacks that hold it; one that calls itself counts once a stack.
    pub(super) total: [i128; 2],
}

/// The functions of one or two sides, in order of occurrence.
pub(super) fn functions<'a>(sides: &[&Stacks<'a>]) -> Vec<Function<'a>> {
    let mut index: HashMap<&'a str, usize> = HashMap::new();
    let mut found: Vec<Function<'a>> = Vec::new();
    let mut seen: HashSet<&'a str> = HashSet::new();
    for (side, stacks) in sides.iter().enumerate() {
        stacks.each(|frames, weight| {
            seen.clear();
            for (height, &name) in frames.iter().rev().enumerate() {
                let at = *index.entry(name).or_insert_with(|| {
                    found.push(Function { name, own: [0; 2], total: [0; 2] });
                    found.len() - 1
                });
                let Some(function) = found.get_mut(at) else { continue };
                if height == 0 {
                    add(&mut function.own, side, weight);
                }
                if seen.insert(name) {
                    add(&mut function.total, side, weight);
                }
            }
        });
    }
    found
}

fn add(pair: &mut [i128; 2], side: usize, weight: i128) {
    if let Some(sum) = pair.get_mut(side) {
        *sum = sum.saturating_add(weight);
    }
}
