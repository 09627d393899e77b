"""Ends of SQL statements, and `{name}` parameters in them."""

import pytest
from notarium_kernel.sql.errors import ParameterError, SqlError
from notarium_kernel.sql.header import Header, read
from notarium_kernel.sql.tokens import Parameter, parse


def parameters(sql, dialect="postgresql"):
    return [
        (part.name, part.place) for each in parse(sql, dialect) for part in each.parts if isinstance(part, Parameter)
    ]


def texts(sql, dialect="postgresql"):
    return [each.text.strip() for each in parse(sql, dialect)]


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT '{a}'", "postgresql"),
        ("SELECT 'it''s {a}'", "sqlite"),
        (r"SELECT E'\'{a}'", "postgresql"),
        ("SELECT $$ {a} $$, $tag$ $$ {a} $tag$", "postgresql"),
        ('SELECT "{a}"', "duckdb"),
        ("SELECT `{a}`, [{a}]", "sqlite"),
        ("SELECT 1 -- {a}\n", "postgresql"),
        ("SELECT 1 /* {a} /* {a} */ {a} */", "postgresql"),
        ("SELECT {{a}}", "postgresql"),
        ("SELECT {'a': {'b': 1}}", "duckdb"),
        ("SELECT {a: 1, b: {c: 2}}", "duckdb"),
    ],
)
def test_braces_in_texts_names_comments_and_structs_are_no_parameters(sql, dialect):
    assert parameters(sql, dialect) == []


def test_doubled_braces_are_braces():
    assert texts("SELECT '{{' || {{a}}") == ["SELECT '{{' || {a}"]
    assert texts("SELECT {{'a': {{'b': 1}}}}", "duckdb") == ["SELECT {'a': {'b': 1}}"]
    assert texts("SELECT {'a': {'b': {x}}}", "duckdb") == ["SELECT {'a': {'b': {x}}}"]
    assert parameters("SELECT {'a': {'b': {x}}}", "duckdb") == [("x", "value")]


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("SELECT {a}", "value"),
        ("SELECT 1 WHERE x = {a}", "value"),
        ("SELECT x FROM t WHERE x IN {a}", "bare list"),
        ("SELECT x FROM t WHERE x NOT IN ( {a} )", "only list"),
        ("SELECT x FROM t WHERE x IN (1, {a}, 2)", "list"),
        ("SELECT x FROM t WHERE x IN (SELECT f({a}))", "value"),
        ("SELECT x FROM {a}", "relation"),
        ("SELECT x FROM t, {a}", "relation"),
        ("SELECT x FROM t JOIN {a} USING (id)", "relation"),
        ("INSERT INTO {a} VALUES (1)", "relation"),
        ("DROP TABLE {a}", "relation"),
        ("UPDATE {a} SET x = 1", "relation"),
        ("SELECT t.{a} FROM t", "name"),
        ("SELECT {a}.x FROM t", "name"),
        ("SELECT 1 AS {a}", "name"),
        ("SELECT x FROM t ORDER BY {a}", "name"),
        ("SELECT x FROM t GROUP BY x, {a}", "name"),
        ("SELECT extract(year FROM {a})", "value"),
        ("SELECT x FROM t WHERE x IS NOT DISTINCT FROM {a}", "value"),
        ("SELECT x FROM t ORDER BY x LIMIT {a}", "value"),
        ("SELECT f(x, {a}) FROM t", "value"),
    ],
)
def test_what_can_stand_where(sql, place):
    assert parameters(sql) == [("a", place)]


@pytest.mark.parametrize(
    "sql", ["SELECT {a + 1}", "SELECT {df.x}", "SELECT {a!r}", "SELECT {}", "SELECT { a }", "SELECT {a", "SELECT a}"]
)
def test_braces_hold_one_name_and_the_error_says_how_to_do_it(sql):
    with pytest.raises(ParameterError, match=r"\{\{|twice|\}\}"):
        parse(sql, "postgresql")


def test_placeholders_of_drivers_are_refused():
    with pytest.raises(ParameterError, match=r"line 2: \$1 has no value: name a variable"):
        parse("SELECT\n$1", "postgresql")


def test_statements_end_at_semicolons_of_the_code_alone():
    found = texts("SELECT ';'; SELECT 2 -- ;\n; /* ; */ SELECT $$;$$;")
    assert found == ["SELECT ';'", "SELECT 2 -- ;", "SELECT $$;$$"]
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM c; END"
    assert texts(f"{trigger}; SELECT 1", "sqlite") == [trigger, "SELECT 1"]
    function = "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END"
    assert texts(f"{function}; SELECT 1") == [function, "SELECT 1"]
    assert [each.line for each in parse("SELECT 1;\n\nSELECT\n2", "duckdb")] == [1, 3]


@pytest.mark.parametrize("sql", ["SELECT 'a", "SELECT /* a", 'SELECT "a'])
def test_what_does_not_end_is_told_with_its_line(sql):
    with pytest.raises(SqlError, match="line 2: .* does not end"):
        parse("\n" + sql, "postgresql")


def test_the_first_line_names_connection_variable_and_whether_it_writes():
    assert read("SELECT 1") == Header("duckdb", False, None)
    assert read("-- a comment > with signs") == Header()
    assert read("\n  -- @warehouse > orders\nSELECT 1") == Header("warehouse", False, "orders")
    assert read("--@data/shop.sqlite write") == Header("data/shop.sqlite", True, None)
    assert read("-- @warehouse write > x") == Header("warehouse", True, "x")
    assert read("-- > x") == Header("duckdb", False, "x")
    for wrong, reason in [
        ("-- @w read > x", "'read'"),
        ("-- @ > x", "no connection"),
        ("-- @w > 1x", "name of a variable"),
        ("-- > class", "name of a variable"),
        ("-- >", "name of a variable"),
    ]:
        with pytest.raises(SqlError, match=reason):
            read(wrong)
