//! What stands out in a workload, in sentences for somebody who sees it for the first time: which statement, how much, why, and what to
//! look at.

use std::collections::BTreeMap;

use super::super::digest::ranked;
use super::super::{Sort, text};
use super::rows::{cut, kind_name, time};
use crate::model::{Class, ClassKind, Workload};

/// Sentences at most.
const MOST: usize = 6;
/// Smaller shares of the whole, in percent, are not worth a sentence by themselves.
const LEAST: i128 = 5;
/// Share of the whole, in thousandths, from which a statement that mostly waits or sorts is worth one.
const LEAST_TROUBLE: i128 = 10;
/// Rows read for one sent, from which on an index is likely missing.
const WASTE: u64 = 1000;

/// Waits and phases with what they mean; the statement has done nothing else in that time.
const TROUBLES: [(&str, &str); 9] = [
    (
        "metadata lock",
        "waiting for a metadata lock: another connection keeps the table, by LOCK TABLES, ALTER or a transaction that stays open \
         (seatrace run lock-time tells which)",
    ),
    (
        "row lock",
        "waiting for a row lock: another transaction changed the same rows and has not ended (seatrace run lock-time tells which)",
    ),
    (
        "table lock",
        "waiting for a table lock: another connection keeps the whole table (seatrace run lock-time tells which)",
    ),
    (
        "user lock",
        "waiting for GET_LOCK: another connection holds the lock of that name (seatrace run lock-time tells which)",
    ),
    ("global lock", "waiting for a global lock: FLUSH TABLES WITH READ LOCK or a backup keeps the server"),
    ("filesort", "sorting (filesort): no index gives the rows in the order that ORDER BY or GROUP BY asks for"),
    ("file sync", "waiting for the disk to keep what was written"),
    ("commit wait", "waiting for other transactions to commit"),
    ("sleep", "sleeping, as it asks for"),
];

/// The sentences, the most important first.
pub(super) fn findings(workload: &Workload) -> Vec<String> {
    let total = workload.total();
    if total == 0 {
        return of_waits(workload);
    }
    let of_sql = ranked(workload, Some(Sort::Total)).into_iter().filter(|class| class.kind == ClassKind::Sql);
    let matters = |class: &&Class| {
        let share = class.total().saturating_mul(1000) / total;
        share >= LEAST * 10 || share >= LEAST_TROUBLE && trouble(class).is_some()
    };
    of_sql.filter(matters).take(MOST).map(|class| of_class(class, total)).collect()
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
    all.into_iter().take(MOST).map(sentence).collect()
}

fn of_class(class: &Class, total: i128) -> String {
    let share = text::percent(class.total(), total);
    let count = match class.count {
        1 => "once".to_owned(),
        count => format!("{} times", text::thousands(count.into())),
    };
    let average = time(class.average());
    let mut said = format!("{share}% of all time: {} ({count}, {average} each)", cut(&class.fingerprint, 120));
    if let Some((spent, about)) = trouble(class) {
        said.push_str(&format!(" — {} of its {} {about}", time(spent), time(class.total())));
    } else if let Some((kind, &spent)) = class.waits.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)))
        && spent > 0
    {
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

/// What takes at least half of the statement's time, if it is one of those that we can explain: how long, and what it means.
fn trouble(class: &Class) -> Option<(i128, &'static str)> {
    let is_user_lock = class.fingerprint.contains("get_lock(");
    let mut sums: BTreeMap<&str, i128> = BTreeMap::new();
    for (kind, spent) in &class.waits {
        // `execute;filesort`: the innermost phase.
        let kind = match kind.rsplit(';').next().unwrap_or(kind) {
            // The server keeps the names of GET_LOCK among its metadata locks, where query-phases cannot tell them apart.
            "metadata lock" if is_user_lock => "user lock",
            kind => kind,
        };
        *sums.entry(kind).or_default() += spent;
    }
    let found = TROUBLES.iter().filter_map(|(name, about)| sums.get(name).map(|spent| (*spent, *about)));
    found.filter(|(spent, _)| spent.saturating_mul(2) >= class.total()).max_by_key(|(spent, _)| *spent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_and_a_sort_are_explained() {
        let class = |text: &str, waits: &[(&str, i128)]| {
            let mut workload = Workload::default();
            let class = workload.class_of_text(text);
            class.waits = waits.iter().map(|(kind, spent)| ((*kind).to_owned(), *spent)).collect();
            class.told_total = Some(100);
            trouble(class)
        };
        let (spent, about) = class("select 1", &[("execute", 10), ("execute;metadata lock", 90)]).unwrap();
        assert!(spent == 90 && about.contains("LOCK TABLES"));
        let (_, about) = class("select get_lock('x', 1)", &[("execute", 10), ("execute;metadata lock", 90)]).unwrap();
        assert!(about.contains("GET_LOCK") && !about.contains("LOCK TABLES"));
        let (spent, about) = class("select 1", &[("execute;filesort", 30), ("execute;execute;filesort", 30)]).unwrap();
        assert!(spent == 60 && about.contains("filesort"));
        assert_eq!(class("select 1", &[("execute", 10), ("parse", 90)]), None);
    }
}
