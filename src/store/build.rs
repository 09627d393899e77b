//! A new migration file must rebuild the crate: `sqlx::migrate!` alone does not notice one.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/sqlite");
}
