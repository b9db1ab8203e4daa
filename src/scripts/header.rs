//! The comment on top of a bundled script, read by people and by the program.
//!
//! ```text
//! /*
//!  * NAME.d - purpose
//!  *
//!  * GROUP    queries
//!  * USAGE    dtrace -q -s NAME.d -p PID
//!  *
//!  * NEEDS
//!  *   probes     mysql query-start query-done
//!  *   functions  *dispatch_command*
//!  *   providers  sched
//!  *   scripts    query-time off-cpu|blocked-calls
//!  *   system     linux macos
//!  *   target     yes
//!  *
//!  * OPTIONS
//!  *   --min TIME     $1            only statements that took at least this long; 0s
//!  *   --rate HZ      profile-499   samples a second and CPU; 1..5000
//!  *
//!  * OVERHEAD ...
//! ```

use super::option::ScriptOption;

/// Whether a script is about one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetNeed {
    /// It uses `$target`.
    #[default]
    Yes,
    /// It watches the whole system.
    No,
    /// It can do both.
    Optional,
}

/// What the header of a script says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// What it is for, in one line.
    pub purpose: String,
    /// Group in the list of scripts.
    pub group: String,
    /// How to run it with plain dtrace(1).
    pub usage: String,
    /// Provider of the static probes; empty if none are needed.
    pub provider: String,
    /// Static probes that must exist.
    pub probes: Vec<String>,
    /// Globs over the functions of the server, each of which must match.
    pub functions: Vec<String>,
    /// Providers of the kernel, besides pid and dtrace.
    pub providers: Vec<String>,
    /// Scripts that run with it in one trace. Of alternatives (`off-cpu|blocked-calls`) the first that can.
    pub scripts: Vec<String>,
    /// Systems on which it runs; empty: all.
    pub systems: Vec<String>,
    /// Whether it needs a process.
    pub target: TargetNeed,
    /// What can be set.
    pub options: Vec<ScriptOption>,
}

/// A line of the comment: with its depth of indent and its words.
struct Line<'a> {
    is_section: bool,
    text: &'a str,
}

impl Header {
    /// Reads the header of a script; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Header, String> {
        let comment = text.split_once("*/").map(|(comment, _)| comment).ok_or("no comment on top")?;
        let mut lines = comment.lines().filter_map(line);
        let first = lines.next().ok_or("an empty comment on top")?;
        let (_, purpose) = first.text.split_once(" - ").ok_or("the first line is not `NAME.d - purpose`")?;
        let mut header = Header { purpose: purpose.trim().to_owned(), ..Header::default() };
        let mut section = "";
        for line in lines {
            if line.is_section {
                let (word, rest) = cut(line.text);
                section = word;
                match section {
                    "GROUP" => header.group = rest.to_owned(),
                    "USAGE" => header.usage = rest.to_owned(),
                    _ => {}
                }
                continue;
            }
            match section {
                "NEEDS" => header.need(line.text)?,
                "OPTIONS" => header.option(line.text)?,
                _ => {}
            }
        }
        Ok(header)
    }

    fn need(&mut self, text: &str) -> Result<(), String> {
        // A remark for people may stand in parentheses at the end.
        let text = text.split_once('(').map_or(text, |(before, _)| before);
        let (word, rest) = cut(text);
        let mut words = rest.split_whitespace().map(str::to_owned);
        match word {
            "probes" => {
                self.provider = words.next().ok_or("NEEDS probes: no provider")?;
                self.probes.extend(words);
            }
            "functions" => self.functions.extend(words),
            "providers" => self.providers.extend(words),
            "scripts" => self.scripts.extend(words),
            "system" => self.systems.extend(words),
            "target" => {
                self.target = match rest.trim() {
                    "yes" => TargetNeed::Yes,
                    "no" => TargetNeed::No,
                    "optional" => TargetNeed::Optional,
                    other => return Err(format!("NEEDS target: {other}: use yes, no or optional")),
                }
            }
            other => return Err(format!("NEEDS {other}: use probes, functions, providers, scripts, system or target")),
        }
        Ok(())
    }

    fn option(&mut self, text: &str) -> Result<(), String> {
        if text.starts_with("--") {
            self.options.push(ScriptOption::parse(text)?);
        } else if let Some(option) = self.options.last_mut() {
            option.about = format!("{} {text}", option.about);
        }
        Ok(())
    }
}

fn line(raw: &str) -> Option<Line<'_>> {
    let text = raw.trim_start().trim_start_matches("/*");
    let text = text.strip_prefix('*').unwrap_or(text);
    let indent = text.len() - text.trim_start().len();
    let text = text.trim();
    // A section begins after one blank, with a word in capitals.
    let word = cut(text).0;
    let is_section = indent <= 1 && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
    (!text.is_empty()).then_some(Line { is_section, text })
}

/// The first word, and what follows it.
pub(super) fn cut(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}
