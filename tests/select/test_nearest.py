from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from tests.strings import random_hmm

KERNELS: dict[str, Any] = {
    "features": lambda: fn.kernels.SpectrumKernel(2, "ab"),
    "no features": lambda: fn.kernels.SpectrumKernel(2),
    "logarithms": lambda: fn.kernels.PairHmmKernel(random_hmm(1, 2, 2, final=True, empty=True, alphabet="ab")),
    "scores": lambda: fn.kernels.FisherKernel(random_hmm(1, 2, 2, final=True, alphabet="ab"), metric="practical"),
}
lists = st.lists(st.text(alphabet="ab", max_size=5), min_size=1, max_size=8)


@pytest.mark.parametrize("name", list(KERNELS))
@settings(deadline=None, max_examples=25)
@given(strings=lists, n=st.integers(1, 9))
def test_the_others_come_in_the_order_of_their_cosines(name: str, strings: list[str], n: int) -> None:
    kernel = KERNELS[name]()
    matrix, diagonal = kernel(strings), kernel.diag(strings)
    lengths = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    wanted = matrix / np.outer(lengths, lengths)
    found = fn.select.nearest(kernel, strings, n=n)
    assert found.indices.shape == (len(strings), min(n, len(strings) - 1))
    for of, indices, cosines in zip(found.of, found.indices, found.cosines, strict=True):
        assert of not in indices
        others = np.delete(np.arange(len(strings)), of)
        order = others[np.argsort(-wanted[of, others].clip(-1, 1).round(12), kind="stable")]
        assert indices.tolist() == order[:n].tolist()
        np.testing.assert_allclose(cosines, wanted[of, indices], atol=1e-9)


@pytest.mark.parametrize("name", list(KERNELS))
@settings(deadline=None, max_examples=25)
@given(strings=lists)
def test_the_gram_matrix_is_the_kernel(name: str, strings: list[str]) -> None:
    kernel = KERNELS[name]()
    found = fn.kernels.gram_matrix(kernel, strings)
    np.testing.assert_allclose(found, kernel(strings), rtol=1e-12)
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize("name", ["features", "logarithms"])
def test_many_items_come_in_parts_that_are_told(name: str) -> None:
    rng = np.random.default_rng(1)
    strings = ["".join(rng.choice(list("ab"), 4)) for _ in range(150)]
    kernel = KERNELS[name]()
    told: list[Any] = []
    found = fn.kernels.gram_matrix(kernel, strings, progress=lambda *of: told.append(of))
    assert told[-1] == ("comparing pairs", 11325, 11325)
    whole = fn.select.nearest(kernel, strings, n=3, progress=lambda *of: told.append(of))
    assert told[-1] == ("comparing items", 150, 150)
    some = fn.select.nearest(kernel, strings, of=[149, 70], n=3)
    assert np.array_equal(some.indices, whole.indices[[149, 70]])
    np.testing.assert_allclose(found, kernel(strings), rtol=1e-12)


def test_frames_have_a_row_for_each_pair() -> None:
    frame = fn.select.nearest(fn.kernels.SpectrumKernel(1), ["a", "ab", "b"], n=1).to_frame()
    assert frame.column_names == ["item", "other", "cosine"]
    assert frame["other"].to_pylist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fn.select.nearest("spectrum", ["a"]), "needs a kernel, as .*, not a str"),  # type: ignore[arg-type]
        (lambda: fn.kernels.gram_matrix(None, ["a"]), "needs a kernel"),  # type: ignore[arg-type]
        (lambda: fn.select.nearest(fn.kernels.SpectrumKernel(1), "abc"), "not one string"),
        (lambda: fn.kernels.gram_matrix(fn.kernels.SpectrumKernel(1), "abc"), "not one string"),
        (lambda: fn.select.nearest(fn.kernels.SpectrumKernel(1), ["a"], of=[1]), "of must be an integer from 0 to 0"),
        (lambda: fn.select.nearest(fn.kernels.SpectrumKernel(1), ["a"], n=0), "n must be"),
        (lambda: fn.select.nearest(fn.kernels.SpectrumKernel(1), [], of=[0]), "no items"),
    ],
)
def test_what_does_not_fit(call: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        call()


def test_kernels_without_features_take_tables_and_frames() -> None:
    table = fn.datasets.load("asia").sample(30, seed=1)
    kernel = fn.kernels.Rbf(fn.kernels.FisherKernel(fn.datasets.load("asia")), 2.0)  # its values are cosines
    cosines = kernel(table).round(12)
    np.fill_diagonal(cosines, -1)
    expected = np.argsort(-cosines, axis=1, kind="stable")[:, :3]
    assert (fn.select.nearest(kernel, table, n=3).indices == expected).all()
    assert (fn.select.nearest(kernel, table.to_frame(), n=3).indices == expected).all()
