//! Databases for tests, in the server that `scripts/with-postgresql` has started.

use notarium_store::Postgres;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// Database with Notarium's empty tables, which the first test leaves for the others to copy: migrations take ten times as long.
const TEMPLATE: &str = "template_of_tests";

/// URL of a new, empty database. `None`, with a line that says so: there is no PostgreSQL.
pub async fn new_database() -> Option<String> {
    let (mut server, url) = server().await?;
    let name = new_name();
    run(&mut server, format!("CREATE DATABASE {name}")).await.expect("a database");
    server.close().await.expect("a closed connection");
    Some(url_of(&url, &name))
}

/// URL of a new database with the tables of Notarium. `None` as in [`new_database`].
pub async fn migrated_database() -> Option<String> {
    let (mut server, url) = server().await?;
    let name = new_name();
    if run(&mut server, format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}")).await.is_err() {
        run(&mut server, format!("CREATE DATABASE {name}")).await.expect("a database");
        Postgres::open(&url_of(&url, &name), None).await.expect("tables").close().await;
        // Another test may have been faster.
        let _ = run(&mut server, format!("CREATE DATABASE {TEMPLATE} TEMPLATE {name}")).await;
    }
    server.close().await.expect("a closed connection");
    Some(url_of(&url, &name))
}

async fn server() -> Option<(PgConnection, String)> {
    let Ok(url) = std::env::var("NOTARIUM_TEST_POSTGRESQL") else {
        eprintln!("SKIPPED: no PostgreSQL; run this through scripts/with-postgresql");
        return None;
    };
    let options: PgConnectOptions = url.parse().expect("a URL");
    Some((options.disable_statement_logging().connect().await.expect("a connection"), url))
}

fn new_name() -> String {
    format!("test_{}", ulid::Ulid::generate().to_string().to_lowercase())
}

fn url_of(server: &str, database: &str) -> String {
    server.replacen("/postgres?", &format!("/{database}?"), 1)
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), sqlx::Error> {
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await.map(|_| ())
}
