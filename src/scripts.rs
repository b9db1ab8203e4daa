//! The bundled D scripts, embedded by build.rs.
