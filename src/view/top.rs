//! The functions with the greatest weight of their own, and the weight of all that they call.

use std::io::Write;

use super::functions::functions;
use super::stacks::Stacks;
use super::{Options, View, text, write_notes};
use crate::error::Result;
use crate::model::Trace;

/// Entry in the table of views.
pub(super) const VIEW: View =
    View { name: "top", extensions: &[], about: "functions by self and total weight", write, stream: None };

/// Rows, if nobody asks for more.
const ROWS: usize = 40;

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let stacks = Stacks::select(trace, options)?;
    let whole = stacks.total();
    let mut functions = functions(&[&stacks]);
    functions.sort_by(|a, b| (b.own[0], b.total[0]).cmp(&(a.own[0], a.total[0])).then(a.name.cmp(b.name)));
    let limit = match options.digest.top.unwrap_or(ROWS) {
        0 => usize::MAX,
        limit => limit,
    };
    let amount = |value| text::amount(value, &stacks.unit);
    writeln!(out, "# total {}", amount(whole))?;
    let heads = ["SELF", "%", "TOTAL", "%", "FRAME"].map(String::from).to_vec();
    let rows = functions.iter().take(limit).map(|function| {
        let ([own, _], [total, _]) = (function.own, function.total);
        let name = text::line(function.name).into_owned();
        vec![amount(own), text::percent(own, whole), amount(total), text::percent(total, whole), name]
    });
    let columns = options.columns.filter(|_| !options.wide).unwrap_or(usize::MAX);
    text::write_columns(out, std::iter::once(heads).chain(rows), columns)?;
    if functions.len() > limit {
        let rest = functions.iter().skip(limit).fold(0i128, |sum, function| sum.saturating_add(function.own[0]));
        let (count, rest) = (functions.len() - limit, amount(rest));
        writeln!(out, "# {count} more, together {rest} of their own: --top 0 shows all")?;
    }
    write_notes(trace, out)
}
