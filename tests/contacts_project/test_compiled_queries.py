"""Compiled queries: SQL is generated once, and the rows equal those of the ORM for every number of ids."""

import datetime as dt
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models.functions import Upper
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiToken, User
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.database.compiled_queries import MAX_BOUND_PARAMETERS, CompiledQuery, CompiledUpdate
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.feed_updates import FeedUpdate, update_row
from people.models import Person
from tests.builders import make_person, make_token

pytestmark = pytest.mark.django_db


def of_owner(owner_id: UUID, person_ids: list[UUID]) -> Any:
    rows = Person.objects.owned_by(owner_id).filter(pk__in=person_ids, name__startswith="A")
    return rows.order_by("name").values_list(IdHex("id"), "name")


def test_rows_match_the_parameters(alice: User, mallory: User) -> None:
    query = CompiledQuery(of_owner)
    ada, anna, eve = (make_person(alice, name=name).pk for name in ("Ada", "Anna", "Eve"))
    hers = make_person(mallory, name="Agnes").pk
    for owner, ids in (
        (alice, [ada]),
        (alice, [anna]),
        (alice, [eve, anna, ada, hers]),
        (mallory, [ada, hers]),
        (alice, []),
    ):
        expected = list(of_owner(owner.pk, ids))
        assert query.rows(owner_id=owner.pk, person_ids=ids) == expected
        assert query.rows(owner_id=owner.pk, person_ids=ids) == expected


def test_limit_and_offset_of_a_slice_are_parameters(alice: User) -> None:
    for name in ("Ada", "Bea", "Cleo", "Dora"):
        make_person(alice, name=name)

    def build(owner_id: UUID, limit: int, offset: int) -> Any:
        rows = Person.objects.owned_by(owner_id).order_by("name")
        return rows.filter(pk__in=rows.values("pk")[offset : offset + limit], name__gte="Bea").values_list("name")

    query = CompiledQuery(build)
    for limit, offset in ((1, 0), (2, 1), (4, 0), (9, 3)):
        expected = list(build(alice.pk, limit, offset))
        assert query.rows(owner_id=alice.pk, limit=limit, offset=offset) == expected


def test_sql_is_compiled_once_per_number_of_ids(alice: User) -> None:
    written = []

    def build(owner_id: UUID, person_ids: list[UUID]) -> Any:
        written.append(len(person_ids))
        return of_owner(owner_id, person_ids)

    query = CompiledQuery(build)
    with CaptureQueriesContext(connection) as statements:
        for number in (1, 1, 2, 1, 2):
            query.rows(owner_id=alice.pk, person_ids=[uuid4() for _ in range(number)])
    assert (written, len(statements)) == ([1, 2], 5)


def test_statement_with_a_long_list_is_built_each_time(alice: User) -> None:
    """Deleting all people of an account, for example, marks the rows of thousands of people as changed."""
    written = []

    def build(owner_id: UUID, person_ids: list[UUID]) -> Any:
        written.append(len(person_ids))
        return Person.objects.owned_by(owner_id).filter(pk__in=person_ids)

    rename, query = FeedUpdate(Person, build, "name"), CompiledQuery(build)
    ada = make_person(alice, name="Ada")
    with account_write(alice):
        for number in (MAX_BOUND_PARAMETERS - 3, MAX_BOUND_PARAMETERS, 20_000) * 2:
            ids = [uuid4() for _ in range(number - 1)]
            assert rename.run(owner_id=alice.pk, person_ids=[*ids, ada.pk], name=str(number)) == 1
    ada.refresh_from_db()
    assert ada.name == "20000"
    assert written == [MAX_BOUND_PARAMETERS - 3, *(MAX_BOUND_PARAMETERS, 20_000) * 2]
    assert query.instances(owner_id=alice.pk, person_ids=[*ids, ada.pk]) == [ada]


def test_values_equal_those_of_the_orm(alice: User) -> None:
    make_person(alice, name="Ada", phone_numbers=[{"type": "home", "number": "1"}])

    def build(owner_id: UUID) -> Any:
        rows = Person.objects.owned_by(owner_id)
        return rows.values_list("pk", "created_at", "phone_numbers", "photo", "owner__email")

    query = CompiledQuery(build)
    for user_id in (alice.pk, uuid4()):
        assert query.values(owner_id=user_id) == list(build(user_id))


def test_models_equal_those_of_the_orm(alice: User) -> None:
    make_token(alice)
    token = ApiToken.unscoped.select_related("owner").get()
    query = CompiledQuery(lambda digest: ApiToken.unscoped.select_related("owner").filter(digest=digest))
    with CaptureQueriesContext(connection) as statements:
        [found] = query.instances(digest=token.digest)
        owner = found.owner
    assert len(statements) == 1
    for made, read in ((found, token), (owner, token.owner)):
        assert {**vars(made), "_state": None} == {**vars(read), "_state": None}
    assert not found._state.adding
    assert query.instance(digest="x") is None


def test_times_are_parameters_and_annotations_are_attributes(alice: User) -> None:
    """Times with another offset, with and without microseconds, and the earliest that the service stores."""
    berlin = dt.timezone(dt.timedelta(hours=1))
    times = [
        dt.datetime(1000, 1, 2, tzinfo=dt.UTC),
        dt.datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=dt.UTC),
        dt.datetime(2026, 3, 1, 14, 0, tzinfo=berlin),
    ]
    for number, time in enumerate(times):
        make_person(alice, name=f"P{number}", created_at=time)

    def build(owner_id: UUID, before: dt.datetime) -> Any:
        people = Person.objects.owned_by(owner_id).filter(created_at__lte=before).order_by("created_at")
        return people.annotate(upper_name=Upper("name"))

    query = CompiledQuery(build)
    touch = FeedUpdate(Person, lambda owner_id, name: Person.objects.owned_by(owner_id).filter(name=name), "updated_at")
    for before in times:
        found = [(row.pk, row.created_at, row.upper_name) for row in query.instances(owner_id=alice.pk, before=before)]
        assert found == [(row.pk, row.created_at, row.upper_name) for row in build(alice.pk, before)]
        with account_write(alice):
            assert touch.run(owner_id=alice.pk, name="P1", updated_at=before) == 1
        assert Person.unscoped.get(name="P1").updated_at == before
    assert len(found) == 3


def test_parameter_that_the_lookup_would_modify_is_refused(alice: User) -> None:
    query = CompiledQuery(lambda name: Person.objects.owned_by(alice).filter(name__startswith=name))
    with pytest.raises(TypeError, match="name"):
        query.instances(name="A")


@pytest.mark.parametrize("missing", ["name", "surname"])
def test_none_is_refused_instead_of_matching_nothing(alice: User, missing: str) -> None:
    """update_where() takes None, as a condition and as a new value."""
    make_person(alice, name="Ada", surname="Byron")
    rename = CompiledUpdate(
        lambda owner_id, name: Person.objects.owned_by(owner_id).filter(name=name), "surname", "revision"
    )
    values: dict[str, Any] = {"name": "Ada", "surname": "King", missing: None}
    with pytest.raises(TypeError, match=missing):
        rename.run(owner_id=alice.pk, revision=7, **values)


def test_an_update_changes_the_rows_that_the_orm_would_change(alice: User, mallory: User) -> None:
    rename = CompiledUpdate(
        lambda owner_id, person_ids: Person.objects.owned_by(owner_id).filter(pk__in=person_ids), "name", "revision"
    )
    ada, anna = (make_person(alice, name=name).pk for name in ("Ada", "Anna"))
    hers = make_person(mallory, name="Agnes").pk
    assert rename.run(owner_id=alice.pk, person_ids=[ada, hers], name="Eve", revision=7) == 1
    assert rename.run(owner_id=alice.pk, person_ids=[], name="Eve", revision=8) == 0
    rows = Person.unscoped.rows().order_by("name").values_list("pk", "name", "revision")
    assert {(key, name) for key, name, _ in rows} == {(ada, "Eve"), (anna, "Anna"), (hers, "Agnes")}
    assert {key for key, _, revision in rows if revision == 7} == {ada}


def test_an_update_of_the_feed_has_the_revision_of_the_open_write(alice: User) -> None:
    rename = FeedUpdate(Person, lambda owner_id, name: Person.objects.owned_by(owner_id).filter(name=name), "surname")
    ada = make_person(alice, name="Ada")
    with account_write(alice) as write:
        assert rename.run(owner_id=alice.pk, name="Ada", surname="Byron") == 1
    ada.refresh_from_db()
    assert (ada.surname, ada.revision) == ("Byron", write.revision)


def test_an_update_of_one_row_sets_every_type_of_value(alice: User, ada: Person) -> None:
    earlier = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    with account_write(alice) as write:
        update_row(ada, surname=None, relationship_to_user=None, anniversary=dt.date(2020, 2, 29), updated_at=earlier)
    stored = Person.unscoped.get(pk=ada.pk)
    for row in (ada, stored):
        assert (row.surname, row.anniversary, row.updated_at) == (None, dt.date(2020, 2, 29), earlier)
        assert (row.relationship_to_user_id, row.revision) == (None, write.revision)
