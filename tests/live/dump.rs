//! A reader of dumps for tests, by docs/dump-format.md alone: it shares nothing with the program's own readers.

/// A row of an aggregation.
#[derive(Debug)]
pub struct Row {
    pub keys: Vec<String>,
    /// Functions, innermost first, without module and offset.
    pub frames: Vec<String>,
    /// The value; for a distribution the count of all its buckets.
    pub value: i64,
}

/// The last pass of an aggregation.
pub fn rows(dump: &str, name: &str) -> Vec<Row> {
    let (mut rows, mut row, mut inside) = (Vec::new(), None::<Row>, false);
    let heading = format!("# aggregation\t{name}\t");
    for line in dump.lines() {
        if line.starts_with(&heading) {
            (rows, row, inside) = (Vec::new(), None, true);
        } else if line.starts_with("# end\t") {
            rows.extend(row.take());
            inside = false;
        } else if inside && !line.starts_with("dtrace: ") {
            row = take(line, row, &mut rows);
        }
    }
    rows
}

/// One line inside an aggregation; gives back the row that is still open.
fn take(line: &str, open: Option<Row>, rows: &mut Vec<Row>) -> Option<Row> {
    let fields: Vec<&str> = line.split('\t').collect();
    let (last, keys) = fields.split_last().unwrap();
    let keys: Vec<String> = keys.iter().map(|key| key.trim_end_matches("\\0").to_owned()).collect();
    match (open, last.parse::<i64>()) {
        // `value |@@@@ count`
        (Some(mut row), _) if line.contains('|') => {
            row.value += line.split_whitespace().last().unwrap().parse::<i64>().unwrap();
            Some(row)
        }
        (Some(row), _) if line.is_empty() || line.contains("- Distribution -") => Some(row),
        (Some(mut row), Ok(value)) if keys.is_empty() => {
            row.value = value;
            rows.push(row);
            None
        }
        (Some(mut row), Err(_)) if keys.is_empty() => {
            row.frames.push(function(line));
            Some(row)
        }
        // The first line of a row: with its value, or without.
        (before, Ok(value)) => {
            rows.extend(before);
            rows.push(Row { keys, frames: Vec::new(), value });
            None
        }
        (before, Err(_)) => {
            rows.extend(before);
            (!line.is_empty()).then(|| Row { keys, frames: Vec::new(), value: 0 })
        }
    }
}

fn function(frame: &str) -> String {
    let name = frame.rsplit_once('`').map_or(frame, |(_, name)| name);
    name.rsplit_once("+0x").map_or(name, |(name, _)| name).to_owned()
}

/// The sum of the rows that have this key (if not empty) and this function (if not empty).
pub fn sum(rows: &[Row], key: &str, frame: &str) -> i64 {
    let fits = |row: &&Row| {
        (key.is_empty() || row.keys.iter().any(|it| it == key))
            && (frame.is_empty() || row.frames.iter().any(|it| it == frame))
    };
    rows.iter().filter(fits).map(|row| row.value).sum()
}

/// A heading's first field.
pub fn heading(dump: &str, word: &str) -> i64 {
    let prefix = format!("# {word}\t");
    let line =
        dump.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_else(|| panic!("no # {word} in {dump}"));
    line.split('\t').next().unwrap().parse().unwrap()
}

/// What a program of tests/programs says of itself: the fields of each `truth` line.
pub fn truth(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("truth\t"));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Fails unless `got` is within a share of `expected` or within `least`.
pub fn near(what: &str, got: i64, expected: i64, share: f64, least: i64) {
    let off = (got - expected).abs();
    assert!(off as f64 <= expected as f64 * share || off <= least, "{what}: got {got}, expected {expected}");
    eprintln!("{what}: got {got}, expected {expected}");
}
