//! Views, each over traces that are built here: what they print is compared with what a person worked out.

mod data;
mod diff;
mod flame;
mod folded;
mod hist;
mod log;
mod planted;
mod stream;
mod support;
