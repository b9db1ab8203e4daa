//! SQL as text: cut into tokens, and brought to a common form ("fingerprint") that groups statements and holds no literal.
//!
//! Statements come from logs and traces: cut, in any encoding, in any dialect, wrong. Nothing here parses SQL or refuses it.

mod fingerprint;
mod lexer;
mod lists;

pub use fingerprint::{Fingerprinter, fingerprint, fingerprint_of, id};
pub use lexer::{Kind, Lexer, Token};
