"""Writes compositions of effects and ways, one JSON object a line: `what` they are, and their `code`.

python compose.py '{"folder": …, "port": …}' each        every effect, and every way, alone
python compose.py '{"folder": …, "port": …}' SEED COUNT  as many at random: the same seed gives the same
"""

import json
import random
import sys

import effects
import ways

# Depths at which an effect lies, each with its weight.
DEPTHS, WEIGHTS = (1, 2, 3), (5, 4, 1)


def path(name, how, facts):
    """Returns an expression of a path in the control folder."""
    absolute = f"{facts['folder']}/{name}"
    return {
        "absolute": repr(absolute),
        "relative": repr(f"../control/{name}"),
        "by a link": repr(f"way/{name}"),
        "by the current folder": repr(f"/proc/self/cwd/../control/{name}"),
        "by the root": repr(f"/proc/self/root{absolute}"),
        "out of TMPDIR": f"(__import__('tempfile').gettempdir() + {'/..' * 9 + absolute!r})",
    }[how]


HOWS = ("absolute", "relative", "by a link", "by the current folder", "by the root", "out of TMPDIR")


def effect_text(name, how, number, facts):
    victim = (
        "next(int(pid) for pid in __import__('os').listdir('/proc') if pid.isdigit() and "
        f"open('/proc/' + pid + '/cmdline', 'rb').read().startswith({facts['mark'].encode()!r}))"
    )
    names = {
        "kept": "kept.txt",
        "other": "kept.db",
        "new": f"new-{number}",
        "folder": ".",
        "tree": "kept",
        "empty": "empty",
        "code": "code/script.py",
        "stream": "stream.socket",
        "datagram_path": "datagrams.socket",
    }
    places = {place: path(file, how, facts) for place, file in names.items()}
    # The address of a socket is short, and `..` and links are as good there.
    return effects.EFFECTS[name].format(
        **places, port=facts["port"], datagrams=facts["datagrams"], free=facts["free"], victim=victim
    )


def within(way, source):
    return f"S = {source!r}\n{ways.WAYS[way]}"


# Some compositions wait for ever in any Python, for instance for a thread that imports while an import waits for it.
GUARD = """import signal
def give_up(*ignored):
    raise TimeoutError
signal.signal(signal.SIGALRM, give_up)
signal.alarm(20)
try:
    exec(SOURCE, {'__name__': 'composition'})
except BaseException:
    pass
finally:
    signal.alarm(0)"""


def composed(name, how, chain, number, facts):
    """Returns the composition; `chain` begins with the outermost way."""
    source = effect_text(name, how, number, facts)
    for way in reversed(chain):
        source = within(way, source)
    code = GUARD.replace("SOURCE", repr(source))
    what = " / ".join([*chain, f"{name} ({how})"])
    return {"what": what, "effect": name, "chain": chain, "code": code}


def each(facts):
    """Every effect directly, and every way to two of them: one in the kernel's process, one that a signal has."""
    number = 0
    for name in effects.EFFECTS:
        number += 1
        yield composed(name, "absolute", ["exec"], number, facts)
    for way in ways.WAYS:
        number += 1
        yield composed("open w", "absolute", [way], number, facts)
    for how in HOWS:
        number += 1
        yield composed("open w", how, ["exec"], number, facts)


def is_named_as_through(name, chain):
    """A thread that wrote for a person may write: it is one that a person's own work uses."""
    return "person's writer" in chain and name in effects.OF_WRITERS


def at_random(seed, count, facts):
    chance = random.Random(seed)
    number = 0
    while number < count:
        name = chance.choice(list(effects.EFFECTS))
        chain = []
        for _ in range(*chance.choices(DEPTHS, WEIGHTS)):
            has_left = any(way in ways.LEAVES for way in chain)
            known = {**ways.PLAIN, **ways.THREADS, **ways.LEAVING} if has_left else ways.WAYS
            # A pool of one that waits for itself waits for ever.
            chain.append(chance.choice([way for way in known if way not in chain]))
        # A package of C in a second interpreter can end the process.
        if is_named_as_through(name, chain) or ("interpreter" in chain and name in effects.OF_PACKAGES):
            continue
        number += 1
        yield composed(name, chance.choice(HOWS), chain, number, facts)


def main():
    facts, how, *rest = json.loads(sys.argv[1]), *sys.argv[2:]
    made = each(facts) if how == "each" else at_random(int(how), int(rest[0]), facts)
    for composition in made:
        print(json.dumps(composition))


main()
