"""A dependency network learned on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fishernet.cli.heldout.holdout import Likelihood, count_rows
from fishernet.cli.inputs.tables import Reading
from fishernet.cli.learn.words import held_out_words, number_or_word, row_lines, saved_lines, seconds_line
from fishernet.cli.terminal.output import Facts, aligned, number
from fishernet.cli.terminal.wording import shown
from fishernet.counts import as_source
from fishernet.errors import FishernetError, ZeroProbabilityError
from fishernet.learn import InputsFound, local_structure
from fishernet.learn.parameters import check_smoothing, fit_conditionals
from fishernet.models import DependencyNetwork
from fishernet.progress import Progress
from fishernet.scores import Families, local_scores, named_score
from fishernet.table import Table


class DependencyLearner:
    """Finds the inputs of every variable in one table, and fits the conditionals to any.

    On one table this is `fishernet.learn.dependency_network`.

    Parameters
    ----------
    smoothing : str, optional
        A number, "snml" or "zeros", which it is when not said.
    search : str, optional
        "greedy" when not said.
    **options
        As for `fishernet.learn.local_structure`.
    """

    endings = (".json",)

    def __init__(self, *, smoothing: str | None, search: str | None, score: str, **options: Any) -> None:
        self._smoothing = "zeros" if smoothing is None else number_or_word(smoothing)
        check_smoothing(self._smoothing, None)
        self._options: Any = {"score": score, "search": search or "greedy", **options}
        self._found: InputsFound

    def read(self, path: Path, reading: Reading) -> Table:
        """Read a table of states."""
        return reading.read(path)

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the inputs."""
        self._found = local_structure(table, progress=progress, **self._options)

    def fit(self, table: Table) -> DependencyNetwork:
        """Return the network of these inputs, fitted to a table."""
        source = as_source(table)
        families = [(*inputs, child) for child, inputs in enumerate(self._found.inputs)]
        try:
            conditionals = fit_conditionals(source, families, self._smoothing, None)
        except ZeroProbabilityError as error:  # which tells of ess too, an option of the other kind
            raise FishernetError(str(error).replace("smoothing > 0 or ess", "smoothing=zeros")) from error
        return DependencyNetwork(source.variables, conditionals, n_rows=source.n_rows, allow_zeros=self._smoothing == 0)

    def facts(self, network: DependencyNetwork, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        found = self._found
        likelihood = Likelihood.of_rows(network.pseudo_log_likelihood(held_out), held_out.weights)
        alone = entropies(training, [()] * len(found.names))
        given = entropies(training, found.inputs)
        return {
            "inputs": {
                name: [found.names[v] for v in inputs] for name, inputs in zip(found.names, found.inputs, strict=True)
            },
            "entropies": dict(zip(found.names, alone, strict=True)),
            "conditional_entropies": dict(zip(found.names, given, strict=True)),
            "parameters": network.n_parameters,
            "score": self._options["score"],
            "score_value": float(found.scores.sum()),
            "local_scores": found.n_scores,
            "candidates": found.n_candidates,
            "steps": found.steps,
            "held_out_pseudo_log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        search = (
            f"{facts['steps']:,} steps, {facts['candidates']:,} candidates looked at, "
            f"{facts['local_scores']:,} distinct local scores"
        )
        yield from aligned(
            [
                *row_lines(facts),
                ("inputs", f"{sum(map(len, facts['inputs'].values())):,}"),
                (f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"),
                ("search", search),
                ("parameters", f"{facts['parameters']:,}"),
                (
                    "held-out pseudo-log-likelihood",
                    held_out_words(facts, "held_out_pseudo_log_likelihood_per_row"),
                ),
                seconds_line(facts),
                *saved_lines(facts, "inputs"),
            ]
        )
        yield ""
        yield "entropies in nats on the rows to learn from: of each variable X, and given its inputs"
        yield from aligned([("variable", "H(X)", "H(X|inputs)", "inputs"), *_cells(facts)])


def entropies(table: Table, inputs: Sequence[Sequence[int]]) -> list[float]:
    """Return the empirical entropy of every variable given its inputs, in nats; not below 0 by rounding."""
    families = Families.from_pairs(enumerate(inputs))
    logs = local_scores(as_source(table), families, named_score("loglik"))
    return [max(0.0, -float(log) / count_rows(table)) for log in logs]


def _cells(facts: Facts) -> Iterator[tuple[str, str, str, str]]:
    for name, inputs in facts["inputs"].items():
        alone, given = facts["entropies"][name], facts["conditional_entropies"][name]
        yield shown(name), number(alone), number(given), ", ".join(map(shown, inputs))
