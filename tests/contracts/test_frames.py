"""Wherever a table is taken, a frame of any library is taken: matched by name and label, with the same answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import fishernet as fn
from fishernet.kernels import FisherKernel, Normalized, Rbf

RNG = np.random.default_rng(0)
ROWS = 60
A = RNG.integers(0, 2, ROWS)
COLUMNS: dict[str, list[Any]] = {
    "whole": (A + 3).tolist(),
    "truth": (((RNG.random(ROWS) < 0.2) + A) % 2 == 1).tolist(),
    "text": RNG.choice(["u", "v", "w"], ROWS).tolist(),
    "age": RNG.normal(40, 9, ROWS).tolist(),
}
TURNED = ["text", "truth", "whole"]  # the columns of labels, in another order
INDEX = [f"row {place}" for place in range(200)]


class OnlyArrow:
    """What has nothing but Arrow's interface for streams, as a relation of DuckDB."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class Relation(OnlyArrow):
    """What has columns and a length, too, and a `to_table` that means something else, as a relation of DuckDB."""

    @property
    def columns(self) -> list[str]:
        return list(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError("a relation is indexed by name")
        return self

    def to_table(self, table_name: str) -> None:
        raise AssertionError("a table would be created in the database")


def indexed(columns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(columns, index=INDEX[: len(next(iter(columns.values())))])


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": indexed,
    "pandas nullable": lambda columns: indexed(columns).convert_dtypes(),
    "pandas Arrow": lambda columns: indexed(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "dataset": lambda columns: pa.dataset.dataset(pa.table(columns)),
    "mapping": dict,
    "stream": OnlyArrow,
    "relation": Relation,
}

LABELS = {name: column for name, column in COLUMNS.items() if name != "age"}
NUMBERS = {"x": COLUMNS["age"], "y": (np.array(COLUMNS["age"]) + RNG.normal(size=ROWS)).tolist()}
TABLE = fn.Table.from_frame(LABELS)
POINTS = fn.Table.from_frame(NUMBERS)
NET = fn.learn.bayesian_network(TABLE, seed=1)
GAUSSIAN = fn.learn.bayesian_network(POINTS, seed=1)
FIELD = fn.learn.gaussian_network(POINTS, fn.UndirectedGraph.from_edges(["x", "y"], [("x", "y")]))
UNIFORM = fn.learn.parameters(fn.Dag.from_edges(TABLE.names, []), TABLE)
DEPENDENCIES = fn.DependencyNetwork.from_joint(NET)
MARKOV = fn.MarkovNetwork(
    TABLE.variables, [(["whole", "truth"], [[1.0, 2.0], [3.0, 1.0]]), (["text"], [1.0, 2.0, 1.0])]
)
K = FisherKernel(NET)
SUM: Any = K + K * 2
MIXED = FisherKernel(NET, metric="empirical", reference=TABLE)

Call = Callable[[Any], Any]


def labels_of(answer: Any) -> list[Any]:
    """The labels of an answer in the kind of the frame that asked."""
    return [cell.as_py() if hasattr(cell, "as_py") else cell for cell in answer]


OF_LABELS: dict[str, Call] = {
    "Table.from_frame": lambda data: fn.Table.from_frame(data).select(TABLE.names).to_frame().to_pylist(),
    "learn.bayesian_network": lambda data: fn.learn.bayesian_network(data, seed=1).dag.edges,
    "learn.structure": lambda data: fn.learn.structure(data, seed=1).score,
    "learn.dag": lambda data: fn.learn.dag(data, seed=1).edges,
    "learn.parameters": lambda data: fn.learn.parameters(NET.dag, data).log_prob(TABLE),
    "learn.edge_strengths": lambda data: fn.learn.edge_strengths(data, n=3, seed=1).to_frame().to_pylist(),
    "learn.dependency_network": lambda data: fn.learn.dependency_network(data, seed=1).n_parameters,
    "learn.dependency_network, trees": lambda data: fn.learn.dependency_network(
        data, inputs="tree", seed=1
    ).pseudo_log_likelihood(TABLE),
    "learn.naive_bayes": lambda data: fn.learn.naive_bayes(data, "whole").edges,
    "learn.tan": lambda data: fn.learn.tan(data, "whole").edges,
    "learn.kdb": lambda data: fn.learn.kdb(data, "whole").edges,
    "learn.chow_liu": lambda data: sorted(map(sorted, fn.learn.chow_liu(data).edges)),
    "learn.clusters": lambda data: fn.learn.clusters(data, 2, restarts=2, seed=1).probabilities,
    "score": lambda data: fn.score(NET.dag, data),
    "local_score": lambda data: fn.local_score(data, "whole", ["truth"]),
    "learn.cross_validate": lambda data: fn.learn.cross_validate(data, folds=3, seed=1).mean,
    "compare.mmd": lambda data: fn.compare.mmd(K, data, TABLE[:20]),
    "compare.mmd, no features": lambda data: fn.compare.mmd(Rbf(K, 1.0), data, TABLE[:20]),
    "compare.two_sample_test": lambda data: (
        fn.compare.two_sample_test(data, TABLE[:20], permutations=19, seed=1).p_value
    ),
    "compare.two_sample_test, a kernel": lambda data: (
        fn.compare.two_sample_test(TABLE[:20], data, K, permutations=19, seed=1).null
    ),
    "compare.score_test": lambda data: fn.compare.score_test(K, data, reference="chi-square").statistic,
    "compare.explain_change": lambda data: (
        fn.compare.explain_change(data, TABLE[:20], NET, permutations=19, resamples=2).nats
    ),
    "compare.kl": lambda data: fn.compare.kl(data, NET),
    "compare.kl, the other way": lambda data: fn.compare.kl(TABLE[:20], data),
    "compare.full_conditional_divergence": lambda data: fn.compare.full_conditional_divergence(data, NET),
    "compare.kl_to_manifold": lambda data: fn.compare.kl_to_manifold(data, DEPENDENCIES, "truth"),
    "compare.stationary_divergence": lambda data: fn.compare.stationary_divergence(data, DEPENDENCIES).bound,
    "kernels.set_kernel": lambda data: fn.kernels.set_kernel(K, data, TABLE[:20]),
    "kernels.set_kernel, twice": lambda data: fn.kernels.set_kernel(Rbf(K, 1.0), data, data),
    "kernel": K,
    "kernel, other side": lambda data: K(TABLE[:3], data),
    "kernel, diagonal": K.diag,
    "kernel, features": lambda data: K.features(data).toarray(),
    "kernel, mean features": K.mean_features,
    "kernel, terms": K.terms,
    "kernel, empirical": MIXED,
    "kernel, reference": lambda data: FisherKernel(NET, metric="empirical", reference=data)(TABLE),
    "kernel, rbf": Rbf(K, 1.0),
    "kernel, normalized": Normalized(K),
    "kernel, sum": K + Rbf(K, 2.0),
    "kernel, sum of features": SUM.mean_features,
    "kernel, product": lambda data: (K * Rbf(K, 2.0)).diag(data),
    "kernel, models": fn.kernels.MarginalizationKernel([NET, UNIFORM], [0.5, 0.5]),
    "select.greedy_mmd": lambda data: fn.select.greedy_mmd(K, data, 5, seed=1).indices,
    "select.greedy_mmd, rows": lambda data: fn.select.greedy_mmd(Rbf(K, 1.0), data, 5, n_starts=9, seed=1).indices,
    "select.greedy_mmd, sum": lambda data: fn.select.greedy_mmd(K + Rbf(K, 1.0), data, 5, n_starts=9, seed=1).indices,
    "select.stands_for": lambda data: fn.select.greedy_mmd(K, data, 5, seed=1).stands_for(),
    "select.mmd_critic": lambda data: fn.select.mmd_critic(K, data, 5).indices,
    "select.protodash": lambda data: fn.select.protodash(K, data, 5).weights,
    "select.kernel_thinning": lambda data: fn.select.kernel_thinning(K, data, 5, seed=1).indices,
    "select.criticisms": lambda data: fn.select.criticisms(K, data, [0, 1], 2).indices,
    "select.distance_by_k": lambda data: fn.select.distance_by_k(K, data, [1, 5], n_random=5, seed=1).low,
    "select.random_subset": lambda data: fn.select.random_subset(data, 5, seed=1).indices,
    "select.similar": lambda data: fn.select.similar(K, data, 7).by_variable,
    "select.similar to a row": lambda data: fn.select.similar(K, data, TABLE[[7]]).indices,
    "log_prob": NET.log_prob,
    "log_prob_terms": NET.log_prob_terms,
    "fisher_scores": NET.fisher_scores,
    "predict": lambda data: labels_of(NET.predict(data, "whole")),
    "predict_proba": lambda data: np.asarray(NET.predict_proba(data, "whole")),
    "pseudo_log_likelihood": DEPENDENCIES.pseudo_log_likelihood,
    "log_potential": MARKOV.log_potential,
}
CHI_SQUARE: dict[str, Call] = {  # on all columns of a frame
    "select.greedy_chi_square": lambda data: fn.select.greedy_chi_square(data, 5, seed=1).indices,
    "select.chi_square_criterion": lambda data: fn.select.chi_square_criterion(data, [0, 1, 2]),
}
GAUSSIANS = {"network": FisherKernel(GAUSSIAN), "field": FisherKernel(FIELD)}
OF_NUMBERS: dict[str, Call] = {
    "learn.bayesian_network": lambda data: fn.learn.bayesian_network(data, seed=1).log_prob(POINTS),
    "learn.gaussian_graph": lambda data: fn.learn.gaussian_graph(data).edges,
    "learn.edge_strengths": lambda data: (
        fn.learn.edge_strengths(data, n=3, score="fractional", seed=1).to_frame().to_pylist()
    ),
    "learn.cross_validate": lambda data: fn.learn.cross_validate(data, folds=3, score="fractional", seed=1).mean,
    "score": lambda data: fn.score(GAUSSIAN.dag, data, "fractional"),
    "log_prob": GAUSSIAN.log_prob,
    "log_prob, field": FIELD.log_prob,
}


def of_kernel(which: str, k: Any) -> dict[str, Call]:
    return {
        f"kernel, {which}": k,
        f"mean features, {which}": k.mean_features,
        f"compare.mmd, {which}": lambda data: fn.compare.mmd(k, data, POINTS[:20]),
        f"set kernel, {which}": lambda data: fn.kernels.set_kernel(Rbf(k, 1.0), data, data),
        f"greedy_mmd, {which}": lambda data: fn.select.greedy_mmd(k, data, 5, n_starts=9, seed=1).indices,
        f"stands_for, {which}": lambda data: fn.select.greedy_mmd(k, data, 5, n_starts=9, seed=1).stands_for(),
        f"similar, {which}": lambda data: fn.select.similar(k, data, 7).indices,
    }


OF_NUMBERS |= of_kernel("network", GAUSSIANS["network"]) | of_kernel("field", GAUSSIANS["field"])


def plain(answer: Any) -> Any:
    return np.asarray(answer).tolist() if isinstance(answer, np.ndarray | np.generic) else answer


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("call", OF_LABELS)
def test_a_frame_of_labels_is_answered_as_a_table(call: str, kind: str) -> None:
    learns = call.startswith(("learn", "compare.cross"))  # ties between arcs go by the order of the columns
    columns = LABELS if learns else {name: LABELS[name] for name in TURNED}
    assert plain(OF_LABELS[call](FRAMES[kind](columns))) == plain(OF_LABELS[call](TABLE))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("call", CHI_SQUARE)
def test_the_fit_of_columns_is_that_of_a_table(call: str, kind: str) -> None:
    assert plain(CHI_SQUARE[call](FRAMES[kind](LABELS))) == plain(CHI_SQUARE[call](TABLE))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("call", OF_NUMBERS)
def test_a_frame_of_numbers_is_answered_as_a_table(call: str, kind: str) -> None:
    columns = NUMBERS if "learn" in call or "compare.cross" in call else {name: NUMBERS[name] for name in ("y", "x")}
    assert plain(OF_NUMBERS[call](FRAMES[kind](columns))) == plain(OF_NUMBERS[call](POINTS))


@pytest.mark.parametrize("kind", FRAMES)
def test_what_the_model_does_not_know_is_no_matter(kind: str) -> None:
    """A column of ids, of which `Table.from_frame` would warn, and one of numbers that the network lacks."""
    more = {"id": [f"no. {place}" for place in range(200)], **{n: (c * 4)[:200] for n, c in COLUMNS.items()}}
    whole = fn.Table.from_frame({name: column for name, column in more.items() if name in LABELS})
    calls: list[Call] = [K, NET.log_prob, lambda data: fn.select.greedy_mmd(K, data, 3, seed=1).stands_for()]
    for call in calls:
        assert plain(call(FRAMES[kind](more))) == plain(call(whole))


def test_two_frames_diverge_as_two_tables_do() -> None:
    half = {name: column[:30] for name, column in LABELS.items()}
    expected = fn.compare.kl(TABLE[:30], TABLE)
    for kind in ("pandas", "polars", "reader"):
        assert fn.compare.kl(FRAMES[kind](half), FRAMES[kind](LABELS)) == expected


def test_models_of_numbers_have_no_divergence_of_states() -> None:
    for model in (GAUSSIAN, FIELD, fn.Gaussian(0.0, 1.0)):
        with pytest.raises(fn.SchemaError, match="a divergence"):
            fn.compare.kl(model, model)
    with pytest.raises(fn.SchemaError, match="a divergence"):
        fn.compare.kl(POINTS.to_pandas(), POINTS.to_polars())


def test_a_lazy_frame_is_told_to_be_collected() -> None:
    lazy = pl.LazyFrame(LABELS)
    for call in (
        fn.learn.dag,
        NET.log_prob,
        K,
        lambda data: fn.select.random_subset(data, 3),
        lambda data: fn.select.greedy_mmd(Rbf(K, 1.0), data, 3),
    ):
        with pytest.raises(fn.SchemaError, match="LazyFrame; collect it first"):
            call(lazy)


# ------------------------------------------------------------------------------------------------------- strings

STRINGS = ["aab", "bba", "aba", "abb", "aaa", "bbb", "bab", "baa"] * 2
MOVE = [[0.7, 0.3], [0.2, 0.8]]
HMM = fn.HiddenMarkovModel([0.6, 0.4], MOVE, [[0.9, 0.1], [0.2, 0.8]], alphabet="ab")
CHAIN = fn.MarkovChain("ab", 1, MOVE)
TREE = fn.HiddenTree([[0, 1], 2], [0.4, 0.6], MOVE, MOVE, alphabet="ab")
OF_STRINGS: dict[str, Any] = {
    "HmmKernel": fn.kernels.HmmKernel(HMM),
    "PairHmmKernel": fn.kernels.PairHmmKernel(HMM),
    "CountKernel": fn.kernels.CountKernel(HMM),
    "SpectrumKernel": fn.kernels.SpectrumKernel(2),
    "SpectrumFeatures": fn.kernels.SpectrumKernel(2, "ab"),
    "HiddenTreeKernel": fn.kernels.HiddenTreeKernel(TREE),
    "PrunedTreeKernel": fn.kernels.PrunedTreeKernel(TREE),
    "HiddenBinomialKernel": fn.kernels.HiddenBinomialKernel([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab"),
    "MarginalizationKernel": fn.kernels.MarginalizationKernel([HMM, CHAIN], [0.5, 0.5]),
    "FisherKernel of a hidden Markov model": FisherKernel(HMM, length=3, seed=1),
    "FisherKernel of a Markov chain": FisherKernel(CHAIN, length=3, seed=1),
    "FisherKernel of a tree": FisherKernel(TREE, seed=1),
    "Normalized": Normalized(fn.kernels.HmmKernel(HMM)),
    "Rbf": Rbf(fn.kernels.SpectrumKernel(2), 1.0),
    "sum": fn.kernels.HmmKernel(HMM) + fn.kernels.SpectrumKernel(2),
}
LISTS: dict[str, Callable[[list[str]], Any]] = {
    "tuple": tuple,
    "NumPy": np.array,
    "NumPy objects": lambda strings: np.array(strings, dtype=object),
    "pandas": lambda strings: pd.Series(strings, index=INDEX[: len(strings)]),
    "pandas objects": lambda strings: pd.Series(strings, dtype=object),
    "pandas Arrow": lambda strings: pd.Series(strings, dtype="string[pyarrow]"),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunks": lambda strings: pa.chunked_array([strings[:3], strings[3:]]),
    "lists of symbols": lambda strings: [list(string) for string in strings],
}
OF_LISTS: dict[str, Callable[[Any, Any], Any]] = {
    "kernel": lambda kernel, strings: kernel(strings),
    "other side": lambda kernel, strings: kernel(STRINGS[:3], strings),
    "diagonal": lambda kernel, strings: kernel.diag(strings),
    "set kernel": lambda kernel, strings: fn.kernels.set_kernel(kernel, strings, strings),
    "mmd": lambda kernel, strings: fn.compare.mmd(kernel, strings, STRINGS[:3]),
    "greedy": lambda kernel, strings: fn.select.greedy_mmd(kernel, strings, 3, n_starts=9, seed=1).indices,
    "stands for": lambda kernel, strings: fn.select.greedy_mmd(kernel, strings, 3, n_starts=9, seed=1).stands_for(),
    "similar": lambda kernel, strings: fn.select.similar(kernel, strings, 1).indices,
    "similar to": lambda kernel, strings: fn.select.similar(kernel, strings, "bba").cosines,
}


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("name", OF_STRINGS)
def test_strings_are_taken_from_any_list_or_column(name: str, kind: str) -> None:
    kernel, strings = OF_STRINGS[name], LISTS[kind](STRINGS)
    for call in OF_LISTS.values():
        assert plain(call(kernel, strings)) == plain(call(kernel, STRINGS))


@pytest.mark.parametrize("name", OF_STRINGS)
def test_strings_chosen_are_the_nearest_in_the_mean(name: str) -> None:
    """No exchange of one string lowers the distance, worked out from the whole matrix."""
    kernel = OF_STRINGS[name]
    found = fn.select.greedy_mmd(kernel, STRINGS, 3, n_starts=9, seed=1)
    matrix = kernel(STRINGS)

    def distance(rows: list[int]) -> float:
        return float(matrix[np.ix_(rows, rows)].mean() - 2 * matrix[rows].mean() + matrix.mean())

    chosen = found.indices.tolist()
    np.testing.assert_allclose(found.distance, distance(chosen), atol=1e-10 * matrix.max())
    others = [[*chosen[:at], new, *chosen[at + 1 :]] for at in range(3) for new in set(range(16)) - set(chosen)]
    assert min(map(distance, others)) >= found.distance - 1e-10 * matrix.max()


@pytest.mark.parametrize("name", OF_STRINGS)
def test_a_frame_is_no_list_of_strings(name: str) -> None:
    kernel = OF_STRINGS[name]
    for frame in (pd.DataFrame({"a": STRINGS}), pl.DataFrame({"a": STRINGS}), {"a": STRINGS}, pa.table({"a": STRINGS})):
        for call in (kernel, kernel.diag, lambda data, k=kernel: fn.select.greedy_mmd(k, data, 3)):
            with pytest.raises(fn.SchemaError, match="one column of a frame"):
                call(frame)
    with pytest.raises(fn.FishernetError):
        kernel("aab")


# ------------------------------------------------------------------------------------- rows in the kind that was given


@pytest.mark.parametrize("kind", FRAMES)
def test_chosen_rows_come_in_the_kind_that_was_given(kind: str) -> None:
    found = fn.select.greedy_mmd(K, FRAMES[kind](COLUMNS), 5, seed=1)
    alike = fn.select.similar(K, FRAMES[kind](COLUMNS), 7, n=3)
    for result in (found, alike):
        rows = result.rows
        if "pandas" in kind:
            pd.testing.assert_frame_equal(rows, FRAMES[kind](COLUMNS).loc[[INDEX[i] for i in result.indices]])
        elif kind == "polars":
            assert rows.equals(pl.DataFrame(COLUMNS)[result.indices.tolist()])
        elif kind == "mapping":
            assert rows == {name: [column[i] for i in result.indices] for name, column in COLUMNS.items()}
        else:  # what can be read once is kept as a table
            assert rows.equals(pa.table(COLUMNS).take(result.indices))
        frame = result.to_frame()
        assert frame["row"].to_pylist() == result.indices.tolist()
        assert frame["age"].to_pylist() == [COLUMNS["age"][i] for i in result.indices]
    small = found.as_table()
    assert small.weights is not None
    assert small.weights.tolist() == found.stands_for().tolist()
    assert small.weights.sum() == ROWS
    assert small["text"].tolist() == [COLUMNS["text"][i] for i in found.indices]
    assert found.table.n_rows == ROWS
    assert "of 60 rows" in repr(found)


@pytest.mark.parametrize("kind", LISTS)
def test_chosen_strings_come_in_the_kind_that_was_given(kind: str) -> None:
    strings = LISTS[kind](STRINGS)
    found = fn.select.greedy_mmd(fn.kernels.HmmKernel(HMM), strings, 3, n_starts=9, seed=1)
    chosen = [STRINGS[i] for i in found.indices]
    rows = found.rows
    if "pandas" in kind:
        pd.testing.assert_series_equal(rows, strings.iloc[found.indices])
    else:
        assert type(rows) is type([] if kind == "tuple" else strings)
        listed = rows.to_pylist() if "pyarrow" in kind else rows
        assert ["".join(row) for row in listed] == chosen
    assert ["".join(row) for row in found.to_frame()["item"].to_pylist()] == chosen
    assert found.stands_for().sum() == len(STRINGS)
    calls: list[Callable[[], object]] = [found.as_table, lambda: found.table]
    for lost in calls:
        with pytest.raises(fn.SchemaError, match="needs a Table or a data frame"):
            lost()


def test_rows_of_an_array_come_as_an_array() -> None:
    X = np.stack(POINTS.codes, axis=1)
    found = fn.select.greedy_mmd(GAUSSIANS["field"], X, 4, n_starts=9, seed=1)
    np.testing.assert_array_equal(found.rows, X[found.indices])
    assert found.to_frame().column_names == ["row", "v0", "v1"]
    assert found.stands_for().sum() == ROWS


def test_a_table_of_numbers_counts_its_rows_by_weight() -> None:
    """A row of weight w is as good as w rows."""
    weights = np.arange(ROWS) % 3
    weighted = fn.Table(POINTS.variables, POINTS.codes, weights=weights)
    repeated = POINTS[np.repeat(np.arange(ROWS), weights)]
    kernels: list[Any] = [*GAUSSIANS.values(), *(Rbf(k, 1.0) for k in GAUSSIANS.values())]
    for kernel in kernels:
        np.testing.assert_allclose(
            fn.compare.mmd(kernel, weighted, POINTS[:9]), fn.compare.mmd(kernel, repeated, POINTS[:9]), rtol=1e-9
        )


def test_rows_of_numbers_stand_for_those_near_them() -> None:
    table = fn.Table.from_frame({"x": [0.0, 0.1, 5.0, 5.1, 9.0], "c": ["u", "u", "v", "v", "v"]}, continuous=["x"])
    found = dataclasses.replace(fn.select.random_subset(table, 3, seed=3), indices=np.array([4, 1, 2]))
    assert found.nearest().tolist() == [1, 1, 2, 2, 0]
    assert found.stands_for().tolist() == [1, 2, 2]
