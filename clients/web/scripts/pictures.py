"""Shrinks the pictures and makes an animation of the recorded frames. Needs Pillow; `make pictures` runs it."""

import json
import pathlib

from PIL import Image

WEB = pathlib.Path(__file__).resolve().parents[1]
PICTURES = WEB / "pictures"
FRAMES = WEB / "test-results" / "frames"
COLOURS = 200
LONGEST_MS = 1_600
SHORTEST_MS = 90


def shrink(path: pathlib.Path) -> None:
    image = Image.open(path).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def recording(to: pathlib.Path) -> None:
    times = json.loads((FRAMES / "times.json").read_text())
    frames, durations = [], []
    for number, at in enumerate(times):
        later = times[number + 1] if number + 1 < len(times) else at + 2.5
        ms = max(1, round((later - at) * 1_000))
        # Merges frames that are shorter than the minimum.
        if ms < SHORTEST_MS and frames and durations[-1] < SHORTEST_MS:
            durations[-1] += ms
            frames[-1] = number
        else:
            frames.append(number)
            durations.append(ms)
    durations = [min(ms, LONGEST_MS) for ms in durations[:-1]] + [2_500]
    images = [Image.open(FRAMES / f"{number:04}.png").convert("RGB") for number in frames]
    size = images[0].size
    images = [image if image.size == size else image.resize(size) for image in images]
    images[0].save(to, save_all=True, append_images=images[1:], duration=durations, loop=0, quality=62, method=4)


if __name__ == "__main__":
    for picture in sorted(PICTURES.glob("*.png")):
        shrink(picture)
    recording(PICTURES / "recording.webp")
    for picture in sorted(PICTURES.iterdir()):
        print(f"{picture.name}: {picture.stat().st_size / 1024:.0f} KB")
