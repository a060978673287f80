"""The process of one contender: ``python -m benchmarks.worker MODULE CALL JOB RESULT [--turns]``.

MODULE is a topic (ours) or a peer, CALL the name of one of its calls. JOB holds the data, pickled; RESULT is written.
With ``--turns`` it makes a turn for every line that it is sent, and prints what a call took.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from pathlib import Path

from benchmarks.calls import TREE_FIRST, measure, threads, turn


def main() -> None:
    name, call_name, job, result, *turns = sys.argv[1:]
    exec(TREE_FIRST)
    module = importlib.import_module(name)
    if threads():
        (module.fn.set_threads if hasattr(module, "fn") else module.set_threads)(threads())
    call = module.CALLS[call_name]
    data, repeats, budget = pickle.loads(Path(job).read_bytes())
    if not turns:
        Path(result).write_bytes(pickle.dumps(measure(call, data, repeats, budget)))
        return
    turn(call, data)  # a warm-up
    print(module.fn.__file__, flush=True)
    for _ in sys.stdin:
        print(turn(call, data), flush=True)


if __name__ == "__main__":
    main()
