//! From a form and the user's options to a program that can run.

use super::option::{parse_size, replace_word};
use super::{Form, Token};
use crate::error::{Error, Result};
use crate::live::Program;

/// The program with its options: constants replaced, macro arguments collected.
pub fn prepare(form: &Form, given: &[(String, String)]) -> Result<Program> {
    let mut text = form.text.to_owned();
    let mut args: Vec<Option<String>> = Vec::new();
    for (name, value) in given {
        let Some(option) = form.header.options.iter().find(|option| option.name == *name) else {
            return Err(no_such_option(form, name));
        };
        let value = option.checked(value).map_err(Error::Usage)?;
        match option.token {
            Token::Number(number) | Token::Text(number) => set(&mut args, number, value),
            Token::Constant(..) => text = option.substitute(&text, &value),
        }
    }
    let args = args.into_iter().enumerate().map(|(at, value)| value.unwrap_or_else(|| unset(form, at + 1))).collect();
    Ok(Program { name: format!("{}.d", form.name), text, args })
}

/// What stands for a macro argument that was not given, when one after it was.
fn unset(form: &Form, number: usize) -> String {
    let is_text = form.header.options.iter().any(|option| option.token == Token::Text(number));
    if is_text { String::new() } else { "0".to_owned() }
}

fn set(args: &mut Vec<Option<String>>, number: usize, value: String) {
    let index = number.saturating_sub(1);
    if args.len() <= index {
        args.resize(index + 1, None);
    }
    if let Some(place) = args.get_mut(index) {
        *place = Some(value);
    }
}

fn no_such_option(form: &Form, name: &str) -> Error {
    let names: Vec<String> = form.header.options.iter().map(|option| format!("--{}", option.name)).collect();
    let known = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
    Error::Usage(format!("--{name}: {}.d has no such option; {known}", form.name))
}

/// The program with `-x` options in place of its pragmas of the same name: a pragma would override them otherwise.
pub fn with_options(mut program: Program, options: &[(String, Option<String>)]) -> Program {
    for (name, value) in options {
        let Some(value) = value else { continue };
        let lines: Vec<String> = program
            .text
            .split('\n')
            .map(|line| match pragma(line) {
                Some((option, old)) if option == name => {
                    replace_word(line, &format!("{option}={old}"), &format!("{name}={value}"))
                }
                _ => line.to_owned(),
            })
            .collect();
        program.text = lines.join("\n");
        if let Some(bytes) = parse_size(value).filter(|_| name == "strsize") {
            program.text = with_strsize(&program.text, bytes);
        }
    }
    program
}

/// The heading that tells a reader where texts were cut.
fn with_strsize(text: &str, bytes: u64) -> String {
    const HEADING: &str = "# strsize\\t";
    let Some((before, rest)) = text.split_once(HEADING) else { return text.to_owned() };
    format!("{before}{HEADING}{bytes}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Gives programs that share a handle, and with it its options, the largest value that one of them asks for. Returns what was raised.
pub fn share_options(programs: &mut [Program]) -> Vec<(String, String)> {
    let mut asked: Vec<(String, String)> = Vec::new();
    let mut raised = Vec::new();
    for (name, value) in programs.iter().flat_map(|program| program.text.lines().filter_map(pragma)) {
        match asked.iter_mut().find(|(known, _)| known == name) {
            None => asked.push((name.to_owned(), value.to_owned())),
            Some((_, known)) if known == value => {}
            Some((_, known)) => {
                if magnitude(value) > magnitude(known) {
                    value.clone_into(known);
                }
                raised.push(name.to_owned());
            }
        }
    }
    asked.retain(|(name, _)| raised.contains(name));
    let options: Vec<(String, Option<String>)> =
        asked.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    for program in programs {
        *program = with_options(program.clone(), &options);
    }
    asked
}

/// A size (`16m`) or a rate (`10hz`) as a number.
fn magnitude(value: &str) -> u64 {
    parse_size(value.trim_end_matches("hz")).unwrap_or(0)
}

/// The value that a program gives to an option by pragma.
pub fn pragma_value(text: &str, name: &str) -> Option<String> {
    text.lines().filter_map(pragma).find(|(option, _)| *option == name).map(|(_, value)| value.to_owned())
}

/// Name and value of a `#pragma D option name=value` line.
fn pragma(line: &str) -> Option<(&str, &str)> {
    let mut words = line.trim_start().strip_prefix('#')?.split_whitespace();
    match (words.next()?, words.next()?, words.next()?, words.next()?) {
        ("pragma", "D", "option", setting) => setting.split_once('='),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripts::{FormKind, Header};

    const TEXT: &str = "/*\n * t.d - test\n *\n * OPTIONS\n *   --min TIME $1 least\n *   --user TEXT $$2 who\n *   --rate HZ profile-499 rate; 1..5000\n */\n\
                        #pragma D option aggsize=64m\nprofile-499 /arg1 > $1 && $$2 != \"\"/ { }\n";

    fn form() -> Form {
        Form { name: "t", kind: FormKind::Plain, text: TEXT, header: Header::parse(TEXT).unwrap() }
    }

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn texts_go_beside_the_program_and_never_into_it() {
        let hostile = "x\" || 1/{ system(\"id\"); }\n";
        let program = prepare(&form(), &given(&[("user", hostile)])).unwrap();
        assert_eq!(program.args, ["0", hostile]);
        assert_eq!(program.text, TEXT);
    }

    #[test]
    fn constants_and_pragmas() {
        let program = prepare(&form(), &given(&[("rate", "97"), ("min", "2ms")])).unwrap();
        assert_eq!(program.args, ["2000000"]);
        assert!(program.text.contains("\nprofile-97 /"));
        let program = with_options(program, &[("aggsize".into(), Some("1m".into()))]);
        assert!(program.text.contains("#pragma D option aggsize=1m\n"));
    }

    #[test]
    fn programs_in_one_handle_share_the_largest_value() {
        let of = |text: &str| Program { name: "t.d".into(), text: text.into(), args: Vec::new() };
        let mut programs = [
            of("#pragma D option strsize=256\n#pragma D option aggsize=32m\nprintf(\"# strsize\\t256\\n\");"),
            of("#pragma D option strsize=1024\n#pragma D option aggsize=4096k\n#pragma D option bufsize=1m\n"),
        ];
        let raised = share_options(&mut programs);
        assert_eq!(raised, [("strsize".into(), "1024".into()), ("aggsize".into(), "32m".to_string())]);
        assert_eq!(
            programs[0].text,
            "#pragma D option strsize=1024\n#pragma D option aggsize=32m\nprintf(\"# strsize\\t1024\\n\");"
        );
        assert_eq!(
            programs[1].text,
            "#pragma D option strsize=1024\n#pragma D option aggsize=32m\n#pragma D option bufsize=1m\n"
        );
    }

    #[test]
    fn unknown_options_are_named() {
        let error = prepare(&form(), &given(&[("db", "x")])).unwrap_err().to_string();
        assert_eq!(error, "--db: t.d has no such option; it has --min, --user, --rate");
    }
}
