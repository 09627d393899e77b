"""Random notebooks for check.py: valid and damaged ones."""

import json

from odd import BUNDLE, NAMED
from shapes import cell, notebook, output


def values(random):
    """Returns a random odd value."""
    return random.choice(
        [
            None,
            True,
            0,
            -1,
            1.5,
            10**25,
            "",
            "text",
            "a\nb",
            "a\r\nb",
            "é\u2028",
            [],
            ["a\n", "b"],
            ["a", 1],
            [[]],
            {},
            {"a": 1},
            {"text/plain": ["a\n", "b"]},
            "stream",
            "code",
            "heading",
            3,
            float("nan"),
            {"name": "n"},
            ["t", "t"],
        ]
    )


def places(value, found):
    """Every (container, key) in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        places(inner, found)
    return found


KEYS = [
    "id",
    "source",
    "metadata",
    "outputs",
    "execution_count",
    "attachments",
    "output_type",
    "data",
    "text",
    "name",
    "tags",
    "input",
    "level",
    "collapsed",
    "trusted",
    "language",
    "transient",
    "kernelspec",
    "evalue",
    "traceback",
    "extra",
    "text/html",
    "application/json",
    "png",
    "json",
    "prompt_number",
]


def damage(random, value):
    container, key = random.choice(places(value, []) or [({"x": 1}, "x")])
    kind = random.randrange(5)
    if kind == 0 and isinstance(container, dict):
        del container[key]
    elif kind == 1:
        container[key] = values(random)
    elif kind == 2 and isinstance(container, dict):
        container[random.choice(KEYS)] = values(random)
    elif kind == 3 and isinstance(container, list):
        container.insert(key, json.loads(json.dumps(container[key])))
    elif isinstance(container[key], str):
        container[key] = container[key] + random.choice(["\n", "\x0b", "\u2028z", "\r\nq", "😀", "\x00", '"\\'])


def healthy(random):
    """Returns a valid notebook of random content. Its bytes must equal nbformat's."""

    def word():
        return "".join(random.choice('ab \n\n\té😀\u2028\x0b\x1e"\\<&/\x7f') for _ in range(random.randrange(12)))

    def data():
        return {
            mime: word()
            for mime in random.sample(
                [key for key in BUNDLE if key.startswith(("text/p", "text/h", "image", "application/ja"))], 3
            )
        }

    def number():
        return random.choice(
            [
                random.random() * 10 ** random.randint(-20, 20),
                random.randint(-(10**20), 10**20),
                float(random.randint(-99, 99)),
            ]
        )

    def meta():
        return {
            random.choice("abcdeXYZ_") + str(index): random.choice(
                [number(), word(), [number()], {word(): {}}, None, False]
            )
            for index in range(random.randrange(4))
        }

    def outputs():
        return [
            random.choice(
                [
                    output("stream", text=word()),
                    output("display_data", data=data(), metadata=meta()),
                    output("error", evalue=word(), traceback=[word(), word()]),
                    output(
                        "execute_result",
                        data={**data(), "application/json": meta()},
                        execution_count=random.randrange(99),
                    ),
                ]
            )
            for _ in range(random.randrange(3))
        ]

    cells = [
        random.choice(
            [
                lambda: cell(
                    source=word(),
                    metadata=meta(),
                    outputs=outputs(),
                    execution_count=random.choice([None, random.randrange(99)]),
                ),
                lambda: cell(
                    "markdown", source=word(), metadata=meta(), **random.choice([{}, {"attachments": {word(): data()}}])
                ),
                lambda: cell("raw", source=word(), metadata=meta()),
            ]
        )()
        for _ in range(random.randrange(6))
    ]
    return notebook(*cells, minor=random.choice([0, 1, 2, 4, 5, 5]), metadata=meta())


def generated(random, count, fixtures):
    """Half valid notebooks, half damaged ones: named cases, fixtures and valid ones with one to four damages."""
    small = [
        json.loads(path.read_text(encoding="utf8"))
        for path in sorted(fixtures.glob("*.ipynb"))
        if path.stat().st_size < 20_000
    ]
    cases = []
    for index in range(count):
        if index % 2:
            cases.append((f"healthy {index}", json.dumps(healthy(random))))
            continue
        base = random.choice(
            [lambda: random.choice(list(NAMED.values())), lambda: random.choice(small), lambda: healthy(random)]
        )()
        value = json.loads(json.dumps(base))
        for _ in range(random.randint(1, 4)):
            damage(random, value)
        cases.append((f"damaged {index}", json.dumps(value)))
    return cases
