//! Plain data between readers and views: no I/O, no formats, no pictures.
//!
//! A reader fills a [`Trace`]; a view prints one. A trace holds query records, other records ("events"), and series: the rows
//! of one aggregation, keyed by texts, numbers and stacks. What was lost on the way is in its notes.

mod anonymize;
mod depth;
mod diagnostic;
mod distribution;
mod event;
mod filter;
mod frame_lines;
mod heading;
mod heat;
mod join;
mod latency;
mod name;
mod nesting;
mod note;
mod query;
mod selection;
mod series;
mod sieve;
mod texts;
mod trace;
mod verdict;
mod wait_kind;
mod workload;

pub use anonymize::Anonymizer;
pub use distribution::{Bucket, Distribution};
pub use event::{EventTable, Field, FieldType, FieldValue, Schema};
pub use filter::Filter;
pub use frame_lines::{FrameLines, LineId};
pub use heading::{Heading, Picture};
pub use heat::Heat;
pub use latency::Latency;
pub use name::{NameId, Names};
pub use note::{Note, Notes, Severity};
pub use query::{Query, QueryKind};
pub use selection::{Moment, Selection};
pub use series::{Function, Key, KeyKind, Passes, Row, Series, Value};
pub use trace::{CUT_STACK, Consumer, NO_STACK, SeriesId, Trace};
pub use workload::{Class, ClassKind, Workload};
