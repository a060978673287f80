"""The worker that times ``import MODULE`` in fresh interpreters, in whichever environment it is started."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.workers.job import Job, Result, main

CODE = "import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"


def once(module: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(module=module)], capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def import_module(job: Job) -> Result:
    once(job.module)
    return {"seconds": [once(job.module) for _ in range(job.repeats)], "setup_seconds": [], "extra_bytes": None}


if __name__ == "__main__":
    main({"import": import_module})
