//! A call tree: paths with weights merged from the root, each frame with its own and its total weight.

use hashbrown::HashMap;

use super::stacks::Stacks;

/// A frame in its place.
pub(super) struct Node<'a> {
    /// The frame.
    pub(super) name: &'a str,
    /// Number of the caller; the root's is its own.
    pub(super) parent: usize,
    /// Callees, by name.
    pub(super) children: Vec<usize>,
    /// Weight of the paths that end here.
    pub(super) own: [i128; 2],
    /// Weight of the paths that pass here or end here.
    pub(super) total: [i128; 2],
}

/// A call tree of one side, or of two sides to compare. Node 0 is the root that all share.
pub(super) struct Tree<'a> {
    /// All frames; a caller stands before its callees.
    pub(super) nodes: Vec<Node<'a>>,
    /// Weights below 0, which no picture can draw, were left out: so many, and their sum.
    pub(super) negative: (u64, i128),
}

impl<'a> Tree<'a> {
    /// The tree of one trace.
    pub(super) fn one(stacks: &Stacks<'a>, reversed: bool) -> Tree<'a> {
        Tree::build(&[stacks], reversed)
    }

    /// The tree of two traces: weights of the first are at 0, of the second at 1.
    pub(super) fn two(before: &Stacks<'a>, after: &Stacks<'a>, reversed: bool) -> Tree<'a> {
        Tree::build(&[before, after], reversed)
    }

    fn build(sides: &[&Stacks<'a>], reversed: bool) -> Tree<'a> {
        let root = Node { name: "all", parent: 0, children: Vec::new(), own: [0; 2], total: [0; 2] };
        let mut tree = Tree { nodes: vec![root], negative: (0, 0) };
        let mut index: HashMap<(usize, &'a str), usize> = HashMap::new();
        for (side, stacks) in sides.iter().enumerate() {
            stacks.each(|frames, weight| {
                if weight < 0 {
                    tree.negative = (tree.negative.0 + 1, tree.negative.1.saturating_add(weight));
                } else if weight > 0 && reversed {
                    tree.add(&mut index, frames.iter().rev(), side, weight);
                } else if weight > 0 {
                    tree.add(&mut index, frames.iter(), side, weight);
                }
            });
        }
        tree.finish();
        tree
    }

    fn add<'f>(
        &mut self,
        index: &mut HashMap<(usize, &'a str), usize>,
        frames: impl Iterator<Item = &'f &'a str>,
        side: usize,
        weight: i128,
    ) where
        'a: 'f,
    {
        let mut at = 0;
        for &name in frames {
            let nodes = &mut self.nodes;
            at = *index.entry((at, name)).or_insert_with(|| {
                nodes.push(Node { name, parent: at, children: Vec::new(), own: [0; 2], total: [0; 2] });
                nodes.len() - 1
            });
        }
        if let Some(own) = self.nodes.get_mut(at).and_then(|node| node.own.get_mut(side)) {
            *own = own.saturating_add(weight);
        }
    }

    /// Sums the totals and sorts the callees.
    fn finish(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            let Some(node) = self.nodes.get_mut(at) else { continue };
            node.total = std::array::from_fn(|side| add(node.total, node.own, side));
            let (parent, total) = (node.parent, node.total);
            if at > 0
                && let Some(parent) = self.nodes.get_mut(parent)
            {
                parent.total = std::array::from_fn(|side| add(parent.total, total, side));
                parent.children.push(at);
            }
        }
        for at in 0..self.nodes.len() {
            let mut children =
                self.nodes.get_mut(at).map(|node| std::mem::take(&mut node.children)).unwrap_or_default();
            children.sort_by(|&a, &b| self.name(a).cmp(self.name(b)));
            if let Some(node) = self.nodes.get_mut(at) {
                node.children = children;
            }
        }
    }

    /// The frame of a node.
    pub(super) fn name(&self, at: usize) -> &'a str {
        self.nodes.get(at).map_or("", |node| node.name)
    }
}

fn add(a: [i128; 2], b: [i128; 2], side: usize) -> i128 {
    a.get(side).copied().unwrap_or(0).saturating_add(b.get(side).copied().unwrap_or(0))
}
