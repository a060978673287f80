"""The picture of distances by the number of rows: its lines are the numbers of the results."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.base.errors import FishernetError

ASIA = fn.datasets.load("asia")
TABLE = ASIA.sample(300, seed=1)
K = fn.kernels.FisherKernel(ASIA)
FOUND = fn.select.distance_by_k(K, TABLE, [1, 2, 5, 20], n_random=20, seed=1)


def test_lines_are_the_distances_and_the_band_the_quantiles() -> None:
    other = fn.select.distance_by_k(K, TABLE, [1, 5], method="protodash", n_random=5, seed=1)
    ax = fn.plot.distance_by_k(FOUND, other, ax=Figure().add_subplot())
    critic, dash, level = ax.lines
    assert [line.get_label() for line in ax.lines] == ["mmd-critic", "protodash", "at random, mean"]
    np.testing.assert_allclose(np.asarray(critic.get_ydata(), dtype=float), FOUND.relative)
    np.testing.assert_array_equal(np.asarray(critic.get_xdata()), FOUND.k)
    np.testing.assert_allclose(np.asarray(dash.get_ydata(), dtype=float), other.relative)
    np.testing.assert_allclose(np.asarray(level.get_ydata(), dtype=float), FOUND.at_random / FOUND.spread)
    corners = np.asarray(ax.collections[0].get_paths()[0].vertices)[:, 1]
    assert corners.min() == pytest.approx(FOUND.low.min() / FOUND.spread)
    assert corners.max() == pytest.approx(FOUND.high.max() / FOUND.spread)
    assert ax.get_title(loc="left") == FOUND.verdict
    assert len({line.get_marker() for line in (critic, dash)}) == 2  # that can be told apart in grey
    FigureCanvasAgg(ax.figure).draw()  # type: ignore[arg-type, no-untyped-call]


def test_all_rows_equal_rows_and_one_row_can_be_drawn() -> None:
    for table, ks in ((TABLE[:9], [1, 9]), (TABLE[np.zeros(4, dtype=int)], None), (TABLE[:1], None)):
        found = fn.select.distance_by_k(K, table, ks, n_random=3, seed=1)
        ax = fn.plot.distance_by_k(found, ax=Figure().add_subplot())
        FigureCanvasAgg(ax.figure).draw()  # type: ignore[arg-type, no-untyped-call]


def test_what_is_refused() -> None:
    with pytest.raises(FishernetError, match="one to 4 results, got 0"):
        fn.plot.distance_by_k()
    with pytest.raises(FishernetError, match="got 5"):
        fn.plot.distance_by_k(*[FOUND] * 5)


def test_a_figure_of_its_own() -> None:
    from matplotlib import pyplot

    ax = fn.plot.distance_by_k(FOUND)
    pyplot.close(ax.figure)  # type: ignore[arg-type]
