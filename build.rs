//! Embeds the bundled D scripts.

fn main() {}
