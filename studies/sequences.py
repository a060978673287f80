"""Kernels of generative models of strings and trees in a support vector machine: ``python -m studies.sequences``.

Mutants of DNA strings and genes gained in a tree are drawn; promoters, splice junctions, globins and phylogenetic
profiles are real. Every kernel is made a cosine. The outer folds are what is reported; settings of a kernel and the
cost of the machine are chosen by inner folds among the training rows.
"""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.svm import SVC

import fishernet as fn
from studies import figures
from studies.study import Array, Run, Table, main, mean, moved

Ints = npt.NDArray[np.int64]
Split = tuple[Ints, Ints]

COSTS, INNER = (0.1, 1.0, 10.0, 100.0), 3
DNA, AMINO = "ACGT", "ACDEFGHIKLMNPQRSTVWY"
HEADS = ["chosen most often", "smallest eigenvalue", "processor seconds"]
FORMATS = [".3f", ".3f", ".3f", ".1e", ".1f", ".3f"]


class Candidate(NamedTuple):
    """A setting of a kernel; among the candidates of a method, the inner folds choose."""

    label: str
    gram: Callable[[Ints], Array]  # from the rows of training, which a model may learn from, to all cosines


class Result(NamedTuple):
    """What a method reached: per fold the accuracy or the area under the ROC curve, and what was chosen."""

    values: Array
    chosen: list[str]
    lowest: float  # the smallest eigenvalue of the last matrix that was chosen; below 0 it is no kernel's
    seconds: float

    @property
    def cells(self) -> list[Any]:
        """A row of a table: mean, favourite choice, smallest eigenvalue and seconds."""
        (label, times), *_ = Counter(self.chosen).most_common(1)
        return [mean(self.values), f"{label} ({times} of {len(self.chosen)})", self.lowest, self.seconds]


Methods = Mapping[str, Callable[[], Sequence[Candidate]]]


def fixed(gram: Array, label: str = "") -> Candidate:
    """Return the candidate of a kernel that learns nothing."""
    return Candidate(label, lambda _: gram)


def folds(y: Ints, n: int, seed: int, groups: Ints | None = None) -> list[Split]:
    """Return rows of training and test, stratified; rows of one group stay together."""
    made = StratifiedKFold if groups is None else StratifiedGroupKFold
    return list(made(n, shuffle=True, random_state=moved(seed)).split(y, y, groups))


def evaluate(
    make: Callable[[], Sequence[Candidate]],
    y: Ints,
    splits: Sequence[Split],
    *,
    auc: bool = False,
    groups: Ints | None = None,
) -> Result:
    """Return what a method reaches on the outer splits; of equal candidates and costs the first is chosen."""
    start = time.process_time()
    candidates, values, chosen, gram = make(), [], [], np.zeros((1, 1))
    for train, test in splits:
        grams = [candidate.gram(train) for candidate in candidates]
        inner = folds(y[train], INNER, 0, None if groups is None else groups[train])
        machine = GridSearchCV(SVC(kernel="precomputed"), {"C": COSTS}, scoring="roc_auc" if auc else None, cv=inner)
        fitted = [clone(machine).fit(gram[np.ix_(train, train)], y[train]) for gram in grams]
        k = int(np.argmax([one.best_score_ for one in fitted]))
        gram = grams[k]
        values.append(fitted[k].score(gram[np.ix_(test, train)], y[test]))
        chosen.append(f"{candidates[k].label}, C = {fitted[k].best_params_['C']:g}".removeprefix(", "))
    return Result(np.array(values), chosen, float(np.linalg.eigvalsh(gram)[0]), time.process_time() - start)


def pooled(results: Sequence[Result]) -> Result:
    """Return one method's results on several data sets as one, a value per data set."""
    means = np.array([one.values.mean() for one in results])
    chosen = [label for one in results for label in one.chosen]
    return Result(means, chosen, min(one.lowest for one in results), sum(one.seconds for one in results))


def table(name: str, measure: str, methods: Methods, y: Ints, splits: Sequence[Split], **how: Any) -> Table:
    return compared(name, measure, {method: evaluate(make, y, splits, **how) for method, make in methods.items()})


def compared(name: str, measure: str, results: Mapping[str, Result]) -> Table:
    """Return a row per method, with how far it is behind the best one, by the differences of folds or data sets."""
    best = max(results.values(), key=lambda of: of.values.mean())
    rows = [[method, *of.cells, mean(best.values - of.values)] for method, of in results.items()]
    return Table(name, ["method", measure, *HEADS, "behind the best"], rows, FORMATS)


def cosine_logs(log: Array) -> Array:
    """Return the logarithms of the cosines of a kernel, of its own logarithms."""
    return log - (np.diag(log)[:, None] + np.diag(log)) / 2


def tempered(log: Array) -> Array:
    """Return the cosines to the power that makes the mean of their logarithms -1; it need not be a kernel."""
    return np.asarray(np.exp(log / abs(log[~np.eye(len(log), dtype=bool)].mean())))


def flipped(gram: Array) -> Array:
    """Return the matrix with the absolute values of its eigenvalues: a kernel, where a power of one is none."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray((vectors * np.abs(values)) @ vectors.T)


def pair_hmm(strings: Sequence[str], divergences: Sequence[float] = (0.4, 1.6), power: bool = False) -> list[Candidate]:
    """Return the cosines of the pair-HMM kernel, or their power, one candidate per divergence."""
    made = []
    for divergence in divergences:
        model = fn.models.pair_hmm_dna(divergence=divergence)
        log = cosine_logs(fn.kernels.PairHmmKernel(model, log=True)(list(strings)))
        made.append(fixed(tempered(log) if power else np.exp(log), f"divergence {divergence:g}"))
    return made


def spectrum(strings: Sequence[str], lengths: Sequence[int], alphabet: str = DNA) -> list[Candidate]:
    """Return the p-spectrum kernel, one candidate per p."""
    kernels = {p: fn.kernels.Normalized(fn.kernels.SpectrumKernel(p, alphabet)) for p in lengths}
    return [fixed(kernel(list(strings)), f"p = {p}") for p, kernel in kernels.items()]


def fisher(model: Any, strings: Sequence[str], **options: Any) -> Array:
    """Return the cosines of a model's Fisher scores."""
    return fn.kernels.Normalized(fn.kernels.FisherKernel(model, metric="practical", **options))(list(strings))


def learned_fisher(strings: Sequence[str], models: Mapping[str, Callable[[list[str]], Any]]) -> list[Candidate]:
    """Return the Fisher kernel of a model of the training strings, one candidate per way to learn it."""

    def gram(learn: Callable[[list[str]], Any], train: Ints) -> Array:
        return fisher(learn([strings[k] for k in train]), strings)

    return [Candidate(label, partial(gram, learn)) for label, learn in models.items()]


CHAINS = {f"order {k}": partial(fn.learn.markov_chain, order=k, alphabet=DNA) for k in (1, 2, 3)}
HMMS = {
    f"{k} states": partial(fn.learn.hidden_markov_model, n_states=k, alphabet=DNA, restarts=2, max_steps=60, seed=1)
    for k in (3, 6)
}


def edit(strings: Sequence[str]) -> list[Candidate]:
    """Return ``exp(-d / mean d)`` of the edit distance, which is symmetric but need not be a kernel."""
    return [fixed(tempered(-edit_distances(strings)))]


def positions(strings: Sequence[str]) -> list[Candidate]:
    """Return the share of positions with the same letter, for strings of one length."""
    letters = np.array([list(string) for string in strings])
    return [fixed((letters[:, None] == letters[None]).mean(axis=2))]


def edit_distances(strings: Sequence[str]) -> Array:
    """Return the least numbers of substitutions, insertions and deletions between all pairs.

    Row by row of the table of Wagner and Fischer, for one string against all.
    """
    n, lengths = len(strings), np.array([len(string) for string in strings])
    codes = np.full((n, lengths.max(initial=0)), -1)
    for k, string in enumerate(strings):
        codes[k, : len(string)] = [ord(letter) for letter in string]
    columns, found = np.arange(codes.shape[1] + 1), np.zeros((n, n))
    for k, string in enumerate(strings):
        row = np.tile(columns, (n, 1))
        for i, letter in enumerate(string):
            new = np.empty_like(row)
            new[:, 0] = i + 1
            np.minimum(row[:, 1:] + 1, row[:, :-1] + (codes != ord(letter)), out=new[:, 1:])
            row = np.minimum.accumulate(new - columns, axis=1) + columns  # insertions: min over k of new[k] + j - k
        found[k] = row[np.arange(n), lengths]
    return found


ANCESTORS, MUTANTS, LENGTH = 4, 25, 40
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
LEAVES, FLIP, TRAINING, TEST = 24, 0.05, 100, 200


def mutant(string: str, rate: float, rng: np.random.Generator) -> str:
    """Return the string with substitutions at the rate, and insertions and deletions each at a quarter of it."""
    out = []
    for letter in string:
        if rng.random() < rate / 4:
            out.append(DNA[rng.integers(4)])
        if rng.random() >= rate / 4:
            changed = rng.random() < rate
            out.append(rng.choice([x for x in DNA if x != letter]) if changed else letter)
    return "".join(out)


def family(rate: float, seed: int) -> tuple[list[str], Ints]:
    """Return mutants, and which of the random ancestors each is of."""
    rng = np.random.default_rng([moved(seed), round(100 * rate)])
    olds = ["".join(rng.choice(list(DNA), LENGTH)) for _ in range(ANCESTORS)]
    return [mutant(old, rate, rng) for old in olds for _ in range(MUTANTS)], np.repeat(np.arange(ANCESTORS), MUTANTS)


def ancestors(run: Run) -> Iterator[Table]:
    """Yield the accuracies by rate; a fifth is trained on, so that there is something to miss."""
    rates, seeds = run.choose(RATES[1:2], RATES), run.repetitions(quick=2, usual=10)
    rows: list[list[Any]] = []
    for rate in rates:
        found: dict[str, list[Result]] = {}
        for seed in range(seeds):
            drawn, y = family(rate, seed)
            splits = [(test, train) for train, test in folds(y, 5, seed)]
            methods: Methods = {
                "pair HMM": partial(pair_hmm, drawn, (0.8,)),
                "pair HMM, tempered": partial(pair_hmm, drawn, (0.8,), power=True),
                "3-spectrum": partial(spectrum, drawn, (3,)),
                "edit distance": partial(edit, drawn),
            }
            for name, make in methods.items():
                found.setdefault(name, []).append(evaluate(make, y, splits))
        rows.append([f"{rate:g}", *(mean([one.values.mean() for one in results]) for results in found.values())])
    yield Table("ancestors", ["rate", *found], rows, ".3f")


def random_tree(rng: np.random.Generator, n: int) -> fn.models.NamedTree:
    """Return a binary tree of n leaves, made by splitting leaves at random."""
    children: dict[int, tuple[int, int]] = {}
    leaves = [0]
    for _ in range(n - 1):
        split = leaves.pop(int(rng.integers(len(leaves))))
        new = 2 * len(children) + 1
        children[split] = (new, new + 1)
        leaves += [new, new + 1]
    return named_tree(children, 0, {leaf: f"s{k}" for k, leaf in enumerate(sorted(leaves))})


def named_tree(children: Mapping[int, tuple[int, int]], root: int, names: Mapping[int, str]) -> fn.models.NamedTree:
    """Return the tree in depth-first order."""
    parents: list[int] = []
    labels: list[str] = []
    stack = [(root, -1)]
    while stack:
        node, parent = stack.pop()
        stack += [(child, len(parents)) for child in reversed(children.get(node, ()))]
        parents.append(parent)
        labels.append(names.get(node, ""))
    return fn.models.NamedTree(tuple(parents), tuple(labels), (None,) * len(parents))


def gained_once(tree: fn.models.NamedTree, n: int, rng: np.random.Generator) -> Ints:
    """Return profiles of genes gained at a random inner node of the larger clade below the root."""
    below: list[list[int]] = [[] for _ in tree.parents]  # the leaves below each node, itself included
    for node in reversed(range(len(tree.parents))):
        if tree.names[node]:
            below[node].append(tree.leaves.index(tree.names[node]))
        if tree.parents[node] >= 0:
            below[tree.parents[node]] += below[node]
    clade = max((k for k, parent in enumerate(tree.parents) if parent == 0), key=lambda k: len(below[k]))
    nodes = [k for k, under in enumerate(below) if len(under) > 1 and set(under) <= set(below[clade])]
    profiles = np.zeros((n, len(tree.leaves)), dtype=np.int64)
    for row in profiles:
        row[below[nodes[rng.integers(len(nodes))]]] = 1
    return profiles ^ (rng.random(profiles.shape) < FLIP)


def drawn_profiles(seed: int) -> tuple[fn.models.NamedTree, Ints, Ints]:
    """Return a tree, profiles and classes: gained once, or each leaf as often but independently of the others."""
    rng = np.random.default_rng([moved(seed), LEAVES])
    tree, half = random_tree(rng, LEAVES), (TRAINING + TEST) // 2
    lost = rng.permuted(gained_once(tree, half, rng), axis=0)
    return tree, np.concatenate([gained_once(tree, half, rng), lost]), np.repeat([1, 0], half)


def profile_kernels(models: Mapping[str, fn.HiddenTree], profiles: Ints) -> Methods:
    """Return the tree kernel, one candidate per model, and two kernels that know no tree."""
    logs = {k: cosine_logs(fn.kernels.HiddenTreeKernel(of, log=True)(profiles.tolist())) for k, of in models.items()}
    return {
        "hidden tree": lambda: [fixed(np.exp(log), label) for label, log in logs.items()],
        "hidden tree, tempered": lambda: [fixed(tempered(log), label) for label, log in logs.items()],
        "hidden tree, tempered, flipped": lambda: [fixed(flipped(tempered(log)), of) for of, log in logs.items()],
        "linear": lambda: [fixed(linear(profiles))],
        "RBF": lambda: [fixed(rbf(profiles))],
    }


def linear(profiles: Ints) -> Array:
    """Return the cosine of the profiles as -1 and 1: what is absent counts as what is present."""
    signs = 2.0 * profiles - 1
    return np.asarray(signs @ signs.T / profiles.shape[1])


def rbf(profiles: Ints) -> Array:
    """Return the RBF kernel whose width is the median distance."""
    squares = np.array((profiles[:, None] != profiles[None]).sum(axis=2), dtype=np.float64)
    return np.asarray(np.exp(-squares / (2 * float(np.median(squares[np.triu_indices(len(profiles), 1)])))))


def trees(run: Run) -> Iterator[Table]:
    """Yield the areas under the ROC curve on the toy, one per seed."""
    found: dict[str, list[Result]] = {}
    for seed in range(2 * run.repetitions(quick=1, usual=10)):
        tree, profiles, y = drawn_profiles(seed)
        order = np.random.default_rng(moved(seed)).permutation(len(y))
        split = [(order[:TRAINING], order[TRAINING:])]
        models = {"": fn.models.birth_death_tree(tree, birth=0.1, death=0.1)}
        for name, make in profile_kernels(models, profiles).items():
            found.setdefault(name, []).append(evaluate(make, y, split, auc=True))
    yield compared("trees", "AUC", {name: pooled(results) for name, results in found.items()})


def real(run: Run, *parts: str) -> Path | None:
    """Return a file of the real strings and profiles, or their folder; None without them and in the quick form."""
    return None if run.form == "quick" else run.file("bio", *parts)


LONG = 20  # letters that two windows have in common by chance next to never


class Windows(NamedTuple):
    """Strings of one length and their classes."""

    strings: list[str]
    y: Ints
    classes: list[str]
    replaced: int  # ambiguous letters that were taken for A

    def pieces(self) -> list[set[str]]:
        """Return the long pieces of each window; windows that have one in common were cut out of one string."""
        return [{window[k : k + LONG] for k in range(len(window) - LONG + 1)} for window in self.strings]

    def overlaps(self) -> dict[str, float]:
        """Return the share of each class's windows that have a long piece in common with another of the class."""
        pieces = self.pieces()
        seen = [Counter(p for k in np.flatnonzero(self.y == c) for p in pieces[k]) for c in range(len(self.classes))]
        common = np.array([any(seen[c][piece] > 1 for piece in of) for of, c in zip(pieces, self.y, strict=True)])
        return {name: float(common[self.y == c].mean()) for c, name in enumerate(self.classes)}

    def groups(self) -> Ints:
        """Return the group of each window: those that long pieces in common join, one after another."""
        first: dict[str, int] = {}
        joined = [(k, first.setdefault(piece, k)) for k, of in enumerate(self.pieces()) for piece in of]
        n, (one, two) = len(self.strings), np.array(joined).T
        labels: Ints = connected_components(coo_array((np.ones(len(joined)), (one, two)), (n, n)), directed=False)[1]
        return labels


def read_windows(path: Path, rows: int = 1_000) -> Windows:
    """Read windows without repetitions; of more than `rows`, a random sample."""
    with path.open() as lines:
        held = {row["sequence"].upper(): row["class"] for row in csv.DictReader(lines)}
    windows = sorted(held)
    if len(windows) > rows:
        windows = [windows[k] for k in np.sort(np.random.default_rng(moved(1)).permutation(len(windows))[:rows])]
    classes, y = np.unique([held[window] for window in windows], return_inverse=True)
    ambiguous = sum(letter not in DNA for window in windows for letter in window)
    letters = str.maketrans("NDRS", "AAAA")
    return Windows([window.translate(letters) for window in windows], y, classes.tolist(), ambiguous)


def dna(name: str, run: Run) -> Iterator[Table]:
    path = real(run, f"{name}.csv")
    if path is None:
        return
    windows = read_windows(path)
    of, y = windows.strings, windows.y
    shares = [[c, int((y == k).sum()), share] for k, (c, share) in enumerate(windows.overlaps().items())]
    yield Table(f"{name}-classes", ["class", "windows", "share that overlaps another"], shares)
    methods: Methods = {
        "pair HMM": partial(pair_hmm, of),
        "pair HMM, tempered": partial(pair_hmm, of, power=True),
        "HMM Fisher": partial(learned_fisher, of, HMMS),
        "Markov Fisher": partial(learned_fisher, of, CHAINS),
        "p-spectrum": partial(spectrum, of, (2, 3, 4, 5)),
        "edit distance": partial(edit, of),
        "equal positions": partial(positions, of),
    }
    groups = windows.groups()
    yield table(name, "accuracy", methods, y, folds(y, 10, 1, groups), groups=groups)
    if name == "promoters":
        yield table("promoters-ungrouped", "accuracy", methods, y, folds(y, 10, seed=1))


FAMILIES = {"myoglobin": "MYG", "alpha": "HBA", "beta": "HB"}  # the first prefix that fits; beta-like ones last
MOVES = (1.0, 0.1)  # pseudo-counts of the profile's moves: the default, and one that few rows are not drowned by


def family_of(name: str) -> str:
    """Return the family that a name of SwissProt tells."""
    return next((family for family, start in FAMILIES.items() if name.startswith(start)), "none")


def profile(alignment: fn.models.Alignment, moves: float, without: str = "") -> fn.HiddenMarkovModel:
    """Return the profile HMM of the alignment without the rows of a family."""
    pairs = zip(alignment.names, alignment.rows, strict=True)
    return fn.models.profile_hmm([row for name, row in pairs if family_of(name) != without], transition_smoothing=moves)


def left_out(
    alignment: fn.models.Alignment, globins: Mapping[str, str], negatives: list[str]
) -> dict[str, list[float]]:
    """Return the areas under the ROC curve by method, one per family that nothing was learned from."""
    strings = [*globins.values(), *negatives]
    y = np.repeat([1, 0], [len(globins), len(negatives)])
    halves = np.random.default_rng(moved(2)).permutation(np.flatnonzero(y == 0))
    letters = fn.learn.markov_chain(list(alignment.strings), order=0, alphabet=AMINO)
    found: dict[str, list[float]] = {}
    for kind in FAMILIES:
        own = np.array([family_of(name) == kind for name in globins] + [False] * len(negatives))
        split = np.r_[np.flatnonzero((y == 1) & ~own), halves[::2]], np.r_[np.flatnonzero(own), halves[1::2]]
        test = [strings[k] for k in split[1]]
        lengths = np.array([len(string) for string in test])
        machines = {"p-spectrum, SVM": partial(spectrum, strings, (1, 2, 3), AMINO)}
        for moves in MOVES:
            model, said = profile(alignment, moves, without=kind), f"pseudo-count {moves:g}"
            log = model.log_prob(test)
            for name, by in (("log P", log), ("log-odds", log - letters.log_prob(test))):
                area = float(roc_auc_score(y[split[1]], by / lengths))
                found.setdefault(f"{name} per symbol, {said}", []).append(area)
            gram = fisher(model, strings, parameters=["emission"])
            machines[f"profile-HMM Fisher, SVM, {said}"] = partial(lambda gram: [fixed(gram)], gram)
        for name, make in machines.items():
            found.setdefault(name, []).append(float(evaluate(make, y, [split], auc=True).values[0]))
    return found


def proteins(run: Run) -> Iterator[Table]:
    """Globins against their shuffles and other domains, and their three families told apart."""
    folder = real(run)
    if folder is None:
        return
    rng = np.random.default_rng(moved(1))
    fasta, alignment = fn.read_fasta(folder / "globins45.fa"), fn.read_stockholm(folder / "globins4.sto")
    globins = dict(zip(fasta.names, fasta, strict=True))
    others = [row.replace("-", "").replace(".", "") for row in fn.read_stockholm(folder / "fn3.sto").rows]
    shuffled = ["".join(rng.permutation(list(string))) for string in fasta for _ in range(2)]
    hard, easy = left_out(alignment, globins, shuffled), left_out(alignment, globins, others)
    heads = ["method", *(f"{one}, shuffled" for one in FAMILIES), "mean, shuffled globins", "mean, fibronectin domains"]
    yield Table("globins", heads, [[m, *hard[m], mean(hard[m]), mean(easy[m])] for m in hard], ".3f")
    strings, y = list(fasta), np.array([list(FAMILIES).index(family_of(name)) for name in globins])

    def profiles() -> list[Candidate]:
        grams = {moves: fisher(profile(alignment, moves), strings, parameters=["emission"]) for moves in MOVES}
        return [fixed(gram, f"pseudo-count {moves:g}") for moves, gram in grams.items()]

    methods: Methods = {
        "profile-HMM Fisher, SVM": profiles,
        "p-spectrum, SVM": partial(spectrum, strings, (1, 2, 3), AMINO),
    }
    yield table("globin-families", "accuracy", methods, y, folds(y, int(np.bincount(y).min()), seed=1))


class Profiles(NamedTuple):
    """Genes by species, and the pathway of each gene."""

    species: list[str]
    cells: Ints
    y: Ints


def read_profiles(path: Path, pathways: Sequence[str] = ("ampk", "mtor")) -> Profiles:
    """Read the genes whose name tells a pathway."""
    with path.open() as lines:
        heads, *rows = csv.reader(lines)
    told = [row for row in rows if row[0].split("_")[0] in pathways]
    y = np.array([pathways.index(row[0].split("_")[0]) for row in told])
    return Profiles(heads[1:], np.array([[int(cell) for cell in row[1:]] for row in told]), y)


def clustered(profiles: Profiles) -> fn.models.NamedTree:
    """Return the tree of average linkage of the species by the genes in which they differ."""
    n = len(profiles.species)
    merges = linkage(profiles.cells.T, method="average", metric="hamming")
    children = {n + k: (int(one), int(two)) for k, (one, two, *_) in enumerate(merges)}
    return named_tree(children, 2 * n - 2, dict(enumerate(profiles.species)))


def phylogeny(run: Run) -> Iterator[Table]:
    """Which of two pathways a gene is of, by the species that have it."""
    path = real(run, "phyloprofile-ampk-tor.csv")
    if path is None:
        return
    held = read_profiles(path)
    tree, make = clustered(held), fn.models.birth_death_tree
    models = {f"birth = death = {k:g}": make(tree, held.species, birth=k, death=k) for k in (0.05, 0.1, 0.2)}
    yield table("phylogeny", "AUC", profile_kernels(models, held.cells), held.y, folds(held.y, 10, 0), auc=True)


PARTS: Mapping[str, Callable[[Run], Iterator[Table]]] = {
    "ancestors": ancestors,
    "trees": trees,
    "promoters": partial(dna, "promoters"),
    "splice": partial(dna, "splice"),
    "globins": proteins,
    "phylogeny": phylogeny,
}


def compute(run: Run) -> Iterator[Table]:
    for part in PARTS.values():
        yield from part(run)


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the accuracy by the rate of substitution, and on promoters and splice junctions."""
    rows = tables["ancestors"].select()
    x = [float(row["rate"]) for row in rows]
    lines = [figures.Line(name, x, [row[name] for row in rows], {}) for name in tables["ancestors"].columns[1:]]
    figures.lines(path("ancestors"), {"Mutants of four ancestors": lines}, x="substitutions per letter", y="accuracy")
    if "splice" in tables:
        series = {name: {row[0]: row[1] for row in tables[name].rows} for name in ("promoters", "splice")}
        figures.dots(path("dna"), {"Ten folds": series}, x="accuracy (± standard error)")


TAKES = "--quick 8 s of processor time, usual three minutes; --part computes a part alone"

if __name__ == "__main__":
    seeds = {"toys": "0, 1, ...", "folds": 1, "inner folds": 0}
    main("sequences", compute, draw, seeds=seeds, about=__doc__, takes=TAKES, parts=PARTS)
