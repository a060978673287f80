"""A warning stands at the line of the caller, however deep in the library it is given."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.base.errors import warn
from tests.test_layers import FILES

FRAME = pd.DataFrame({"id": [f"p{row}" for row in range(60)], "smoke": ["yes", "no", "no"] * 20})
NUMBERS = pd.DataFrame(np.random.default_rng(1).normal(size=(20, 3)).round(1), columns=["a", "b", "c"])
NETWORK = fn.datasets.load("asia")
ONE, OTHER = NETWORK.sample(20, seed=1), NETWORK.sample(20, seed=2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fn.Table.from_frame(FRAME),
        lambda: fn.learn.dependency_network(NUMBERS),
        lambda: fn.learn.markov_graph(NUMBERS, test="knn-mi", permutations=19, seed=1),
        lambda: fn.independence.knn_test(*NUMBERS.to_numpy().T[:2], permutations=19, seed=1),
        lambda: fn.compare.two_sample_test(ONE, OTHER, fn.kernels.FisherKernel(NETWORK), permutations=9, seed=1),
        lambda: functools.singledispatch(fn.Table.from_frame)(FRAME),
        lambda: warn("it"),
    ],
)
def test_a_call_warns_at_its_line(call: Callable[[], object]) -> None:
    with pytest.warns(fn.FishernetWarning) as said:
        call()
    assert {(one.filename, one.lineno) for one in said} == {(__file__, call.__code__.co_firstlineno)}


def test_calls_about_files_warn_at_their_lines(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv")
    fn.write_table(ONE, tmp_path / "t.parquet")
    fn.scan(tmp_path / "t.parquet", cache=tmp_path / "copy")
    fn.write_table(OTHER, tmp_path / "t.parquet")
    with pytest.warns(fn.FishernetWarning) as said:  # noqa: PT031  # four lines are what it is about
        fn.read_table(tmp_path / "t.csv")
        fn.scan(tmp_path / "t.parquet", cache=tmp_path / "copy")
        fn.save(NETWORK, tmp_path / "m.uai")
        fn.write_table(fn.Table.from_frame({"a": ["1", "2"]}), tmp_path / "a.csv")
    assert {one.filename for one in said} == {__file__}
    assert len({one.lineno for one in said}) == 4


def test_what_scikit_learn_calls_for_us_warns_at_our_line() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    with pytest.warns(fn.FishernetWarning) as said:
        preprocessing.FunctionTransformer(fn.Table.from_frame).transform(FRAME)
    assert said[0].filename == __file__


def test_an_import_warns_at_its_line(tmp_path: Path) -> None:
    script = tmp_path / "ours.py"
    script.write_text("import os\nimport fishernet\n", encoding="utf-8")
    env = {**os.environ, "FISHERNET_THREADS": "many"}
    ended = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=True)
    assert ended.stderr.startswith(f"{script}:2: FishernetWarning: FISHERNET_THREADS must be a number")


def test_a_function_that_a_user_hands_in_warns_at_its_own_line() -> None:
    """The innermost line of a caller's is told, not the one that began it all."""

    def kernel(X: fn.Table, Y: fn.Table | None = None) -> np.ndarray:
        fn.Table.from_frame(FRAME)
        return np.ones((len(X), len(X if Y is None else Y)))

    kernel.diag = lambda X: np.ones(len(X))  # type: ignore[attr-defined]
    with pytest.warns(fn.FishernetWarning, match="identifier") as said:
        fn.compare.mmd(kernel, ONE, OTHER)  # type: ignore[arg-type]
    assert {one.lineno for one in said} == {kernel.__code__.co_firstlineno + 1}


def test_the_library_warns_by_one_function() -> None:
    by_hand = [path.name for path in FILES if "warnings.warn" in path.read_text(encoding="utf-8")]
    assert by_hand == ["errors.py"]
