"""Records streams of programs, and what pyte shows of them, for `screens.rs`.

python3 -m venv /tmp/pyte && /tmp/pyte/bin/pip install pyte tqdm rich
/tmp/pyte/bin/python src/terminal/tests/record.py > src/terminal/tests/streams.jsonl
"""

import io
import json
import random
import unicodedata

import pyte
import pyte.modes
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tqdm import tqdm

COLUMNS, LINES = 4_000, 60
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt}"
NAMES = {name: code - 30 for code, name in pyte.graphics.FG_ANSI.items() if name != "default"}
NAMES.update({name: code - 82 for code, name in pyte.graphics.FG_AIXTERM.items()})
# pyte names the bright magenta of backgrounds with a slip of the pen.
NAMES["bfightmagenta"] = NAMES.get("brightmagenta", 13)


def colour(name):
    return "" if name == "default" else str(NAMES[name]) if name in NAMES else "#" + name


def screen(text):
    """Rows of runs: text, colour, background, attributes. Blanks at the end of rows are left out."""
    shown = pyte.Screen(COLUMNS, LINES)
    shown.set_mode(pyte.modes.LNM)
    pyte.Stream(shown).feed(text)
    rows = []
    for y in range(LINES):
        line, cells = shown.buffer[y], []
        for x in range(max(line, default=-1) + 1):
            char = line[x]
            data = char.data
            wide = len(data) > 0 and pyte.screens.wcwidth(data[0]) == 2
            if wide and line[x + 1].data != "":
                data = " "
            if data == "" and not (x and line[x - 1].data and pyte.screens.wcwidth(line[x - 1].data[0]) == 2):
                data = " "
            marks = "".join(
                n
                for n, on in zip(
                    "bius7", (char.bold, char.italics, char.underscore, char.strikethrough, char.reverse), strict=True
                )
                if on
            )
            look = ["", colour(char.bg), ""] if data == " " else [colour(char.fg), colour(char.bg), marks]
            if data != "":
                cells.append([unicodedata.normalize("NFC", data), *look])
        while cells and cells[-1][0] == " ":
            cells.pop()
        runs = []
        for data, *look in cells:
            if runs and runs[-1][1:] == look:
                runs[-1][0] += data
            else:
                runs.append([data, *look])
        rows.append(runs)
    while rows and not rows[-1]:
        rows.pop()
    return rows


def tqdm_nested(seed):
    pick = random.Random(seed)
    out = io.StringIO()
    for _ in tqdm(
        range(pick.randint(1, 3)),
        desc="outer",
        file=out,
        ascii=pick.random() < 0.5,
        ncols=40,
        bar_format=BAR,
        mininterval=0,
        colour=pick.choice([None, "green", "#00ff88"]),
        leave=pick.random() < 0.7,
    ):
        for _ in tqdm(
            range(pick.randint(1, 4)),
            desc="inner",
            position=1,
            file=out,
            ncols=40,
            bar_format=BAR,
            mininterval=0,
            leave=pick.random() < 0.5,
        ):
            pass
        if pick.random() < 0.3:
            tqdm.write("note", file=out)
    out.write("finished\n")
    return out.getvalue()


def rich_progress(seed):
    pick = random.Random(seed)
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=True,
        force_jupyter=False,
        width=48,
        color_system=pick.choice(["standard", "256", "truecolor"]),
    )
    with Progress(console=console, auto_refresh=False, transient=pick.random() < 0.3) as progress:
        tasks = [progress.add_task(name, total=4) for name in ("load", "parse", "write")[: pick.randint(1, 3)]]
        for _ in range(3):
            progress.advance(pick.choice(tasks))
            if pick.random() < 0.3:
                progress.console.print("[bold]note[/] [red]红色[/]")
            progress.refresh()
    if pick.random() < 0.5:
        table = Table("name", "值", title="[italic]Table[/]")
        table.add_row("[green]a[/]", "日本")
        console.print(table)
    return out.getvalue()


def package_tools(seed):
    pick = random.Random(seed)
    text = ""
    for step in range(pick.randint(1, 6)):
        kind = pick.randint(0, 5)
        name = "x" * pick.randint(1, 9)
        if kind == 0:
            text += f"\x1b[2K\r\x1b[36m⠙\x1b[0m resolving {name}"
        elif kind == 1:
            text += f"\x1b[2K\r\x1b[2mResolved {step} packages\x1b[0m\n"
        elif kind == 2:
            text += f"\x1b[?25l   \x1b[38;5;237m━━━━\x1b[0m \x1b[32m{step}.0/9 MB\x1b[0m {name}\r\x1b[?25h"
        elif kind == 3:
            text += f"\x1b[1G\x1b[0K[{name}] \x1b[7mreify\x1b[27m:{name}"
        elif kind == 4:
            text += f"remote: {step * 10}%\x1b[K\rremote: done.\x1b[K\n"
        else:
            text += (
                f"\x1b[1m{step}/9\x1b[22m \x1b[32m{'━' * step}\x1b[37m{'━' * (9 - step)}\x1b[0m"
                + "\b" * pick.randint(0, 9)
            )
    return text


def random_sequences(seed):
    pick = random.Random(seed)
    text = "\n" * pick.randint(0, 2)
    for _ in range(pick.randint(3, 20)):
        kind = pick.randint(0, 9)
        if kind < 4:
            text += "".join(pick.choice("abcdefg 日本é") for _ in range(pick.randint(1, 6)))
        elif kind < 6:
            text += pick.choice(["\n", "\r", "\b", "\r\n", "\t", "e\u0301"])
        elif kind < 8:
            text += f"\x1b[{pick.choice(['', '0', '1', '2', '3'])}{pick.choice('ABCDEFGKXP@d' if 'K' else '')}"
            if text.endswith("3K"):
                text = text[:-4]
        elif kind == 8:
            text += (
                pick.choice(["\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[H", "\x1b[2;3H", "\x1b[3;1f"])
                if "\x1b[4" not in text
                else "\x1b[H"
            )
        else:
            text += "\x1b[{}m".format(
                pick.choice(
                    [
                        "0",
                        "",
                        "1",
                        "31",
                        "3;92",
                        "44",
                        "38;5;200",
                        "48;5;17",
                        "38;2;1;2;3",
                        "48;2;9;8;7",
                        "4;7",
                        "22;27",
                        "39;49",
                    ]
                )
            )
    return text


def main():
    kinds = [(tqdm_nested, 24), (rich_progress, 16), (package_tools, 40), (random_sequences, 150)]
    for make, count in kinds:
        for seed in range(count):
            text = make(seed)
            if text.count("\n") + text.count("\x1b[B") < 40:
                print(json.dumps({"text": text, "rows": screen(text)}, ensure_ascii=True, separators=(",", ":")))


main()
