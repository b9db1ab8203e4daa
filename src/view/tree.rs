//! A call tree: paths with weights merged from the root, each frame with its own and its total weight.
//!
//! It may have millions of frames, so that each takes as little room as it can: one or two sides (`N`), numbers for names and links.

use hashbrown::HashMap;

use super::labels::Labels;
use super::stacks::Stacks;

/// A frame in its place.
pub(super) struct Node<'a, const N: usize> {
    /// The frame.
    pub(super) name: &'a str,
    /// Number of the caller; the root's is its own.
    pub(super) parent: usize,
    /// Weight of the paths that end here.
    pub(super) own: [i128; N],
    /// Weight of the paths that pass here or end here.
    pub(super) total: [i128; N],
}

/// A call tree of one side, or of two sides to compare. Node 0 is the root that all share; a caller stands before its callees.
pub(super) struct Tree<'a, const N: usize> {
    /// Weights below 0, which no picture can draw, were left out: so many, and their sum.
    pub(super) negative: (u64, i128),
    steps: Vec<Step>,
    links: Vec<Link>,
    own: Vec<[i128; N]>,
    totals: Vec<[i128; N]>,
    labels: Labels<'a>,
}

/// What is needed of each frame to walk on from it, apart from the rest so that it is near.
struct Step {
    label: u32,
    /// The callee that came first; 0 is none. Most frames have no other.
    first: u32,
}

/// The rest. 0 is none here, too: the root is nobody's callee.
struct Link {
    parent: u32,
    /// The next callee of the same caller.
    next: u32,
    /// Where the own weight stands. Most frames have none.
    own: u32,
}

impl<'a, const N: usize> Tree<'a, N> {
    /// The tree of the sides: weights of the first are at 0, of the second at 1.
    pub(super) fn of(sides: [&Stacks<'a>; N], reversed: bool) -> Tree<'a, N> {
        let mut labels = Labels::default();
        let mut growing = Growing::new(labels.number("all"));
        let mut negative = (0, 0i128);
        for (side, stacks) in sides.into_iter().enumerate() {
            let mut frames: Vec<u32> = Vec::new();
            stacks.each_numbered(&mut labels, |stack, weight| {
                if weight < 0 {
                    negative = (negative.0 + 1, negative.1.saturating_add(weight));
                } else if weight > 0 && reversed {
                    frames.clear();
                    frames.extend(stack.iter().rev());
                    growing.add(&frames, side, weight);
                } else if weight > 0 {
                    growing.add(stack, side, weight);
                }
            });
        }
        let totals = growing.totals();
        let Growing { steps, links, own, .. } = growing;
        Tree { negative, steps, links, own, totals, labels }
    }

    /// How many frames it has, with the root.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    /// The frame of that number; an empty one if there is no such.
    pub(super) fn node(&self, at: usize) -> Node<'a, N> {
        let name = self.steps.get(at).map_or("", |step| self.labels.text(step.label));
        let (parent, own) = self.links.get(at).map_or((0, 0), |link| (link.parent as usize, link.own as usize));
        let weights = |of: &[[i128; N]], at: usize| of.get(at).copied().unwrap_or([0; N]);
        Node { name, parent, own: weights(&self.own, own), total: weights(&self.totals, at) }
    }

    /// All frames in the order of their numbers.
    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node<'a, N>> + ExactSizeIterator {
        (0..self.len()).map(|at| self.node(at))
    }

    /// Number of the caller of a frame.
    pub(super) fn parent(&self, at: usize) -> usize {
        self.links.get(at).map_or(0, |link| link.parent as usize)
    }

    /// Weight of the root.
    pub(super) fn whole(&self) -> [i128; N] {
        self.totals.first().copied().unwrap_or([0; N])
    }

    /// Weights of the paths that pass each frame or end there.
    pub(super) fn totals(&self) -> &[[i128; N]] {
        &self.totals
    }

    /// Numbers of the callees of a frame, in no order that would mean something.
    pub(super) fn callees(&self, at: usize) -> impl Iterator<Item = usize> {
        let existing = |at: u32| (at > 0).then_some(at as usize);
        let first = self.steps.get(at).and_then(|step| existing(step.first));
        std::iter::successors(first, move |&at| self.links.get(at).and_then(|link| existing(link.next)))
    }
}

/// A tree to which paths are added.
struct Growing<const N: usize> {
    steps: Vec<Step>,
    links: Vec<Link>,
    own: Vec<[i128; N]>,
    /// Callees that are not the first of their caller, by caller and frame.
    others: HashMap<(u32, u32), u32>,
    /// The last path, as frames and nodes: the next one mostly begins like it.
    path: Vec<(u32, u32)>,
}

impl<const N: usize> Growing<N> {
    fn new(root: u32) -> Growing<N> {
        let mut growing = Growing {
            steps: Vec::new(),
            links: Vec::new(),
            own: vec![[0; N]],
            others: HashMap::new(),
            path: Vec::new(),
        };
        growing.push(root, 0, 0);
        growing
    }

    fn add(&mut self, frames: &[u32], side: usize, weight: i128) {
        let shared = self.path.iter().zip(frames).take_while(|(known, frame)| known.0 == **frame).count();
        self.path.truncate(shared);
        let mut at = self.path.last().map_or(0, |last| last.1);
        for &label in frames.iter().skip(shared) {
            at = self.callee(at, label);
            self.path.push((label, at));
        }
        let Some(link) = self.links.get_mut(at as usize) else { return };
        if link.own == 0 {
            link.own = u32::try_from(self.own.len()).unwrap_or(u32::MAX);
            self.own.push([0; N]);
        }
        if let Some(own) = self.own.get_mut(link.own as usize).and_then(|own| own.get_mut(side)) {
            *own = own.saturating_add(weight);
        }
    }

    fn callee(&mut self, caller: u32, label: u32) -> u32 {
        let first = self.steps.get(caller as usize).map_or(0, |step| step.first);
        if first > 0 && self.steps.get(first as usize).is_some_and(|step| step.label == label) {
            return first;
        }
        let fresh = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
        let mut next = 0;
        if first > 0 {
            let known = *self.others.entry((caller, label)).or_insert(fresh);
            if known != fresh {
                return known;
            }
            if let Some(first) = self.links.get_mut(first as usize) {
                next = std::mem::replace(&mut first.next, fresh);
            }
        } else if let Some(caller) = self.steps.get_mut(caller as usize) {
            caller.first = fresh;
        }
        self.push(label, caller, next);
        fresh
    }

    fn push(&mut self, label: u32, parent: u32, next: u32) {
        self.steps.push(Step { label, first: 0 });
        self.links.push(Link { parent, next, own: 0 });
    }

    fn totals(&self) -> Vec<[i128; N]> {
        let own = |link: &Link| self.own.get(link.own as usize).copied().unwrap_or([0; N]);
        let mut totals: Vec<[i128; N]> = self.links.iter().map(own).collect();
        for (at, link) in self.links.iter().enumerate().skip(1).rev() {
            let total = totals.get(at).copied().unwrap_or([0; N]);
            if let Some(sums) = totals.get_mut(link.parent as usize) {
                sums.iter_mut().zip(total).for_each(|(sum, weight)| *sum = sum.saturating_add(weight));
            }
        }
        totals
    }
}
