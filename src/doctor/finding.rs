//! One thing that was looked at: good, bad or doubtful, and what to do.

use serde::Serialize;

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// In the way.
    Bad,
    /// Cannot be told from here, or matters only sometimes.
    Doubt,
}

/// What a finding keeps from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Nothing.
    Nothing,
    /// Every trace.
    Everything,
    /// Probes of these providers, written `provider` or `provider:name`.
    Probes(&'static [&'static str]),
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What it is about, in a word or two.
    pub about: &'static str,
    /// How it stands.
    pub state: State,
    /// What was found.
    pub says: String,
    /// What to do; may be empty.
    pub remedy: String,
    /// What it keeps from working.
    #[serde(skip)]
    pub blocks: Blocks,
}

impl Finding {
    /// Nothing is in the way.
    pub fn good(about: &'static str, says: impl Into<String>) -> Finding {
        Finding { about, state: State::Good, says: says.into(), remedy: String::new(), blocks: Blocks::Nothing }
    }

    /// Nothing can be traced like this.
    pub fn bad(about: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { about, state: State::Bad, says: says.into(), remedy: remedy.into(), blocks: Blocks::Everything }
    }

    /// Some probes are missing.
    pub fn lacks(
        about: &'static str,
        says: impl Into<String>,
        remedy: impl Into<String>,
        probes: &'static [&'static str],
    ) -> Finding {
        Finding { blocks: Blocks::Probes(probes), ..Finding::bad(about, says, remedy) }
    }

    /// It may matter.
    pub fn doubt(about: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { state: State::Doubt, blocks: Blocks::Nothing, ..Finding::bad(about, says, remedy) }
    }

    /// Whether nothing at all can be traced because of it.
    pub fn stops_everything(&self) -> bool {
        self.blocks == Blocks::Everything
    }

    /// Whether it keeps a probe of the provider from firing.
    pub fn stops(&self, provider: &str, probes: &str) -> bool {
        match self.blocks {
            Blocks::Probes(missing) => missing.iter().any(|one| match one.split_once(':') {
                Some((of, name)) => of == provider && probes.contains(&format!("{of}:::{name}")),
                None => *one == provider,
            }),
            _ => false,
        }
    }
}
