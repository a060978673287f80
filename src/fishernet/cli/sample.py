"""``fishernet sample``: rows drawn from a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import click

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.cli.models import is_dependency, is_gaussian, read_model, require_states
from fishernet.cli.options import known_states
from fishernet.cli.output import as_json_option, check_folder, output_option, stdout, write_facts
from fishernet.data import Continuous, State, Table, as_table, write_table
from fishernet.data.writing import FORMATS
from fishernet.infer import sample as posterior_sample
from fishernet.models import (
    BayesianNetwork,
    DependencyNetwork,
    GaussianMarkovNetwork,
    MarkovNetwork,
)


@click.command(short_help="Draw rows from a model.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-n", "n", type=int, required=True, metavar="N", help="How many rows.")
@click.option("--given", multiple=True, metavar="NAME=STATE", help="What is known. May be repeated.")
@click.option("--chains", type=int, metavar="C", help="Dependency networks: how many chains.  [default: 1]")
@click.option(
    "--burn-in",
    type=int,
    metavar="B",
    help="Dependency networks: draws before a chain's first row.  [default: one a variable; of several chains 100]",
)
@click.option(
    "--thin", type=int, metavar="T", help="Dependency networks: draws between two rows.  [default: one a variable]"
)
@click.option(
    "--scan", metavar="random|ordered", help="Dependency networks: which variable is drawn next.  [default: random]"
)
@click.option(
    "--seed", type=int, metavar="N", help="The same seed gives the same rows.  [default: other rows each time]"
)
@output_option
@as_json_option
def sample(
    model: Path,
    n: int,
    given: tuple[str, ...],
    seed: int | None,
    output: Path | None,
    as_json: bool,
    **chain: Any,
) -> None:
    """Draw rows from MODEL (.json or .bif), given what is known.

    From a Bayesian network they are independent and exact, also with --given. From a dependency network they come by
    pseudo-Gibbs sampling: one variable after the other is drawn from its conditional, those that are given keep their
    states, and every --thin draws the states are a row. The rows of several --chains come one chain after the other.
    States are written as in a table; a number where the model has bins is that of its bin.

    Rows of a Gaussian network are numbers, independent and exact.

    Rows are written as CSV to stdout, or to the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet,
    .arrow. With --json they are lists of labels, one a variable.

    \b
    Examples
      fishernet sample model.json -n 1000 --seed 1 -o rows.parquet
      fishernet sample model.json -n 1000 --given smoke=yes --chains 4 --thin 50
    """  # noqa: D301
    check_folder(output)
    network = read_model(model)
    if is_gaussian(network):
        asked = [name for name, value in chain.items() if value is not None] + (["given"] if given else [])
        if asked:
            raise FishernetError(f"--{asked[0].replace('_', '-')} does not go with a Gaussian network")
        _write_rows(_draw_numbers(network, n, seed), {"rows": n, "seed": seed, "given": {}}, output, as_json=as_json)
        return
    network = require_states(network, model, "sample")
    if not network.variables and (is_dependency(network) or (output is None and not as_json)):
        raise SchemaError(f"{model}: the model has no variables, so there is nothing to draw")
    known = known_states(given, "--given", network.variables)
    rows = draw(network, n, known, seed, {name: value for name, value in chain.items() if value is not None})
    _write_rows(rows, {"rows": n, "seed": seed, "given": known}, output, as_json=as_json)


def _write_rows(rows: Table, facts: dict[str, Any], output: Path | None, *, as_json: bool) -> None:
    if as_json:
        write_facts(facts | {"columns": columns(rows)}, output)
    elif output is not None:
        write_table(rows, output)
    else:
        FORMATS[".csv"](rows, stdout(), "weights")


def _draw_numbers(network: BayesianNetwork | GaussianMarkovNetwork, n: int, seed: int | None) -> Table:
    return as_table(network.sample(n, seed=seed), [Continuous(name) for name in network.names])


def draw(
    model: BayesianNetwork | DependencyNetwork | MarkovNetwork,
    n: int,
    given: Mapping[str, State],
    seed: int | None,
    chain: Mapping[str, Any],
) -> Table:
    """Return rows drawn from a model: exactly, or by chains, which only a dependency network has options for."""
    if is_dependency(model):
        return model.sample(n, given=given, seed=seed, **chain)
    if chain:
        option = f"--{next(iter(chain)).replace('_', '-')}"
        raise FishernetError(f"{option} is for dependency networks; this model's rows are drawn without chains")
    if given:
        return posterior_sample(cast(BayesianNetwork, model), n, given=given, seed=seed)
    return model.sample(n, seed=seed)


def columns(table: Table) -> dict[str, list[object]]:
    """Return the labels or numbers of a table without missing cells, one list a variable."""
    return {name: table[name].tolist() for name in table.names}
