//! Images: kind, width and height from the header, size.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Most base64 that is decoded to find the dimensions: a JPEG may contain a long thumbnail before them.
pub(super) const MAX_HEADER_CHARACTERS: usize = 128 << 10;

/// `[image: PNG, 640x480, 32 KB]`; `head` is the beginning of the value, `length` its whole length.
pub(super) fn describe(kind: &str, head: &[u8], length: u64) -> String {
    let name = kind.trim_start_matches("image/").split(['+', ';']).next().unwrap_or_default().to_ascii_uppercase();
    let is_text = name == "SVG";
    let dimensions = if is_text { svg(&String::from_utf8_lossy(head)) } else { raster(&decoded(head)) };
    let bytes = if is_text { length } else { base64_bytes(head, length) };
    let dimensions = dimensions.map(|(width, height)| format!(", {width}x{height}")).unwrap_or_default();
    format!("[image: {name}{dimensions}, {}]", super::size(bytes))
}

/// Bytes that a base64 text encodes, without decoding it.
pub(super) fn decoded_length(base64: &str) -> u64 {
    let bytes = base64.as_bytes();
    let signs = bytes.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b'=').count();
    signs as u64 * 3 / 4
}

/// Like [`decoded_length`] when only the beginning is loaded; kernels break lines evenly.
fn base64_bytes(head: &[u8], length: u64) -> u64 {
    let head_length = head.len() as u64;
    if head_length == length {
        return decoded_length(&String::from_utf8_lossy(head));
    }
    length * 3 / 4
}

fn decoded(head: &[u8]) -> Vec<u8> {
    let signs: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
    // A cut piece may end inside a group of four; its last bits are unusable.
    let whole = signs.len() / 4 * 4;
    STANDARD_NO_PAD.decode(&signs).or_else(|_| STANDARD_NO_PAD.decode(&signs[..whole])).unwrap_or_default()
}

fn raster(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some((big(bytes.get(16..20)?), big(bytes.get(20..24)?))),
        [b'G', b'I', b'F', b'8', ..] => Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?))),
        [0xff, 0xd8, ..] => jpeg(bytes),
        [b'B', b'M', ..] => Some((little(bytes.get(18..22)?), little(bytes.get(22..26)?))),
        [b'R', b'I', b'F', b'F', ..] if bytes.get(8..12)? == b"WEBP" => webp(bytes),
        _ => None,
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Walks the segments to the frame header (SOF0 to SOF15 except DHT, JPG and DAC).
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let (mark, kind) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        if mark != 0xff {
            return None;
        }
        if (0xc0..=0xcf).contains(&kind) && ![0xc4, 0xc8, 0xcc].contains(&kind) {
            return Some((big(bytes.get(at + 7..at + 9)?), big(bytes.get(at + 5..at + 7)?)));
        }
        at += match kind {
            0xff => 1,
            _ => 2 + big(bytes.get(at + 2..at + 4)?).max(2) as usize,
        };
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes.get(24..27)?) + 1, little(bytes.get(27..30)?) + 1)),
        b"VP8L" => {
            let packed = little(bytes.get(21..25)?);
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        b"VP8 " => Some((little(bytes.get(26..28)?) & 0x3fff, little(bytes.get(28..30)?) & 0x3fff)),
        _ => None,
    }
}

/// The numbers of `width` and `height` of the first `<svg …>`, else those of its `viewBox`.
fn svg(text: &str) -> Option<(u32, u32)> {
    let tag = text.split_once("<svg")?.1.split('>').next()?;
    let attribute = |name: &str| {
        let value = tag.split_once(&format!(" {name}="))?.1;
        value.get(1..)?.split(value.chars().next()?).next()
    };
    // Whole pixels: a fraction is useless to a model.
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let posted = || Some((number(attribute("width")?)?, number(attribute("height")?)?));
    let seen = || {
        let mut parts = attribute("viewBox")?.split_whitespace().skip(2);
        Some((number(parts.next()?)?, number(parts.next()?)?))
    };
    posted().or_else(seen)
}
