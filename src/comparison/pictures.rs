//! PNG pictures, compared by pixel.

use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

/// Most bytes that decoding a picture takes.
const MAX_BYTES: usize = 64 << 20;
/// Difference of a channel (of 255) that does not count: anti-aliasing and colour profiles of other versions.
const CHANNEL_TOLERANCE: u8 = 16;
/// Share of the pixels that may differ: one in so many.
const PIXELS_PER_OTHER: usize = 1_000;

/// A decoded picture: four bytes for each pixel.
#[derive(Debug)]
struct Pixels {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

/// Result of the comparison of two pictures.
#[derive(Debug, PartialEq)]
pub enum PictureComparison {
    Same,
    /// They have other sizes, in pixels.
    Sizes([(u32, u32); 2]),
    /// This part of the pixels differs, in per cent.
    Pixels(f64),
    /// One of them cannot be decoded, or is too large.
    Undecodable(String),
}

/// Compares two PNG files.
pub fn compare(recorded: &[u8], replayed: &[u8]) -> PictureComparison {
    if recorded == replayed {
        return PictureComparison::Same;
    }
    let (one, other) = match (decoded(recorded), decoded(replayed)) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(error), _) | (_, Err(error)) => return PictureComparison::Undecodable(error),
    };
    if (one.width, one.height) != (other.width, other.height) {
        return PictureComparison::Sizes([(one.width, one.height), (other.width, other.height)]);
    }
    let differs = |(one, other): &(&[u8], &[u8])| {
        one.iter().zip(other.iter()).any(|(one, other)| one.abs_diff(*other) > CHANNEL_TOLERANCE)
    };
    let differing = one.rgba.chunks(4).zip(other.rgba.chunks(4)).filter(differs).count();
    let all = one.rgba.len() / 4;
    if differing * PIXELS_PER_OTHER <= all {
        return PictureComparison::Same;
    }
    // Pictures have fewer pixels than a float has integers.
    PictureComparison::Pixels(differing as f64 * 100.0 / all as f64)
}

fn decoded(bytes: &[u8]) -> Result<Pixels, String> {
    let limits = Limits { bytes: MAX_BYTES };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = reader.info().size();
    let size = reader.output_buffer_size().filter(|size| *size <= MAX_BYTES);
    let mut buffer = vec![0; size.ok_or_else(|| format!("a picture of {width} × {height} pixels is too large"))?];
    let frame = reader.next_frame(&mut buffer).map_err(|error| error.to_string())?;
    buffer.truncate(frame.buffer_size());
    let rgba = match frame.color_type {
        ColorType::Rgba => buffer,
        ColorType::GrayscaleAlpha => {
            buffer.chunks(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect()
        }
        other => return Err(format!("its colours ({other:?}) are not known")),
    };
    Ok(Pixels { width, height, rgba })
}
