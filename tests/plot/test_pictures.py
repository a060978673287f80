"""What the pictures of results say, held against the results, and that nothing is cut off."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_auc_score, roc_curve

import fishernet as fn
from fishernet.plot.style import DARK, contrast

ASIA = fn.datasets.load("asia")
ROWS = ASIA.sample(400, seed=1)
KERNEL = fn.kernels.FisherKernel(ASIA)
OTHER = fn.infer.intervene(ASIA, {"smoke": "yes"}).sample(300, seed=2)
DRIFT = fn.compare.two_sample_test(ROWS, OTHER, KERNEL, permutations=99, seed=1)
TRUTH = ROWS.to_frame()["bronc"].to_pylist()
SAID = ASIA.predict_proba(ROWS, "bronc")
WHY = fn.explain.rows(fn.learn.bayesian_network(ROWS), ROWS, query="bronc", state="yes", given={"smoke": "yes"})
SEARCHED = fn.learn.structure(ROWS, search="hill-climb")
EM = fn.learn.baum_welch(["abba", "ab", "b", "aab"], n_states=2, restarts=3, seed=1)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", fn.FishernetWarning)
    CHAINS = fn.infer.diagnose(fn.learn.dependency_network(ROWS), n=400, chains=3, seed=1)

PICTURES: dict[str, Callable[..., Axes]] = {
    "conditional": lambda **a: fn.plot.conditional(ASIA, "dysp", **a),
    "marginals": lambda **a: fn.plot.marginals(ASIA, given={"xray": "yes"}, most=4, **a),
    "gram": lambda **a: fn.plot.gram(KERNEL, ROWS[:30], **a),
    "rows": lambda **a: fn.plot.row_map(KERNEL, ROWS, colour="smoke", chosen=[0, 5], **a),
    "drift": lambda **a: fn.plot.drift(DRIFT, **a),
    "drift by configuration": lambda **a: fn.plot.drift(DRIFT, by="configuration", **a),
    "roc": lambda **a: fn.plot.roc(TRUTH, SAID, states=["yes", "no"], **a),
    "calibration": lambda **a: fn.plot.calibration(TRUTH, SAID, states=["yes", "no"], **a),
    "influence": lambda **a: fn.plot.influence(WHY, **a),
    "log_probability": lambda **a: fn.plot.log_probability(ASIA, ROWS, **a),
    "search": lambda **a: fn.plot.search(SEARCHED, **a),
    "em": lambda **a: fn.plot.em_progress(EM, **a),
    "chains": lambda **a: fn.plot.chains(CHAINS, **a),
}
EACH = pytest.mark.parametrize("name", PICTURES)


def close(found: Any, expected: Any, **tolerances: Any) -> None:
    np.testing.assert_allclose(found, expected, **tolerances)


def somewhere(**size: Any) -> Axes:
    return Figure(**size).add_subplot()


@pytest.fixture(autouse=True)
def _closed() -> Any:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@EACH
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_off_and_all_text_can_be_read(name: str, theme: Any) -> None:
    with fn.plot.theme(theme):
        ax = PICTURES[name]()
    figure = ax.get_figure(root=True)
    assert figure is not None
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    box = figure.get_tightbbox(canvas.get_renderer()).bounds
    dpi = figure.dpi
    assert box[0] >= -0.01
    assert box[1] >= -0.01
    assert (box[0] + box[2]) * dpi <= width + 1
    assert (box[1] + box[3]) * dpi <= height + 1
    background = figure.get_facecolor()
    outside = [ax.xaxis.label, ax.yaxis.label, ax.title, *ax.get_xticklabels(), *ax.get_yticklabels()]
    box_of_marks = ax.get_legend()
    outside += box_of_marks.get_texts() if box_of_marks else []
    assert all(contrast(text.get_color(), background) >= 4.5 for text in outside if text.get_text())


@EACH
def test_it_draws_on_axes_it_is_given_and_returns_them(name: str, tmp_path: Path) -> None:
    ax = somewhere(figsize=(3, 2.5))
    assert PICTURES[name](ax=ax, font_size=6) is ax
    fn.plot.write(ax, tmp_path / "picture.svg")
    ElementTree.fromstring((tmp_path / "picture.svg").read_text(encoding="utf-8"))


@EACH
def test_a_font_size_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(fn.FishernetError, match="font_size"):
        PICTURES[name](font_size=0)


def test_a_conditional_is_its_table() -> None:
    ax = fn.plot.conditional(ASIA, "dysp", ax=somewhere())
    table = ASIA.conditionals[ASIA.dag.names.index("dysp")].probabilities
    close(np.asarray(ax.collections[0].get_array()).ravel(), table.ravel())
    assert [text.get_text() for text in ax.texts] == [f"{100 * p:.0f}" for p in table.ravel()]
    assert ax.get_yticklabels()[0].get_text() == "yes, yes"
    assert "rows: bronc, either" in ax.get_xlabel()


def test_a_conditional_with_500_states() -> None:
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(500), size=3)
    variables = [fn.Variable("a", ["x", "y", "z"]), fn.Variable("b", [f"s{i}" for i in range(500)])]
    net = fn.BayesianNetwork.from_tables(variables, {"b": ["a"]}, {"a": [0.2, 0.3, 0.5], "b": p})
    ax = fn.plot.conditional(net, "b", most=30, ax=somewhere())
    shown = np.asarray(ax.collections[0].get_array()).reshape(3, 30)
    close(shown.sum(axis=1), 1)
    likeliest = np.sort(np.argsort(-p.mean(axis=0))[:29])
    close(shown[:, :29], p[:, likeliest])
    assert ax.get_xticklabels()[-1].get_text() == "471 others"
    bars = fn.plot.marginals(net, ["b"], most=10, ax=somewhere()).patches
    assert sum(bar.get_width() for bar in bars) == pytest.approx(1)  # type: ignore[attr-defined]
    turned = fn.BayesianNetwork.from_tables(
        variables, {"a": ["b"]}, {"b": p[0], "a": rng.dirichlet(np.ones(3), size=500)}
    )
    ax = fn.plot.conditional(turned, "a", ax=somewhere())
    assert "40 of 500 rows" in ax.get_xlabel()


def test_marginals_are_those_of_the_network() -> None:
    ax = fn.plot.marginals(ASIA, ["lung", "smoke"], given={"dysp": "yes"}, ax=somewhere())
    widths = [bar.get_width() for bar in ax.patches]  # type: ignore[attr-defined]
    expected = []
    for name in ("lung", "smoke"):
        before, after = fn.infer.marginal(ASIA, [name]), fn.infer.marginal(ASIA, [name], given={"dysp": "yes"})
        expected += [p for pair in zip(before, after, strict=True) for p in pair]
    close(widths, expected)
    most = fn.plot.marginals(ASIA, given={"either": "yes"}, most=3, ax=somewhere())
    names = [text.get_text() for text in most.texts if text.get_fontweight() == "bold"]
    moved = {
        name: np.abs(fn.infer.marginal(ASIA, [name]) - fn.infer.marginal(ASIA, [name], given={"either": "yes"})).sum()
        for name in ASIA.dag.names
    }
    assert names == sorted(moved, key=lambda name: -moved[name])[:3]


def test_the_gram_matrix_is_the_kernels_in_an_order_of_its_rows() -> None:
    ax = fn.plot.gram(KERNEL, ROWS[:25], normalize=False, ax=somewhere())
    order = [int(tick.get_text()) for tick in ax.get_xticklabels()]
    assert sorted(order) == list(range(25))
    close(np.asarray(ax.images[0].get_array()), KERNEL(ROWS[:25][order]), atol=1e-12)
    cosines = np.asarray(fn.plot.gram(KERNEL, ROWS[:25], ax=somewhere()).images[0].get_array())
    close(np.diagonal(cosines), 1)
    given = np.arange(25)
    matrix = KERNEL(ROWS[:25])
    scale = 1 / np.sqrt(np.diagonal(matrix))

    def roughness(rows: Any) -> float:
        found = (matrix * scale[:, None] * scale)[np.ix_(rows, rows)]
        return float(np.abs(np.diff(found, axis=0)).sum())

    assert roughness(
        [int(tick.get_text()) for tick in fn.plot.gram(KERNEL, ROWS[:25], ax=somewhere()).get_xticklabels()]
    ) < roughness(given)
    assert len(fn.plot.gram(KERNEL, ROWS[:1], ax=somewhere()).images) == 1


def test_kernel_components_are_those_of_scikit_learn() -> None:
    from sklearn.decomposition import KernelPCA

    rows = ROWS[:80]
    ax = fn.plot.row_map(KERNEL, rows, projection="pca", chosen=range(80), ax=somewhere())
    ours = np.asarray(ax.collections[-1].get_offsets())
    theirs = KernelPCA(2, kernel="precomputed").fit_transform(KERNEL(rows))
    close(np.abs(ours), np.abs(theirs), atol=1e-6)


def test_classical_scaling_keeps_distances_of_the_plane() -> None:
    class Plain:
        def __call__(self, X: Any, Y: Any = None) -> Any:
            return np.asarray(X) @ np.asarray(X if Y is None else Y).T

        def diag(self, X: Any) -> Any:
            return (np.asarray(X) ** 2).sum(axis=1)

    angles = np.linspace(0, 2 * np.pi, 40)[:-1]
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ax = fn.plot.row_map(Plain(), circle, projection="mds", chosen=range(39), ax=somewhere())
    placed = np.asarray(ax.collections[-1].get_offsets())
    apart = np.linalg.norm(placed[:, None] - placed, axis=2)
    close(apart, np.linalg.norm(circle[:, None] - circle, axis=2), atol=1e-9)


def test_drift_shows_the_shares_from_the_largest_down() -> None:
    ax = fn.plot.drift(DRIFT, ax=somewhere())
    shares = sorted(DRIFT.by_variable.values(), key=lambda share: -share.statistic)
    close([bar.get_width() for bar in ax.patches], [share.share for share in shares])  # type: ignore[attr-defined]
    filled = [to_rgba(bar.get_facecolor())[3] > 0 for bar in ax.patches]
    assert filled == [share.p_corrected <= 0.05 for share in shares]
    assert ax.get_yticklabels()[0].get_text() == "smoke"


def test_roc_is_that_of_scikit_learn() -> None:
    said = np.asarray(SAID).round(2)  # with ties
    said = said / said.sum(axis=1, keepdims=True)
    ax = fn.plot.roc(TRUTH, said, states=["yes", "no"], state="yes", ax=somewhere())
    positive = np.array(TRUTH) == "yes"
    false, true, _ = roc_curve(positive, said[:, 0], drop_intermediate=False)
    close(ax.lines[0].get_xdata(), false)
    close(ax.lines[0].get_ydata(), true)
    assert ax.lines[0].get_label() == f"yes: area {roc_auc_score(positive, said[:, 0]):.3f}"


def test_labels_that_are_numbers_have_the_order_of_numbers() -> None:
    """As the columns of a classifier: 2 stands before 10, though "10" is the smaller text."""
    truth = np.random.default_rng(5).choice([1, 2, 10], 300)
    said = np.random.default_rng(6).dirichlet(np.ones(3), 300)
    for some in (truth, truth.tolist(), truth.astype(float)):
        ax = fn.plot.roc(some, said, ax=somewhere())
        found = dict(str(line.get_label()).split(": area ") for line in ax.lines[:3])
        for place, state in enumerate((1, 2, 10)):
            area = roc_auc_score(truth == state, said[:, place])
            assert {float(name): text for name, text in found.items()}[state] == f"{area:.3f}"
    ax = fn.plot.roc(truth.tolist(), said, states=list(np.unique(truth)), state=np.int64(10), ax=somewhere())
    assert str(ax.lines[0].get_label()).startswith("10: ")
    assert fn.plot.calibration(truth == 2, said[:, 1], ax=somewhere()).get_xlabel() == "probability of true"


def test_calibration_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    p = rng.random(3000)
    truth = rng.random(3000) < p**2
    ax = fn.plot.calibration(truth.tolist(), p, states=[False, True], ax=somewhere())
    true, said = calibration_curve(truth, p, n_bins=10, strategy="quantile")
    close(ax.lines[1].get_xdata(), said)
    close(ax.lines[1].get_ydata(), true)
    constant = fn.plot.calibration([1, 0, 1], [0.5, 0.5, 0.5], ax=somewhere())
    close(constant.lines[1].get_ydata(), [2 / 3])


def test_probabilities_that_do_not_fit_are_refused() -> None:
    for truth, said, states, match in (
        (["a"], [[0.5, 0.5], [0.5, 0.5]], None, "a row per row of truth"),
        (["a", "b"], [[0.5, 0.6], [0.5, 0.5]], None, "sum to 1"),
        (["a", "b"], [[np.nan, 0.6], [0.5, 0.5]], None, "sum to 1"),
        (["a", "b"], [[0.2, 0.3, 0.5]] * 2, None, "3 columns of probabilities and 2 states"),
        (["a", "z"], [[0.5, 0.5]] * 2, ["a", "b"], "truth has 'z'"),
        (["a", "a"], [[0.5, 0.5]] * 2, ["a", "b"], "rows with the state and rows without"),
    ):
        with pytest.raises(fn.FishernetError, match=match):
            fn.plot.roc(truth, said, states=states, ax=somewhere())
    with pytest.raises(fn.SchemaError, match="no state 'c'"):
        fn.plot.calibration(["a", "b"], [[0.5, 0.5]] * 2, state="c")


def test_the_oddest_rows_are_named_with_their_oddest_cells() -> None:
    ax = fn.plot.log_probability(ASIA, ROWS, most=4, ax=somewhere(figsize=(12, 5)))
    values, terms = ASIA.log_prob(ROWS), ASIA.log_prob_terms(ROWS)
    labels = ROWS.to_frame().to_pylist()
    for text, row in zip(ax.texts, np.argsort(values, kind="stable"), strict=False):
        name = ASIA.dag.names[int(np.argmin(terms[row]))]
        assert text.get_text().startswith(f"row {row}: {name} = {labels[row][name]}")
    assert len(ax.texts) == 4
    assert sum(bar.get_height() for bar in ax.patches) == 400  # type: ignore[attr-defined]
    certain = fn.infer.intervene(ASIA, {"smoke": "yes"})
    ax = fn.plot.log_probability(certain, ROWS, ax=somewhere())
    n_impossible = int((certain.log_prob(ROWS) == -np.inf).sum())
    assert n_impossible > 0
    assert ax.get_title(loc="left") == f"400 rows; {n_impossible} impossible"
    assert fn.plot.log_probability(ASIA, ROWS[:1], ax=somewhere()).texts
    with pytest.raises(fn.SchemaError, match="no row"):
        fn.plot.log_probability(ASIA, ROWS[:0])


def test_the_strongest_rows_are_named() -> None:
    ax = fn.plot.influence(WHY, most=3, ax=somewhere(figsize=(12, 5)))
    order = np.argsort(-WHY.values, kind="stable")
    named = [int(text.get_text().partition(":")[0].removeprefix("row ")) for text in ax.texts]
    assert named == [order[0], order[1], order[-1]]
    heights = [bar.get_height() for bar in ax.patches]  # type: ignore[attr-defined]
    assert sum(heights) == WHY.n_rows


def test_the_learning_curve_begins_at_the_score_of_the_start() -> None:
    ax = fn.plot.search(SEARCHED, ax=somewhere())
    curve = np.asarray(ax.lines[0].get_ydata())
    empty = fn.score(fn.Dag.from_edges(ROWS.names, []), ROWS)
    assert curve[0] == pytest.approx(empty)
    assert curve[-1] == pytest.approx(SEARCHED.score)
    assert (np.diff(curve) > 0).all()
    marks = {line.get_label(): line for line in ax.lines[1:]}
    assert sum(len(np.asarray(line.get_xdata())) for line in marks.values()) == len(SEARCHED.steps)
    with pytest.raises(fn.FishernetError, match="one to 5 results"):
        fn.plot.search()


def test_em_and_chains_show_their_results() -> None:
    ax = fn.plot.em_progress(EM, ax=somewhere())
    close(ax.lines[0].get_ydata(), EM.trace)
    close(ax.lines[1].get_ydata(), sorted(EM.restarts)[:-1])
    ax = fn.plot.chains(CHAINS, "dysp", ax=somewhere())
    shares = [np.asarray(line.get_ydata())[-1] for line in ax.lines[:3]]
    state = ax.get_ylabel().replace("\n", " ").split(" = ")[1]
    codes = np.asarray(CHAINS.rows.to_frame()["dysp"].to_pylist()).reshape(3, -1)
    close(shares, (codes == state).mean(axis=1))
    with pytest.raises(fn.SchemaError, match="no variable 'nobody'"):
        fn.plot.chains(CHAINS, "nobody")


def test_names_with_markup_are_plain_text_in_every_picture(tmp_path: Path) -> None:
    odd = ["$x^2$ <b>", "年齢", "a" * 300]
    variables = [fn.Variable(name, ["$1$", "<i>&", "s" * 300]) for name in odd]
    p = np.full((3, 3), 1 / 3)
    net = fn.BayesianNetwork.from_tables(
        variables, {odd[1]: [odd[0]], odd[2]: [odd[1]]}, {odd[0]: p[0], odd[1]: p, odd[2]: p}
    )
    turned = fn.infer.intervene(net, {odd[0]: "s" * 300})
    table = net.sample(60, seed=1)
    kernel = fn.kernels.FisherKernel(net)
    changed = fn.compare.explain_change(net, turned)
    apart = fn.compare.two_sample_test(table, turned.sample(60, seed=2), kernel, permutations=19, seed=1)
    draws: tuple[Callable[[], Axes], ...] = (
        lambda: fn.plot.graph(net, strengths="mutual-information", target=odd[1]),
        lambda: fn.plot.conditional(net, odd[1]),
        lambda: fn.plot.marginals(net, given={odd[0]: "$1$"}),
        lambda: fn.plot.row_map(kernel, table, colour=odd[0]),
        lambda: fn.plot.log_probability(net, table),
        lambda: fn.plot.influence(fn.explain.rows(net, table, log_prob=table[:3], n_rows=table.n_rows)),
        lambda: fn.plot.change(changed, by="configuration"),
        lambda: fn.plot.gram(kernel, table),
        lambda: fn.plot.drift(apart),
        lambda: fn.plot.roc(table.to_frame()[odd[0]].to_pylist(), np.full((60, 3), 1 / 3)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, draw in enumerate(draws):
            ax = draw()
            assert all(len(text.get_text()) <= 100 for text in ax.texts)
            fn.plot.write(ax, tmp_path / f"{number}.svg")
            ElementTree.fromstring((tmp_path / f"{number}.svg").read_text(encoding="utf-8"))


def test_a_dark_theme_makes_dark_files_and_unwritable_ones_are_refused(tmp_path: Path) -> None:
    with fn.plot.theme("dark"):
        ax = fn.plot.em_progress(EM)
    figure = ax.get_figure(root=True)
    assert figure is not None
    assert to_hex(figure.get_facecolor()).upper() == DARK.background
    with pytest.raises(fn.FileFormatError, match="cannot be written"):
        fn.plot.write(ax, tmp_path / "nowhere" / "em.png")
    with pytest.raises(fn.FileFormatError, match=r"ending in \.png"):
        fn.plot.write(ax, tmp_path / "em.bmp")
    with pytest.raises(fn.SchemaError, match="axes or a figure"):
        fn.plot.write("em", tmp_path / "em.png")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    fn.plot.write(figure, tmp_path / "em.svg")
    fn.plot.write(figure, tmp_path / "again.svg")
    assert (tmp_path / "em.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
