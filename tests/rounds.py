"""The number of rounds of repeated tests: few by default, multiplied by the environment variable TEST_ROUNDS."""

import os

_FACTOR = int(os.environ.get("TEST_ROUNDS", "1"))


def rounds(few: int) -> int:
    """The number of examples, operations or deliveries: `few` times TEST_ROUNDS."""
    return few * _FACTOR


def rounds_per_database(few: int) -> int:
    """The number of random examples of a test that runs on both databases: each does half of `rounds(few)`."""
    return -(-rounds(few) // 2)
