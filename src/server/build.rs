//! Embeds the page anew after `make web`. `cargo build` needs no Node, and never runs `make web`.

fn main() {
    // The folder always exists, so cargo does not rerun this at each build.
    println!("cargo:rerun-if-changed=../../clients/web/dist");
}
