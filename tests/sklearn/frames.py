"""A frame of mixed columns, and the structures to try on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Array = npt.NDArray[Any]
STRUCTURES = ["nb", "tan", "kdb", "hill-climb", "exact"]


def mixed(n: int = 300, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    """Text, a number, a truth value and a category that all know something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["bad", "good", "so-so"], size=n)
    code = np.searchsorted(["bad", "good", "so-so"], y)
    noisy = np.where(rng.random(n) < 0.7, code, rng.integers(0, 3, n))
    frame = pd.DataFrame(
        {
            "town": np.array(["Oslo", "Rome", "Lima"])[noisy],
            "size": code * 2.0 + rng.normal(size=n),
            "open": (code + rng.integers(0, 2, n)) % 2 == 0,
            "grade": pd.Categorical(
                np.array(["a", "b", "c"])[(code + rng.integers(0, 2, n)) % 3], ["c", "b", "a", "z"]
            ),
        }
    )
    return frame, y
