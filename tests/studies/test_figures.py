"""The look of the studies' figures, and that their files are the same at every run."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from studies.dependency_networks.growth import Cost, growth_figure

pytest.importorskip("matplotlib")
COSTS = [Cost(n, 3.0, None, 1e-6 * n**2, None) for n in (50, 200, 1_000)]


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    path = tmp_path / "new" / "one.svg"
    growth_figure(COSTS, path)
    return path


def test_a_figure_is_an_svg_in_a_folder_that_is_made(drawn: Path) -> None:
    assert ElementTree.parse(drawn).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_a_figure_is_the_same_bytes_at_every_run(drawn: Path, tmp_path: Path) -> None:
    growth_figure(COSTS, tmp_path / "other.svg")
    assert (tmp_path / "other.svg").read_bytes() == drawn.read_bytes()


def test_the_settings_of_others_stay_as_they_are(tmp_path: Path) -> None:
    from matplotlib import rcParams

    before = dict(rcParams)
    growth_figure(COSTS, tmp_path / "one.svg")
    assert dict(rcParams) == before


def test_nothing_is_written_when_drawing_fails(tmp_path: Path) -> None:
    from studies.figures import figure

    with pytest.raises(ZeroDivisionError), figure(tmp_path / "one.svg", x="x", y="y") as axes:
        axes.plot([1, 1 / 0])
    assert not list(tmp_path.iterdir())


def test_only_the_letters_of_an_axis_make_it_logarithmic(tmp_path: Path) -> None:
    from studies.figures import figure

    for log, scales in (("", "linear linear"), ("y", "linear log"), ("xy", "log log")):
        with figure(tmp_path / "one.svg", x="x", y="y", log=log) as axes:
            assert f"{axes.get_xscale()} {axes.get_yscale()}" == scales
            axes.plot([1, 2], [3, 4])


def test_ticks_are_plain_numbers() -> None:
    from studies.figures import plain

    assert [plain(value) for value in (0.01, 1.0, 5_000.0)] == ["0.01", "1", "5,000"]


def test_a_line_is_named_at_its_end_in_its_colour(tmp_path: Path) -> None:
    from studies.figures import figure, name_line

    with figure(tmp_path / "one.svg", x="x", y="y") as axes:
        (line,) = axes.plot([1, 2], [3, 4])
        name_line(line, "it")
        (text,) = axes.texts
        assert (text.get_text(), text.get_color()) == ("it", line.get_color())
        assert getattr(text, "xy") == (2.0, 4.0)  # noqa: B009


def test_panels_are_one_file_with_a_title_each(tmp_path: Path) -> None:
    from studies.figures import panels

    with panels(tmp_path / "it.svg", [["a", "b", "c"], ["d", "e", "f"]], x="rows", y="distance", log="x") as axes:
        assert [[one.get_title(loc="left") for one in row] for row in axes] == [["a", "b", "c"], ["d", "e", "f"]]
        assert [[one.get_xlabel() for one in row] for row in axes] == [[""] * 3, ["rows"] * 3]
        assert [[one.get_ylabel() for one in row] for row in axes] == [["distance", "", ""]] * 2
        axes[1][2].plot([100, 1_000], [1, 2])
    assert ElementTree.parse(tmp_path / "it.svg").getroot().tag.endswith("svg")
