"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# A busy machine must not fail a test for being slow; in CI the same examples are tried each time.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")
