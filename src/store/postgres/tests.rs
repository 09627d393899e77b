//! Tests of how a database is opened.

use super::open::{Address, MIGRATIONS};
use crate::store_error::StoreError;

#[test]
fn the_migrations_are_those_of_the_folder_and_sqlites() {
    let sqlite = crate::sqlite::migrations();
    let names: Vec<(i64, &str)> = MIGRATIONS.iter().map(|(version, name, _)| (*version, *name)).collect();
    assert_eq!(names, sqlite);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres");
    for (version, name, sql) in MIGRATIONS {
        let file = format!("{folder}/{version:04}_{}.sql", name.replace(' ', "_"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), sql, "{file}");
    }
}

#[test]
fn a_url_names_one_host_or_several() {
    let shown = |url: &str| Address::parse(url).map(|address| address.to_string());
    assert_eq!(shown("postgresql://ann:secret@db/notes").unwrap(), "db:5432/notes");
    assert_eq!(shown("postgres://ann@db1,db2:5433/notes?sslmode=require").unwrap(), "db1:5432,db2:5433/notes");
    for url in ["", "db/notes", "mysql://db/notes", "postgresql://ann:secret@db:port/notes"] {
        let refused = shown(url);
        assert!(matches!(&refused, Err(StoreError::Refused { reason }) if !reason.contains("secret")), "{refused:?}");
    }
}
