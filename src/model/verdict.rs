//! What the whole of a trace tells about its worth: frames without a symbol, too few samples, numbers that ran over, passes.

use super::{Function, Names, Notes, Series, Severity};
use crate::units::Unit;

/// Fewer samples than that say little.
const FEW: i128 = 100;
/// Numbers this near to 2^64 are negative ones that were printed without their sign.
const NEAR_2_64: i128 = (1 << 64) - (1 << 53);

/// Notes what there is to tell.
pub(super) fn tell(series: &[Series], names: &Names, notes: &mut Notes) {
    passes(series, notes);
    samples(series, notes);
    overflows(series, notes);
    unresolved(series, names, notes);
}

/// Says how several passes were taken.
fn passes(series: &[Series], notes: &mut Notes) {
    let (added, last) = series
        .iter()
        .map(Series::passes_decided)
        .fold((0u32, 0u32), |sum, decided| (sum.0.saturating_add(decided.0), sum.1.saturating_add(decided.1)));
    if last > 0 {
        notes.info("aggregations were printed several times, as running totals: the last pass is shown (--passes sum adds them up)");
    }
    if added > 0 {
        notes.info("aggregations were printed several times, and values fell in between: the passes are added up (--passes last shows the last)");
    }
}

/// Says if there are hardly any samples.
fn samples(series: &[Series], notes: &mut Notes) {
    let sampled = |series: &&Series| {
        series.has_stack
            && series.function == Function::Count
            && matches!(series.unit, Unit::Unknown | Unit::Count | Unit::Samples)
            && !series.is_empty()
    };
    let totals: Vec<i128> = series.iter().filter(sampled).map(Series::total).collect();
    let total = totals.iter().fold(0i128, |sum, total| sum.saturating_add(*total));
    if !totals.is_empty() && (0..FEW).contains(&total) {
        notes.info(format!("only {total} samples: too few to judge by; trace longer, or while the server is busy"));
    }
}

/// Says if values look like negative ones.
fn overflows(series: &[Series], notes: &mut Notes) {
    for value in series.iter().flat_map(Series::rows).map(|row| row.value).filter(|&value| value >= NEAR_2_64) {
        let text = "value near 2^64: likely an underflow, a negative number printed without its sign";
        notes.add(Severity::Info, text.into(), 1, value, None);
    }
}

/// Says which share of the frames has no symbol.
fn unresolved(series: &[Series], names: &Names, notes: &mut Notes) {
    let (mut unknown, mut bare, mut frames, mut weight) = (0i128, 0i128, 0i128, 0i128);
    for row in series.iter().filter(|series| series.has_stack).flat_map(Series::rows) {
        let (mut all, mut homeless) = (0i128, 0i128);
        for &id in row.stack.iter().filter(|&&id| names.is_unresolved(id)) {
            all = all.saturating_add(1);
            homeless = homeless.saturating_add(i128::from(!names.get(id).contains('`')));
        }
        let value = row.value.saturating_abs();
        let depth = i128::try_from(row.stack.len()).unwrap_or(0);
        frames = frames.saturating_add(value.saturating_mul(depth));
        unknown = unknown.saturating_add(value.saturating_mul(all));
        bare = bare.saturating_add(value.saturating_mul(homeless));
        weight = weight.saturating_add(if all > 0 { value } else { 0 });
    }
    if unknown == 0 || frames == 0 {
        return;
    }
    let percent = match unknown.saturating_mul(200).saturating_div(frames).saturating_add(1) / 2 {
        0 => "less than 1".to_owned(),
        percent => percent.to_string(),
    };
    let cause = if bare.saturating_mul(2) > unknown {
        "addresses in no module: the process was gone when they were printed, or code without frame pointers"
    } else {
        "modules without symbols: install them, or use a build that is not stripped"
    };
    notes.add(Severity::Info, format!("{percent}% of frames unresolved ({cause})"), 1, weight, None);
}
