//! Schema migrations of both databases: which of them the release before lives with, and the end of an upgrade.
//!
//! The first start of a new build applies its migrations. `_sqlx_migrations` lists those that every build must know which opens the database,
//! and [`ADDITIVE`] the others: the release before still opens the database and leaves those tables alone. The end of the upgrade
//! (`notarium upgrade --finish`) moves them to the first list, and applies those with which the release before cannot live.

use std::collections::BTreeSet;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};

/// Table with the migrations that every build must know.
const REQUIRED: &str = "_sqlx_migrations";
/// Table with the migrations that older builds need not know.
const ADDITIVE: &str = "additive_migrations";

/// Newest migration of the release before this one. Everything up to it is required. The release of an older database cannot open it any more
/// after these, so that its upgrade ends with the first start.
const NEWEST_OF_RELEASE_BEFORE: i64 = 15;
/// Migrations with which the release before cannot live. They wait for the end of the upgrade; until then the build works without them.
const AT_FINISH: [i64; 0] = [];

/// A migration: version, name, SQL.
pub(crate) type MigrationSource = (i64, &'static str, &'static str);

/// Statements that make additive migrations required, up to a version.
pub(crate) const REQUIRE: [&str; 2] = [
    "INSERT INTO _sqlx_migrations (version, description, installed_on, success, checksum, execution_time) \
     SELECT version, description, installed_on, success, checksum, execution_time FROM additive_migrations \
     WHERE version <= $1 AND version NOT IN (SELECT version FROM _sqlx_migrations)",
    "DELETE FROM additive_migrations WHERE version <= $1",
];

/// True if the end of this build's upgrade has come: the release before does not open the database any more.
pub(crate) const COUNT_REQUIRED: &str = "SELECT count(*) FROM _sqlx_migrations WHERE version <= $1";

/// Purpose for which a schema is brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upgrade {
    /// The release before still opens the database.
    Begin,
    /// It does not any more.
    Finish,
}

impl Upgrade {
    /// Newest migration that is made required.
    pub(crate) const fn required_up_to(self) -> i64 {
        match self {
            Self::Begin => NEWEST_OF_RELEASE_BEFORE,
            Self::Finish => i64::MAX,
        }
    }

    /// Splits the migrations into the required and the additive ones. `recorded`: those that are required already.
    fn split<'a>(
        self,
        migrations: &'a [MigrationSource],
        at_finish: &[i64],
        recorded: &BTreeSet<i64>,
    ) -> (Vec<&'a MigrationSource>, Vec<&'a MigrationSource>) {
        let is_at_once = recorded.last().is_none_or(|newest| *newest < NEWEST_OF_RELEASE_BEFORE);
        let is_required = |(version, ..): &&MigrationSource| {
            is_at_once || *version <= self.required_up_to() || recorded.contains(version)
        };
        let (required, others): (Vec<_>, Vec<_>) = migrations.iter().partition(is_required);
        (required, others.into_iter().filter(|(version, ..)| !at_finish.contains(version)).collect())
    }
}

/// Creates the lists of migrations.
pub(crate) async fn create_lists<C: Migrate>(connection: &mut C) -> Result<(), MigrateError> {
    connection.ensure_migrations_table(REQUIRED).await?;
    connection.ensure_migrations_table(ADDITIVE).await
}

/// Applies the migrations that are missing, each in a transaction of its own. [`REQUIRE`] was executed before.
pub(crate) async fn migrate<C: Migrate>(
    connection: &mut C,
    migrations: &[MigrationSource],
    upgrade: Upgrade,
) -> Result<(), MigrateError> {
    let recorded = connection.list_applied_migrations(REQUIRED).await?;
    let recorded = recorded.into_iter().map(|migration| migration.version).collect();
    let (required, additive) = upgrade.split(migrations, &AT_FINISH, &recorded);
    migrator(REQUIRED, &required).run_direct(None, connection, false).await?;
    migrator(ADDITIVE, &additive).run_direct(None, connection, false).await
}

fn migrator(table: &'static str, migrations: &[&MigrationSource]) -> Migrator {
    let migrations = migrations.iter().map(|(version, name, sql)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    let mut migrator = Migrator::with_migrations(migrations.collect());
    migrator.dangerous_set_table_name(table);
    // Newer builds may have applied more.
    migrator.set_ignore_missing(table == ADDITIVE);
    // Its lock would be an advisory one.
    migrator.set_locking(false);
    migrator
}

/// Newest migration of this build, and their number.
pub(crate) fn newest(migrations: &[MigrationSource]) -> (i64, usize) {
    (migrations.iter().map(|(version, ..)| *version).max().unwrap_or(0), migrations.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: i64 = NEWEST_OF_RELEASE_BEFORE + 1;
    const MIGRATIONS: [MigrationSource; 5] = [
        (1, "first", ""),
        (NEWEST_OF_RELEASE_BEFORE, "of the release before", ""),
        (NEXT, "additive", ""),
        (NEXT + 1, "at the end", ""),
        (NEXT + 2, "additive too", ""),
    ];

    fn split(upgrade: Upgrade, recorded: &[i64]) -> [Vec<i64>; 2] {
        let (required, additive) = upgrade.split(&MIGRATIONS, &[NEXT + 1], &recorded.iter().copied().collect());
        [required, additive].map(|part| part.iter().map(|(version, ..)| *version).collect())
    }

    #[test]
    fn a_new_database_has_everything_and_an_old_one_stays_readable_until_the_end() {
        let all = MIGRATIONS.map(|(version, ..)| version).to_vec();
        let before = [1, NEWEST_OF_RELEASE_BEFORE];
        assert_eq!(split(Upgrade::Begin, &[]), [all.clone(), vec![]]);
        assert_eq!(split(Upgrade::Begin, &before), [before.to_vec(), vec![NEXT, NEXT + 2]]);
        assert_eq!(split(Upgrade::Begin, &[1]), [all.clone(), vec![]], "of a release long ago, which has no way back");
        assert_eq!(split(Upgrade::Finish, &before), [all.clone(), vec![]]);
        assert_eq!(split(Upgrade::Begin, &all), [all, vec![]]);
        let broken_off = [1, NEWEST_OF_RELEASE_BEFORE, NEXT];
        assert_eq!(split(Upgrade::Begin, &broken_off), [broken_off.to_vec(), vec![NEXT + 2]]);
    }
}
