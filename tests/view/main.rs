//! Views, each over traces that are built here: what they print is compared with what a person worked out.

mod flame;
mod folded;
mod log;
mod support;
