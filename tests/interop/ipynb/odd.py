"""Odd notebooks seen in the wild, by name, for check.py."""

import json

from shapes import cell, notebook, old, old_code, output, with_output, without

LINE_ENDS = "a\nb\r\nc\rd\x0be\x0cf\x1cg\x1dh\x1ei\x85j\u2028k\u2029l"
BUNDLE = {
    "text/plain": ["a\n", "b"],
    "text/html": "<b>\n</b>",
    "image/png": ["AAAA\n", "BBBB\n"],
    "image/svg+xml": "<svg>\n</svg>",
    "image/jpeg": "AA\nBB",
    "application/javascript": "a();\nb();",
    "application/json": ["kept", "as list"],
    "application/vnd.x+json": {"z": 1, "a": [1.0, 1e300]},
    "text/latex": "$x$",
    "application/x-other": "a\nb",
    "text/x\n+json": "a\nb",
}

NAMED = {
    "empty notebook": notebook(),
    "no metadata": without(notebook(cell()), "metadata"),
    "null metadata": notebook(cell(), metadata=None),
    "metadata is text": notebook(cell(), metadata="odd"),
    "no minor": without(notebook(cell()), "nbformat_minor"),
    "minor is text": notebook(cell(), nbformat_minor="5"),
    "major is text": notebook(cell(), nbformat="4"),
    "major is a float": notebook(cell(), nbformat=4.0),
    "major 5": notebook(cell(), nbformat=5),
    "no major": without(notebook(cell()), "nbformat"),
    "no cells": without(notebook(), "cells"),
    "cells null": notebook(cells=None),
    "cells an object": notebook(cells={}),
    "cell null": {**notebook(), "cells": [None]},
    "cell text": {**notebook(), "cells": ["x"]},
    "top-level key": notebook(cell(), author="me"),
    "transient metadata": notebook(
        cell(metadata={"trusted": True, "a": 1}),
        metadata={"signature": "s", "orig_nbformat": 2, "orig_nbformat_minor": 1},
    ),
    "colab": notebook(
        cell(metadata={"id": "a1", "colab": {"base_uri": "https://x"}, "outputId": "q"}),
        minor=0,
        metadata={"colab": {"provenance": []}, "kernelspec": {"name": "python3"}},
    ),
    "vs code": notebook(
        cell(metadata={"vscode": {"languageId": "python"}}),
        minor=2,
        metadata={"orig_nbformat": 4, "language_info": {"name": "python"}, "vscode": {"interpreter": {"hash": "x"}}},
    ),
    "kaggle": notebook(
        cell(
            metadata={
                "_uuid": "x",
                "_kg_hide-input": True,
                "execution": {"iopub.execute_input": "2020-01-01T00:00:00Z"},
                "trusted": True,
            }
        ),
        minor=4,
    ),
    "databricks": notebook(
        cell(metadata={"application/vnd.databricks.v1+cell": {"nuid": "x", "title": ""}}),
        minor=0,
        metadata={"application/vnd.databricks.v1+notebook": {}},
    ),
    "papermill": notebook(
        cell(metadata={"papermill": {"duration": 0.01, "status": "completed"}, "tags": ["parameters"]}),
        metadata={"papermill": {"parameters": {"alpha": 0.6}}},
    ),
    "r kernel": notebook(
        cell(),
        minor=2,
        metadata={
            "kernelspec": {"display_name": "R", "language": "R", "name": "ir"},
            "language_info": {
                "codemirror_mode": "r",
                "file_extension": ".r",
                "mimetype": "text/x-r-source",
                "name": "R",
                "pygments_lexer": "r",
                "version": "4",
            },
        },
    ),
    "kernelspec without names": notebook(cell(), metadata={"kernelspec": {}}),
    "kernelspec null": notebook(cell(), metadata={"kernelspec": None}),
    "language_info without name": notebook(cell(), metadata={"language_info": {"version": "3"}}),
    "language_info odd": notebook(cell(), metadata={"language_info": {"name": "python", "codemirror_mode": 3}}),
    "title not text": notebook(cell(), metadata={"title": 3, "authors": "me"}),
    "authors": notebook(cell(), metadata={"title": "T", "authors": [{"name": "me"}, "you"]}),
    "ids in 4.4": notebook(cell(id="mine"), minor=4),
    "duplicate ids": notebook(cell(id="same"), cell(id="same"), cell(id="same")),
    "id too long": notebook(cell(id="x" * 65)),
    "id empty": notebook(cell(id="")),
    "id a number": notebook(cell(id=7)),
    "id with a line end": notebook(cell(id="a\n")),
    "source list": notebook(cell(source=["a\n", "b\n", "c"])),
    "source empty list": notebook(cell(source=[])),
    "source null": notebook(cell(source=None)),
    "source a number": notebook(cell(source=1)),
    "source mixed": notebook(cell(source=["a", 1])),
    "no source": notebook(without(cell(), "source")),
    "line ends": notebook(cell(source=LINE_ENDS.replace("\r", ""))),
    "crlf": notebook(cell(source=LINE_ENDS), cell("markdown", source=["a\r\n", "b\r\n"])),
    "no outputs": notebook(without(cell(), "outputs")),
    "outputs null": notebook(cell(outputs=None)),
    "no execution count": notebook(without(cell(), "execution_count")),
    "execution count negative": notebook(cell(execution_count=-1)),
    "execution count a float": notebook(cell(execution_count=1.0)),
    "execution count text": notebook(cell(execution_count="*")),
    "execution count true": notebook(cell(execution_count=True)),
    "execution count huge": notebook(cell(execution_count=10**30)),
    "markdown with outputs": notebook(
        cell("markdown", outputs=[], execution_count=None), cell("markdown", outputs=[output("stream")])
    ),
    "markdown with attachments": notebook(
        cell("markdown", attachments={"a.png": {"image/png": ["AA\n", "BB"]}, "b.svg": {"image/svg+xml": "<a>\n</a>"}})
    ),
    "attachments empty": notebook(cell("markdown", attachments={}), cell("raw", attachments={}), cell(attachments={})),
    "attachments odd": notebook(cell("markdown", attachments={"a.png": {"image/png": {"odd": 1}}})),
    "code with attachments": notebook(cell(attachments={"a.png": {"image/png": "AA"}})),
    "heading in 4": notebook(cell("heading", level=2, source="Title")),
    "unknown cell": notebook(cell("widget", key="value")),
    "no cell type": notebook(without(cell(), "cell_type")),
    "cell key": notebook(cell(collapsed=True, prompt_number=3)),
    "no cell metadata": notebook(without(cell(), "metadata")),
    "cell metadata null": notebook(cell(metadata=None)),
    "cell metadata a list": notebook(cell(metadata=[])),
    "cell metadata odd": notebook(
        cell(
            metadata={
                "tags": "a,b",
                "name": "",
                "collapsed": "no",
                "scrolled": "yes",
                "execution": {"a": 1},
                "jupyter": None,
            }
        )
    ),
    "tags odd": notebook(
        cell(metadata={"tags": ["a", "a"]}),
        cell(metadata={"tags": ["a,b"]}),
        cell(metadata={"tags": [""]}),
        cell(metadata={"tags": ["a\nb"]}),
    ),
    "name odd": notebook(cell(metadata={"name": "a\nb"}), cell(metadata={"name": "a\n"}), cell(metadata={"name": 3})),
    "raw format": notebook(
        cell("raw", metadata={"format": "text/latex"}),
        cell("raw", metadata={"format": 3}),
        cell("markdown", metadata={"format": 3}),
    ),
    "hidden": notebook(
        cell(metadata={"jupyter": {"source_hidden": True, "outputs_hidden": False, "more": 1}}),
        cell(metadata={"jupyter": {"outputs_hidden": True}}),
        cell(metadata={"jupyter": {}}),
    ),
    "slides": notebook(
        cell("markdown", metadata={"slideshow": {"slide_type": "slide"}, "editable": False, "deletable": False})
    ),
    "bundle": with_output(output("display_data", data=BUNDLE), output("execute_result", data=BUNDLE)),
    "bundle not an object": with_output(output("display_data", data=None)),
    "bundle with an object": with_output(output("display_data", data={"text/html": {"a": 1}, "text/plain": "x"})),
    "bundle with null": with_output(output("display_data", data={"text/html": None})),
    "bundle empty": with_output(output("display_data", data={}, metadata={})),
    "widgets": notebook(
        cell(
            outputs=[
                output(
                    "display_data",
                    data={
                        "application/vnd.jupyter.widget-view+json": {
                            "model_id": "m",
                            "version_major": 2,
                            "version_minor": 0,
                        },
                        "text/plain": "w",
                    },
                )
            ]
        ),
        metadata={
            "widgets": {
                "application/vnd.jupyter.widget-state+json": {"state": {}, "version_major": 2, "version_minor": 0}
            }
        },
    ),
    "plotly with NaN": with_output(
        output(
            "display_data",
            data={"application/vnd.plotly.v1+json": {"y": [1.5, float("nan"), float("inf"), -float("inf")]}},
        )
    ),
    "transient": with_output(output("display_data", transient={"display_id": "x"})),
    "result without count": with_output(without(output("execute_result"), "execution_count")),
    "result without metadata": with_output(without(output("execute_result"), "metadata")),
    "display without data": with_output(without(output("display_data"), "data")),
    "stream with metadata": with_output(output("stream", metadata={})),
    "stream with list": with_output(
        output("stream", text=["a\n", "b\r", "c\x85d"]), output("stream", text=[]), output("stream", text="")
    ),
    "stream text odd": with_output(output("stream", text=None)),
    "stream mixed": with_output(output("stream", text=["a", 1])),
    "stream without name": with_output(without(output("stream"), "name")),
    "stream other name": with_output(output("stream", name="stdlog")),
    "error with text traceback": with_output(output("error", traceback="all in one")),
    "error with nulls": with_output(output("error", ename=None, evalue=None, traceback=None)),
    "error with extra": with_output(output("error", status="error", execution_count=3)),
    "unknown output": with_output(output("update_display_data", data={}, metadata={}), output("stream")),
    "unknown output with text": with_output(output("odd", text=["a", "b"])),
    "output without type": with_output({"text": "x"}),
    "output null": with_output(None),
    "pyout in 4": with_output({"output_type": "pyout", "text": "x", "prompt_number": 1}),
    "numbers": notebook(
        cell(
            metadata={
                "n": [
                    0,
                    -0.0,
                    1e16,
                    1e-5,
                    0.1,
                    123456789012345678901234567890,
                    1.7976931348623157e308,
                    5e-324,
                    1e22,
                    1.0,
                    100000.0,
                    123456789.123,
                ]
            }
        )
    ),
    "unicode": notebook(
        cell(source="😀 é e\u0301 \u200d \x7f \x00 \x1b[0m \ufeff"),
        metadata={"ключ": "値", "\x01": "\x02", "\U0001f600": 1, "\uffff": 2},
    ),
    "surrogates": notebook(cell(source="a\ud800b\udc00")),
    "sorting": notebook(cell(metadata={"b": 1, "a": 2, "B": 3, "_": 4, "é": 5, "z": {"2": 1, "10": 2}})),
    "empty values": notebook(cell(metadata={"a": [], "b": {}, "c": "", "d": None, "e": [[]], "f": [{}]})),
    "minor 4.99": notebook(cell("future", key=1), minor=99, extra=1),
    "v3": old(old_code()),
    "v3 outputs": old(
        old_code(
            {
                "output_type": "pyout",
                "prompt_number": 1,
                "text": ["a\n", "b"],
                "html": "<b>",
                "metadata": {"png": {"width": 3}},
            },
            {
                "output_type": "display_data",
                "png": "AAAA",
                "svg": ["<svg>\n", "</svg>"],
                "jpeg": "BB",
                "latex": "$x$",
                "javascript": ["a\n"],
                "json": '{"a": [1.0, 1e3]}',
            },
            {"output_type": "stream", "stream": "stderr", "text": ["no", "ends"]},
            {"output_type": "stream", "text": "no stream"},
            {"output_type": "stream", "stream": "stdout", "text": "x", "metadata": {}},
            {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["a", "b"], "metadata": {}},
        )
    ),
    "v3 json not json": old(old_code({"output_type": "display_data", "json": "{"})),
    "v3 full mime types": old(old_code({"output_type": "display_data", "text/plain": ["a\n", "b"], "metadata": {}})),
    "v3 unknown mime": old(old_code({"output_type": "display_data", "pdf": "AA", "foo": 3, "metadata": {}})),
    "v3 display with prompt": old(old_code({"output_type": "display_data", "text": "x", "prompt_number": 3})),
    "v3 png list": old(old_code({"output_type": "display_data", "png": ["AA\n", "BB\n"]})),
    "v3 language": old(old_code(language="julia")),
    "v3 trusted": old(old_code(trusted=True, metadata={"trusted": True})),
    "v3 no prompt": old(without(old_code(), "prompt_number", "collapsed", "language", "metadata")),
    "v3 no input": old(without(old_code(), "input")),
    "v3 no outputs": old(without(old_code(), "outputs")),
    "v3 collapsed odd": old(old_code(collapsed="yes")),
    "v3 headings": old(
        *[
            {"cell_type": "heading", "level": level, "metadata": {}, "source": "A\u2028b\nc\r\nd"}
            for level in range(1, 7)
        ]
    ),
    "v3 heading without level": old({"cell_type": "heading", "metadata": {}, "source": []}),
    "v3 heading without source": old({"cell_type": "heading", "level": 2, "metadata": {}}),
    "v3 html": old({"cell_type": "html", "metadata": {}, "source": ["<b>\n", "</b>"]}),
    "v3 raw and rendered": old({"cell_type": "raw", "metadata": {}, "source": "r", "rendered": "x"}),
    "v3 lines without ends": old({"cell_type": "markdown", "metadata": {}, "source": ["a", "b", "c"]}),
    "v3 worksheets": {
        **old(),
        "worksheets": [
            {"cells": [old_code()]},
            {"cells": [], "metadata": {"a": 1}},
            {"cells": [old_code()], "metadata": {}},
        ],
    },
    "v3 no worksheets": {**old(), "worksheets": []},
    "v3 worksheets missing": without(old(), "worksheets"),
    "v3 minor 9": old(old_code(), nbformat_minor=9, orig_nbformat=2, orig_nbformat_minor=1),
    "v3 metadata missing": without(old(old_code()), "metadata"),
    "v3 name missing": old(
        old_code(), metadata={"signature": "sha256:x", "kernelspec": {"name": "x", "display_name": "X"}}
    ),
    "v3 top-level key": old(old_code(), author="me"),
    "v2": old(
        {
            **without(old_code({"output_type": "pyout", "text": ["a", "b"], "prompt_number": 1}), "metadata"),
            "input": ["a", "b"],
        },
        {"cell_type": "markdown", "source": ["a", "", "b"]},
        major=2,
    ),
    "v2 png": old(without(old_code({"output_type": "display_data", "png": "AA\n"}), "metadata"), major=2),
    "v1": {
        "nbformat": 1,
        "cells": [{"cell_type": "code", "code": "a = 1", "prompt_number": 2}, {"cell_type": "text", "text": "hello"}],
    },
    "v1 without version": {"cells": [{"cell_type": "code", "code": "a = 1", "prompt_number": 2}]},
    "not a notebook": {"a": 1},
    "a list": [],
    "a number": 3,
}


def named(_fixtures):
    cases = [(name, json.dumps(value, ensure_ascii="surrogate" in name)) for name, value in NAMED.items()]
    broken = {
        "empty": "",
        "space": " \n",
        "truncated": json.dumps(notebook(cell()))[:-20],
        "trailing": json.dumps(notebook()) + "x",
        "comma": '{"cells": [],}',
        "duplicate keys": '{"cells": [], "metadata": {"a": 1, "a": 2}, "metadata": {"b": 1}, "nbformat": 4, "nbformat_minor": 5}',
        "control character": '{"cells": [], "metadata": {"a": "\t"}, "nbformat": 4, "nbformat_minor": 5}',
        "nul bytes": "\x00" * 20,
        "single quotes": "{'cells': []}",
        "conflict": '{\n<<<<<<< HEAD\n "cells": [],\n',
        "numbers as written": '{"cells": [], "metadata": {"n": [1E5, 1e+2, -0, 1.10, 0.30, 12e-1, 1e23]}, "nbformat": 4, "nbformat_minor": 5}',
        "escapes": '{"cells": [], "metadata": {"\\u0061\\/": "\\ud83d\\ude00\\u00e9\\b\\f"}, "nbformat": 4, "nbformat_minor": 5}',
        "spaces": ' {\r\n\t"cells" : [ ] , "metadata":{ } ,"nbformat":4,"nbformat_minor" :5 } \n\n',
    }
    return cases + list(broken.items())
