//! Compresses the OpenAPI document, which is a tenth of its size then.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

const DOCUMENT: &str = "../../protocol/openapi.json";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={DOCUMENT}");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(DOCUMENT)?)?;
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("openapi.json.gz"), encoder.finish()?)?;
    Ok(())
}
