//! Differences that count, and those that do not.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use notarium_comparison::{Noise, compare};
use serde_json::{Value, json};

fn stream(name: &str, text: &str) -> Value {
    json!({"output_type": "stream", "name": name, "text": text})
}

fn shown(mime: &str, content: &str) -> Value {
    json!({"output_type": "display_data", "data": {mime: content}, "metadata": {}})
}

fn error(ename: &str, evalue: &str, traceback: &str) -> Value {
    json!({"output_type": "error", "ename": ename, "evalue": evalue, "traceback": [traceback]})
}

/// The places at which two outputs differ.
fn places(recorded: &[Value], replayed: &[Value]) -> Vec<String> {
    compare(recorded, replayed).differences.into_iter().map(|difference| difference.place).collect()
}

#[test]
fn streams_are_what_a_terminal_shows() {
    let progress = stream("stderr", "10 %\r20 %\r");
    let recorded = [stream("stdout", "a\n"), progress, stream("stdout", "b\n")];
    let replayed = [stream("stdout", "a\nb\n"), stream("stderr", "20 %")];
    assert!(compare(&recorded, &replayed).is_same());
    let other = [stream("stdout", "a\nc\n"), stream("stderr", "20 %")];
    let found = compare(&recorded, &other);
    assert_eq!(found.differences[0].place, "standard output, line 2");
    assert_eq!((&*found.differences[0].recorded, &*found.differences[0].replayed), ("b", "c"));
    assert_eq!(places(&recorded, &[]), ["standard output, line 1", "standard error"]);
}

#[test]
fn times_and_addresses_do_not_count_and_are_told() {
    let of = |time: &str, address: &str| [shown("text/plain", &format!("<C at {address}> at {time}"))];
    let found = compare(&of("09:18:25", "0x7f3a2b1c9d30"), &of("10:00:00", "0x7f00000000a0"));
    assert!(found.is_same());
    assert_eq!(found.apart_from.into_iter().collect::<Vec<_>>(), [Noise::Time, Noise::Address]);
}

#[test]
fn an_error_is_its_type_and_message() {
    let recorded = [error("ValueError", "no", "/home/ann/x.py line 3")];
    assert!(compare(&recorded, &[error("ValueError", "no", "/tmp/other.py line 4")]).is_same());
    assert_eq!(places(&recorded, &[error("TypeError", "no", "")]), ["type of the error"]);
    assert_eq!(places(&recorded, &[error("ValueError", "yes", "")]), ["message of the error"]);
    assert_eq!(places(&recorded, &[]), ["output 1"]);
    assert_eq!(places(&recorded, &[shown("text/plain", "1")]), ["output 1"]);
}

#[test]
fn tables_are_compared_by_cell() {
    let table = |id: &str, value: &str| {
        let style = format!("<style>#T_{id} {{ color: red }}</style>");
        [shown(
            "text/html",
            &format!("{style}<table id=\"T_{id}\"><tr><th>a</th></tr><tr><td>{value}</td></tr></table>"),
        )]
    };
    assert!(compare(&table("1", "5"), &table("2", "5")).is_same());
    assert_eq!(places(&table("1", "5"), &table("2", "6")), ["output 1, text/html, row 2, column 1"]);
    let longer = [shown("text/html", "<table><tr><th>a</th></tr></table>")];
    assert_eq!(places(&table("1", "5"), &longer), ["output 1, text/html"]);
    let plain = [shown("text/html", "<b>5</b>")];
    assert_eq!(places(&plain, &[shown("text/html", "<i>5</i>")]), ["output 1, text/html"]);
}

#[test]
fn what_repeats_itself_for_the_page_does_not_count() {
    let with = |own: &str| {
        [
            json!({"output_type": "execute_result", "execution_count": 1, "data": {"text/plain": "1", own: "x"}, "metadata": {}}),
        ]
    };
    assert!(
        compare(&with("application/vnd.notarium.table+json"), &with("application/vnd.notarium.table+arrow")).is_same()
    );
    let widget = |id: &str| {
        [json!({"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {"model_id": id}}})]
    };
    assert!(compare(&widget("a"), &widget("b")).is_same());
    assert_eq!(places(&with("text/html"), &with("text/markdown")), ["output 1, text/html", "output 1, text/markdown"]);
}

/// A PNG in one channel, whose pixels come from a function of their number.
fn png(width: u32, height: u32, pixel: impl Fn(usize) -> u8) -> String {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(Cursor::new(&mut file), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let pixels: Vec<u8> = (0..(width * height) as usize).map(pixel).collect();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    STANDARD.encode(file)
}

#[test]
fn pictures_are_compared_by_pixel() {
    let of = |pixel: &dyn Fn(usize) -> u8| [shown("image/png", &png(40, 40, pixel))];
    let black = of(&|_| 0);
    assert!(compare(&black, &of(&|_| 10)).is_same(), "a little lighter");
    assert!(compare(&black, &of(&|at| if at == 7 { 255 } else { 0 })).is_same(), "one pixel of 1,600");
    assert_eq!(places(&black, &of(&|at| if at < 20 { 255 } else { 0 })), ["output 1, image/png"]);
    let found = compare(&black, &[shown("image/png", &png(20, 40, |_| 0))]);
    assert_eq!(found.differences[0].replayed, "20 × 40 pixels");
    let broken = [shown("image/png", "bm8gcGljdHVyZQ==")];
    assert!(compare(&broken, &broken).is_same());
    assert!(compare(&black, &broken).differences[0].replayed.contains("cannot be compared by pixel"));
}

/// A header that claims a huge picture takes no memory.
#[test]
fn a_picture_that_claims_to_be_huge_is_refused() {
    let mut file = STANDARD.decode(png(1, 1, |_| 0)).unwrap();
    file[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let mut crc = !0_u32;
    for byte in &file[12..29] {
        crc ^= u32::from(*byte);
        (0..8).for_each(|_| crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 });
    }
    file[29..33].copy_from_slice(&(!crc).to_be_bytes());
    let huge = [shown("image/png", &STANDARD.encode(&file))];
    let found = compare(&huge, &[shown("image/png", &png(2, 2, |_| 0))]);
    assert!(found.differences[0].replayed.contains("cannot be compared by pixel"), "{found:?}");
}
