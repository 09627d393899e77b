//! Golden files of this crate. `NOTARIUM_BLESS=1` rewrites them.

use std::path::Path;

/// Compares a file under `tests/golden/` with the given text, or rewrites it when blessing.
pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("NOTARIUM_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        std::fs::write(&path, text).expect("the golden file can be written");
        return;
    }
    let found =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}; NOTARIUM_BLESS=1 writes it"));
    assert_eq!(found, text, "{name} is stale: is the change wanted? then NOTARIUM_BLESS=1");
}
