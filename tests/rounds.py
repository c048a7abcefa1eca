"""How often a test repeats itself: few rounds in every run, as many times more as TEST_ROUNDS says."""

import os

_FACTOR = int(os.environ.get("TEST_ROUNDS", "1"))


def rounds(few: int) -> int:
    """So many examples, operations or deliveries, times TEST_ROUNDS."""
    return few * _FACTOR
