//! Databases for tests, in the server that `scripts/with-postgresql` has started.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// URL of a new, empty database. `None`, with a line that says so: there is no PostgreSQL.
pub async fn new_database() -> Option<String> {
    let Ok(server) = std::env::var("NOTARIUM_TEST_POSTGRESQL") else {
        eprintln!("SKIPPED: no PostgreSQL; run this through scripts/with-postgresql");
        return None;
    };
    let name = format!("test_{}", ulid::Ulid::generate().to_string().to_lowercase());
    let options: PgConnectOptions = server.parse().expect("a URL");
    let mut connection = options.disable_statement_logging().connect().await.expect("a connection");
    let sql = AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::query(sql).execute(&mut connection).await.expect("a database");
    connection.close().await.expect("a closed connection");
    Some(server.replacen("/postgres?", &format!("/{name}?"), 1))
}
