from notarium_kernel.functions.docstrings import parse

GOOGLE = """Loads the table.

More about it.

Args:
    rows: How many rows,
        at most.
    name (str, optional): Of the table: any.
    **others: The rest.

Returns:
    The rows.
"""

NUMPY = """
    Loads the table.

    Parameters
    ----------
    rows : int
        How many rows,
        at most.
    name, other : str, optional
        Of the table: any.

    Returns
    -------
    list
        The rows.
    """

SPHINX = """Loads the table.

:param rows: How many rows,
    at most.
:param str name: Of the table: any.
:type rows: int
:returns: The rows.
:raises ValueError: where there are none.
"""


def test_google():
    description, parameters = parse(GOOGLE)
    assert parameters == {"rows": "How many rows, at most.", "name": "Of the table: any.", "others": "The rest."}
    assert description == "Loads the table.\n\nMore about it.\n\nReturns:\n    The rows."


def test_numpy():
    description, parameters = parse(NUMPY)
    assert parameters == {
        "rows": "How many rows, at most.",
        "name": "Of the table: any.",
        "other": "Of the table: any.",
    }
    assert description.startswith("Loads the table.\n\nReturns\n") and "rows : int" not in description


def test_sphinx():
    description, parameters = parse(SPHINX)
    assert parameters == {"rows": "How many rows, at most.", "name": "Of the table: any."}
    assert description == "Loads the table.\n\nReturns: The rows.\nRaises ValueError: where there are none."


def test_odd_ones_end():
    for text in [
        "",
        None,
        "Args:",
        "Parameters\n----------",
        "Parameters\n---------\n\n---",
        ":param",
        "Args:\n\n\n",
        "a:\n  b: c",
        "Parameters\n----------\nx y z\n  w",
    ]:
        parse(text)
    assert parse("One line: with a colon.") == ("One line: with a colon.", {})
