//! SQL cells: what passes unasked, what asks, what always asks, and which names they read and write.

use notarium_judge::{Grade, cell_names, judge, sql_cell_names};

fn text(sql: &str) -> String {
    format!("%%notarium_sql\n{sql}")
}

fn grade(sql: &str) -> Option<Grade> {
    judge(&[], &[&text(sql)], &[]).grade
}

#[test]
fn what_only_reads_passes() {
    for sql in [
        "SELECT 1",
        "-- @warehouse > orders\nSELECT region, sum(net) AS net FROM orders WHERE day >= {start} AND region IN {regions} GROUP BY region",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT max(n) FROM t",
        "WITH a AS (SELECT 1 AS x), b (y) AS MATERIALIZED (SELECT 2) SELECT * FROM a, b",
        "SELECT row_number() OVER (PARTITION BY a ORDER BY b), count(*) FILTER (WHERE a > 1) FROM t",
        "SELECT * FROM (VALUES (1, 'a')) AS t(n, s)",
        "SELECT * FROM read_parquet('data/sales.parquet') JOIN 'other.csv' USING (id)",
        "SELECT * FROM read_parquet(['a.parquet', 'b.parquet'])",
        "EXPLAIN ANALYZE SELECT * FROM t",
        "SELECT deleted, updated FROM t WHERE note = 'see (below); it''s' -- rows (all of them)\n",
        "FROM {frame} SELECT a",
        "DESCRIBE t; SUMMARIZE t; SHOW TABLES",
        "-- @data/shop.sqlite > rows\nSELECT * FROM t",
        "-- @warehouse-2\nSELECT * FROM t",
        "SELECT CAST(a AS numeric(9, 2)), a::varchar(7), extract(year FROM d), {'a': lower(b)} FROM t",
        "SELECT pg_catalog.lower(a) FROM t",
        "SELECT t.a, (t).* FROM t WHERE (t.a) > .5",
        "",
    ] {
        let judged = judge(&[], &[&text(sql)], &[]);
        assert_eq!(judged.grade, None, "{sql}: {:?}", judged.reasons);
    }
}

#[test]
fn what_is_not_known_to_only_read_asks() {
    for sql in [
        "-- @desk write\nSELECT 1",
        "-- @a.sqlite write > x\nINSERT INTO t VALUES (1)",
        "-- @/home/ann/private.sqlite\nSELECT * FROM t",
        "-- @../other/x.db > rows\nSELECT * FROM t",
        "-- @~/x.duckdb\nSELECT * FROM t",
        "-- @.cache/x.db\nSELECT * FROM t",
        "INSERT INTO t SELECT 1",
        "CREATE TABLE t (a int)",
        "SELECT 1 INTO t",
        "SET work_mem = '1GB'",
        "PRAGMA writable_schema = 1",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT \"pg_read_file\"('x')",
        "SELECT pg_sleep(10)",
        "SELECT nextval('s')",
        "SELECT query_to_xml('delete from t', true, true, '')",
        "SELECT mine.lower(a) FROM t",
        "SELECT getenv('HOME')",
        "SELECT (t).f FROM t",
        "SELECT ((t)) . /* of t */ \"f\" FROM t",
        "SELECT (array_agg(t))[1].f FROM t",
        "SELECT a FROM t WHERE (t).f > 1",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_csv('../x.csv')",
        "SELECT * FROM read_csv('.env')",
        "SELECT * FROM read_csv('a' || 'b')",
        "SELECT * FROM read_csv({path})",
        "SELECT * FROM read_csv(['a.csv', '/etc/passwd'])",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_parquet('https://example.org/x.parquet')",
        "SELECT * FROM 's3://bucket/x.parquet'",
        "SELECT * FROM query('x')",
        "SELECT E'\\' || pg_read_file('x') || '",
        "SELECT '\\', pg_read_file('x')",
        "SELECT /* /* */ pg_read_file('x') /* */ */ 1",
        "SELECT $$ $$, pg_read_file('x'), $$ $$",
        "SELECT [a, pg_read_file('x'), 'b']",
        "SELECT `a`, pg_read_file('x')",
        "SELECT 1; SELECT load_extension('x')",
    ] {
        assert!(grade(sql).is_some(), "{sql}");
    }
}

#[test]
fn what_destroys_always_asks() {
    for sql in [
        "-- @desk write\nDROP TABLE t",
        "DELETE FROM t",
        "WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x",
        "SELECT 1; TRUNCATE t",
        "UPDATE t SET a = 1",
        "COPY t TO '/tmp/x'",
        "COPY t TO PROGRAM 'id'",
        "ATTACH 'x.db' AS x",
        "INSTALL httpfs",
        "EXPLAIN ANALYZE DELETE FROM t",
        "SELECT '/*'; DROP TABLE t; --*/",
    ] {
        assert_eq!(grade(sql), Some(Grade::Destructive), "{sql}");
    }
}

#[test]
fn the_line_and_the_words_are_told() {
    let judged = judge(&[], &[&text("SELECT 1,\n  pg_sleep(10)")], &[]);
    assert_eq!(judged.reasons, ["Line 2: `pg_sleep(` is not known to be harmless."]);
    let judged = judge(&[], &[&text("-- @desk write\nINSERT INTO t VALUES (1)")], &[]);
    assert!(judged.reasons[0].contains("`write` lets this SQL change what its connection leads to"), "{judged:?}");
}

#[test]
fn nothing_but_the_line_makes_a_text_an_sql_cell() {
    for source in
        ["%%notarium_sql x\nSELECT 1", " %%notarium_sql\nSELECT 1", "%%notarium_sqlx\nSELECT 1", "%%notarium_sql"]
    {
        assert!(judge(&[], &[source], &[]).grade.is_some(), "{source}");
    }
}

#[test]
fn it_reads_its_parameters_and_writes_its_variable() {
    let sql = "-- @w > orders\nSELECT {a}, '{no}', {{no}}, \"{no}\" /* {no} */ FROM t -- {no}\nWHERE x IN {b}";
    let names = sql_cell_names(sql);
    assert_eq!(names.reads.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(names.writes.iter().map(String::as_str).collect::<Vec<_>>(), ["orders"]);
    assert_eq!(cell_names(&text(sql)), Some(names));
    assert!(sql_cell_names("-- a > b\nSELECT {'a': 1}").writes.is_empty());
}
