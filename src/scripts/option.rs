//! An option of a script: what the user may write, and where it goes in the D program.
//!
//! Values never enter a program unchecked. A macro argument (`$1`, `$$2`) is passed beside the program, not in its text;
//! a constant (`profile-499`, `ustackframes=64`) is one number, and a checked number takes its place.

use super::header::cut;
use crate::units;

/// What a value looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A duration, as `10ms`.
    Time,
    /// A rate, as `499`.
    Hertz,
    /// A number.
    Count,
    /// A size, as `4m`.
    Size,
    /// Any text.
    Text,
    /// One of these words.
    Words(Vec<String>),
}

/// Where a value goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Macro argument `$N`: a number.
    Number(usize),
    /// Macro argument `$$N`: a text.
    Text(usize),
    /// What stands before and after the number of a constant in the program.
    Constant(String, String, String),
}

/// One option of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOption {
    /// Its name without dashes.
    pub name: String,
    /// What a value looks like.
    pub kind: OptionKind,
    /// Where it goes.
    pub token: Token,
    /// What it does.
    pub about: String,
    /// Least and greatest value, in ns for times.
    pub limits: Option<(u64, u64)>,
}

impl OptionKind {
    /// What stands for a value in a usage line.
    pub fn placeholder(&self) -> String {
        match self {
            OptionKind::Time => "TIME".into(),
            OptionKind::Hertz => "HZ".into(),
            OptionKind::Count => "N".into(),
            OptionKind::Size => "SIZE".into(),
            OptionKind::Text => "TEXT".into(),
            OptionKind::Words(words) => words.join("|"),
        }
    }
}

impl ScriptOption {
    /// Reads a line of the OPTIONS section: `--name TYPE token description; limits`.
    pub(super) fn parse(line: &str) -> Result<ScriptOption, String> {
        let (name, rest) = cut(line);
        let (kind, rest) = cut(rest);
        let (token, about) = cut(rest);
        let name = name.trim_start_matches('-').to_owned();
        let kind = match kind {
            "TIME" => OptionKind::Time,
            "HZ" => OptionKind::Hertz,
            "N" => OptionKind::Count,
            "SIZE" => OptionKind::Size,
            "TEXT" => OptionKind::Text,
            words if words.contains('|') => OptionKind::Words(words.split('|').map(str::to_owned).collect()),
            other => return Err(format!("--{name} {other}: no such type")),
        };
        let token =
            parse_token(token).ok_or_else(|| format!("--{name}: {token}: neither $N nor a constant with a number"))?;
        let mut option = ScriptOption { name, kind, token, about: about.to_owned(), limits: None };
        if let Some((_, last)) = about.rsplit_once(';')
            && let Some((least, most)) = last.trim().split_once("..")
        {
            option.limits = Some((option.number(least)?, option.number(most)?));
        }
        Ok(option)
    }

    /// The value as the program gets it: a number as decimal digits, a text as it is.
    pub fn checked(&self, value: &str) -> Result<String, String> {
        match &self.kind {
            OptionKind::Text if value.contains('\0') => Err(format!("--{}: a text cannot hold a NUL byte", self.name)),
            OptionKind::Text => Ok(value.to_owned()),
            OptionKind::Words(words) if words.iter().any(|word| word == value) => Ok(value.to_owned()),
            OptionKind::Words(words) => Err(format!("--{} {value}: use {}", self.name, words.join(" or "))),
            _ => {
                let number = self.number(value)?;
                if let Some((least, most)) = self.limits
                    && !(least..=most).contains(&number)
                {
                    return Err(format!("--{} {value}: must lie in {}", self.name, self.range()));
                }
                Ok(number.to_string())
            }
        }
    }

    fn range(&self) -> &str {
        self.about.rsplit_once(';').map_or("", |(_, range)| range.trim())
    }

    fn number(&self, value: &str) -> Result<u64, String> {
        let value = value.trim();
        let wrong = |hint: &str| format!("--{} {value}: write it as {hint}", self.name);
        match self.kind {
            OptionKind::Time => {
                let time = units::parse_duration(value).map_err(|_| wrong("10ms or 1.5s"))?;
                // D's numbers are signed.
                i64::try_from(time.as_nanos()).map(i64::unsigned_abs).map_err(|_| wrong("a shorter time"))
            }
            OptionKind::Size => parse_size(value).ok_or_else(|| wrong("64k or 4m")),
            OptionKind::Hertz => {
                digits(value.strip_suffix("hz").unwrap_or(value)).ok_or_else(|| wrong("a rate in hertz"))
            }
            _ => digits(value).ok_or_else(|| wrong("a whole number")),
        }
    }

    /// The program with `value`, which [`ScriptOption::checked`] gave, in place of the constant; untouched for macro arguments.
    pub(super) fn substitute(&self, text: &str, value: &str) -> String {
        let Token::Constant(before, number, after) = &self.token else { return text.to_owned() };
        let replacement = match (&self.kind, value.parse::<u64>()) {
            (OptionKind::Time, Ok(time)) => format!("{before}{}", d_time(time)),
            _ => format!("{before}{value}{after}"),
        };
        let changed = replace_word(text, &format!("{before}{number}{after}"), &replacement);
        if before.ends_with("stackframes=") {
            // The dump says how deep stacks were recorded.
            return replace_word(&changed, &format!("frames/{number}"), &format!("frames/{value}"));
        }
        changed
    }
}

fn digits(text: &str) -> Option<u64> {
    // No sign, no blank: `parse` alone would take a plus.
    let number: u64 = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    i64::try_from(number).is_ok().then_some(number)
}

/// A size as DTrace's options have it: a number, with k, m or g.
pub fn parse_size(text: &str) -> Option<u64> {
    let (number, shift) = match text.bytes().last()? {
        b'k' | b'K' => (text.get(..text.len() - 1)?, 10),
        b'm' | b'M' => (text.get(..text.len() - 1)?, 20),
        b'g' | b'G' => (text.get(..text.len() - 1)?, 30),
        _ => (text, 0),
    };
    digits(number)?.checked_mul(1 << shift).filter(|size| i64::try_from(*size).is_ok())
}

/// A duration as a probe name of the profile provider has it.
fn d_time(nanoseconds: u64) -> String {
    match nanoseconds {
        time if time % 1_000_000 == 0 => format!("{}ms", time / 1_000_000),
        time if time % 1_000 == 0 => format!("{}us", time / 1_000),
        time => format!("{time}ns"),
    }
}

fn parse_token(token: &str) -> Option<Token> {
    if let Some(number) = token.strip_prefix("$$") {
        return number.parse().ok().map(Token::Text);
    }
    if let Some(number) = token.strip_prefix('$') {
        return number.parse().ok().map(Token::Number);
    }
    let start = token.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = token.split_at(start);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(end);
    Some(Token::Constant(before.to_owned(), number.to_owned(), after.to_owned()))
}

/// Replaces `old` where it is not a part of a longer word.
pub(super) fn replace_word(text: &str, old: &str, new: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let (before, from) = rest.split_at(at);
        let after = from.get(old.len()..).unwrap_or("");
        result.push_str(before);
        let joined = result.chars().last().is_some_and(is_word) || after.chars().next().is_some_and(is_word);
        result.push_str(if joined { old } else { new });
        rest = after;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_replaced_as_whole_words() {
        let rate = ScriptOption::parse("--rate HZ profile-499 samples a second; 1..5000").unwrap();
        let text = "profile-499 { } profile-4990 { } xprofile-499 { }";
        assert_eq!(
            rate.substitute(text, &rate.checked("97").unwrap()),
            "profile-97 { } profile-4990 { } xprofile-499 { }"
        );
        assert!(rate.checked("0").is_err() && rate.checked("5001").is_err() && rate.checked("1;exit").is_err());
        let every = ScriptOption::parse("--interval TIME tick-10s time between passes; 1s..1h").unwrap();
        assert_eq!(every.substitute("tick-10s {}", &every.checked("1.5s").unwrap()), "tick-1500ms {}");
        assert!(every.checked("10ms").is_err());
        let depth = ScriptOption::parse("--depth N ustackframes=64 frames kept; 1..512").unwrap();
        let text = "#pragma D option ustackframes=64\nstack:frames/64";
        assert_eq!(
            depth.substitute(text, &depth.checked("9").unwrap()),
            "#pragma D option ustackframes=9\nstack:frames/9"
        );
    }

    #[test]
    fn values_are_checked() {
        let size = ScriptOption::parse("--size SIZE $2 at least so many").unwrap();
        assert_eq!(size.checked("4m").unwrap(), "4194304");
        assert!(size.checked("9999999999g").is_err() && size.checked("-1").is_err() && size.checked("+1").is_err());
        let by = ScriptOption::parse("--by user|db $$1 key").unwrap();
        assert!(by.checked("user").is_ok() && by.checked("user\" }").is_err());
    }
}
