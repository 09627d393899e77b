//! Speed of the fold on a flood of plain lines, and on progress lines: `cargo run -p notarium-terminal --release --example fold_speed`.

use std::time::Instant;

use notarium_terminal::StreamFold;

fn main() {
    for (name, line) in [
        ("plain lines", "2026-01-01 12:00:00 INFO a line of some eighty characters, as programs write them 12\n"),
        (
            "coloured lines",
            "\x1b[32mINFO\x1b[0m a line of some eighty characters, as programs write them \x1b[1m12\x1b[0m\n",
        ),
        (
            "carriage returns and line feeds",
            "a line of some eighty characters, as programs of another system write them\r\n",
        ),
        ("progress lines", "\r 12%|##########                         | 1234/10000 [00:10<01:20, 123.4it/s]"),
    ] {
        let message = line.repeat(40);
        let (started, mut bytes, mut taken) = (Instant::now(), 0_usize, 0_usize);
        let mut fold = StreamFold::default();
        while bytes < 64 << 20 {
            fold.push(&message);
            bytes += message.len();
            if fold.len() >= 64 << 10 {
                taken += fold.take().len();
            }
        }
        let rate = bytes as f64 / started.elapsed().as_secs_f64() / 1e6;
        println!("{name}: {rate:.0} MB/s, {taken} bytes of {bytes}");
    }
}
