"""What overrides Django and DRF to save time does what theirs does, and still saves what its docstring says."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import QuerySet

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.speedups import QuickSave, kept_serializer
from people.api.person_serializer import PersonChangeSerializer
from people.models import Person
from tests.builders import make_person


def python_calls(run: Callable[[], object]) -> int:
    """The number of calls of Python functions, of the second run: the first fills caches."""
    run()
    count = 0

    def on_event(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(on_event)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture
def ada(alice: User) -> Person:
    return make_person(alice)


def test_a_save_takes_fewer_calls(alice: User, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def save() -> None:
        ada.save(update_fields=["name"])

    with account_write(alice):
        ours = python_calls(save)
        with monkeypatch.context() as djangos:
            djangos.delattr(QuickSave, "_do_update")
            theirs = python_calls(save)
    assert ours < 0.7 * theirs


@pytest.mark.parametrize("number", [1, 50])
def test_a_bulk_update_takes_fewer_calls(alice: User, number: int) -> None:
    columns = ["name", "surname", "revision"]
    with account_write(alice):
        people = [make_person(alice, name=f"Ada {place}") for place in range(number)]
        ours = python_calls(lambda: Person.objects.bulk_update(people, columns))
        djangos: Any = QuerySet(Person)
        theirs = python_calls(lambda: djangos.bulk_update(people, columns))
    assert ours < 0.5 * theirs


def test_a_bulk_create_of_one_row_takes_fewer_calls(alice: User) -> None:
    djangos: Any = QuerySet(Person)
    with account_write(alice):
        ours = python_calls(lambda: Person.objects.bulk_create([Person(owner=alice, name="Ada")]))
        theirs = python_calls(lambda: djangos.bulk_create([Person(owner=alice, name="Ada")]))
    assert ours < 0.7 * theirs


def test_a_kept_serializer_takes_fewer_calls() -> None:
    def validate(serializer: Any) -> None:
        vars(serializer).pop("_validated_data", None)
        serializer.initial_data = {"name": "Ada"}
        assert serializer.is_valid()

    ours = python_calls(lambda: validate(kept_serializer(PersonChangeSerializer, partial=False)))
    theirs = python_calls(lambda: validate(PersonChangeSerializer(data=None)))
    assert ours < 0.5 * theirs


def test_a_bulk_update_leaves_rows_of_others_alone(alice: User, mallory: User) -> None:
    ours, hers = make_person(alice, name="Ada"), make_person(mallory, name="Agnes")
    ours.name = hers.name = "Eve"
    with account_write(alice):
        assert Person.objects.owned_by(alice).bulk_update([ours, hers], ["name"]) == 1
        assert Person.objects.owned_by(alice).bulk_update([], ["name"]) == 0
    assert sorted(Person.unscoped.values_list("name", flat=True)) == ["Agnes", "Eve"]
