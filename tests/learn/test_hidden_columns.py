"""Hidden Chow-Liu trees: what they find, hold out and promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError, StateSpaceError
from tests.cli.running import facts_of, good
from tests.networks import random_network


def three_groups(n: int, seed: int) -> fn.Table:
    """Ten columns, each of which noisily shows one of three groups: no tree of the columns alone explains that."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 3, n)
    shown = {f"q{v}": np.where(rng.random(n) < 0.8, groups == v % 3, rng.random(n) < 0.5) for v in range(10)}
    return fn.Table.from_frame({name: np.where(column, "yes", "no") for name, column in shown.items()})


def test_it_tells_new_rows_better_than_a_tree_of_the_columns() -> None:
    train, new = three_groups(3_000, 1), three_groups(3_000, 2)
    tree = fn.learn.parameters(fn.learn.chow_liu(train), train)
    found = fn.learn.hidden_chow_liu(train, seed=1)
    gain = found.model.log_prob(new) - tree.log_prob(new)
    assert gain.mean() > 5 * gain.std() / math.sqrt(len(gain))
    assert found.n_states >= 4  # two cannot hold three groups
    assert found.held_out[found.n_states] > found.held_out[2]


def test_independent_columns_need_no_states() -> None:
    """More states than the least help by chance alone, which the standard error of the difference is there for."""
    rng = np.random.default_rng(1)
    rows = fn.Table.from_frame({f"c{v}": rng.integers(0, 3, 2_000) for v in range(6)})
    found = fn.learn.hidden_chow_liu(rows, seed=1)
    assert found.n_states == 2
    entropy = sum(-float(p @ np.log(p)) for p in (np.bincount(c, minlength=3)[:3] / 2_000 for c in rows.codes))
    assert abs(found.log_likelihood / 2_000 + entropy) < 0.02


def test_probabilities_of_all_rows_add_up_to_one() -> None:
    table = random_network(1, [2, 3, 2, 4]).sample(500, seed=2)
    model = fn.learn.hidden_chow_liu(table, 5, seed=1).model
    cells = np.indices([v.cardinality for v in table.variables]).reshape(len(table.variables), -1)
    every = fn.Table(table.variables, [row.astype(v.dtype) for v, row in zip(table.variables, cells, strict=True)])
    assert math.isclose(np.exp(model.log_prob(every)).sum(), 1, rel_tol=1e-9)


def test_the_result_is_a_network_like_any_other(tmp_path: Any) -> None:
    table = three_groups(400, 1)
    found = fn.learn.hidden_chow_liu(table, 3, seed=1)
    model = found.model
    assert model.names[:10] == table.names
    assert [v.hidden for v in model.variables] == [False] * 10 + [True] * 10
    total = model.log_prob(table).sum()
    assert math.isclose(total, found.log_likelihood, rel_tol=1e-12)
    fn.save(model, tmp_path / "m.json")
    again = fn.load(tmp_path / "m.json")
    assert [v.hidden for v in again.variables] == [v.hidden for v in model.variables]
    assert math.isclose(again.log_prob(table.to_pandas()).sum(), total, rel_tol=1e-12)
    kernel = fn.kernels.HiddenVariableKernel(model)
    assert kernel.hidden == model.names[10:]
    assert kernel(table[:7]).shape == (7, 7)
    behind = fn.explain.rows(model, table, query="q0", state="yes", given={"q3": "yes"})
    assert len(behind.values) == table.n_rows
    assert model.predict_proba(table[:3], "q0").shape == (3, 2)


def test_missing_cells_are_summed_out_and_weights_count() -> None:
    table = three_groups(800, 1)
    rng = np.random.default_rng(3)
    holes = table.to_pandas().mask(rng.random((800, 10)) < 0.2)
    found = fn.learn.hidden_chow_liu(holes, 4, seed=1)
    assert np.isfinite(found.model.log_prob(three_groups(100, 2))).all()
    doubled = fn.Table.from_codes(np.array(table.codes).T, table.variables, weights=np.full(800, 2))
    one, two = fn.learn.hidden_chow_liu(table, 2, seed=1), fn.learn.hidden_chow_liu(doubled, 2, seed=1)
    assert math.isclose(two.log_likelihood, 2 * one.log_likelihood, rel_tol=1e-2)


def test_rows_of_no_weight_are_not_there() -> None:
    table = three_groups(60, 1)
    weights = (np.arange(60) < 5).astype(np.int64)
    weighted = fn.Table.from_codes(np.array(table.codes).T, table.variables, weights=weights)
    found, alone = fn.learn.hidden_chow_liu(weighted, 2, seed=1), fn.learn.hidden_chow_liu(table[:5], 2, seed=1)
    assert math.isclose(found.log_likelihood, alone.log_likelihood, rel_tol=1e-9)


def test_a_seed_repeats_it_on_any_number_of_threads() -> None:
    table = three_groups(500, 1)
    found = []
    for n in (1, 2):
        with fn.threads(n):
            found.append(fn.learn.hidden_chow_liu(table, 3, seed=5).model)
    for one, other in zip(found[0].conditionals, found[1].conditionals, strict=True):
        assert (one.table() == other.table()).all()


@pytest.mark.parametrize("n_rows", [1, 2, 12])
def test_few_rows_and_columns_of_one_state(n_rows: int) -> None:
    rows = {"a": ["x"] * n_rows, "b": [i % 2 for i in range(n_rows)]}
    found = fn.learn.hidden_chow_liu(fn.Table.from_frame(rows, categorical=["b"]), seed=1)
    assert np.isfinite(found.model.log_prob(found.model.rows(rows))).all()
    alone = fn.learn.hidden_chow_liu(fn.Table.from_frame({"a": ["x", "y", "y"]}), 2, seed=1)
    assert alone.model.log_prob({"a": ["y", "x"]}).argmax() == 0


def test_the_time_limit_leaves_what_there_is() -> None:
    found = fn.learn.hidden_chow_liu(three_groups(2_000, 1), seed=1, max_seconds=0)
    assert not found.finished
    assert np.isfinite(found.log_likelihood)


def test_ctrl_c_keeps_the_best_so_far() -> None:
    """Once two states are fitted, the interrupt has their network."""
    table = three_groups(300, 1)

    def stop(_: str, done: int, total: int | None) -> None:
        assert total is not None
        if done > 100:  # the passes of the second number of states
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        fn.learn.hidden_chow_liu(three_groups(4_000, 1), most=32, seed=1, progress=stop)
    best: Any = caught.value.best  # type: ignore[attr-defined]
    assert np.isfinite(best.log_prob(table)).all()


def test_bad_input_is_a_sentence() -> None:
    with pytest.raises(SchemaError):
        fn.learn.hidden_chow_liu(fn.Table.from_frame({"a": []}, categorical=["a"]))
    with pytest.raises(StateSpaceError):
        fn.learn.hidden_chow_liu(three_groups(20, 1), 2**14)
    with pytest.raises(FishernetError) as caught:
        fn.learn.hidden_chow_liu(three_groups(20, 1), 0)
    assert caught.value.parameter == "n_states"


def test_a_hidden_column_may_be_absent_everywhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = three_groups(300, 1)
    model = fn.learn.clusters(table, 2, restarts=2, seed=1).model
    rows = table[:5]
    wanted = model.log_prob(rows.conform(model.variables))
    assert np.isfinite(wanted).all()
    path = tmp_path / "rows.csv"
    fn.write_table(rows, path)
    for data in (rows, rows.to_pandas(), rows.to_frame(), fn.read_table(path, schema=model.variables)):
        np.testing.assert_array_equal(model.log_prob(data), wanted)
    stream = fn.scan(path, schema=model.variables)
    np.testing.assert_array_equal(model.log_prob(stream), wanted)
    with monkeypatch.context() as patch:  # as of columns that are too long for memory
        patch.setattr(type(stream), "_is_short", lambda *_: False)
        np.testing.assert_array_equal(model.log_prob(fn.scan(path)), wanted)
    drawn = model.sample(5, seed=1)  # which has the column: it counts there
    assert (model.log_prob(drawn) < model.log_prob(drawn.select(table.names))).all()
    with pytest.raises(SchemaError, match="lacks the column 'q0'"):
        model.log_prob(rows.select(table.names[1:]))


def test_numbers_are_cut_in_the_rows_that_are_learned_from() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    table = fn.Table.from_frame({"x": x, "y": x + rng.normal(size=400)})
    with pytest.warns(FishernetWarning, match="cut into bins"):
        found = fn.learn.fit(table, "hidden-chow-liu")
    assert np.isfinite(found.model.log_prob(table)).all()
    assert found.to_dict()["edges"] == (("x", "y"),)
    assert found.to_dict()["hidden_states"] <= 20


def test_the_command_learns_one_and_other_commands_take_it(tmp_path: Any) -> None:
    table = three_groups(400, 1)
    path, model, out = tmp_path / "rows.csv", tmp_path / "m.json", tmp_path / "out.csv"
    holes = table.to_pandas().mask(np.random.default_rng(1).random(table.shape) < 0.1)
    holes.to_csv(path, index=False)
    facts = facts_of("learn", path, "--model", "hidden-chow-liu", "--states", 3, "-o", model)
    assert facts["hidden_states"] == 3
    assert len(facts["edges"]) == 9
    scored = facts_of("score", model, path)
    assert math.isclose(scored["log_likelihood"], fn.load(model).log_prob(holes).sum(), rel_tol=1e-9)
    good("sample", model, "-n", 5, "--seed", 1, "-o", out)
    assert out.read_text().splitlines()[0].split(",") == list(table.names)  # nobody observes the others
    good("impute", model, path, "-o", out)
    filled = fn.read_table(out)
    assert filled.names == table.names
    assert not filled.has_missing
    assert good("select", model, path, "-k", 3).out.splitlines()[0].startswith("row,q0")
