"""The number of rounds of repeated tests: few by default, multiplied by the environment variable TEST_ROUNDS."""

import os
from typing import Any

from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

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


def run_histories(machine: type[RuleBasedStateMachine], *, examples: int, **options: Any) -> None:
    """Run random histories of the machine, each in a transaction that is rolled back at its end. `options` are those of
    Hypothesis besides."""

    class RolledBack(machine):  # type: ignore[valid-type, misc]
        def __init__(self) -> None:
            super().__init__()
            self.atomic: Any = transaction.atomic()
            self.atomic.__enter__()

        def teardown(self) -> None:
            try:
                super().teardown()
            finally:
                transaction.set_rollback(True)
                self.atomic.__exit__(None, None, None)

    every = {"stateful_step_count": 20, "suppress_health_check": list(HealthCheck), "database": None, "deadline": None}
    run_state_machine_as_test(RolledBack, settings=settings(max_examples=examples, **{**every, **options}))
