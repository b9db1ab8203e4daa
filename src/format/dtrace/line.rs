//! What a single line of dtrace(1) can be, judged by itself.

/// Columns of the function's name in a line of a probe that fired (`%3d %6d %32s `).
const NAME_END: usize = 43;

/// How many blanks a line begins with.
pub(super) fn indent(line: &[u8]) -> usize {
    line.iter().position(|&byte| byte != b' ').unwrap_or(line.len())
}

/// The line that dtrace(1) prints once, without -q.
pub(super) fn is_title(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"CPU") else { return false };
    let text = rest.trim_ascii();
    text == b"FUNCTION" || (text.starts_with(b"ID ") && text.ends_with(b"FUNCTION:NAME"))
}

/// `  0   2653                         :tick-5s text`: what follows CPU and ID, name and text. Also the lines of -F: `  1  <- name text`.
pub(super) fn fired(line: &[u8]) -> Option<&[u8]> {
    let (cpu_end, _) = digits(line, 0)?;
    if cpu_end < 3 || line.get(cpu_end) != Some(&b' ') {
        return None;
    }
    if let Some(flow) = line.get(cpu_end..).map(<[u8]>::trim_ascii_start)
        && [&b"-> "[..], b"<- ", b"| ", b"=> ", b"<= "].iter().any(|arrow| flow.starts_with(arrow))
    {
        return Some(flow);
    }
    let (id_end, id_digits) = digits(line, cpu_end.saturating_add(1))?;
    let width = id_end.saturating_sub(cpu_end.saturating_add(1));
    if width != 6 && !(width > 6 && id_digits == width) {
        return None;
    }
    let name = line.get(id_end..)?.strip_prefix(b" ")?.trim_ascii_start();
    let length = memchr::memchr(b' ', name)?;
    let colon = memchr::memchr(b':', name.get(..length)?).is_some();
    let end = line.len().saturating_sub(name.len()).saturating_add(length);
    (colon && end >= NAME_END).then_some(name)
}

/// Blanks, then digits: where they end and how many digits there are.
fn digits(line: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = line.get(from..)?;
    let start = indent(rest);
    let count = rest.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| (from.saturating_add(start).saturating_add(count), count))
}

/// Whether the text is only numbers and blanks: no frame looks like that.
pub(super) fn is_numbers(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
}

/// Whether the text is a frame wherever it stands: module, backquote and symbol; a bare address; or module:0xoffset (`-x noresolve`).
pub(super) fn is_frame(text: &[u8]) -> bool {
    let hex = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit);
    if let Some(address) = text.strip_prefix(b"0x") {
        return hex(address);
    }
    let module = |text: &[u8]| {
        !text.is_empty() && text.iter().all(|byte| !b" \t()'\",;=`".contains(byte)) && !text.ends_with(b".")
    };
    if let Some(at) = memchr::memchr(b'`', text) {
        let symbol = text.get(at.saturating_add(1)..).unwrap_or(&[]);
        return module(text.get(..at).unwrap_or(&[])) && symbol.first().is_some_and(|byte| !byte.is_ascii_whitespace());
    }
    match memchr::memmem::rfind(text, b":0x") {
        Some(at) => module(text.get(..at).unwrap_or(&[])) && hex(text.get(at.saturating_add(3)..).unwrap_or(&[])),
        None => false,
    }
}

/// Whether the text is the note of a ustack helper on the frame above it.
pub(super) fn is_annotation(text: &[u8]) -> bool {
    text.starts_with(b"[ ") && text.ends_with(b"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_by_themselves() {
        for frame in [
            &b"mariadbd`_ZN4JOIN4execEv+0x30"[..],
            b"0x7fffffffe084",
            b"libc.so.6`0x7fe186ea6efe",
            b"mysqld`dispatch_command(enum_server_command, THD*)+0x1",
            b"prog:0x12",
        ] {
            assert!(is_frame(frame), "{}", String::from_utf8_lossy(frame));
        }
        for text in [&b"SELECT `name`"[..], b"t.`name` > 5", b"12", b"0x", b"`x`", b"0xzz", b"a: 0x1"] {
            assert!(!is_frame(text), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn lines_of_probes_that_fired() {
        assert!(is_title(b"CPU     ID                    FUNCTION:NAME"));
        assert!(is_title(b"CPU FUNCTION                                 "));
        assert_eq!(fired(b"  2  64091                         :tick-1s "), Some(&b":tick-1s "[..]));
        assert_eq!(fired(b"  1  <- main 528"), Some(&b"<- main 528"[..]));
        assert_eq!(fired(b"               14    18047               41"), None);
        assert_eq!(fired(b"  SELECT 1                                          a:b            1"), None);
    }
}
