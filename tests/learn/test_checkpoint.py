"""Searches that were stopped go on from a checkpoint, and end as those that were not."""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FileFormatError, FishernetError, FishernetWarning
from fishernet.base.progress import Resumable, Watch
from fishernet.data import Source, Statistic
from fishernet.learn import HillClimb, Order, Rules, Scorer, Search, SearchResult, Tabu
from fishernet.scores import LocalScores, named_score
from tests.interrupts import interrupt_once_begun, time_over_after
from tests.sources import Blocks
from tests.tables import random_table

State = tuple[list[int], list[float]]

SEARCHES: dict[str, Any] = {
    "hill-climb": HillClimb(),
    "hill-climb with restarts": HillClimb(restarts=4, perturb=5, seed=3),
    "tabu": Tabu(patience=20),
    "tabu with restarts": Tabu(tenure=3, patience=6, restarts=4, perturb=3, seed=5),
    "order": Order(restarts=6, seed=2),
    "orders alone": Order(restarts=4, graphs=False, seed=2),
    "order among candidates": Order(restarts=3, candidates=2),
}
EVERY = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the state at every look, and call the progress as often."""
    monkeypatch.setattr("fishernet.learn.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("fishernet.base.progress.INTERVAL", 0.0)


class Bare(Blocks):
    """A source that nobody can tell more of than its statistics."""

    def rows_digest(self) -> None:
        return None


class Failing(Blocks):
    """A source that fails at one of its calls."""

    def __init__(self, table: fn.Table, calls: int) -> None:
        super().__init__(table)
        self._left = calls

    def statistics(self, sets: Sequence[tuple[int, ...]]) -> list[Statistic]:
        self._left -= 1
        if self._left < 0:
            raise ConnectionError("the line is cut")
        return super().statistics(sets)


def same(found: SearchResult, expected: SearchResult) -> bool:
    """Whether two results are equal but for the work that they took."""
    return replace(found, n_scores=0, seconds=0) == replace(expected, n_scores=0, seconds=0)


def alarm(rows: int) -> fn.Table:
    return fn.datasets.load("alarm").sample(rows, seed=1)


# ---------------------------------------------------------------------------------------------- going on


@EVERY
@settings(max_examples=12)
@given(seed=st.integers(0, 1000), stops=st.lists(st.integers(2, 25), min_size=1, max_size=3))
def test_a_search_that_failed_goes_on_and_ends_as_if_it_had_not(search: Search, seed: int, stops: list[int]) -> None:
    table = random_table(seed, 150, [2, 3, 2, 4, 2, 3], dependence=0.5)
    expected = fn.learn.structure(Blocks(table), score="aic", search=search)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        for calls in stops:
            try:
                fn.learn.structure(Failing(table, calls), score="aic", search=search, checkpoint=path)
            except ConnectionError:
                assert json.loads(path.read_text())["found"] is None
        assert same(fn.learn.structure(Blocks(table), score="aic", search=search, checkpoint=path), expected)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "search",
    [HillClimb(restarts=100, seed=1), Tabu(restarts=60, seed=1), Order(restarts=40, seed=1)],
    ids=lambda search: type(search).__name__,
)
@pytest.mark.parametrize("steps", [1, 150, 700])
def test_one_that_is_stopped_again_and_again_arrives(search: Search, steps: int, tmp_path: Path) -> None:
    """By an exception of progress, whenever so many more steps are made."""
    table, path = alarm(1500), tmp_path / "state.json"
    before: list[int] = []

    def stop(what: str, done: int, total: int | None) -> None:
        if done >= before[-1] + steps and done != total:
            before.append(done)
            raise RuntimeError("enough")

    before.append(0)
    found = None
    while found is None:
        try:
            found = fn.learn.structure(table, search=search, checkpoint=path, progress=stop)
        except RuntimeError:
            assert path.stat().st_size < 30_000  # no score that can be computed again is kept
    assert same(found, fn.learn.structure(table, search=search))
    assert len(before) > 1  # how often it is told of steps is up to the threads


@dataclass
class Every:
    """A keeper of all states, those of each call of the scorer as well."""

    given: State | None = None

    def __post_init__(self) -> None:
        self.states: list[State] = []
        self.work: list[Resumable] = []

    def give(self, work: Resumable) -> None:
        self.work.append(work)
        if self.given is not None:
            work.restore(*self.given)

    def look(self, work: Resumable) -> None:
        self.states.append(work.state)

    keep = look


class Looking:
    """A scorer that has the state kept whenever it is called."""

    def __init__(self, scorer: LocalScores, keeper: Every) -> None:
        self._scorer, self._keeper = scorer, keeper
        self.source, self.score, self.in_core, self.of_sets = scorer.source, scorer.score, None, scorer.of_sets

    @property
    def n_distinct(self) -> int:
        return self._scorer.n_distinct

    def __call__(self, families: Any) -> Any:
        return self._scorer(families)

    def for_core(self) -> Callable[..., Any]:
        inside: Any = self._scorer.for_core()
        score = inside if callable(inside) else inside.family_scores

        def scores(*flat: Any) -> Any:
            for work in self._keeper.work:
                self._keeper.look(work)
            return score(*flat)

        return scores


def weighted(table: fn.Table) -> fn.Table:
    weights = np.random.default_rng(1).random(table.n_rows)
    return fn.Table.from_codes(np.column_stack(table.codes), table.variables, weights=weights)


def numbers() -> np.ndarray[Any, Any]:
    columns = np.random.default_rng(4).normal(size=(150, 6))
    columns[:, 3] += columns[:, 0] - columns[:, 1]
    columns[:, 5] += columns[:, 3] / 2
    return columns


DATA: dict[str, tuple[Callable[[], Any], str]] = {
    "counts": (lambda: random_table(7, 300, [2, 3, 2, 4, 2, 3, 2, 2], dependence=0.5), "aic"),
    "weights": (lambda: weighted(random_table(7, 300, [2, 3, 2, 4, 2, 3, 2, 2], dependence=0.5)), "bdeu"),
    "numbers": (numbers, "fractional"),
}


@pytest.mark.parametrize("data", DATA)
@EVERY
def test_it_goes_on_from_every_state(search: Any, data: str) -> None:
    make, name = DATA[data]
    score = named_score(name)
    source: Source = score.source(make())
    states = None if data == "numbers" else [variable.cardinality for variable in source.variables]
    rules = Rules.of([variable.name for variable in source.variables], states=states)
    every = Every()
    looking: Scorer = Looking(LocalScores(source, score), every)
    expected = search.run(looking, rules, Watch().keeping(every))
    assert len(every.states) > 5
    for state in every.states[:: max(1, len(every.states) // 15)]:
        found = search.run(LocalScores(source, score), rules, Watch().keeping(Every(state)))
        assert same(found, expected)


def test_time_that_is_over_is_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, path = alarm(1000), tmp_path / "state"
    asked: dict[str, Any] = {"checkpoint": path, "restarts": 300}
    assert not fn.learn.structure(table, max_seconds=1e6, progress=time_over_after(20, monkeypatch), **asked).finished
    assert len(json.loads(path.read_text())["state"]["real"]) > 20  # so many steps were made
    later = fn.learn.structure(table, **asked)
    assert same(later, fn.learn.structure(table, restarts=300))
    assert fn.learn.structure(table, max_seconds=0, **asked) == later


def test_ctrl_c_keeps_the_state(tmp_path: Path) -> None:
    table, path = alarm(1000), tmp_path / "state"
    with interrupt_once_begun() as progress, pytest.raises(KeyboardInterrupt) as stopped:
        fn.learn.structure(table, checkpoint=path, restarts=1_000_000, progress=progress)
    assert stopped.value.best.names == table.names  # type: ignore[attr-defined]
    assert stopped.value.checkpoint == path  # type: ignore[attr-defined]
    assert json.loads(path.read_text())["state"]["whole"]


def test_ways_to_learn_that_make_one_search(tmp_path: Path) -> None:
    table = alarm(300)
    dag = fn.learn.dag(table, search="tabu", checkpoint=tmp_path / "a.json.gz")
    assert fn.learn.bayesian_network(table, search="tabu", checkpoint=tmp_path / "a.json.gz").dag == dag
    codes = np.column_stack(table.codes)
    codes[::7, 3] = table.cardinalities[3]
    gaps = fn.Table.from_codes(codes, table.variables)
    first, again = (fn.learn.structure(gaps, missing="node-average", checkpoint=tmp_path / "b") for _ in range(2))
    assert first == again


# ---------------------------------------------------------------------------------------------- finished searches


@dataclass(frozen=True)
class Twice(Search):
    """A search of one's own, which makes two of those shipped."""

    def run(self, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
        first = Tabu(patience=5, restarts=2).run(scorer, rules, watch)
        return HillClimb(restarts=3, perturb=4).run(scorer, replace(rules, start=first.dag), watch)


@EVERY
def test_a_finished_one_answers_at_once(search: Search, tmp_path: Path) -> None:
    source = Blocks(random_table(3, 200, [2, 3, 2, 4]))
    found = fn.learn.structure(source, search=search, checkpoint=tmp_path / "state")
    before, source.asked = source.asked, 0
    again = fn.learn.structure(source, search=search, checkpoint=tmp_path / "state")
    assert again == found
    assert source.asked == 1 < before  # for the score of the start


def test_exact_search_keeps_its_result(tmp_path: Path) -> None:
    table, path = random_table(3, 200, [2, 3, 2, 4]), tmp_path / "state"
    assert not fn.learn.structure(table, search="exact", checkpoint=path, max_seconds=0).finished
    found = fn.learn.structure(table, search="exact", checkpoint=path)
    assert found.finished
    assert fn.learn.structure(table, search="exact", checkpoint=path) == found


@pytest.mark.parametrize(("share", "piece"), [(0.2, 1), (0.4, 1), (0.9, 2), (0.97, 2)])
def test_one_of_several_pieces_goes_on_in_the_piece_where_it_was(share: float, piece: int, tmp_path: Path) -> None:
    table, path = random_table(5, 150, [2, 3, 2, 4, 2, 3, 2], dependence=0.5), tmp_path / "state"
    source = Blocks(table)
    expected = fn.learn.structure(source, score="aic", search=Twice())
    for calls in (
        int(share * source.asked),
        int(0.3 * source.asked),
    ):  # the second time perhaps in the first piece again
        with pytest.raises(ConnectionError):
            fn.learn.structure(Failing(table, calls), score="aic", search=Twice(), checkpoint=path)
        assert json.loads(path.read_text())["state"]["piece"] == piece
    assert same(fn.learn.structure(Blocks(table), score="aic", search=Twice(), checkpoint=path), expected)


# ------------------------------------------------------------------------------------------------ what is refused

TABLE = random_table(5, 300, [2, 3, 2, 4, 2], dependence=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a search that has not ended."""
    path = tmp_path / "state.json"
    with pytest.raises(ConnectionError):
        fn.learn.structure(Failing(TABLE, 6), search="tabu", restarts=3, checkpoint=path)
    return path


def refusal(path: Path, table: Any = TABLE, **options: Any) -> str:
    before = path.read_bytes()
    with pytest.raises(FileFormatError) as refused:
        fn.learn.structure(table, **{"search": "tabu", "restarts": 3, **options}, checkpoint=path)
    assert path.read_bytes() == before
    told = str(refused.value)
    assert told.startswith(str(path))
    assert "\n" not in told
    assert refused.value.parameter in ("checkpoint", None)
    return told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"restarts": 4}, "the search's restarts was 3 and is 4;"),
        ({"seed": 9}, "the search's seed was 0 and is 9;"),
        (
            {"patience": 5, "tenure": 2},
            "the search's tenure was None and is 2, the search's patience was 100 and is 5;",
        ),
        ({"search": "hill-climb"}, "the search was Tabu and is HillClimb;"),
        ({"search": Twice(), "restarts": None}, "the search was Tabu and is Twice;"),
        ({"score": "bdeu", "ess": 2.0}, "the score was Bic(prior=False) and is Bdeu(ess=2.0);"),
        ({"max_parents": 2}, "max_parents was 5 and is 2;"),
        ({"max_cells": 100}, "max_cells was 16777216.0 and is 100.0;"),
        ({"forbidden": [("v0", "v1")]}, "the forbidden arcs differ;"),
        ({"tiers": [["v0"], ["v1"]]}, "the forbidden arcs differ;"),
        ({"required": [("v0", "v1")]}, "the required arcs differ, the arcs of the start differ;"),
        ({"start": fn.Dag.from_edges(TABLE.names, [("v0", "v1")])}, "the arcs of the start differ;"),
    ],
)
def test_other_options_are_refused(path: Path, options: dict[str, Any], told: str) -> None:
    message = refusal(path, **options)
    assert f"this is the checkpoint of another search: {told}" in message
    assert message.endswith("ask for the same to go on, or name another file to begin anew")


def test_other_data_are_refused(path: Path) -> None:
    codes = np.column_stack(TABLE.codes)
    swapped = codes.copy()
    swapped[:5, 1] = (swapped[:5, 1] + 1) % 3
    states = [fn.Variable(v.name, [f"s{state}" for state in v.states]) for v in TABLE.variables]
    assert "search: the rows differ;" in refusal(path, fn.Table.from_codes(swapped, TABLE.variables))
    assert "search: the weight of all rows was 300.0 and is 299.0;" in refusal(path, TABLE[1:])
    assert "search: the variables differ;" in refusal(path, TABLE.select(["v0", "v1", "v2"]))
    assert "search: the variables differ;" in refusal(path, fn.Table.from_codes(codes, states))
    order = np.random.default_rng(0).permutation(TABLE.n_rows)
    assert fn.learn.structure(
        TABLE[order], search="tabu", restarts=3, checkpoint=path
    ).finished  # they are the same rows


def parity(n: int) -> fn.Table:
    """Return two fair columns and the parity of the first n of seven: any two columns are independent where n > 1."""
    codes = np.array(list(np.ndindex(2, 2, 2, 2, 2, 2, 2)))
    return fn.Table.from_codes(np.column_stack([codes[:, :2], codes[:, :n].sum(axis=1) % 2]))


def shuffled(table: fn.Table, name: str = "v1") -> fn.Table:
    """Return other rows with the same marginals."""
    at = table.names.index(name)
    columns = [np.random.default_rng(7).permutation(c) if i == at else c for i, c in enumerate(table.codes)]
    return fn.Table(table.variables, columns, weights=table.weights)


def continuous(seed: int = 4) -> fn.Table:
    columns = np.random.default_rng(seed).normal(size=(150, 4)) * [1, 1e6, 1e-6, 1]
    columns[:, 0] += columns[:, 3]
    return fn.Table.from_frame({f"v{i}": column for i, column in enumerate(columns.T)})


def streamed(table: fn.Table) -> fn.data.Stream:
    return fn.scan(iter([table.to_frame()]), schema=table.variables)


@pytest.mark.parametrize(
    "place", [lambda table: table, streamed, Blocks, Bare, lambda t: fn.data.Blocks([t[:50], t[50:]])]
)
@pytest.mark.parametrize(
    "make", [lambda: TABLE, continuous, lambda: weighted(TABLE)], ids=["states", "numbers", "weights"]
)
def test_shuffled_columns_are_refused(
    make: Callable[[], fn.Table], place: Callable[[fn.Table], Any], tmp_path: Path
) -> None:
    table, path = make(), tmp_path / "state"
    if table.has_fractions and place is streamed:
        pytest.skip("a frame gives the weights by a column")
    score: Any = "fractional" if table.variables[0].is_continuous else "bic"
    found = fn.learn.structure(place(table), score=score, checkpoint=path)
    for name in table.names:
        with pytest.raises(FileFormatError, match="search: the rows differ"):
            fn.learn.structure(place(shuffled(table, name)), score=score, checkpoint=path)
    assert same(fn.learn.structure(place(table), score=score, checkpoint=path), found)


def test_rows_that_only_joint_counts_of_three_tell_apart_are_refused(tmp_path: Path) -> None:
    path, dependent, independent = tmp_path / "state", parity(2), parity(6)
    for pair in ((0, 1), (0, 2), (1, 2)):
        counts = [table.statistics([pair])[0].counts.tolist() for table in (dependent, independent)]
        assert counts[0] == counts[1]
    for place in (lambda table: table, Blocks, Bare):
        fn.learn.structure(place(dependent), checkpoint=path)
        with pytest.raises(FileFormatError, match="the rows differ"):
            fn.learn.structure(place(independent), checkpoint=path)
        path.unlink()


def test_the_same_rows_elsewhere_are_known(tmp_path: Path) -> None:
    """A table, its stream and its parts answer to one checkpoint, whatever the order of their rows."""
    cases: list[tuple[fn.Table, Any]] = [(TABLE, "bic"), (continuous(), "fractional")]
    for table, score in cases:
        path = tmp_path / f"{table.names}.{table.n_rows}.json"
        found = fn.learn.structure(table, score=score, checkpoint=path)
        order = np.random.default_rng(0).permutation(table.n_rows)
        for other in (streamed(table), table[order], fn.data.Blocks([table[:20], table[20:]])):
            again = fn.learn.structure(other, score=score, checkpoint=path)
            assert again.dag == found.dag
            assert other.rows_digest() == table.rows_digest()
        path.unlink()


def test_a_row_that_counts_twice_is_two_rows() -> None:
    twice = fn.Table(TABLE.variables, TABLE.codes, weights=np.full(TABLE.n_rows, 2))
    assert twice.rows_digest() == TABLE[np.repeat(np.arange(TABLE.n_rows), 2)].rows_digest() != TABLE.rows_digest()
    numbers = fn.Table.from_frame({"x": [0.0, 1.5, np.nan]}, continuous=["x"])
    assert fn.Table(numbers.variables, [np.array([np.nan, -0.0, 1.5])]).rows_digest() == numbers.rows_digest()
    with np.errstate(invalid="ignore"):
        strange = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)  # another NaN
    assert fn.Table(numbers.variables, [np.append(strange, [0, 1.5])]).rows_digest() == numbers.rows_digest()


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change fields of a file as somebody would who knows how it is written."""
    fields = json.loads(path.read_text())
    fields.pop("digest")
    change(fields)
    digest = "sha256:" + hashlib.sha256(json.dumps(fields).encode()).hexdigest()
    path.write_text(json.dumps({**fields, "digest": digest}))


def test_another_version_is_refused(path: Path) -> None:
    rewritten(path, lambda fields: fields["asked"].update({"the version of fishernet": "0.0.9"}))
    assert f"the version of fishernet was 0.0.9 and is {fn.__version__};" in refusal(path)
    rewritten(path, lambda fields: fields.update(version=1))
    assert "another version of fishernet wrote this checkpoint" in refusal(path)


def parsed(path: Path) -> object:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None


NONE = "this is no checkpoint of a search, or a damaged one; name another file, or remove this one to begin anew"


def test_damaged_files_are_refused(path: Path, tmp_path: Path) -> None:
    whole = path.read_bytes()
    for length in [*range(0, len(whole) - 2, 97), len(whole) - 2]:
        path.write_bytes(whole[:length])
        assert NONE in refusal(path)
    rng, fields = random.Random(1), json.loads(whole)
    for _ in range(200):
        at, letter = rng.randrange(len(whole) - 1), rng.choice(b'0123456789{}[]," ex-')
        path.write_bytes(whole[:at] + bytes([letter]) + whole[at + 1 :])
        if parsed(path) != fields:  # the last digit of a number may be of no account
            refusal(path)
    for foreign in ("[]", "3", '"text"', "null", "{}", "age,smoke\n1,2\n", '{"digest": "sha256:"}', "[" * 100_000):
        path.write_text(foreign)
        assert NONE in refusal(path)
    fn.save(fn.learn.bayesian_network(TABLE), tmp_path / "model.json")
    assert NONE in refusal(tmp_path / "model.json")
    path.write_bytes(b"\xff\xfe\x00")
    refusal(path)


@pytest.mark.parametrize("name", ["state.json", "state.json.gz"])
@pytest.mark.parametrize("finished", [False, True])
def test_a_thousand_flipped_bits_are_refused_or_harmless(name: str, finished: bool, tmp_path: Path) -> None:
    """A flipped bit in a file that was stopped, or that holds the result, changes no answer."""
    path = tmp_path / name
    asked: dict[str, Any] = {"search": "tabu", "restarts": 3, "checkpoint": path}
    expected = fn.learn.structure(TABLE, search="tabu", restarts=3)
    if finished:
        fn.learn.structure(TABLE, **asked)
    else:
        with pytest.raises(ConnectionError):
            fn.learn.structure(Failing(TABLE, 7), **asked)
    whole, rng, refused = path.read_bytes(), random.Random(11), 0
    for _ in range(1000):
        flipped = bytearray(whole)
        flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            assert same(fn.learn.structure(TABLE, **asked), expected)
        except FileFormatError:
            refused += 1
            assert path.read_bytes() == flipped
    assert refused > 900


def test_forged_states_are_refused_or_harmless(path: Path) -> None:
    whole, rng = path.read_bytes(), random.Random(3)
    told = []
    for trial in range(60):
        path.write_bytes(whole)

        def change(fields: dict[str, Any], trial: int = trial) -> None:
            state = fields["state"]
            if trial == 0:
                fields["state"] = 7
            elif trial == 1:
                state["whole"] = "none"
            elif trial == 2:
                state["piece"] = None
            elif trial == 3:
                fields["found"] = {"parents": [[0]]}
            else:
                at = rng.randrange(len(state["whole"]))
                state["whole"][at] = rng.choice([-1, 0, 1, 4, 5, 1.5, None, 2**62, -(2**63), 2**64, 10**400])

        rewritten(path, change)
        try:
            found = fn.learn.structure(TABLE, search="tabu", restarts=3, checkpoint=path, max_seconds=1)
            assert all(parent != child for parent, child in found.dag.edges)
        except FileFormatError as error:
            told.append(str(error))
    assert len(told) > 20
    assert {*told} == {f"{path}: {NONE}"}


def test_what_cannot_be_written_is_said_before_the_search(tmp_path: Path) -> None:
    source = Blocks(TABLE)
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "nowhere" / "state", tmp_path / "file" / "state", tmp_path):
        with pytest.raises(FileFormatError, match=r"cannot be (written|read)"):
            fn.learn.structure(source, search="tabu", checkpoint=wrong)
    assert source.asked <= 3  # for the score of the start
    with pytest.raises(FishernetError, match="checkpoint must be a path"):
        fn.learn.structure(source, checkpoint=3)  # type: ignore[arg-type]


@pytest.mark.usefixtures("always")
def test_a_disk_that_fails_later_does_not_end_the_search(tmp_path: Path) -> None:
    table, folder = alarm(500), tmp_path / "folder"
    folder.mkdir()

    def fail(what: str, done: int, total: int | None) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    with pytest.warns(FishernetWarning, match="the checkpoint is not kept up while the search goes on") as told:
        found = fn.learn.structure(table, search="tabu", restarts=5, checkpoint=folder / "state", progress=fail)
    assert told[0].message.parameter == "checkpoint"  # type: ignore[union-attr]
    assert same(found, fn.learn.structure(table, search="tabu", restarts=5))


def test_work_of_many_searches_is_refused_by_name(tmp_path: Path) -> None:
    codes = np.column_stack(TABLE.codes)
    codes[::7, 3] = TABLE.cardinalities[3]
    gaps, path = fn.Table.from_codes(codes, TABLE.variables), tmp_path / "state"
    with pytest.raises(FishernetError, match=r"structural EM \(missing='em'\).*take missing='node-average'"):
        fn.learn.structure(gaps, missing="em", checkpoint=path)
    for many in (fn.learn.edge_strengths, fn.learn.cross_validate):
        with pytest.raises(FishernetError, match="a checkpoint is of one search, and here are many"):
            many(TABLE, checkpoint=path)
    assert not path.exists()
    assert math.isfinite(fn.learn.structure(TABLE, missing="em", checkpoint=path).score)  # no cell is missing
