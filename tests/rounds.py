"""The number of rounds of repeated tests: few by default, multiplied by the environment variable TEST_ROUNDS."""

import os

from hypothesis import HealthCheck, settings

_FACTOR = int(os.environ.get("TEST_ROUNDS", "1"))


def rounds(few: int) -> int:
    """The number of examples, operations or deliveries: `few` times TEST_ROUNDS."""
    return few * _FACTOR


def rounds_per_database(few: int) -> int:
    """The number of random examples of a test that runs on both databases: each does half of `rounds(few)`."""
    return -(-rounds(few) // 2)


def database_settings(few: int) -> settings:
    """Hypothesis settings for a test that uses the database. Its fixtures are shared by all examples."""
    return settings(
        max_examples=rounds_per_database(few),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
