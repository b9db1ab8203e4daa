//! Options that select query records, or hide what they tell.

use clap::Args;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::model::{Anonymizer, Moment, Selection};
use crate::units;

/// Which query records are shown, and what of them.
#[derive(Args)]
#[command(next_help_heading = "Queries")]
pub(super) struct Queries {
    /// Only this user's
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Only from this host or address
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Only in this database
    #[arg(long, value_name = "DATABASE")]
    db: Option<String>,
    /// Only those that ended then or later: 2026-11-30T14:00, with Z or +01:00 if not the server's zone; 30s after the start
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Moment>,
    /// Only those that ended before, likewise
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<Moment>,
    /// Only those of one digest: its id or the begin of it
    #[arg(long, value_name = "ID")]
    digest: Option<String>,
    /// Leave out statements of stored routines and those inside others of their connection
    #[arg(long)]
    pub(super) top_level_only: bool,
    /// Queries as fingerprints; users and hosts as hashes, with a key that is new each time
    #[arg(long)]
    anonymize: bool,
    /// With --anonymize: a key, so that several files get the same hashes
    #[arg(long, value_name = "TEXT", requires = "anonymize")]
    anonymize_key: Option<String>,
}

impl Queries {
    /// Which records are kept.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            user: self.user.clone(),
            host: self.host.clone(),
            database: self.db.clone(),
            since: self.since,
            until: self.until,
            digest: self.digest.clone(),
            top_level_only: self.top_level_only,
        }
    }

    /// What hides the rest, if it is to be hidden.
    pub(super) fn anonymizer(&self) -> Option<Anonymizer> {
        self.anonymize.then(|| self.anonymize_key.as_deref().map_or_else(Anonymizer::random, Anonymizer::with_key))
    }
}

/// A point in time: with a zone, in the server's zone, or after the start.
fn moment(text: &str) -> Result<Moment, String> {
    let nanoseconds =
        |time: jiff::Timestamp| i64::try_from(time.as_nanosecond()).map_err(|_| "too far away".to_owned());
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return nanoseconds(time).map(Moment::Instant);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        let time = Offset::UTC.to_timestamp(time).map_err(|error| error.to_string())?;
        return nanoseconds(time).map(Moment::Local);
    }
    units::parse_duration(text)
        .map(Moment::AfterStart)
        .map_err(|_| "write it as 2026-11-30T14:00:00, with Z or +01:00 if it has a zone, or as 30s".into())
}
