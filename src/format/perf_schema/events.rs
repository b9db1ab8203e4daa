//! Events with the event that they lie in: `thread_id`, `event_id`, `nesting_event_id`. One frame an event, its own time only.
//!
//! Numbers of events are unique in a thread. The server may nest in circles (a transaction that begins in a statement contains that
//! statement): a circle is opened at its longest event. An event whose parent is not in the file becomes a root.

use std::collections::HashMap;

use super::super::client_table::Row;
use super::paths::own;
use super::{count, number, text};
use crate::model::{Function, NameId, Trace, Value};
use crate::units::Unit;

/// Deeper nesting than that is no work of a server; stacks are cut there.
const MAX_DEPTH: usize = 100;

/// Where the columns are.
pub(super) struct Columns {
    thread: Option<usize>,
    event: usize,
    parent: usize,
    name: usize,
    time: usize,
}

impl Columns {
    pub(super) fn find(names: &[String]) -> Option<Columns> {
        let at = |name: &str| names.iter().position(|found| found == name);
        let parent = at("nesting_event_id").or_else(|| at("parent"))?;
        Some(Columns {
            thread: at("thread_id"),
            event: at("event_id")?,
            parent,
            name: at("event_name")?,
            time: at("timer_wait")?,
        })
    }
}

/// All events of an input.
#[derive(Default)]
pub(super) struct Tree {
    index: HashMap<(u64, u64), usize>,
    events: Vec<Event>,
}

struct Event {
    thread: u64,
    name: NameId,
    time: Option<i128>,
    parent: Option<u64>,
    /// Index of the parent, once it is known not to lead in a circle.
    above: Option<usize>,
    below: i128,
}

impl Tree {
    pub(super) fn row(&mut self, columns: &Columns, row: &Row, trace: &mut Trace) {
        let (Some(id), Some(name)) = (count(row, Some(columns.event)), text(row, Some(columns.name))) else {
            return trace.loss("row without event number or name, skipped", row.line);
        };
        let time = match text(row, Some(columns.time)) {
            None => {
                trace.loss(
                    "event without a time (NULL: not timed, or not ended yet): shown with that of its parts",
                    row.line,
                );
                None
            }
            Some(cell) => match number(cell).filter(|&time| time >= 0) {
                None => return trace.loss("row without a number for its time, skipped", row.line),
                time => time,
            },
        };
        let thread = count(row, columns.thread).unwrap_or(0);
        let name = trace.names.text(name);
        if self.index.insert((thread, id), self.events.len()).is_some() {
            trace.loss("event number twice in one thread: both are shown, parts go to the later one", row.line);
        }
        let parent = count(row, Some(columns.parent));
        self.events.push(Event { thread, name, time, parent, above: None, below: 0 });
    }

    /// Finds parents, opens circles, and hands over every event with its own time.
    pub(super) fn finish(mut self, trace: &mut Trace) {
        self.link(trace);
        self.open_circles(trace);
        for at in 0..self.events.len() {
            let Some(Event { above: Some(above), time, .. }) = self.events.get(at) else { continue };
            let (above, time) = (*above, time.unwrap_or(0));
            if let Some(parent) = self.events.get_mut(above) {
                parent.below = parent.below.saturating_add(time);
            }
        }
        let series = trace.series(None, Function::Sum, Unit::Picoseconds, &[], true);
        for (at, event) in self.events.iter().enumerate() {
            let own = event.time.map_or(0, |time| own(time, event.below, trace));
            let (stack, cut) = self.stack(at);
            if cut {
                trace.losses(format!("stack of events deeper than {MAX_DEPTH}: outer ones cut off"), 1);
            }
            trace.row(series, &[], &stack, Value::Number(own));
        }
    }

    fn link(&mut self, trace: &mut Trace) {
        let mut orphans = 0u64;
        for at in 0..self.events.len() {
            let Some(event) = self.events.get_mut(at) else { continue };
            let Some(parent) = event.parent else { continue };
            event.above = self.index.get(&(event.thread, parent)).copied().filter(|&above| above != at);
            orphans += u64::from(event.above.is_none());
        }
        if orphans > 0 {
            trace.notes.info(format!("{orphans} of {} events lie in an event that is not in the file (it had left the history, or has not ended): shown as roots", self.events.len()));
        }
    }

    /// Follows parents from every event; a way that meets itself is a circle.
    fn open_circles(&mut self, trace: &mut Trace) {
        const NEW: u8 = 0;
        const ON_THE_WAY: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.events.len()];
        let mut circles = 0u64;
        let mut way: Vec<usize> = Vec::new();
        for start in 0..self.events.len() {
            way.clear();
            let mut next = Some(start);
            while let Some(at) = next.filter(|&at| state.get(at) == Some(&NEW)) {
                if let Some(state) = state.get_mut(at) {
                    *state = ON_THE_WAY;
                }
                way.push(at);
                next = self.events.get(at).and_then(|event| event.above);
            }
            if let Some(meet) = next.filter(|&at| state.get(at) == Some(&ON_THE_WAY)) {
                let circle: Vec<usize> = way.iter().copied().skip_while(|&at| at != meet).collect();
                // The first of the longest: `max_by_key` alone would give the last.
                let longest =
                    circle.into_iter().rev().max_by_key(|&at| self.events.get(at).and_then(|event| event.time));
                if let Some(event) = longest.and_then(|at| self.events.get_mut(at)) {
                    event.above = None;
                    circles += 1;
                }
            }
            for &at in &way {
                if let Some(state) = state.get_mut(at) {
                    *state = DONE;
                }
            }
        }
        if circles > 0 {
            trace
                .notes
                .info(format!("{circles} circles of events that contain each other: each opened at its longest event"));
        }
    }

    /// Names from the root to the event, and whether outer ones are missing.
    fn stack(&self, at: usize) -> (Vec<NameId>, bool) {
        let mut names = Vec::new();
        let mut next = Some(at);
        while let Some(event) = next.and_then(|at| self.events.get(at)).filter(|_| names.len() < MAX_DEPTH) {
            names.push(event.name);
            next = event.above;
        }
        names.reverse();
        (names, next.is_some())
    }
}
