"""Settings of all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# A busy machine must not fail a test for being slow; in CI the same examples are tried each time, and no more of them.
CI = bool(os.environ.get("CI"))
settings.register_profile("house", deadline=None, max_examples=30 if CI else 60, derandomize=CI)
settings.load_profile("house")

# A process started in the background ignores Ctrl-C, and so would the tests that send it to themselves, for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
