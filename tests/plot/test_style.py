"""The palette: contrasts are computed, and themes go with backgrounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib import colormaps, pyplot
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.plot.style import DARK, LIGHT, Theme, contrast, ink_on, luminance, theme_of

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def test_contrast_is_that_of_the_guidelines() -> None:
    """Known values of WCAG 2.1: black on white is 21, #767676 the lightest grey that has 4.5 on white."""
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") >= 4.5 > contrast("#777777", "#FFFFFF")
    assert contrast("#FF0000", "#FFFFFF") == pytest.approx(3.998, abs=1e-3)


@THEMES
def test_text_and_marks_stand_out(theme: Theme) -> None:
    for ink in (theme.ink, theme.muted):
        assert contrast(ink, theme.background) >= 4.5
    assert contrast(theme.ink, theme.box) >= 4.5
    for colour in (theme.line, theme.more, theme.less, theme.third, *theme.series):
        assert contrast(colour, theme.background) >= 3
    for fill in (*theme.fills, theme.more, theme.box):
        assert contrast(ink_on(fill), fill) >= 4.5


def test_black_or_white_can_be_read_on_everything() -> None:
    for name in (LIGHT.sequential, DARK.sequential, LIGHT.diverging, DARK.diverging):
        for share in np.linspace(0, 1, 101):
            fill = colormaps[name](float(share))
            assert contrast(ink_on(fill), fill) >= 4.5


@THEMES
def test_numbers_are_told_apart_in_grey(theme: Theme) -> None:
    shades = [luminance(colormaps[theme.sequential](float(share))) for share in np.linspace(0, 1, 21)]
    steps = np.diff(shades)
    assert (steps < 0).all() or (steps > 0).all()


def simulated(colour: str, kind: str) -> np.ndarray:
    """Return a colour as the colour-blind see it, by the matrices of Machado, Oliveira and Fernandes (2009)."""
    from matplotlib.colors import to_rgb

    matrices = {
        "protanopia": [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        "deuteranopia": [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    }
    linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)])
    return np.asarray(np.clip(np.array(matrices[kind]) @ linear, 0, 1))


@THEMES
@pytest.mark.parametrize("kind", ["protanopia", "deuteranopia"])
def test_more_and_less_differ_for_the_colour_blind(theme: Theme, kind: str) -> None:
    pairs = itertools.combinations((theme.more, theme.less), 2)
    assert all(np.abs(simulated(a, kind) - simulated(b, kind)).max() > 0.15 for a, b in pairs)


def test_colours_go_with_the_background() -> None:
    assert theme_of(Figure().add_subplot()) is LIGHT
    assert theme_of(Figure().add_subplot(facecolor="black")) is DARK
    assert theme_of(Figure(facecolor="#222222").add_subplot(facecolor="none")) is DARK
    with pyplot.style.context("dark_background"):
        assert theme_of(Figure().add_subplot()) is DARK
    with fn.plot.theme("dark"):
        assert theme_of(Figure().add_subplot()) is DARK
    assert theme_of(Figure().add_subplot()) is LIGHT  # nothing is left behind
    with pytest.raises(fn.FishernetError, match="unknown name 'dim'"), fn.plot.theme("dim"):  # type: ignore[arg-type]
        pass


def test_pictures_on_dark_axes_have_light_text() -> None:
    ax = Figure(facecolor="black").add_subplot(facecolor="black")
    fn.plot.graph(fn.datasets.load("alarm").dag.skeleton(), ax=ax, target="HR")
    assert all(contrast(text.get_color(), "black") >= 4.5 for text in ax.texts)
