//! Queries in full: slow logs in and out, fingerprints, digests, their pictures and the report.

mod fingerprint;
