//! What the tests of this crate share: an input in, a trace or a view's text out.

use seatrace::format;
use seatrace::input::Input;
use seatrace::model::{Filter, Passes, Trace};
use seatrace::symbol::Cleaner;
use seatrace::view;

/// How an input is read.
#[derive(Default)]
pub struct Reading {
    pub cleaner: Cleaner,
    pub filter: Filter,
    pub passes: Passes,
    pub from: Option<&'static str>,
    pub options: format::Options,
}

impl Reading {
    /// Reads bytes as the file `input`.
    pub fn of(self, bytes: &[u8]) -> Trace {
        self.try_of(bytes).expect("the input is read")
    }

    /// Reads bytes as the file `input`, or fails.
    pub fn try_of(self, bytes: &[u8]) -> seatrace::error::Result<Trace> {
        let mut trace = Trace::new(self.cleaner, self.filter, self.passes);
        let mut input = Input::from_read("input", Box::new(std::io::Cursor::new(bytes.to_vec())))?;
        format::read(&mut input, self.from, &self.options, &mut trace)?;
        trace.finish();
        Ok(trace)
    }
}

/// Reads an input as it comes.
pub fn read(bytes: impl AsRef<[u8]>) -> Trace {
    Reading::default().of(bytes.as_ref())
}

/// What a view prints of a trace.
pub fn show(trace: &Trace, name: &str) -> String {
    show_with(trace, name, &view::Options::default())
}

/// What a view prints of a trace, with options.
pub fn show_with(trace: &Trace, name: &str, options: &view::Options) -> String {
    let mut out = Vec::new();
    let view = view::by_name(name).expect("a view of that name");
    (view.write)(trace, options, &mut out).expect("memory can be written");
    String::from_utf8(out).expect("views write UTF-8")
}

/// The folded lines of an input.
pub fn folded(bytes: impl AsRef<[u8]>) -> String {
    show(&read(bytes), "folded")
}

/// The notes of a trace, one a line.
pub fn notes(trace: &Trace) -> String {
    trace.notes.iter().map(|note| format!("{note}\n")).collect()
}

/// Reads a file of output of dtrace(1), also .gz.
pub fn read_file(path: &std::path::Path) -> Trace {
    let mut trace = Trace::new(Cleaner::default(), Filter::default(), Passes::Auto);
    let mut input = Input::open(path.to_str().expect("paths of fixtures are UTF-8")).expect("the fixture opens");
    format::read(&mut input, Some("dtrace"), &format::Options::default(), &mut trace).expect("the fixture is read");
    trace.finish();
    trace
}

/// Sum of all rows that have a stack.
pub fn stack_total(trace: &Trace) -> i128 {
    trace.series.iter().filter(|series| series.has_stack).map(|series| series.total()).sum()
}

/// The value of the row with these frames, keys included.
pub fn value_of(trace: &Trace, path: &[&str]) -> Option<i128> {
    let rows = trace.series.iter().flat_map(|series| series.rows());
    let mut values = rows
        .filter(|row| row.keys.iter().chain(row.stack).map(|&id| trace.names.get(id)).eq(path.iter().copied()))
        .map(|row| row.value);
    values.next()
}
