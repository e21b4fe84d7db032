"""matplotlib takes our arrays where it takes NumPy's: every kind of plot is made and drawn with both."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


class Data:
    def __init__(self, xp):
        rng = np.random.default_rng(0)
        self.x = xp.asarray(np.linspace(0, 1, 20))
        self.y = xp.asarray(rng.random(20))
        self.m = xp.asarray(rng.random((20, 20)))
        self.rgb = xp.asarray(rng.random((8, 8, 3)))
        self.mask = self.x > 0.5
        self.X, self.Y = xp.meshgrid(self.x, self.x)
        self.half = xp.asarray([0.5]).sum()


PLOTS = {
    "plot": lambda ax, d: ax.plot(d.x, d.y, "r--", d.x, d.y * 2, "b"),
    "plot columns": lambda ax, d: ax.plot(d.m),
    "scatter": lambda ax, d: ax.scatter(d.x, d.y, c=d.y, s=d.y * 10, alpha=d.y),
    "bar": lambda ax, d: ax.bar(d.x, d.y, width=0.01),
    "bar of all arrays": lambda ax, d: ax.bar_label(ax.bar(d.x, d.y, width=d.y, bottom=d.x, yerr=d.y)),
    "barh": lambda ax, d: ax.barh(d.x, d.y, left=d.x),
    "bar of categories": lambda ax, d: ax.bar(["a", "b"], d.y[:2]),
    "hist": lambda ax, d: ax.hist(d.y, bins=d.x, weights=d.x, density=True),
    "hist of several": lambda ax, d: ax.hist([d.x, d.y], range=(d.x.min(), d.x.max())),
    "hist2d": lambda ax, d: ax.hist2d(d.x, d.y, bins=[d.x, d.x], weights=d.y),
    "hexbin": lambda ax, d: ax.hexbin(d.x, d.y, C=d.y, gridsize=5),
    "errorbar": lambda ax, d: ax.errorbar(d.x, d.y, yerr=d.y, xerr=[d.x, d.y]),
    "fill_between": lambda ax, d: (ax.fill_between(d.x, d.y, d.y * 2, where=d.mask), ax.fill_betweenx(d.x, d.y, d.y * 2)),
    "boxplot": lambda ax, d: ax.boxplot([d.x, d.y]),
    "violinplot": lambda ax, d: ax.violinplot(d.m),
    "pie": lambda ax, d: ax.pie(d.y, explode=d.x * 0),
    "imshow": lambda ax, d: ax.imshow(d.m, extent=[d.x[0], d.x[-1], d.y.min(), d.y.max()], vmin=d.m.min(), vmax=d.m.max()),
    "imshow of colours": lambda ax, d: ax.imshow(d.rgb),
    "matshow": lambda ax, d: (ax.matshow(d.m), ax.spy(d.m > 0.5)),
    "contour": lambda ax, d: ax.clabel(ax.contour(d.x, d.x, d.m, levels=d.x[1:5])),
    "contourf": lambda ax, d: plt.colorbar(ax.contourf(d.X, d.Y, d.m, 5), ax=ax),
    "pcolormesh": lambda ax, d: (ax.pcolormesh(d.x, d.x, d.m, shading="auto"), ax.pcolor(d.X, d.Y, d.m)),
    "quiver": lambda ax, d: (ax.quiver(d.X, d.Y, d.m, d.m, d.m), ax.barbs(d.X, d.Y, d.m, d.m)),
    "streamplot": lambda ax, d: ax.streamplot(d.x, d.x, d.m, d.m, density=d.half),
    "step": lambda ax, d: (ax.step(d.x, d.y), ax.stairs(d.y[:19], d.x), ax.stem(d.x, d.y)),
    "stackplot": lambda ax, d: ax.stackplot(d.x, d.m),
    "eventplot": lambda ax, d: ax.eventplot([d.x, d.y]),
    "lines": lambda ax, d: (ax.axhline(d.y.mean()), ax.axline((0, 0), slope=d.half)),
    "many lines": lambda ax, d: (ax.hlines(d.y, d.x[0], d.x[-1]), ax.vlines(d.x, 0 * d.y, d.y)),
    "text": lambda ax, d: (ax.text(d.x[0], d.y[0], f"{d.y.mean():.2f}"), ax.arrow(d.x[0], d.y[0], d.x[1], d.y[1])),
    "limits": lambda ax, d: (ax.set_xlim(d.x.min(), d.x.max()), ax.set_xticks(d.x[::5], labels=list("abcd"))),
    "spectra": lambda ax, d: (ax.psd(d.y, NFFT=8), ax.specgram(d.y, NFFT=8, noverlap=4), ax.magnitude_spectrum(d.y), ax.xcorr(d.x, d.y)),
    "triangles": lambda ax, d: (ax.tricontour(d.m[:, 0], d.m[:, 1], d.m[:, 2]), ax.triplot(d.m[:, 0], d.m[:, 1])),
    "ecdf": lambda ax, d: ax.ecdf(d.y),
    "updates": lambda ax, d: (ax.plot([0], [0])[0].set_data(d.x, d.y), ax.scatter([0], [0]).set_offsets(d.m[:, :2])),
    "colours": lambda ax, d: (plt.cm.viridis(d.y), plt.Normalize()(d.m), plt.cm.viridis(d.half)),
}  # fmt: skip


def data_of(ax) -> list:
    """What lies in the plot: the lines' points, the patches' corners, the images' pixels."""
    found = [np.asarray(line.get_xydata(), float) for line in ax.lines]
    found += [np.asarray(p.get_path().vertices) @ [[1.0], [2.0]] for p in ax.patches]
    found += [np.asarray(p.get_extents().bounds) for p in ax.patches]
    found += [np.ma.filled(c.get_array(), 0) for c in [*ax.collections, *ax.images] if c.get_array() is not None]
    return found


@pytest.mark.parametrize("name", PLOTS)
def test_plots_are_those_of_numpy_arrays(xp, name):
    shown = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in (np, xp):
            figure, ax = plt.subplots()
            try:
                PLOTS[name](ax, Data(module))
                figure.canvas.draw()
                shown.append(data_of(ax))
            finally:
                plt.close(figure)
    assert len(shown[0]) == len(shown[1])
    for expected, got in zip(*shown, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)


def test_three_dimensions(xp):
    d = Data(xp)
    ax = plt.figure().add_subplot(projection="3d")
    ax.plot_surface(d.X, d.Y, d.m)
    ax.scatter(d.x, d.y, d.y, c=d.y)
    ax.bar3d(d.x, d.y, d.y * 0, 0.1, 0.1, d.y)
    ax.figure.canvas.draw()
    plt.close("all")
