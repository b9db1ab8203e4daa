//! What stands out in a workload, in sentences for somebody who sees it for the first time.

use super::super::digest::ranked;
use super::super::{Sort, text};
use super::rows::{cut, kind_name, time};
use crate::model::{Class, ClassKind, Workload};

/// Kinds of statements that are looked at.
const LOOKED_AT: usize = 5;
/// Smaller shares of the whole, in percent, are not worth a sentence.
const LEAST: i128 = 5;
/// Rows read for one sent, from which on an index is likely missing.
const WASTE: u64 = 1000;

/// The sentences, the most important first.
pub(super) fn findings(workload: &Workload) -> Vec<String> {
    let total = workload.total();
    let of_sql = ranked(workload, Some(Sort::Total)).into_iter().filter(|class| class.kind == ClassKind::Sql);
    let matters = |class: &&Class| total > 0 && class.total().saturating_mul(100) / total >= LEAST;
    let mut said: Vec<String> = of_sql.take(LOOKED_AT).filter(matters).map(|class| of_class(class, total)).collect();
    if total == 0 {
        said.extend(of_waits(workload));
    }
    said
}

/// Where only waits are known, not the statements' times.
fn of_waits(workload: &Workload) -> Vec<String> {
    let mut all: Vec<(&Class, &String, i128)> = workload
        .classes()
        .iter()
        .flat_map(|class| class.waits.iter().map(move |(kind, &spent)| (class, kind, spent)))
        .collect();
    all.sort_by(|a, b| {
        b.2.cmp(&a.2).then_with(|| (a.0.fingerprint.as_str(), a.1).cmp(&(b.0.fingerprint.as_str(), b.1)))
    });
    let sentence = |(class, kind, spent): (&Class, &String, i128)| {
        format!("{} in {} by {}", time(spent), kind_name(kind), cut(&class.fingerprint, 120))
    };
    all.into_iter().take(LOOKED_AT).map(sentence).collect()
}

fn of_class(class: &Class, total: i128) -> String {
    let share = text::percent(class.total(), total);
    let count = text::thousands(class.count.into());
    let average = time(class.average());
    let mut said = format!("{share}% of all time: {} ({count} times, {average} each)", cut(&class.fingerprint, 120));
    let main = class.waits.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
    if let Some((kind, &spent)) = main.filter(|(_, spent)| **spent > 0) {
        said.push_str(&format!("; mostly {} ({})", kind_name(kind), time(spent)));
    }
    if let [Some(sent), Some(examined), _] = class.rows
        && examined / sent.max(1) >= WASTE
        && examined > 10 * WASTE
    {
        let per_row = text::thousands((examined / sent.max(1)).into());
        said.push_str(&format!("; reads {per_row} rows for each that it sends"));
    }
    said
}
