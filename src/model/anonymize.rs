//! Anonymous traces: statements as fingerprints, accounts as keyed hashes. What comes out can be read like any other trace.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use md5::{Digest, Md5};
use siphasher::sip::SipHasher24;

use super::{FieldValue, Key, NameId, Names, Query, QueryKind, Schema};
use crate::sql;

/// Hides who and what. Equal names get equal hashes under one key; without the key they cannot be tried out.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    key: [u8; 16],
    known: BTreeMap<(Role, NameId), NameId>,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    User,
    Host,
    Statement,
}

impl Role {
    /// By the name of a key or field; `None` for those that tell nobody.
    fn of(name: &str) -> Option<Role> {
        match name {
            "user" => Some(Role::User),
            "host" | "client" | "ip" => Some(Role::Host),
            "query" | "statement" | "sql" => Some(Role::Statement),
            _ => None,
        }
    }
}

impl Anonymizer {
    /// With a key that nobody knows: a new one each time.
    pub fn random() -> Anonymizer {
        let half = |half: u8| RandomState::new().hash_one(half).to_be_bytes();
        let mut key = [0; 16];
        key.iter_mut().zip([half(0), half(1)].concat()).for_each(|(to, from)| *to = from);
        Anonymizer { key, known: BTreeMap::new() }
    }

    /// With a key made of a text, so that several files get the same hashes.
    pub fn with_key(text: &str) -> Anonymizer {
        Anonymizer { key: Md5::digest(text.as_bytes()).into(), known: BTreeMap::new() }
    }

    /// A record without literals and names of people.
    pub fn query<'q>(&self, query: Query<'q>) -> Query<'q> {
        let text = if query.kind == QueryKind::Admin {
            query.text
        } else {
            self.text(Role::Statement, &query.text, query.cut).into()
        };
        let attributes = query.attributes.into_iter().map(|(name, value)| {
            let hidden: Option<Cow<'q, str>> = match &*name {
                "ip" => Some(self.text(Role::Host, &value, false).into()),
                "warning" => Some(self.text(Role::Statement, &value, false).into()),
                _ => None,
            };
            (name, hidden.unwrap_or(value))
        });
        Query {
            text,
            user: query.user.map(|user| self.text(Role::User, &user, false).into()),
            host: query.host.map(|host| self.text(Role::Host, &host, false).into()),
            attributes: attributes.collect(),
            ..query
        }
    }

    /// A text without what must not be known.
    fn text(&self, role: Role, text: &str, cut: bool) -> String {
        let prefix = match role {
            Role::Statement => return sql::fingerprint_of(text, cut),
            _ if text.is_empty() => return String::new(),
            Role::User => "user-",
            Role::Host => "host-",
        };
        let mut hasher = SipHasher24::new_with_key(&self.key);
        hasher.write(text.as_bytes());
        let hash = hasher.finish() >> 16;
        format!("{prefix}{hash:012x}")
    }

    /// The keys of a row; those without a name stay, since it is not known what they are.
    pub(super) fn keys(&mut self, kinds: &[Key], keys: &[NameId], names: &mut Names) -> Vec<NameId> {
        // With `--passes each` a key more stands in front of the row's own.
        let kinds = kinds.get(kinds.len().saturating_sub(keys.len())..).unwrap_or(kinds);
        let role = |kind: &Key| kind.name.as_deref().and_then(Role::of);
        keys.iter().zip(kinds).map(|(&key, kind)| role(kind).map_or(key, |role| self.name(role, key, names))).collect()
    }

    /// The values of another record.
    pub(super) fn event(&self, schema: &Schema, values: Vec<FieldValue>) -> Vec<FieldValue> {
        let fields = schema.fields.iter().map(|field| Role::of(&field.name));
        let hide = |(value, role): (FieldValue, Option<Role>)| match (value, role) {
            (FieldValue::Text(text), Some(role)) => FieldValue::Text(self.text(role, &text, false)),
            (value, _) => value,
        };
        values.into_iter().zip(fields.chain(std::iter::repeat(None))).map(hide).collect()
    }

    fn name(&mut self, role: Role, name: NameId, names: &mut Names) -> NameId {
        if let Some(&known) = self.known.get(&(role, name)) {
            return known;
        }
        let hidden = self.text(role, names.get(name), false);
        let hidden = names.text(hidden.as_bytes());
        self.known.insert((role, name), hidden);
        hidden
    }
}
