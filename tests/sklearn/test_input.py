"""What the classifier takes: kinds of frames and arrays, numbers, classes, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fishernet as fn
from fishernet.sklearn import BayesianNetworkClassifier
from tests.sklearn.frames import mixed


def test_all_frames_are_alike() -> None:
    frame, y = mixed()
    plain = frame.assign(grade=frame["grade"].astype(str))  # only pandas declares states
    reference = BayesianNetworkClassifier().fit(plain, y).predict_proba(plain)
    others = (pl.from_pandas(plain), pa.Table.from_pandas(plain), plain.convert_dtypes())
    for other in others:
        model = BayesianNetworkClassifier().fit(other, y)
        assert model.feature_names_in_.tolist() == list(frame.columns)
        np.testing.assert_array_equal(model.predict_proba(other), reference)


def test_declared_categories_stay_states_in_their_order() -> None:
    frame, y = mixed()
    model = BayesianNetworkClassifier().fit(frame, y)
    assert model.network_.variables[3] == fn.Variable("grade", ["c", "b", "a", "z"])


def test_an_array_of_objects_is_as_a_frame() -> None:
    frame, y = mixed()
    frame["grade"] = frame["grade"].astype(str)
    array = frame.to_numpy(dtype=object)
    by_array = BayesianNetworkClassifier().fit(array, y)
    by_frame = BayesianNetworkClassifier().fit(frame, y)
    np.testing.assert_array_equal(by_array.predict_proba(array), by_frame.predict_proba(frame))
    assert [v.name for v in by_array.network_.variables] == ["x0", "x1", "x2", "x3", "class"]


def test_cut_points_of_training_cut_new_numbers() -> None:
    x = np.arange(100.0)[:, None]
    model = BayesianNetworkClassifier("nb", bins=2).fit(x, x[:, 0] > 49)
    assert model.network_.variables[0].cuts == (49.0,)
    assert model.predict([[-1e6], [49.0], [49.1], [1e6]]).tolist() == [False, False, True, True]


def test_few_distinct_numbers_are_states() -> None:
    x = np.tile([0, 1, 2], 20)[:, None]
    for bins in (3, 2):
        assert BayesianNetworkClassifier("nb", bins=bins).fit(x, x[:, 0] > 0).network_.variables[0].states == (0, 1, 2)
    named = BayesianNetworkClassifier("nb", bins={"x0": 2}).fit(x, x[:, 0] > 0)
    assert named.network_.variables[0].cardinality == 2


def test_bins_may_differ_by_column() -> None:
    frame, y = mixed()
    model = BayesianNetworkClassifier(bins={"size": [0.0, 2.0]}).fit(frame, y)
    assert model.network_.variables[1].cuts == (0.0, 2.0)
    wide = BayesianNetworkClassifier(bins=4, binning="equal-width").fit(frame, y).network_.variables[1].cuts
    assert wide is not None
    np.testing.assert_allclose(np.diff(wide), (frame["size"].max() - frame["size"].min()) / 4, rtol=1e-12)


def test_the_class_gets_a_name_that_no_feature_has() -> None:
    frame, y = mixed()
    assert BayesianNetworkClassifier().fit(frame, y).target_name_ == "class"
    assert BayesianNetworkClassifier().fit(frame, pd.Series(y, name="verdict")).target_name_ == "verdict"
    assert BayesianNetworkClassifier().fit(frame, pl.Series("verdict", y)).network_.names[-1] == "verdict"
    assert BayesianNetworkClassifier().fit(frame, pd.Series(y, name="town")).target_name_ == "town_"
    renamed = frame.rename(columns={"town": "class", "size": "class_"})
    assert BayesianNetworkClassifier().fit(renamed, y).target_name_ == "class__"


@pytest.mark.parametrize("y", [[True, False, False] * 5, [2, 7, 7] * 5, ["no", "yes", "yes"] * 5, [1.0, 2.0, 2.0] * 5])
def test_classes_keep_their_type(y: list[Any]) -> None:
    X = [["a"], ["b"], ["b"]] * 5
    model = BayesianNetworkClassifier().fit(X, y)
    assert model.predict([["a"], ["b"]]).tolist() == [y[0], y[1]]
    assert model.classes_.dtype == np.asarray(y).dtype


# ---------------------------------------------------------------------------------------------------- bad input


FRAME, Y = mixed(40)


@pytest.mark.parametrize(
    ("X", "y", "options", "said"),
    [
        (
            FRAME,
            Y,
            {"structure": "tann"},
            "unknown structure 'tann'; there are 'naive-bayes', 'tan', 'kdb', 'order'",
        ),
        (FRAME, np.ones(40, dtype=int), {}, "one class only, 1"),
        (FRAME, np.linspace(0, 1, 40), {}, "Unknown label type"),
        (FRAME, [*Y[:3], None, *Y[4:]], {}, "NaN or None 1 times, first in row 3"),
        (FRAME, Y[:39], {}, "inconsistent numbers of samples"),
        (FRAME[:0], Y[:0], {}, r"0 row\(s\)"),
        (FRAME[[]], Y, {}, r"0 feature\(s\)"),
        (FRAME[[]].assign(town=None), Y, {}, "there are only missing cells in 'town'"),
        (
            np.array([[1, [2]], [1, None]], dtype=object),
            [0, 1],
            {},
            "column 1, row 0: .* a string or a number, not list",
        ),
    ],
)
def test_bad_input_is_said(X: Any, y: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        BayesianNetworkClassifier(**options).fit(X, y)


def test_other_columns_than_in_training_are_refused() -> None:
    frame, y = mixed(40)
    model = BayesianNetworkClassifier().fit(frame, y)
    for other in (frame[["town"]], frame[["size", "town", "open", "grade"]], frame.rename(columns={"town": "city"})):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(other)
    with pytest.raises(ValueError, match="has 2 features"):
        BayesianNetworkClassifier().fit([[1, 2, 3], [1, 2, 4]], [0, 1]).predict([[1, 2]])


def test_without_scikit_learn_it_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "sys.modules['sklearn'] = None\n"
        "import fishernet\n"
        "try:\n"
        "    import fishernet.sklearn\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout == (
        'fishernet.sklearn needs scikit-learn 1.6 or later; pip install "fishernet[sklearn]" installs it\n'
    )
