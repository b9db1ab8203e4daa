//! A call tree: paths with weights merged from the root, each frame with its own and its total weight.

use std::ops::Range;

use hashbrown::HashMap;

use super::labels::Labels;
use super::stacks::Stacks;

/// A frame in its place.
pub(super) struct Node<'a> {
    /// The frame.
    pub(super) name: &'a str,
    /// Number of the caller; the root's is its own.
    pub(super) parent: usize,
    /// Weight of the paths that end here.
    pub(super) own: [i128; 2],
    /// Weight of the paths that pass here or end here.
    pub(super) total: [i128; 2],
    /// Its callees among [`Tree::callees`].
    callees: Range<usize>,
}

/// A call tree of one side, or of two sides to compare. Node 0 is the root that all share.
pub(super) struct Tree<'a> {
    /// All frames; a caller stands before its callees.
    pub(super) nodes: Vec<Node<'a>>,
    /// Weights below 0, which no picture can draw, were left out: so many, and their sum.
    pub(super) negative: (u64, i128),
    callees: Vec<usize>,
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
        let mut labels = Labels::default();
        let mut growing = Growing { nodes: Vec::new(), links: Vec::new(), others: HashMap::new(), path: Vec::new() };
        growing.push(0, u32::MAX, "all");
        let mut negative = (0, 0i128);
        for (side, stacks) in sides.iter().enumerate() {
            let mut frames: Vec<u32> = Vec::new();
            stacks.each_numbered(&mut labels, |stack, weight| {
                if weight < 0 {
                    negative = (negative.0 + 1, negative.1.saturating_add(weight));
                } else if weight > 0 {
                    frames.clear();
                    frames.extend_from_slice(stack);
                    if reversed {
                        frames.reverse();
                    }
                    growing.add(&frames, side, weight);
                }
            });
        }
        let mut tree = Tree { nodes: growing.nodes, negative, callees: Vec::new() };
        for (node, link) in tree.nodes.iter_mut().zip(&growing.links).skip(1) {
            node.name = labels.text(link.label);
        }
        tree.sum();
        tree.sort_callees();
        tree
    }

    /// The frame of a node.
    pub(super) fn name(&self, at: usize) -> &'a str {
        self.nodes.get(at).map_or("", |node| node.name)
    }

    /// The callees of a node, by name.
    pub(super) fn callees(&self, node: &Node<'_>) -> &[usize] {
        self.callees.get(node.callees.clone()).unwrap_or(&[])
    }

    /// Sums the totals.
    fn sum(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            let Some(node) = self.nodes.get_mut(at) else { continue };
            node.total = std::array::from_fn(|side| add(node.total, node.own, side));
            let (parent, total) = (node.parent, node.total);
            if at > 0
                && let Some(parent) = self.nodes.get_mut(parent)
            {
                parent.total = std::array::from_fn(|side| add(parent.total, total, side));
                parent.callees.end += 1;
            }
        }
    }

    /// Gives each node its part of the list of callees: so far `callees.end` is how many it has.
    fn sort_callees(&mut self) {
        let mut end = 0;
        for node in &mut self.nodes {
            let start = end;
            end += node.callees.end;
            node.callees = start..start;
        }
        self.callees = vec![0; end];
        for at in 1..self.nodes.len() {
            let parent = self.nodes.get(at).map_or(0, |node| node.parent);
            let Some(callees) = self.nodes.get_mut(parent).map(|parent| &mut parent.callees) else { continue };
            if let Some(place) = self.callees.get_mut(callees.end) {
                *place = at;
            }
            callees.end += 1;
        }
        let nodes = &self.nodes;
        let name = |at: usize| nodes.get(at).map_or("", |node| node.name);
        for node in nodes {
            if let Some(callees) = self.callees.get_mut(node.callees.clone()) {
                callees.sort_unstable_by(|&a, &b| name(a).cmp(name(b)));
            }
        }
    }
}

/// A tree to which paths are added.
struct Growing<'a> {
    nodes: Vec<Node<'a>>,
    /// What is needed of each node to walk on from it, apart from the rest so that it is near.
    links: Vec<Link>,
    /// Callees that are not the first of their caller, by caller and frame.
    others: HashMap<(u32, u32), u32>,
    /// The last path, as frames and nodes: the next one mostly begins like it.
    path: Vec<(u32, u32)>,
}

/// From a node to its callees.
struct Link {
    label: u32,
    /// The callee that came first; the root if there is none. Most frames have no other.
    first: u32,
}

impl<'a> Growing<'a> {
    fn add(&mut self, frames: &[u32], side: usize, weight: i128) {
        let shared = self.path.iter().zip(frames).take_while(|(known, frame)| known.0 == **frame).count();
        self.path.truncate(shared);
        let mut at = self.path.last().map_or(0, |last| last.1);
        for &label in frames.iter().skip(shared) {
            at = self.callee(at, label);
            self.path.push((label, at));
        }
        if let Some(own) = self.nodes.get_mut(at as usize).and_then(|node| node.own.get_mut(side)) {
            *own = own.saturating_add(weight);
        }
    }

    fn callee(&mut self, caller: u32, label: u32) -> u32 {
        let first = self.links.get(caller as usize).map_or(0, |link| link.first);
        if first > 0 && self.links.get(first as usize).is_some_and(|link| link.label == label) {
            return first;
        }
        let next = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
        if first > 0 {
            let known = *self.others.entry((caller, label)).or_insert(next);
            if known != next {
                return known;
            }
        } else if let Some(caller) = self.links.get_mut(caller as usize) {
            caller.first = next;
        }
        self.push(caller as usize, label, "");
        next
    }

    fn push(&mut self, parent: usize, label: u32, name: &'a str) {
        self.links.push(Link { label, first: 0 });
        self.nodes.push(Node { name, parent, own: [0; 2], total: [0; 2], callees: 0..0 });
    }
}

fn add(a: [i128; 2], b: [i128; 2], side: usize) -> i128 {
    a.get(side).copied().unwrap_or(0).saturating_add(b.get(side).copied().unwrap_or(0))
}
