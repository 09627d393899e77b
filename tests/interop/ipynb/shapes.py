"""Helpers that build nbformat notebooks for odd.py and odd_random.py."""


def cell(kind="code", **fields):
    base = {"cell_type": kind, "metadata": {}, "source": "x = 1"}
    if kind == "code":
        base |= {"outputs": [], "execution_count": None}
    return {**base, **fields}


def notebook(*cells, minor=5, **fields):
    cells = [dict(each) for each in cells]
    for index, each in enumerate(cells):
        if minor >= 5 and "id" not in each:
            each["id"] = f"c{index}"
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": minor, **fields}


def without(value, *keys):
    return {key: item for key, item in value.items() if key not in keys}


def output(kind, **fields):
    bases = {
        "stream": {"name": "stdout", "text": "hello\nworld\n"},
        "display_data": {"data": {"text/plain": "<Figure>"}, "metadata": {}},
        "execute_result": {"data": {"text/plain": "1"}, "metadata": {}, "execution_count": 1},
        "error": {"ename": "E", "evalue": "v", "traceback": ["a\n", "b"]},
    }
    return {"output_type": kind, **bases.get(kind, {}), **fields}


def with_output(*outputs, minor=5):
    return notebook(cell(outputs=list(outputs)), minor=minor)


def old(*cells, major=3, **fields):
    return {
        "metadata": {"name": "old"},
        "nbformat": major,
        "nbformat_minor": 0,
        "worksheets": [{"cells": list(cells), "metadata": {}}],
        **fields,
    }


def old_code(*outputs, **fields):
    return {
        "cell_type": "code",
        "collapsed": False,
        "input": ["a = 1\n", "a"],
        "language": "python",
        "metadata": {},
        "outputs": list(outputs),
        "prompt_number": 1,
        **fields,
    }
