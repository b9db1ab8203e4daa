//! Steps of a plan, whichever server it is from, and how they become weighted stacks.

use crate::model::{Function, NameId, SeriesId, Severity, Trace, Value};
use crate::units::Unit;

/// Deepest nesting that is read; servers refuse such statements long before.
pub(super) const MAX_DEPTH: usize = 200;

/// One step with the steps that feed it.
#[derive(Default)]
pub(super) struct Step {
    pub(super) name: String,
    /// Rows, loops, estimates: for the tooltip.
    pub(super) detail: String,
    /// What the server measured, nanoseconds over all loops; `None` where it did not.
    pub(super) time: Option<i128>,
    /// Whether `time` leaves out the steps below.
    pub(super) alone: bool,
    pub(super) children: Vec<Step>,
}

impl Step {
    /// Time with all steps below: the measured one, or theirs where they took longer.
    fn total(&self) -> i128 {
        let below = self.below();
        match (self.time, self.alone) {
            (Some(time), true) => time.saturating_add(below),
            (time, _) => time.unwrap_or(0).max(below),
        }
    }

    fn below(&self) -> i128 {
        self.children.iter().fold(0, |sum: i128, child| sum.saturating_add(child.total()))
    }
}

/// Hands over the steps of one plan. Weights are whole microseconds; what rounding takes from one step it gives to the next, so that
/// their sum is the plan's total, rounded once.
pub(super) fn show(roots: &[Step], trace: &mut Trace) {
    let series = trace.series(None, Function::Sum, Unit::Microseconds, &[], true);
    let mut walk = Walk { series, nanoseconds: 0, given: 0, stack: Vec::new() };
    for root in roots {
        walk.step(root, trace);
    }
}

struct Walk {
    series: SeriesId,
    nanoseconds: i128,
    given: i128,
    stack: Vec<NameId>,
}

impl Walk {
    fn step(&mut self, step: &Step, trace: &mut Trace) {
        let id = name(step, trace);
        self.stack.push(id);
        let below = step.below();
        if let (Some(time), false) = (step.time, step.alone)
            && below > time
        {
            let text = "step whose parts take longer than itself, its own time counts as 0 (weight: excess in ns)";
            trace.notes.add(Severity::Info, text.into(), 1, below - time, None);
        }
        self.nanoseconds = self.nanoseconds.saturating_add(step.total().saturating_sub(below));
        let upto = self.nanoseconds.saturating_add(500).div_euclid(1000);
        trace.row(self.series, &[], &self.stack, Value::Number(upto.saturating_sub(self.given)));
        self.given = upto;
        for child in &step.children {
            self.step(child, trace);
        }
        self.stack.pop();
    }
}

/// A name of its own for every step: equal ones are numbered from the second on, through all plans of a trace.
pub(super) fn name(step: &Step, trace: &mut Trace) -> NameId {
    let mut id = trace.names.text(step.name.as_bytes());
    let mut number = 1u32;
    while trace.names.detail(id).is_some() {
        number += 1;
        id = trace.names.text(format!("{} #{number}", step.name).as_bytes());
    }
    trace.names.describe(id, step.detail.clone());
    id
}

/// Milliseconds as a server prints them, in nanoseconds.
pub(super) fn nanoseconds(milliseconds: f64) -> Option<i128> {
    let nanoseconds = (milliseconds * 1e6).round();
    // A year is more than any statement takes, and far from the limits of the sums.
    (0.0..3.2e16).contains(&nanoseconds).then_some(nanoseconds as i128)
}
