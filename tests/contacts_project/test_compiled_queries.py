"""Compiled queries: SQL is generated once, and the rows equal those of the ORM for every number of ids."""

import datetime as dt
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models import Value
from django.db.models.functions import Upper
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiToken, User
from contacts_project.kernel.database.compiled_queries import CompiledQuery, Rows, compiled_query
from contacts_project.kernel.database.expressions import IdHex
from contacts_project.kernel.database.postgresql import MAX_BOUND_PARAMETERS
from contacts_project.kernel.ownership.account_lock import NoOpenWriteError, account_write
from people.models import Person
from tests.builders import make_person, make_token

pytestmark = pytest.mark.django_db


def of_owner(owner_id: UUID, person_ids: list[UUID]) -> Any:
    rows = Person.objects.owned_by(owner_id).filter(pk__in=person_ids, name__startswith="A")
    return rows.order_by("name").values_list(IdHex("id"), "name")


@pytest.mark.parametrize("is_by_ids", [False, True])
def test_rows_match_the_parameters(alice: User, mallory: User, is_by_ids: bool) -> None:
    query = CompiledQuery(of_owner, is_by_ids=is_by_ids)
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

    query = CompiledQuery(build)
    ada = make_person(alice, name="Ada")
    with account_write(alice):
        for number in (MAX_BOUND_PARAMETERS - 3, MAX_BOUND_PARAMETERS, 20_000) * 2:
            ids = [uuid4() for _ in range(number - 1)]
            assert query.update({"name": str(number)}, owner_id=alice.pk, person_ids=[*ids, ada.pk]) == 1
    ada.refresh_from_db()
    assert ada.name == "20000"
    # The first time also to learn the model.
    assert written == [MAX_BOUND_PARAMETERS - 3, MAX_BOUND_PARAMETERS - 3, *(MAX_BOUND_PARAMETERS, 20_000) * 2]
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
    touch = CompiledQuery(lambda owner_id, name: Person.objects.owned_by(owner_id).filter(name=name))
    for before in times:
        found = [(row.pk, row.created_at, row.upper_name) for row in query.instances(owner_id=alice.pk, before=before)]
        assert found == [(row.pk, row.created_at, row.upper_name) for row in build(alice.pk, before)]
        with account_write(alice):
            assert touch.update({"updated_at": before}, owner_id=alice.pk, name="P1") == 1
        assert Person.unscoped.get(name="P1").updated_at == before
    assert len(found) == 3


def test_bytes_are_parameters(alice: User) -> None:
    ada, bea = (make_person(alice, name=name) for name in ("Ada", "Bea"))
    query = CompiledQuery(lambda owner_id, sort_key: Person.objects.owned_by(owner_id).filter(sort_key=sort_key))
    for _ in range(2):
        for person in (ada, bea):
            assert query.instances(owner_id=alice.pk, sort_key=bytes(person.sort_key)) == [person]
    assert query.instances(owner_id=alice.pk, sort_key=b"none") == []


def test_parameter_that_the_lookup_would_modify_is_refused(alice: User) -> None:
    query = CompiledQuery(lambda name: Person.objects.owned_by(alice).filter(name__startswith=name))
    with pytest.raises(TypeError, match=r"test_parameter_that_the_lookup.*<lambda>: name is not compared as it is"):
        query.instances(name="A")


def test_an_error_names_the_query_and_the_parameter(alice: User) -> None:
    @compiled_query
    def by_name(owner_id: UUID, name: str) -> Rows:
        return Person.objects.owned_by(owner_id).filter(name=name)

    named = r"test_compiled_queries\.test_an_error_names_the_query.*by_name"
    with pytest.raises(TypeError, match=named + ": the parameter name is missing"):
        by_name.rows(owner_id=alice.pk)
    with pytest.raises(TypeError, match=named + ": the parameter name is of the type dict"):
        by_name.rows(owner_id=alice.pk, name={"is": "Ada"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=named + " has no parameter surname"):
        by_name.rows(owner_id=alice.pk, name="Ada", surname="King")


def test_a_column_may_have_the_name_of_a_parameter(alice: User) -> None:
    query = CompiledQuery(lambda owner_id, name: Person.objects.owned_by(owner_id).filter(name=name))
    ada = make_person(alice, name="Ada")
    with account_write(alice):
        assert query.update({"name": "Eve"}, owner_id=alice.pk, name="Ada") == 1
    ada.refresh_from_db()
    assert ada.name == "Eve"


def test_none_and_booleans_are_what_they_are_for_the_orm(alice: User) -> None:
    _, bea = (make_person(alice, name=name) for name in ("Ada", "Bea"))
    query = CompiledQuery(lambda owner_id, at: Person.objects.owned_by(owner_id).filter(deleted_at=at))
    now = timezone.now()

    def stored() -> list[tuple[Any, ...]]:
        return list(Person.unscoped.order_by("name").values_list("deleted_at", "favourite"))

    with account_write(alice):
        bea.deleted_at = now
        bea.save(update_fields=["deleted_at"])
        assert query.update({"favourite": True}, owner_id=alice.pk, at=None) == 1
        assert stored() == [(None, True), (now, False)]
        assert query.update({"deleted_at": None, "favourite": True}, owner_id=alice.pk, at=now) == 1
        assert query.update({"favourite": False}, owner_id=alice.pk, at=None) == 2
    assert stored() == [(None, False), (None, False)]
    assert len(query.instances(owner_id=alice.pk, at=None)) == 2


def test_a_number_is_compared_as_a_value(alice: User) -> None:
    query = CompiledQuery(lambda owner_id, number: Person.objects.owned_by(owner_id).filter(revision=Value(number)))
    ada = make_person(alice)
    assert [row.pk for row in query.instances(owner_id=alice.pk, number=ada.revision)] == [ada.pk]
    assert query.instances(owner_id=alice.pk, number=ada.revision + 1) == []


def test_an_update_changes_the_rows_that_the_orm_would_change(alice: User, mallory: User) -> None:
    query = CompiledQuery(lambda owner_id, person_ids: Person.objects.owned_by(owner_id).filter(pk__in=person_ids))
    ada, anna = (make_person(alice, name=name).pk for name in ("Ada", "Anna"))
    hers = make_person(mallory, name="Agnes").pk
    with account_write(alice) as write:
        assert query.update({"name": "Eve"}, owner_id=alice.pk, person_ids=[ada, hers]) == 1
        assert query.update({"name": "Eve"}, owner_id=alice.pk, person_ids=[]) == 0
    rows = Person.unscoped.rows().order_by("name").values_list("pk", "name", "revision")
    assert {(key, name) for key, name, _ in rows} == {(ada, "Eve"), (anna, "Anna"), (hers, "Agnes")}
    assert {key for key, _, revision in rows if revision == write.revision} == {ada}


def test_an_update_of_the_feed_has_the_revision_of_the_open_write(alice: User) -> None:
    query = CompiledQuery(lambda owner_id, name: Person.objects.owned_by(owner_id).filter(name=name))
    ada = make_person(alice, name="Ada")
    for new, surname in (({"surname": "Byron"}, "Byron"), ({}, "Byron")):
        with account_write(alice) as write:
            assert query.update(new, owner_id=alice.pk, name="Ada") == 1
        ada.refresh_from_db()
        assert (ada.surname, ada.revision) == (surname, write.revision)
    with pytest.raises(NoOpenWriteError):
        query.update({"surname": "King"}, owner_id=alice.pk, name="Ada")


def test_a_bulk_update_sets_every_type_of_value(alice: User, ada: Person) -> None:
    earlier = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    ada.surname, ada.relationship_to_user, ada.anniversary, ada.updated_at = None, None, dt.date(2020, 2, 29), earlier
    with account_write(alice) as write:
        columns = ["surname", "relationship_to_user", "anniversary", "updated_at"]
        assert Person.objects.owned_by(alice).bulk_update([ada], columns) == 1
    stored = Person.unscoped.get(pk=ada.pk)
    for row in (ada, stored):
        assert (row.surname, row.anniversary, row.updated_at) == (None, dt.date(2020, 2, 29), earlier)
        assert (row.relationship_to_user_id, row.revision) == (None, write.revision)
