"""The keywords that learners hand on, each listed once, so that editors offer them and type checkers know a wrong one.

What they mean says the function that they are handed to: `structure`, `em_fit`, and the scores.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, TypedDict

from fishernet.base.progress import Progress
from fishernet.base.random import Seed
from fishernet.base.vocabulary import (
    BlanketSearchName,
    ClimbingRule,
    ConditionalsName,
    IncompleteName,
    InputSearchName,
    SchemeName,
    ScoreName,
    SearchName,
    SplitsName,
    TestName,
)
from fishernet.data.options import Bins
from fishernet.graphs import Dag
from fishernet.independence.nearest_neighbours import PermutingKeywords
from fishernet.learn.rules import Edge, Rules
from fishernet.learn.search import Search
from fishernet.models import BayesianNetwork, HiddenMarkovModel, HiddenTree, NumericHiddenMarkovModel
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.scores import Score
from fishernet.scores.named import Hyperparameters


class SearchKeywords(TypedDict, total=False):
    """What a search by its name may do, must not do, and how far it goes."""

    max_parents: int | None
    max_cells: float | None
    required: Iterable[Edge]
    forbidden: Iterable[Edge]
    tiers: Iterable[Iterable[str]] | None
    candidates: int | None
    restarts: int | None
    perturb: int | None
    tenure: int | None
    patience: int | None
    max_memory: float | None
    max_seconds: float | None
    checkpoint: str | os.PathLike[str] | None


class PartKeywords(SearchKeywords, Hyperparameters, total=False):
    """What `structure` takes of a part of the rows, whose score, search and seed are the caller's."""

    rules: Rules | None
    start: Dag | None


class FoldKeywords(PartKeywords, total=False):
    """The same where the caller's ess is the parameters'."""

    missing: IncompleteName | None


class NetworkKeywords(FoldKeywords, total=False):
    """What `structure` takes but for a score's ess, where that is the parameters'."""

    score: ScoreName | Score | None
    search: SearchName | Search
    seed: Seed
    progress: Progress | None


class StructureKeywords(NetworkKeywords, total=False):
    """What `structure` takes."""

    ess: float


class SampleKeywords(PartKeywords, total=False):
    """The same of a sample of the rows."""

    ess: float


class ShuffledKeywords(SampleKeywords, total=False):
    """What `structure` takes of shuffled columns."""

    score: ScoreName | Score | None
    search: SearchName | Search
    missing: IncompleteName | None


class EmKeywords(TypedDict, total=False):
    """How far expectation and maximization goes."""

    max_steps: int
    tolerance: float
    max_seconds: float | None
    progress: Progress | None


class ParameterKeywords(EmKeywords, Hyperparameters, total=False):
    """What `em_fit` takes where cells are missing or variables hidden; how rows are shared where they are."""

    restarts: int
    start: BayesianNetwork | None
    accelerate: bool
    max_table: int
    seed: Seed
    score: ScoreName | Score
    splits: SplitsName


class BlanketKeywords(PermutingKeywords, total=False):
    """What tests of independence take by their names."""

    k: int
    permutations: int
    bins: Bins | None


class BaumWelchKeywords(TypedDict, total=False):
    """What `baum_welch` takes but for the kind of emission."""

    n_states: int | None
    covariance: Literal["full", "diagonal"]
    components: int
    min_sd: float
    fixed: Iterable[str]
    alphabet: Iterable[Hashable] | Alphabet | None
    unknown: Hashable | None
    restarts: int
    smoothing: float
    max_steps: int
    tolerance: float
    final: bool
    start: HiddenMarkovModel | NumericHiddenMarkovModel | None
    seed: Seed
    progress: Progress | None


class HiddenTreeKeywords(TypedDict, total=False):
    """What `hidden_tree_fit` takes."""

    n_states: int | None
    shared: bool
    arity: Sequence[int] | None
    alphabet: Iterable[Hashable] | Alphabet | None
    unknown: Hashable | None
    missing: Hashable | None
    restarts: int
    smoothing: float
    max_steps: int
    tolerance: float
    start: HiddenTree | None
    seed: Seed
    progress: Progress | None


class FitKeywords(SearchKeywords, total=False):
    """What the learners of all kinds of networks take."""

    score: ScoreName | Score | None
    search: SearchName | InputSearchName | BlanketSearchName | None
    missing: IncompleteName | None
    smoothing: float | str
    ess: float | None
    conditionals: ConditionalsName
    k: int
    n_states: int | None
    max_inputs: int | None
    rule: ClimbingRule
    prior: bool | tuple[float, float, float]
    test: TestName
    alpha: float
    permutations: int
    scheme: SchemeName
    max_rows: int | None
