//! SQL: statements as text. The fingerprint and its lexer.
