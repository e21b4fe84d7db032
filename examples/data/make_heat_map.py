"""Draws the sample heat map: heat_map.png (256 x 256, bright is hot) and heat_map.csv (128 x 128, degrees). Needs Pillow.

python examples/data/make_heat_map.py
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

HERE = Path(__file__).resolve().parent
N, SCALE = 256, 4


def draw() -> np.ndarray:
    """A heating wire in the shape of two letters between cold pipes, on a plate that is warm here and there."""
    rng = np.random.default_rng(2)
    plate = Image.new("L", (N, N), 60)
    pen = ImageDraw.Draw(plate)
    for _ in range(24):
        x, y, r = rng.integers(0, N), rng.integers(0, N), rng.integers(6, 30)
        pen.ellipse((x - r, y - r, x + r, y + r), fill=int(rng.integers(30, 200)))
    plate = plate.filter(ImageFilter.GaussianBlur(5)).resize((N * SCALE, N * SCALE))
    pen = ImageDraw.Draw(plate)
    at = lambda *xs: tuple(SCALE * x for x in xs)
    pipes = (30, 30), (104, 40), (160, 74), (226, 70), (92, 152), (182, 152), (236, 152), (28, 120), (28, 226), (130, 216), (228, 228)
    for x, y in pipes:
        pen.ellipse(at(x - 6, y - 6, x + 6, y + 6), fill=0)
    width = 7 * SCALE
    pen.line(at(52, 60, 52, 188), fill=255, width=width)  # b
    pen.arc(at(49, 112, 125, 191), 0, 360, fill=255, width=width)
    pen.arc(at(139, 112, 215, 191), 45, 315, fill=255, width=width)  # c
    pen.ellipse(at(183, 23, 197, 37), fill=255)
    return np.asarray(plate.resize((N, N), Image.Resampling.NEAREST), dtype="float64")


if __name__ == "__main__":
    values = draw()
    Image.fromarray(values.astype("uint8")).save(HERE / "heat_map.png", optimize=True)
    np.savetxt(HERE / "heat_map.csv", np.round(values[::2, ::2] * (100 / 255)), fmt="%d", delimiter=",")
