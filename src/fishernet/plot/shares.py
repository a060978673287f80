"""Where two tables differ, as bars: what each variable, or each configuration, adds to the statistic of a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.vocabulary import word
from fishernet.compare import ScoreTestResult, Share, TwoSampleResult
from fishernet.plot.style import Theme, dress, fitting, legend, letters, new_axes, require_matplotlib, theme_of
from fishernet.plot.texts import FONT, labels, name_ticks, text_sizes, under
from fishernet.plot.tooltips import entitle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.26  # inches from one bar to the next
WIDE = 3.6  # inches of the longest bar
LONGEST = 44  # characters of a label


def drift(
    found: TwoSampleResult | ScoreTestResult,
    *,
    by: Literal["variable", "configuration"] = "variable",
    most: int = 20,
    level: float = 0.05,
    ax: Axes | None = None,
    font_size: float = 9.0,
) -> Axes:
    """Draw where two tables, or a table and a network, differ: a bar per variable, or per configuration of parents.

    Filled bars differ significantly, corrected for all that are looked at; the number is that p-value. A bar is as long
    as the share of the whole statistic.

    Parameters
    ----------
    found : TwoSampleResult or ScoreTestResult
        As `fishernet.compare.two_sample_test` or `score_test` gives it, under a kernel that is a sum over variables.
    by : {"variable", "configuration"}
    most : int
        How many, those that add most.
    level : float
        Up to which corrected p-value bars are filled.
    ax : matplotlib Axes, optional
        Where to draw. Without it, on a new figure as large as the bars need, for `matplotlib.pyplot.show`.
    font_size : float
        Of all text, in points.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    FishernetError
        When matplotlib is missing, or a number is out of range.
    SchemaError
        When the result has no shares of variables.

    See Also
    --------
    fishernet.plot.change : which conditionals changed, in nats.

    Examples
    --------
    >>> import fishernet as fn
    >>> from matplotlib.figure import Figure
    >>> asia = fn.datasets.load("asia")
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"})
    >>> k = fn.kernels.FisherKernel(asia)
    >>> found = fn.compare.two_sample_test(asia.sample(500, seed=1), smokers.sample(500, seed=2), k, seed=1)
    >>> axes = fn.plot.drift(found, ax=Figure().add_subplot())
    >>> [label.get_text() for label in axes.get_yticklabels()][0]
    'smoke'
    """
    require_matplotlib()
    named = word(by, "by", ("variable", "configuration"))
    limit, size = check.integer(most, "most", least=1), letters(font_size)
    bound = check.share(level, "level")
    every = found.by_configuration if named == "configuration" else list(found.by_variable.values())
    if not every:
        raise SchemaError(
            "this result has no shares of variables: its kernel is no sum over variables, or nothing differs",
            parameter="found",
        )
    shares = sorted(every, key=lambda share: (-share.statistic, share.variable))[:limit]
    called = labels([under(share.variable, share.configuration) for share in shares], LONGEST)
    if ax is None:
        left = float(text_sizes(called, size)[:, 0].max())
        ax = new_axes(left + WIDE + 0.9, 1.3 + len(shares) * BAR)
    left_out = len(every) - len(shares)
    more = f"; {len(shares)} of {len(every):,} {named}s" if left_out else ""
    _draw(ax, shares, called, bound, size, f"p = {found.p_value:.3g} for the whole{more}")
    return ax


def _draw(ax: Axes, shares: Sequence[Share], called: list[str], level: float, size: float, title: str) -> None:
    look: Theme = theme_of(ax)
    small = fitting(ax, len(shares), size)
    longest = max(max(share.share for share in shares), 1e-12)
    kinds: dict[bool, Any] = {
        True: {"facecolor": look.more, "edgecolor": look.more},
        False: {"facecolor": "none", "edgecolor": look.line},
    }
    for place, share in enumerate(shares):
        sure = share.p_corrected <= level
        text = f"corrected p ≤ {level:g}" if sure else "not significant"
        bar = ax.barh(place, share.share, height=0.66, linewidth=0.9, label=text, **kinds[sure])
        whose = under(share.variable, share.configuration)
        entitle(bar[0], [f"{whose}: {100 * share.share:.3g} % of the statistic, corrected p {share.p_corrected:.3g}"])
        at = max(share.share, 0.0) + 0.015 * longest
        ax.text(
            at, place, f"p {share.p_corrected:.2g}", va="center", color=look.ink, fontsize=0.85 * small
        ).set_fontfamily(FONT)
    name_ticks(ax.yaxis, range(len(shares)), called)
    ax.set_ylim(len(shares) - 0.4, -0.6)
    ax.set_xlim(min(0.0, *(share.share for share in shares)), 1.2 * longest)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
    dress(ax, look, size, x="% of the statistic", title=title, left=float(text_sizes(called, size)[:, 0].max()))
    ax.tick_params(axis="y", length=0, labelsize=small)
    legend(ax, look, 0.85 * size, once=True, loc="lower right", frameon=False)
