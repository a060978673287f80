"""All instruction sets give the same bits."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import hashlib
import fishernet as fn
from fishernet.kernels import HmmKernel, PairHmmKernel
hmm = fn.models.pair_hmm_dna()
strings = ["ACGTTGCA" * n + "ACG"[: n % 3] for n in range(12)]
h = hashlib.sha256(PairHmmKernel(hmm, log=True)(strings).tobytes())
matches = fn.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])
h.update(HmmKernel(matches, log=True)([[i % 4, i // 4 % 4, i // 16] for i in range(64)]).tobytes())
print(h.hexdigest())
"""


def test_instruction_sets_give_the_same_bits() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env={**os.environ, **extra}, check=True, capture_output=True, text=True
        ).stdout
        for extra in ({}, {"FISHERNET_ISA": "avx2"}, {"FISHERNET_ISA": "portable"})
    }
    assert len(answers) == 1
