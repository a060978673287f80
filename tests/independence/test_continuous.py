from __future__ import annotations

import numpy as np

from fishernet.independence.continuous import standardized


def test_standardized_columns() -> None:
    columns = standardized(np.random.default_rng(1).normal(5, 3, size=(2, 100)))
    np.testing.assert_allclose(columns.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(columns.std(axis=1), 1, rtol=1e-12)
