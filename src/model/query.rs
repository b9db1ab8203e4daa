//! A query: one statement that a server has ended, as a log line tells it.

use std::borrow::Cow;

/// How a statement reached the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueryKind {
    /// Sent as text.
    #[default]
    Direct,
    /// Execution of a prepared statement.
    Prepared,
    /// Run inside a stored routine, trigger or event.
    Routine,
    /// No statement: an administrator command (`Quit`, `Ping`); its name is the text.
    Admin,
}

impl QueryKind {
    /// The word that dumps and JSON use.
    pub fn word(self) -> &'static str {
        match self {
            QueryKind::Direct => "direct",
            QueryKind::Prepared => "prepared",
            QueryKind::Routine => "routine",
            QueryKind::Admin => "admin",
        }
    }

    /// The kind of that word.
    pub fn from_word(word: &str) -> Option<QueryKind> {
        [QueryKind::Direct, QueryKind::Prepared, QueryKind::Routine, QueryKind::Admin]
            .into_iter()
            .find(|kind| kind.word() == word)
    }
}

/// One statement. Fields that the source does not know are `None`; an empty text is a known, empty text.
///
/// Texts borrow from the reader's buffer while a log streams; [`Query::into_owned`] keeps one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// When it ended, nanoseconds since 1970 UTC.
    pub end: Option<i64>,
    /// Connection id.
    pub connection: Option<u64>,
    /// User, without host.
    pub user: Option<Cow<'a, str>>,
    /// Host or address of the client.
    pub host: Option<Cow<'a, str>>,
    /// Current database.
    pub database: Option<Cow<'a, str>>,
    /// Whether the database is only carried over from an earlier record (slow logs).
    pub database_inherited: bool,
    /// Error number of the server, 0 for success.
    pub status: Option<i64>,
    /// Nanoseconds from arrival to end.
    pub elapsed: Option<u64>,
    /// Nanoseconds waited for locks, where the source tells them.
    pub lock_time: Option<u64>,
    /// Rows sent to the client.
    pub rows_sent: Option<u64>,
    /// Rows read.
    pub rows_examined: Option<u64>,
    /// Rows changed.
    pub rows_affected: Option<u64>,
    /// How it came.
    pub kind: QueryKind,
    /// The statement's text, or the command's name.
    pub text: Cow<'a, str>,
    /// Whether the text is cut: the statement went on.
    pub cut: bool,
    /// Other facts of the source (`QC_hit`, `Full_scan`), in its order and words.
    pub attributes: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl Query<'_> {
    /// The same query, owning its texts.
    pub fn into_owned(self) -> Query<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Query {
            user: self.user.map(own),
            host: self.host.map(own),
            database: self.database.map(own),
            text: own(self.text),
            attributes: self.attributes.into_iter().map(|(name, value)| (own(name), own(value))).collect(),
            end: self.end,
            connection: self.connection,
            database_inherited: self.database_inherited,
            status: self.status,
            elapsed: self.elapsed,
            lock_time: self.lock_time,
            rows_sent: self.rows_sent,
            rows_examined: self.rows_examined,
            rows_affected: self.rows_affected,
            kind: self.kind,
            cut: self.cut,
        }
    }

    /// When it began, where end and duration are known.
    pub fn start(&self) -> Option<i64> {
        self.end?.checked_sub(i64::try_from(self.elapsed?).ok()?)
    }

    /// `user@host`, or the part that is known; empty if neither is.
    pub fn who(&self) -> String {
        match (self.user.as_deref().unwrap_or(""), self.host.as_deref().unwrap_or("")) {
            (user, "") => user.to_owned(),
            (user, host) => format!("{user}@{host}"),
        }
    }
}
