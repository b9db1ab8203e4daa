//! Queries in full: slow logs in and out, fingerprints, digests, their pictures and the report.

mod digest;
mod fingerprint;
mod select;
mod slow_log;
mod support;
