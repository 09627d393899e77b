//! Embeds the page that `make web` has built. Without it the server serves a page that says how to build it: `cargo
//! build` needs no Node, and never runs `make web`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../clients/web/dist");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    // The folder always exists, so cargo does not rerun this at each build.
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    if root.join("page/index.html").is_file() {
        collect(&root.join("page"), "", &mut files)?;
    }
    files.sort();
    let mut text = String::from("static FILES: &[File] = &[\n");
    for (number, (name, path)) in files.iter().enumerate() {
        // Files are copied, because the page may be rebuilt while the compiler runs.
        let include = |path: &Path, copy: String| -> io::Result<String> {
            fs::copy(path, out.join(&copy))?;
            Ok(format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{copy}\"))"))
        };
        let packed = |extension: &str| -> io::Result<String> {
            let path = PathBuf::from(format!("{}.{extension}", path.display()));
            if !path.is_file() {
                return Ok("None".to_owned());
            }
            Ok(format!("Some({})", include(&path, format!("page-{number}.{extension}"))?))
        };
        let plain = include(path, format!("page-{number}"))?;
        let (gzip, brotli) = (packed("gz")?, packed("br")?);
        writeln!(text, "File {{ path: {name:?}, plain: {plain}, gzip: {gzip}, brotli: {brotli} }},")
            .map_err(io::Error::other)?;
    }
    text.push_str("];\n");
    fs::write(out.join("page_files.rs"), text)
}

/// Collects all files except the compressed forms, with the paths under which they are served.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = format!("{prefix}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            collect(&path, &name, files)?;
        } else if !path.extension().is_some_and(|extension| extension == "gz" || extension == "br") {
            files.push((name, path));
        }
    }
    Ok(())
}
