"""Nothing that is looked up depends on the collation of the database."""

import os
import subprocess
import sys

import psycopg
import pytest

from tests.turkish_server import turkish_server

#: Files and tests that look up texts with capital letters, each look-up at least once.
TESTS = (
    "tests/accounts/test_address_spellings.py",
    "tests/people/find/test_find.py::test_names_are_found_in_any_spelling",
    "tests/people/find/test_find.py::test_other_letters_and_typing_errors",
    "tests/people/find/test_find.py::test_every_field_is_searched",
    "tests/people/find/test_find.py::test_custom_values_as_their_templates_come_and_go",
    "tests/people/find/test_find.py::test_interactions_and_what_becomes_of_them",
    "tests/people/find/test_find.py::test_imported_people_are_found",
    "tests/people/test_groups.py::test_invalid_fields_are_reported",
    "tests/people/test_groups.py::test_a_name_is_free_for_other_accounts_and_after_deletion",
    "tests/people/test_groups.py::test_groups_are_listed_by_name",
    "tests/people/test_groups.py::test_the_groups_of_a_person_have_the_same_order_everywhere",
    "tests/people/test_normal_forms.py",
    "tests/relationships/test_types.py::test_types_are_listed_by_label_on_every_database",
    "tests/relationships/test_types.py::test_name_is_upper_case_and_without_white_space",
    "tests/relationships/test_types.py::test_an_inverse_whose_name_is_taken_gets_a_number",
    "tests/relationships/test_types.py::test_a_type_without_valid_inverse_or_name_is_refused",
    "tests/relationships/test_types.py::test_a_new_type_may_be_the_inverse_of_one_without_inverse",
    "tests/relationships/test_types.py::test_type_whose_name_was_taken_is_not_restored",
)


@pytest.mark.one_database
def test_letters_without_case_are_the_same_under_a_turkish_collation() -> None:
    with turkish_server() as url:
        with psycopg.connect(url) as server:
            assert server.execute("SELECT lower('I'), upper('i')").fetchone() == ("ı", "İ")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TEST_"))}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *TESTS],
            env={**environment, "TEST_DATABASE_URL": url, "TEST_ROUNDS": "2"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout
