from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import fishernet as fn
from fishernet import _core
from fishernet.independence.nearest_neighbours import is_certain
from tests.reference.nearest import distances, information_counts

knn_test = fn.independence.knn_test


def sample(n: int = 150, seed: int = 1) -> tuple[np.ndarray[Any, Any], ...]:
    z = np.random.default_rng(seed).normal(size=n)
    x, y = z + np.random.default_rng(seed + 100).normal(size=(2, n))
    return x, y, z


def test_the_p_value_from_given_orders_is_that_of_the_definition() -> None:
    x, y, z = sample(60)
    orders = np.stack([np.random.default_rng(s).permutation(60) for s in range(19)])
    found = knn_test(x, y, z, k=3, permutations=orders)
    observed = information_counts(x, y, z, 3)[1]
    permuted = [information_counts(x, y[order], z, 3)[1] for order in orders]
    exceeding = sum(value >= observed for value in permuted)
    assert found.statistic == pytest.approx(observed, abs=1e-12)
    assert (found.exceeding, found.permutations) == (exceeding, 19)
    assert found.p_value == (1 + exceeding) / 20
    assert found.seed is None


def test_an_order_that_changes_nothing_ties_and_counts() -> None:
    x, y, z = sample(40)
    for given in (None, z):
        assert knn_test(x, y, given, permutations=np.arange(40)[None]).p_value == 1.0


def test_p_values_are_uniform_under_the_null() -> None:
    """Of independent x and y every rank is equally likely; 20 ranks, 400 samples."""
    rng = np.random.default_rng(2)
    p_values = [knn_test(*rng.standard_t(3, (2, 40)), k=3, permutations=19, seed=rng).p_value for _ in range(400)]
    counts = np.bincount(np.round(np.array(p_values) * 20).astype(int), minlength=21)[1:]
    assert counts.sum() == 400
    assert stats.chisquare(counts).pvalue > 0.01


def test_p_values_are_uniform_when_z_is_irrelevant() -> None:
    rng = np.random.default_rng(3)
    p_values = [knn_test(*rng.normal(size=(3, 40)), k=3, permutations=19, seed=rng).p_value for _ in range(400)]
    counts = np.bincount(np.round(np.array(p_values) * 20).astype(int), minlength=21)[1:]
    assert stats.chisquare(counts).pvalue > 0.01


def test_a_dependence_without_correlation_is_seen() -> None:
    x, noise = np.random.default_rng(4).normal(size=(2, 300))
    assert knn_test(x, x**2 + 0.3 * noise, seed=1).p_value == 1 / 201


def test_one_seed_one_answer_on_any_number_of_threads() -> None:
    x, y, z = sample()
    before = fn.set_threads(1)
    try:
        alone = knn_test(x, y, z, seed=7)
        fn.set_threads(5)
        assert knn_test(x, y, z, seed=7) == alone
    finally:
        fn.set_threads(before)
    assert knn_test(x, y, z, seed=alone.seed) == alone


def test_the_seed_of_a_result_repeats_it() -> None:
    x, y, z = sample()
    found = knn_test(x, y, z)
    assert knn_test(x, y, z, seed=found.seed) == found


def test_more_permutations_begin_with_the_fewer() -> None:
    few, many = _core.draw_orders(50, 3, 9, 0), _core.draw_orders(50, 10, 9, 0)
    np.testing.assert_array_equal(few, many[:3])
    np.testing.assert_array_equal(_core.draw_orders(50, 7, 9, 3), many[3:])


def test_every_order_of_few_rows_is_equally_likely() -> None:
    orders = _core.draw_orders(3, 6000, 1, 0)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 0.01


def test_a_local_order_takes_rows_from_the_neighbourhood() -> None:
    z = np.random.default_rng(5).normal(size=(80, 2))
    near = _core.nearest_others(np.ascontiguousarray(z.T), 4)[0]
    orders = _core.draw_local_orders(near, 30, 3, 0)
    allowed = np.argsort(distances(z), axis=1, kind="stable")[:, :5]
    for order in orders:
        assert all(order[i] in allowed[i] for i in range(80))
    assert (orders != np.arange(80)).mean() > 0.5
    # rows are taken again only where all near ones are taken
    assert np.mean([len(set(order.tolist())) for order in orders]) > 0.85 * 80


def test_local_permutations_reject_less_of_what_follows_z_closely() -> None:
    """Permuting y over all rows breaks what binds it to z, too; x and y are independent given z."""
    rng = np.random.default_rng(6)
    rejected = {"simple": 0, "local": 0}
    for _ in range(40):
        z = rng.uniform(-3, 3, size=150)
        x, y = z + 0.3 * rng.normal(size=(2, 150))
        for scheme in rejected:
            rejected[scheme] += knn_test(x, y, z, permutations=39, scheme=scheme, seed=rng).p_value <= 0.05  # type: ignore[arg-type]
    assert rejected["local"] <= rejected["simple"]
    assert rejected["local"] <= 8  # of 40 at the level 0.05: more than that has probability 1e-4


def test_what_follows_z_closely_is_rejected_rarely_by_default() -> None:
    """X = 3 Z + e, Y = 3 Z + e': independent given Z. Local permutations reject some 11 %, simple ones 99 %."""
    rng = np.random.default_rng(8)
    rejected = {"default": 0, "simple": 0}
    for seed in range(60):
        z = rng.normal(size=100)
        x, y = 3 * z + rng.normal(size=(2, 100))
        rejected["default"] += knn_test(x, y, z, permutations=99, seed=seed, stop_early=True).p_value <= 0.05
        simple = knn_test(x, y, z, permutations=99, seed=seed, stop_early=True, scheme="simple")
        rejected["simple"] += simple.p_value <= 0.05
    assert rejected["default"] <= 20  # of 60 at 0.11: probability 1e-6
    assert rejected["simple"] >= 50


def test_the_default_is_local_where_something_is_given() -> None:
    x, y, z = sample()
    assert knn_test(x, y, z, seed=3) == knn_test(x, y, z, seed=3, scheme="local")
    assert knn_test(x, y, seed=3) == knn_test(x, y, seed=3, scheme="simple")
    X = np.column_stack([x, y, z])
    by_default, local = fn.independence.KnnTest(X, seed=3), fn.independence.KnnTest(X, seed=3, scheme="local")
    assert by_default(0, 1, (2,)) == local(0, 1, (2,))


def test_local_permutations_without_z_are_refused() -> None:
    x, y, _ = sample()
    with pytest.raises(fn.FishernetError, match="no z"):
        knn_test(x, y, scheme="local")


@pytest.mark.parametrize("seed", range(8))
def test_stopping_early_decides_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=80)
    x = z + rng.normal(size=80)
    y = 0.4 * x * (seed % 3) + z + rng.normal(size=80)
    whole = knn_test(x, y, z, seed=seed)
    early = knn_test(x, y, z, seed=seed, stop_early=True)
    assert (early.p_value <= 0.05) == (whole.p_value <= 0.05)
    assert early.statistic == whole.statistic
    assert early.stopped_early == (early.permutations < 200)


def test_an_independence_is_certain_after_few() -> None:
    x, y = np.random.default_rng(8).normal(size=(2, 100))
    found = knn_test(x, y, seed=1, stop_early=True, permutations=1000)
    assert found.stopped_early
    assert found.permutations < 1000


@pytest.mark.parametrize("total", [19, 200])
def test_certainty_is_never_wrong(total: int) -> None:
    for done in range(total + 1):
        for exceeding in range(done + 1):
            best = (1 + exceeding) / (1 + total) <= 0.05
            worst = (1 + exceeding + total - done) / (1 + total) <= 0.05
            assert is_certain(exceeding, done, total, 0.05) == (best == worst)
            if best == worst:
                assert ((1 + exceeding) / (1 + done) <= 0.05) == best


def test_a_skipped_test_says_so() -> None:
    x, y, z = np.random.default_rng(9).normal(size=(3, 400))
    found = knn_test(x, y, z, skip_below=0.5)
    assert found.skipped
    assert found.permutations == 0
    assert found.p_value == fn.independence.fisher_z_test(x, y, z).p_value


def test_a_correlation_is_not_skipped() -> None:
    x, y, _ = sample(400)
    found = knn_test(x, y, skip_below=10.0, seed=1)
    assert not found.skipped
    assert found.permutations == 200


def test_a_large_estimate_is_not_skipped() -> None:
    x, noise = np.random.default_rng(10).normal(size=(2, 400))
    found = knn_test(x, x**2 + noise, skip_below=0.001, alpha=1e-6, seed=1)
    assert not found.skipped


def test_the_test_of_columns_standardizes_them() -> None:
    X = np.column_stack(sample())
    scaled = X * [1, 1000, 0.001]
    one = fn.independence.KnnTest(X, seed=3)
    other = fn.independence.KnnTest(scaled, seed=3)
    assert one(0, 1, (2,)).p_value == other(0, 1, (2,)).p_value
    assert one.association(1, 0, (2,)) == one(0, 1, (2,)).statistic


def test_where_nothing_is_given_columns_are_permuted_simply() -> None:
    """A search for blankets begins with nothing given, under either scheme."""
    X = np.column_stack(sample())
    local, simple = (fn.independence.KnnTest(X, scheme=scheme, seed=3) for scheme in ("local", "simple"))
    assert local(0, 1, ()) == simple(0, 1, ())
    assert local(0, 1, (2,)).statistic == simple(0, 1, (2,)).statistic
    assert fn.learn.markov_graph(X, scheme="local", seed=3).names == ("v0", "v1", "v2")


def test_the_test_of_columns_does_not_depend_on_what_was_asked_before() -> None:
    X = np.column_stack(sample())
    fresh = fn.independence.KnnTest(X, seed=3)(0, 1, (2,))
    used = fn.independence.KnnTest(X, seed=3)
    used(1, 2, ())
    assert used(0, 1, (2,)) == fresh


def test_the_global_random_state_is_untouched() -> None:
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    knn_test(*sample())
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]  # noqa: NPY002


def test_a_result_is_a_frame() -> None:
    frame = knn_test(*sample(), seed=1).to_frame()
    assert frame.num_rows == 1
    assert frame.column_names[:4] == ["statistic", "p_value", "permutations", "exceeding"]


X, Y, Z = sample(30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"permutations": 0}, "permutations must be an integer from 1 to"),
        ({"permutations": np.zeros((2, 29), int)}, r"shape \(T, 30\)"),
        ({"permutations": np.full((1, 30), 30)}, "row order 0, position 0: 30 is not a row"),
        ({"permutations": np.zeros((1, 30))}, "must be integers"),
        ({"scheme": "wild"}, "unknown scheme 'wild'"),
        ({"k_perm": 1}, "k_perm"),
        ({"alpha": 0.0}, "alpha must be strictly between 0 and 1"),
        ({"alpha": 1}, "alpha"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        knn_test(X, Y, Z, **options)


def test_an_order_without_z_holds_every_row_once() -> None:
    with pytest.raises(fn.SchemaError, match="every row once"):
        knn_test(X, Y, permutations=np.zeros((1, 30), int))


def test_discrete_columns_are_refused() -> None:
    coin = np.arange(30) % 3
    with pytest.raises(fn.SchemaError, match=r"'y' is discrete .*g-squared"):
        knn_test(X, coin)
    with pytest.raises(fn.SchemaError, match="'z' is discrete"):
        knn_test(X, Y, coin.astype(float))
