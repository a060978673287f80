"""The picture of chosen rows: which rows are marked, near what they stand, and that labels break nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError
from tests.cli.running import hostile

ASIA = fn.datasets.load("asia")
TABLE = ASIA.sample(300, seed=1)
K = fn.kernels.FisherKernel(ASIA)
CHOSEN = fn.select.mmd_critic(K, TABLE, 8)
ODD = fn.select.criticisms(K, TABLE, CHOSEN, 3)


def drawn(chosen: fn.select.Selection = CHOSEN, **options: Any) -> Axes:
    ax = fn.plot.selection(chosen, ax=Figure(figsize=(6, 5)).add_subplot(), **options)
    FigureCanvasAgg(ax.figure).draw()  # type: ignore[arg-type, no-untyped-call]
    return ax


def points_of(ax: Axes, label: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Where the marks of a label stand."""
    (found,) = [marks for marks in ax.collections if str(marks.get_label()).startswith(label)]
    return np.asarray(found.get_offsets(), dtype=np.float64)


def test_chosen_rows_and_criticisms_are_marked_and_numbered() -> None:
    ax = drawn(criticisms=ODD)
    assert len(points_of(ax, "chosen (8)")) == 8
    assert len(points_of(ax, "criticism (3)")) == 3
    numbers = ", ".join(text.get_text() for text in ax.texts).split(", ")
    assert sorted(numbers) == sorted([*map(str, range(8)), "c0", "c1", "c2"])
    assert len(drawn(fn.select.random_subset(TABLE, 41, seed=1), kernel=K).texts) == 0


def test_equal_rows_stand_together_and_one_mark_grows() -> None:
    table = TABLE[np.repeat([0, 5, 9, 20, 33], [1, 4, 9, 1, 25])]
    chosen = fn.select.mmd_critic(K, table, 5)
    gram, places = K(table), points_of(drawn(chosen), "chosen")
    for i, a in enumerate(chosen.indices):
        for j, b in enumerate(chosen.indices):
            equal = gram[a, a] + gram[b, b] - 2 * gram[a, b] < 1e-9
            assert equal == (np.abs(places[i] - places[j]).max() < 1e-6)
    (others,) = [marks for marks in drawn(chosen).collections if "other" in str(marks.get_label())]
    sizes: Any = others.get_sizes()  # type: ignore[attr-defined]
    assert len(np.unique(np.round(sizes, 6))) > 1


def test_rows_on_a_line_stand_in_their_order() -> None:
    angles = np.linspace(0.1, 1.4, 12)

    class Circle:
        """A kernel of angles, whose features lie on a quarter of a circle."""

        def __call__(self, X: Any, Y: Any = None) -> Any:
            return np.cos(np.subtract.outer(X, X if Y is None else Y))

        def diag(self, X: Any) -> Any:
            return np.ones(len(X))

    chosen = fn.select.mmd_critic(Circle(), angles, 12)
    x = points_of(drawn(chosen), "chosen")[:, 0][np.argsort(chosen.indices)]
    assert (np.diff(x) > 0).all() or (np.diff(x) < 0).all()


def test_a_column_colours_and_shapes_the_other_rows() -> None:
    ax = drawn(colour="smoke")
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "smoke"
    assert {text.get_text() for text in legend.get_texts()} == {"yes", "no", "chosen (8)"}
    shapes = {marks.get_paths()[0].vertices.tobytes() for marks in ax.collections}  # type: ignore[union-attr]
    assert len(shapes) == 3  # that can be told apart in grey


def test_numbers_have_a_scale() -> None:
    rows = {name: np.random.default_rng(seed).normal(size=60) for seed, name in enumerate("xy")}
    kernel = fn.kernels.FisherKernel(fn.learn.bayesian_network(rows))
    ax = drawn(fn.select.mmd_critic(kernel, fn.Table.from_frame(rows), 4), colour="x")
    assert ax.figure.axes[1].get_ylabel() == "x"


def test_of_many_rows_a_sample_is_drawn_and_the_seed_says_which() -> None:
    large = ASIA.sample(20_000, seed=2)
    chosen = fn.select.mmd_critic(K, large, 5)
    first, again, other = (points_of(drawn(chosen, n_rows=200, seed=seed), "other rows (200)") for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert first.shape != other.shape or not np.allclose(first, other)


def test_few_rows_and_rows_without_a_column() -> None:
    one = fn.select.mmd_critic(K, TABLE[:1], 1)
    assert [text.get_text() for text in drawn(one).texts] == ["0"]
    strings = ["abab", "abba", "bbbb", "baba"]
    chosen = fn.select.mmd_critic(fn.kernels.SpectrumKernel(2), strings, 2)
    assert len(points_of(drawn(chosen), "chosen")) == 2
    with pytest.raises(SchemaError):
        drawn(chosen, colour="a")


def test_hostile_labels_are_text() -> None:
    net = hostile()
    table = net.sample(60, seed=0)
    chosen = fn.select.mmd_critic(fn.kernels.FisherKernel(net), table, 3)
    for name in table.names:
        assert drawn(chosen, colour=name).get_legend() is not None
    dollars = fn.Table.from_frame({"$x^": ["$\\frac", "b"] * 20})
    kernel = fn.kernels.FisherKernel(fn.learn.bayesian_network(dollars))
    drawn(fn.select.mmd_critic(kernel, dollars, 2), colour="$x^")


def test_what_is_refused() -> None:
    with pytest.raises(SchemaError, match="chosen without a kernel"):
        drawn(fn.select.random_subset(TABLE, 3, seed=1))
    with pytest.raises(SchemaError, match="no column 'smoek'"):
        drawn(colour="smoek")
    with pytest.raises(FishernetError, match="n_rows must be"):
        drawn(n_rows=0)


def test_a_figure_of_its_own() -> None:
    from matplotlib import pyplot

    ax = fn.plot.selection(CHOSEN, colour="smoke")
    pyplot.close(ax.figure)  # type: ignore[arg-type]
