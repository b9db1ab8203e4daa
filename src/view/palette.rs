//! Colours of frames: worked out from the name alone, so that a function has one colour in every picture.

use std::str::FromStr;

/// Red, green, blue.
pub(super) type Rgb = [u8; 3];

/// Boxes that stand for frames too small to draw.
pub(super) const GREY: Rgb = [190, 190, 190];

/// Frames without a symbol: there is nothing to tell them apart by.
const UNKNOWN: Rgb = [206, 212, 220];

/// A range of colours: the smallest red, green and blue, and how far each may rise.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    name: &'static str,
    low: Rgb,
    range: Rgb,
    /// Whether the three rise together (shades of one hue) or each for itself.
    shades: bool,
}

/// The palettes, by flamegraph.pl's names. All are light enough for black text.
const ALL: &[Palette] = &[
    palette("hot", [208, 64, 24], [47, 156, 48], false),
    palette("mem", [24, 184, 24], [40, 60, 170], false),
    palette("io", [104, 104, 196], [56, 56, 54], false),
    palette("wakeup", [72, 168, 168], [60, 56, 56], true),
    palette("chain", [96, 112, 212], [56, 60, 40], false),
    palette("red", [208, 72, 72], [44, 76, 76], true),
    palette("green", [72, 196, 72], [60, 52, 60], true),
    palette("blue", [96, 96, 208], [56, 56, 44], true),
    palette("yellow", [184, 184, 60], [52, 52, 24], true),
    palette("purple", [192, 96, 192], [56, 52, 56], true),
    palette("aqua", [72, 172, 172], [60, 52, 52], true),
    palette("orange", [204, 108, 24], [48, 60, 24], true),
];

const fn palette(name: &'static str, low: Rgb, range: Rgb, shades: bool) -> Palette {
    Palette { name, low, range, shades }
}

impl Default for Palette {
    fn default() -> Palette {
        palette("hot", [208, 64, 24], [47, 156, 48], false)
    }
}

impl FromStr for Palette {
    type Err = String;

    fn from_str(name: &str) -> Result<Palette, String> {
        ALL.iter().find(|palette| palette.name == name).copied().ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|palette| palette.name).collect();
            format!("there are {}", names.join(", "))
        })
    }
}

impl Palette {
    /// The colour of a frame. The module does not count: a function keeps its colour when its library is renamed.
    pub(super) fn color(&self, frame: &str) -> Rgb {
        let function = frame.rsplit('`').next().unwrap_or(frame);
        if function == "[unknown]" {
            return UNKNOWN;
        }
        let bits = fnv(function.as_bytes());
        std::array::from_fn(|channel| {
            let bits = if self.shades { bits } else { bits >> (16 * channel) };
            let part = u32::from(bits as u16);
            let low = u32::from(self.low.get(channel).copied().unwrap_or(0));
            let range = u32::from(self.range.get(channel).copied().unwrap_or(0));
            u8::try_from(low + range * part / 0xffff).unwrap_or(u8::MAX)
        })
    }
}

/// The colour of a change: red grew, blue shrank, the paler the smaller, white is no change. `share` is -1 to 1.
pub(super) fn of_change(share: f64) -> Rgb {
    // The root makes small changes visible beside a large one.
    let fade = 255.0 - 200.0 * share.abs().min(1.0).sqrt();
    let fade = if share == 0.0 { 250 } else { fade as u8 };
    if share > 0.0 {
        [255, fade, fade]
    } else if share < 0.0 {
        [fade, fade, 255]
    } else {
        [fade; 3]
    }
}

/// FNV-1a, with a last mix: its low bits alone depend too much on the last byte.
fn fnv(bytes: &[u8]) -> u64 {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}
