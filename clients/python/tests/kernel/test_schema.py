"""JSON Schemas of Python types, and conversion of arguments to them."""

import dataclasses
import datetime
import decimal
import enum
import pathlib
import typing
import uuid
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict, Union

import pytest
from notarium_kernel.functions.errors import ArgumentError, FunctionError
from notarium_kernel.functions.signature import signature_of


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Odd(enum.Enum):
    ONE = (1, 2)
    TWO = (3, 4)


@dataclasses.dataclass
class Point:
    """A place on the plane."""

    x: int
    y: float = 0.5
    next: Optional["Point"] = None


class Row(TypedDict, total=False):
    name: typing.Required[str] if hasattr(typing, "Required") else str
    age: int


class Pair(NamedTuple):
    left: int
    right: str = "r"


Id = typing.NewType("Id", int)


def one(kind: Any, default: Any = dataclasses.MISSING):
    """Signature of a function with one parameter."""
    if default is dataclasses.MISSING:

        def f(it):
            """Does it."""
    else:

        def f(it=default):
            """Does it."""

    f.__annotations__["it"] = kind
    return signature_of(f, "f", None)


def schema_of(kind: Any) -> dict:
    return one(kind).schema["properties"]["it"]


def sent(kind: Any, value: Any) -> Any:
    return one(kind).bind({"it": value})[1]["it"]


@pytest.mark.parametrize(
    ("kind", "schema", "value", "meant"),
    [
        (int, {"type": "integer"}, 3.0, 3),
        (float, {"type": "number"}, 3, 3.0),
        (bool, {"type": "boolean"}, True, True),
        (str, {"type": "string"}, "é", "é"),
        (None, {"type": "null"}, None, None),
        (Any, {}, {"a": [1]}, {"a": [1]}),
        (list[int], {"type": "array", "items": {"type": "integer"}}, [1, 2], [1, 2]),
        (list, {"type": "array", "items": {}}, [1, "a"], [1, "a"]),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, ["a", "a"], {"a"}),
        (typing.Sequence[int], {"type": "array", "items": {"type": "integer"}}, [1], [1]),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [1], (1,)),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}, {"a": 1}, {"a": 1.0}),
        (dict, {"type": "object", "additionalProperties": {}}, {"a": 1}, {"a": 1}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
        (Literal["a", 1, True, None], {"enum": ["a", 1, True, None]}, True, True),
        (Literal[Colour.RED], {"type": "string", "enum": ["r"]}, "r", Colour.RED),
        (Colour, {"type": "string", "enum": ["r", "b"]}, "b", Colour.BLUE),
        (Level, {"type": "integer", "enum": [1, 2]}, 2, Level.HIGH),
        (Odd, {"type": "string", "enum": ["ONE", "TWO"]}, "TWO", Odd.TWO),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),  # noqa: UP045
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "1", "1"),
        (Union[float, int], {"anyOf": [{"type": "number"}, {"type": "integer"}]}, 1, 1),  # noqa: UP007
        (Id, {"type": "integer"}, 7, 7),
        (datetime.date, {"type": "string", "format": "date"}, "2024-02-29", datetime.date(2024, 2, 29)),
        (datetime.timedelta, {"type": "number", "description": "seconds"}, 90, datetime.timedelta(seconds=90)),
        (uuid.UUID, {"type": "string", "format": "uuid"}, "12345678" * 4, uuid.UUID("12345678" * 4)),
        (pathlib.Path, {"type": "string"}, "a/b", pathlib.Path("a/b")),
        (decimal.Decimal, {"type": ["string", "number"]}, "1.10", decimal.Decimal("1.10")),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}, 1, 1),
    ],
)
def test_types(kind, schema, value, meant):
    assert schema_of(kind) == schema
    found = sent(kind, value)
    assert found == meant and type(found) is type(meant)


def test_a_datetime_of_javascript_is_read_in_every_python():
    assert sent(datetime.datetime, "2024-01-02T03:04:05Z") == datetime.datetime(
        2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc
    )


def test_tuples_of_fixed_length():
    assert schema_of(tuple[int, str]) == {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
    }
    assert sent(tuple[int, str], [1, "a"]) == (1, "a")
    with pytest.raises(ArgumentError, match="f: it must have 2 entries, not 1"):
        sent(tuple[int, str], [1])


def test_a_dataclass_stands_once_and_may_hold_itself():
    signature = one(list[Point])
    assert signature.schema["properties"]["it"] == {"type": "array", "items": {"$ref": "#/$defs/Point"}}
    assert signature.schema["$defs"]["Point"] == {
        "type": "object",
        "properties": {
            "x": {"type": "integer"},
            "y": {"type": "number", "default": 0.5},
            "next": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "default": None},
        },
        "required": ["x"],
        "additionalProperties": False,
        "description": "A place on the plane.",
    }
    assert sent(list[Point], [{"x": 1, "next": {"x": 2, "y": 3}}]) == [Point(1, 0.5, Point(2, 3.0))]
    with pytest.raises(ArgumentError, match=r"f: it\[0\]\.next\.x must be a whole number, not a text"):
        sent(list[Point], [{"x": 1, "next": {"x": "2"}}])
    with pytest.raises(ArgumentError, match=r"f: it\.x is missing"):
        sent(Point, {})
    with pytest.raises(ArgumentError, match=r"f: it\.z is not known: there are x, y, next"):
        sent(Point, {"x": 1, "z": 2})


def test_typed_dicts_and_named_tuples_are_objects():
    assert sent(Row, {"name": "a"}) == {"name": "a"}
    assert one(Row).schema["$defs"]["Row"]["required"] == ["name"]
    assert sent(Pair, {"left": 1}) == Pair(1, "r")


def test_two_types_of_one_name_stand_apart():
    other = dataclasses.make_dataclass("Point", [("z", int)])

    def f(a: Point, b: other):
        """Does it."""

    assert set(signature_of(f, "f", None).schema["$defs"]) == {"Point", "Point2"}


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (int, "1", "f: it must be a whole number, not a text"),
        (int, True, "f: it must be a whole number, not true or false"),
        (int, 1.5, "f: it must be a whole number, not a number"),
        (str, None, "f: it must be a text, not null"),
        (bool, 1, "f: it must be true or false, not a whole number"),
        (Colour, "x", "f: it must be one of 'r', 'b', not 'x'"),
        (Literal[1], True, "f: it must be one of 1, not True"),
        (datetime.date, "gestern", "f: it: 'gestern' is no date"),
        (dict[str, int], {"a": "b"}, r"f: it\.a must be a whole number"),
        (int | str, [], "f: it fits none of its types: f: it must be a whole number"),
        (Annotated[list[int], "x"], 3, "f: it must be a list"),
    ],
)
def test_what_does_not_fit_is_named(kind, value, words):
    with pytest.raises(ArgumentError, match=words):
        sent(kind, value)


class Frame:
    pass


Frame.__module__ = "pandas.core.frame"
Frame.__qualname__ = "DataFrame"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (bytes, "bytes is no JSON value: take str"),
        (complex, "take two floats"),
        (Frame, "pandas.DataFrame is no JSON value: take the name of the variable"),
        (typing.Callable[[int], int], "a function is no JSON value"),
        (dict[int, str], "keys of a JSON object are texts"),
        (list[Frame], "pandas.DataFrame"),
        (type("Thing", (), {}), "take a dataclass"),
        ("Nowhere", "its type 'Nowhere' is not known here"),
        (Literal[b"x"], "is no JSON value"),
    ],
)
def test_what_cannot_be_expressed_names_the_parameter_and_says_what_to_do(kind, words):
    with pytest.raises(FunctionError, match=words) as caught:
        one(kind)
    assert str(caught.value).startswith("f: the parameter it: ")


def test_kinds_of_parameters():
    def f(a: int, /, b: int = 2, *, c: str, **others: float):
        """Does it."""
        return a, b, c, others

    signature = signature_of(f, "f", None)
    assert signature.schema["required"] == ["a", "c"] and signature.schema["additionalProperties"] == {"type": "number"}
    positional, keywords = signature.bind({"a": 1, "c": "x", "z": 3})
    assert f(*positional, **keywords) == (1, 2, "x", {"z": 3.0})


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(*rows: int): 'Does.'", r"\*rows has no names"),
        ("def f(rows): 'Does.'", "the parameter rows has no type: write rows: str"),
        ("def f(self, x: int): 'Does.'", "A method is no function of its own"),
        ("def f(notebook: str): 'Does.'", "rename it"),
        ("def f(x: int): pass", "has no docstring"),
    ],
)
def test_what_is_wrong_with_a_function_is_said(source, words):
    names: dict[str, Any] = {}
    exec(source, names)
    with pytest.raises(FunctionError, match=words):
        signature_of(names["f"], "f", None)


def test_unknown_and_missing_arguments_are_named():
    signature = one(int)
    with pytest.raises(ArgumentError, match="Missing required parameters: it"):
        signature.bind({})
    with pytest.raises(ArgumentError, match="Unknown parameters: x. f takes: it"):
        signature.bind({"it": 1, "x": 2})


def test_defaults_are_told_where_json_can_say_them():
    assert one(Colour, Colour.BLUE).schema["properties"]["it"]["default"] == "b"
    assert "default" not in one(Point, Point(1)).schema["properties"]["it"]
    assert "default" not in one(float, float("nan")).schema["properties"]["it"]


def test_descriptions_of_parameters_come_from_the_docstring_unless_the_type_says_more():
    def f(a: int, b: Annotated[int, "of the type"]):
        """Does it.

        Args:
            a: the first
            b: of the docstring
        """

    properties = signature_of(f, "f", None).schema["properties"]
    assert (properties["a"]["description"], properties["b"]["description"]) == ("the first", "of the type")


def test_hints_as_text_are_read_where_the_function_stands():
    class Local(enum.Enum):
        A = "a"

    def f(x: "Local", y: "list[Point]"):
        """Does it."""
        return Local

    assert signature_of(f, "f", None).bind({"x": "a", "y": []})[1]["x"] is Local.A


pydantic = pytest.importorskip("pydantic")


class Model(pydantic.BaseModel):
    """A model."""

    n: int = pydantic.Field(ge=1, description="how many")
    inner: "Inner | None" = None


class Inner(pydantic.BaseModel):
    s: str


Model.model_rebuild()


def test_pydantic_models_and_fields():
    signature = one(list[Model])
    assert signature.schema["properties"]["it"] == {"type": "array", "items": {"$ref": "#/$defs/Model"}}
    assert (
        signature.schema["$defs"]["Model"]["properties"]["n"]["minimum"] == 1 and "Inner" in signature.schema["$defs"]
    )
    assert sent(list[Model], [{"n": 2, "inner": {"s": "x"}}]) == [Model(n=2, inner=Inner(s="x"))]
    with pytest.raises(ArgumentError, match=r"f: it\[0\]\.n: .*greater than or equal to 1"):
        sent(list[Model], [{"n": 0}])
    limited = Annotated[int, pydantic.Field(ge=1, lt=5, description="few")]
    assert schema_of(limited) == {"type": "integer", "minimum": 1, "exclusiveMaximum": 5, "description": "few"}
    with pytest.raises(ArgumentError, match="f: it must be less than 5"):
        sent(limited, 5)
    short = Annotated[list[str], pydantic.Field(max_length=1)]
    assert schema_of(short)["maxItems"] == 1
    with pytest.raises(ArgumentError, match="at most 1 entries"):
        sent(short, ["a", "b"])
