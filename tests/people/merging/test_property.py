"""Undo reverts a merge: every response is the same as before, except the time of the last change."""

import contextlib
import datetime as dt
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from tests.client import Client, client_of
from tests.people.merging.steps import merge_people, snapshot, undo_merge
from tests.people.steps import create_person, create_template
from tests.rounds import database_settings
from tests.strategies import optional

FEW_EXAMPLES = database_settings(8)

TEXT = st.sampled_from(["Ada", "Zo\u00eb", "\u5c71\u7530", "O'Brien", "x" * 50])
DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2030, 12, 31)).map(dt.date.isoformat)
TITLES = st.sampled_from(["Met", "met", "Moved"])


def entries(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.fixed_dictionaries(fields), max_size=3)


SCALARS: dict[str, st.SearchStrategy[Any]] = {
    **{key: optional(TEXT) for key in ("surname", "middleName", "nickname", "prefix", "organization", "notes")},
    "displayNameOverride": optional(TEXT),
    "anniversary": optional(DAYS),
    "lastContact": optional(DAYS),
    "contactReminderEnabled": st.booleans(),
    "contactReminderInterval": optional(st.integers(1, 99)),
    "cardDavSyncEnabled": st.booleans(),
}
REST: dict[str, st.SearchStrategy[Any]] = {
    "name": TEXT,
    "emails": entries(email=st.sampled_from(["a@x.org", "A@x.org", "b@x.org", "c@x.org"])),
    "phoneNumbers": entries(number=st.sampled_from(["+49 30 12345", "030 12345", "030 54321"]), type=TEXT),
    "urls": entries(url=st.sampled_from(["https://x.org", "https://x.org/", "https://y.org"])),
    "locations": entries(latitude=st.integers(-90, 90), longitude=st.integers(-180, 180), label=optional(TEXT)),
    "customFields": entries(key=TEXT, value=TEXT),
    "importantDates": st.tuples(
        optional(DAYS), st.lists(st.fixed_dictionaries({"title": TITLES, "date": DAYS}), max_size=2)
    ).map(lambda pair: ([{"type": "BIRTHDAY", "date": pair[0], "reminderEnabled": True}] if pair[0] else []) + pair[1]),
}
BODIES = st.fixed_dictionaries(REST, optional=SCALARS)
OVERRIDES = st.fixed_dictionaries({}, optional={**SCALARS, "name": TEXT})
SUBSETS = st.lists(st.integers(0, 2), unique=True)


@contextlib.contextmanager
def rolled_back() -> Iterator[None]:
    """Roll back, so that each example starts with the same data."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@FEW_EXAMPLES
@given(
    one=BODIES,
    other=BODIES,
    overrides=OVERRIDES,
    groups=st.tuples(SUBSETS, SUBSETS),
    values=st.tuples(SUBSETS, SUBSETS),
    relationships=SUBSETS,
)
def test_undo_is_the_inverse_of_merge(
    alice: User, one: Any, other: Any, overrides: Any, groups: Any, values: Any, relationships: list[int]
) -> None:
    with rolled_back():
        api = client_of(alice)
        primary, secondary = create_people(api, [one, other], groups, values)
        relate_people(api, primary, secondary, relationships)
        before = snapshot(api)
        merge_id = merge_people(api, primary, secondary, overrides)["mergeId"]
        after = snapshot(api)
        undo_merge(api, merge_id)
        assert snapshot(api) == before
        assert len(after["people"]) == len(before["people"]) - 1


def create_people(api: Client, bodies: list[Any], groups: Any, values: Any) -> list[str]:
    group_ids = [api.ok("post", "/api/groups", {"name": str(n)}, status=201)["group"]["id"] for n in range(3)]
    templates = [create_template(api, f"t{n}") for n in range(3)]
    return [
        create_person(
            api,
            **body,
            groupIds=[group_ids[n] for n in group],
            customFieldValues=[{"templateId": templates[n], "value": f"{index}"} for n in value],
        )
        for index, (body, group, value) in enumerate(zip(bodies, groups, values, strict=True))
    ]


def relate_people(api: Client, primary: str, secondary: str, relationships: list[int]) -> None:
    """Create relationships: 0 between the two, 1 of both to one friend, 2 of the secondary to another person."""
    friend, other = create_person(api, "Friend"), create_person(api, "Other")
    pairs = {0: [(primary, secondary)], 1: [(primary, friend), (friend, secondary)], 2: [(secondary, other)]}
    for number in relationships:
        for one, related in pairs[number]:
            api.ok("post", "/api/relationships", {"personId": one, "relatedPersonId": related})
