"""The picture of clusters: each number and each colour against the model's probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError

TABLE = fn.datasets.load("asia").sample(800, seed=1)
FOUND = fn.learn.clusters(TABLE, 3, restarts=2, seed=1)


def drawn(most: int) -> Axes:
    return fn.plot.clusters(FOUND, most=most, ax=Figure(figsize=(6, 6)).add_axes((0.4, 0.1, 0.5, 0.8)))


def test_cells_are_the_probabilities_of_the_markers_and_colours_their_lifts() -> None:
    ax = drawn(4)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    marks = FOUND.markers(4).to_pylist()
    assert labels == list(dict.fromkeys(f"{mark['variable']} = {mark['state']}" for mark in marks))
    (image,) = ax.images
    lifts = np.asarray(image.get_array())
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    for row, label in enumerate(labels):
        name, state = label.split(" = ")
        whole = fn.infer.marginal(FOUND.model, [name])
        code = FOUND.model.variables[FOUND.model.names.index(name)].states.index(state)
        for number in range(3):
            inside = fn.infer.marginal(FOUND.model, [name], given={FOUND.name: number})[code]
            assert texts[number, row] == f"{100 * inside:.0f}"
            ratio = np.log2(inside / whole[code]) if inside > 0 else -np.inf
            assert lifts[row, number] == pytest.approx(np.clip(ratio, -3, 3), abs=0.05)
    shares = [label.get_text() for label in ax.get_xticklabels()]
    assert shares == [f"{number}\n{100 * share:.3g} %" for number, share in enumerate(FOUND.shares)]


def test_nothing_is_cut_off_on_a_figure_of_its_own() -> None:
    from matplotlib import pyplot

    ax = fn.plot.clusters(FOUND, most=6)
    figure = ax.get_figure()
    assert figure is not None
    canvas: Any = FigureCanvasAgg(figure)  # type: ignore[arg-type]
    canvas.draw()
    box = ax.get_tightbbox(canvas.get_renderer())
    assert box is not None
    width, height = figure.canvas.get_width_height()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert box.y1 <= height
    pyplot.close(figure)  # type: ignore[arg-type]


def test_bad_input_is_refused() -> None:
    with pytest.raises(SchemaError, match="there is one only"):
        fn.plot.clusters(fn.learn.clusters(TABLE, 1))
    with pytest.raises(FishernetError, match="most must be an integer"):
        fn.plot.clusters(FOUND, most=0)
    with pytest.raises(FishernetError, match="font_size"):
        fn.plot.clusters(FOUND, font_size=0)
