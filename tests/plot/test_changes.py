"""The picture of a change: its bars, lines and words against the result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import fishernet as fn
from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.plot.style import LIGHT

ASIA = fn.datasets.load("asia")
CURED = fn.infer.intervene(ASIA, {"bronc": "no"})
FOUND = fn.compare.explain_change(
    ASIA.sample(1500, seed=1), CURED.sample(1500, seed=2), ASIA, permutations=99, resamples=20
)


def widths_of(ax: Axes) -> np.ndarray:
    return np.array([bar.get_width() for bar in ax.patches if isinstance(bar, Rectangle)])


def test_bars_are_the_nats_from_the_largest_down_and_filled_by_what_was_found() -> None:
    ax = fn.plot.change(FOUND, ax=Figure().add_subplot())
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [c.variable for c in sorted(FOUND.by_variable.values(), key=lambda c: (-c.nats, c.variable))]
    assert names[0] == "bronc"
    np.testing.assert_allclose(widths_of(ax), [FOUND.by_variable[name].nats for name in names])
    colours = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    hatches = [bar.get_hatch() for bar in ax.patches]
    for name, colour, hatch in zip(names, colours, hatches, strict=True):
        change = FOUND.by_variable[name]
        assert (colour == LIGHT.more.lower()) == change.changed
        assert (hatch is not None) == bool(change.inherited_from)
    assert [text.get_text() for text in ax.texts] == [f"p {FOUND.by_variable[name].p_corrected:.2g}" for name in names]


def test_the_most_and_a_figure_of_its_own_from_which_nothing_is_cut_off() -> None:
    from matplotlib import pyplot

    ax = fn.plot.change(FOUND, most=3)
    assert len(ax.patches) == 3
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    box = ax.get_tightbbox()
    assert box is not None
    width, height = figure.get_size_inches() * figure.dpi
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert box.y1 <= height
    pyplot.close(figure)


def test_by_configuration_it_says_from_what_to_what() -> None:
    ax = fn.plot.change(FOUND, by="configuration", most=4, ax=Figure().add_subplot())
    rows = FOUND.by_configuration[:4]
    np.testing.assert_allclose(widths_of(ax), [row.nats for row in rows])
    for text, row in zip(ax.texts, rows, strict=True):
        state, (before, after) = text.get_text().split(": ")[0], text.get_text().split(": ")[1].split(" → ")
        assert float(before) == pytest.approx(row.before[state], rel=0.06)
        assert float(after) == pytest.approx(row.after[state], rel=0.06)


def test_networks_have_no_tests_and_infinite_nats_have_a_bar() -> None:
    smokers = fn.infer.intervene(ASIA, {"smoke": "yes"})
    exact = fn.compare.explain_change(ASIA, smokers)
    assert not fn.plot.change(exact, ax=Figure().add_subplot()).texts
    back = fn.compare.explain_change(smokers, ASIA)  # after, there are states that were impossible before
    assert np.isinf(back.nats)
    assert (widths_of(fn.plot.change(back, ax=Figure().add_subplot())) >= 0).all()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_it_is_written(tmp_path: Path, suffix: str) -> None:
    fn.plot.write_change(FOUND, tmp_path / f"change{suffix}", most=5)
    assert (tmp_path / f"change{suffix}").stat().st_size > 1000


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="svg"):
        fn.plot.write_change(FOUND, tmp_path / "change.txt")
    with pytest.raises(FishernetError, match="most"):
        fn.plot.change(FOUND, most=0)
