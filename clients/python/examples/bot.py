"""Bot that answers comments that begin with "@bot" with the line count of the cell.

python bot.py NOTEBOOK
"""

import sys

import notarium
from notarium import events


def answer(nb: notarium.Notebook, question: str, cell: notarium.Cell) -> str:
    """Returns the bot's answer. Replace it by your own."""
    if "lines" in question:
        return f"This cell has {len(cell.source.splitlines())} lines."
    return "Ask me for the *lines* of a cell."


def main() -> None:
    with notarium.connect() as nt, nt.open(sys.argv[1]) as nb:
        print(f"listening in {nb.title}", flush=True)
        for event in nb.events(follow=True):
            if isinstance(event, events.CommentPosted) and event.text.startswith("@bot"):
                thread = next(thread for thread in nb.threads if thread.id == event.thread_id)
                if thread.cell_id is not None:
                    thread.reply(answer(nb, event.text, nb[thread.cell_id]))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("bye")
