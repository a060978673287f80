"""The driver: ``python -m benchmarks.run``.

It makes the tables, lets every contender run every race in a process of its own, checks the answers and writes
RESULTS.md beside itself (a run of a part only prints). It ends with status 1 when an answer is wrong or when one and
two threads give different bits; a target that is missed is in the report and fails nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import checks, data
from benchmarks.contenders import Contender, all_contenders
from benchmarks.process import Outcome, busy_core, run_job
from benchmarks.races import TOPICS, Race, all_races, who
from benchmarks.results import different_bits, report, wrong
from benchmarks.targets import Entry, duration
from benchmarks.workers.job import Job, Result

RESULTS = Path(__file__).parent / "RESULTS.md"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description="Race fishernet against its peers.")
    parser.add_argument("--quick", action="store_true", help="no more than 100 000 rows, three repetitions")
    parser.add_argument("--full", action="store_true", help="also what takes a peer many minutes")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument("--only", choices=tuple(TOPICS), action="append", help="a topic; may be given more than once")
    parser.add_argument("--output", type=Path, help="where to write the report (default: RESULTS.md after a whole run)")
    return parser.parse_args()


def start(race: Race, contender: Contender, form: str, threads: int, folder: Path) -> Outcome:
    """Run a race with one contender, in one form, at one setting."""
    name = who(contender.name, form)
    if contender.version is None:
        return Outcome(None, "not available")
    if name in race.skipped or contender.name in race.skipped:
        return Outcome(None, race.skipped.get(name) or race.skipped[contender.name])
    command = contender.command
    if race.job.task == "import":
        command = (contender.python or sys.executable, "-m", "benchmarks.workers.importing")
    output = str(folder / f"{name}, {threads}.answer")
    job = dataclasses.replace(race.job, form=form, threads=threads, output=output)
    with busy_core() if race.busy else contextlib.nullcontext():
        outcome = run_job(command, job, folder, contender.limit)
    return dataclasses.replace(outcome, output=output)


JUDGES: dict[str, Callable[[Job, Result], checks.Verdict]] = {
    "fit": checks.judge_fit,
    "log_prob": checks.judge_log_prob,
    "sample": checks.judge_sample,
    "gram": checks.judge_gram,
    "select": checks.judge_selection,
    "starts": checks.judge_starts,
    "gibbs": checks.judge_gibbs,
    "dependency_network": checks.judge_dependency_network,
    "stationary": checks.judge_stationary,
    "fire": checks.judge_fire,
    "structure": checks.judge_structure,
    "local_scores": checks.judge_local_scores,
    "tan": checks.judge_tan,
    "kdb": checks.judge_kdb,
    "naive_bayes": checks.judge_naive_bayes,
    "edge_strengths": checks.judge_edge_strengths,
    "forward_backward": checks.judge_forward_backward,
    "expected_counts": checks.judge_expected_counts,
    "baum_welch": checks.judge_baum_welch,
    "hmm_gram": checks.judge_hmm_gram,
    "pair_hmm_gram": checks.judge_pair_hmm_gram,
    "tree_gram": checks.judge_tree_gram,
    "gaussian_graph": checks.judge_gaussian_graph,
    "gaussian_network": checks.judge_gaussian_network,
    "knn_test": checks.judge_knn_test,
    "markov_graph": checks.judge_markov_graph,
}


def verdict(race: Race, outcome: Outcome) -> checks.Verdict | None:
    """Judge an answer; graphs and marginals are judged together, when all have run."""
    result = outcome.result
    if result is None:
        return None
    if race.csv is not None:
        return checks.judge_reading(race.csv, result)
    judge = JUDGES.get(race.job.task)
    return None if judge is None else judge(dataclasses.replace(race.job, output=outcome.output), result)


def verdicts_together(race: Race, entries: list[Entry]) -> list[checks.Verdict | None]:
    """Judge the answers that are compared with one another."""
    if race.job.task == "hill_climb":
        return checks.judge_graphs(race.job, [entry.outcome.result for entry in entries])
    if race.job.task == "order":
        return checks.judge_order(race.job, [entry.outcome.result for entry in entries])
    if race.job.task == "families":
        outcomes = [entry.outcome for entry in entries]
        found = [race.job.read_marginals(o.output) if o.result is not None else None for o in outcomes]
        return checks.judge_families(race.job, [entry.contender for entry in entries], found)
    return [entry.verdict for entry in entries]


def run_race(race: Race, contenders: dict[str, Contender], folder: Path) -> list[Entry]:
    """Run a race with everyone who takes part."""
    entries = []
    for contender in (contenders[name] for name in race.entrants if name in contenders):
        settings = (0,) if race.job.task == "import" or contender.version is None else contender.threads
        for form, threads in itertools.product(race.forms.get(contender.name, ("",)), settings):
            outcome = start(race, contender, form, threads, folder)
            entry = Entry(race, contender.name, form, threads, outcome, verdict(race, outcome))
            taken = outcome.reason if outcome.seconds is None else duration(outcome.seconds)
            print(f"{race.topic}: {race.title}: {entry.label}: {taken}", file=sys.stderr, flush=True)
            entries.append(entry)
    together = verdicts_together(race, entries)
    return [dataclasses.replace(entry, verdict=verdict) for entry, verdict in zip(entries, together, strict=True)]


def main() -> int:
    chosen = options()
    contenders = all_contenders(peers=not chosen.no_peers)
    with tempfile.TemporaryDirectory(prefix="fishernet-bench-") as name:
        folder = Path(name)
        tables = data.make(folder, chosen.quick)
        races = all_races(tables, contenders, folder, quick=chosen.quick, full=chosen.full, only=chosen.only or ())
        entries = [entry for race in races for entry in run_race(race, contenders, folder)]
    text = report(entries, contenders.values())
    print(text)
    whole = not (chosen.quick or chosen.no_peers or chosen.only)
    if chosen.output or whole:
        (chosen.output or RESULTS).write_text(text)
    return 1 if wrong(entries) or different_bits(entries, races) else 0


if __name__ == "__main__":
    sys.exit(main())
