"""An instance of an older version is upgraded: what its rows say stays, and what later versions want is made of it.

Running all migrations takes longer than most of what is in here, so it is done once for all: on PostgreSQL from nothing
to an old version, on SQLite from a database that the first one left. Then each case writes its rows, and all are
migrated to the newest. Each case is a generator: rows as the old schema holds them, then what the upgrade made of them.
The outcome has the tables that a new database gets at once.
"""

import datetime as dt
import gzip
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.apps.registry import Apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.earlier_migrations import earlier_migrations
from contacts_project.kernel.database.triggers import install_triggers, missing_triggers
from contacts_project.kernel.invariants import find_violations
from people.counts import wrong_counts
from people.models import Group, Person, RelationshipType
from relationships.models import Relationship
from tests.client import client_of
from tests.contacts_project.schema import schema_of
from tests.databases import on_empty_database

#: The SQLite database of the first version after `seed_demo --people 8`, as SQL.
FIRST_VERSION = Path(__file__).parent / "first_version.sql.gz"
OLD_MIGRATIONS = {"accounts": "0007", "admin": "0003", "people": "0005", "relationships": "0002"}


@pytest.mark.django_db(transaction=True)
def test_upgrade_keeps_all_data_and_gives_the_schema_of_a_new_database(tmp_path: Path) -> None:
    expected = schema_of(connection)
    with on_empty_database(tmp_path):
        if connection.vendor == "sqlite":
            load_the_first_version()
        old = migrate_to_the_old_version()
        people, relationships = keys(old, "people.Person"), keys(old, "relationships.Relationship")
        cases = [
            check_verified_addresses_are_claimed(old),
            check_one_of_two_accounts_with_one_address_has_it(old),
            check_people_have_uids_and_card_lines(old),
            check_texts_are_composed_and_found(old),
            check_rows_have_the_revision_of_their_account(old),
            check_people_in_groups_are_marked_and_counted(old),
            check_types_and_their_references_survive(old),
        ]
        for case in cases:
            next(case)
        # SQLite rebuilds tables, and refuses to rename one while a trigger refers to a missing table. PostgreSQL makes
        # no trigger that names a missing column.
        if connection.vendor == "sqlite":
            install_triggers(plan=["old"])
        ContentType.objects.clear_cache()
        try:
            call_command("migrate", verbosity=0)
            assert missing_triggers() == []
            assert keys(apps, "people.Person") >= people
            assert keys(apps, "relationships.Relationship") >= relationships
            for case in cases:
                assert next(case, "checked") == "checked"
            found = schema_of(connection)
            assert (sorted(found - expected), sorted(expected - found)) == ([], [])
        finally:
            ContentType.objects.clear_cache()


def load_the_first_version() -> None:
    with closing(sqlite3.connect(connection.settings_dict["NAME"])) as database:
        database.executescript(gzip.decompress(FIRST_VERSION.read_bytes()).decode())
        assert database.execute("SELECT count(*) FROM people_person").fetchone() == (8,)


def keys(registry: Apps, model: str) -> set[uuid.UUID]:
    return set(registry.get_model(model)._base_manager.values_list("pk", flat=True))


def migrate_to_the_old_version() -> Apps:
    """Run the migrations up to OLD_MIGRATIONS that are not applied; returns the models of that time."""
    with earlier_migrations():
        executor = MigrationExecutor(connection)
    find = executor.loader.get_migration_by_prefix
    then: Apps = executor.migrate([(app, find(app, prefix).name) for app, prefix in OLD_MIGRATIONS.items()]).apps
    return then


def old_user(old: Apps, email: str, **values: Any) -> Any:
    return old.get_model("accounts", "User")._base_manager.create(email=email, password="!", **values)


def old_person(old: Apps, owner: Any, **values: Any) -> Any:
    return old.get_model("people", "Person")._base_manager.create(owner=owner, **{"name": "Ada", "uid": "1", **values})


def check_verified_addresses_are_claimed(old: Apps) -> Iterator[None]:
    verified, unverified = "ada@example.org", "bob@example.org"
    spelled = {"eve@bücher.example": True, "eve@xn--bcher-kva.example": False, "Max@xn--bcher-kva.example": True}
    users = {
        email: old_user(old, email, email_verified_at=None if email == unverified else timezone.now()).pk
        for email in (verified, unverified, *spelled)
    }
    yield
    for email, key in users.items():
        user = User.objects.get(pk=key)
        assert user.email == User.objects.normalize_email(email)
        assert user.email_verified == user.is_claimed == (email == verified or spelled.get(email, False))


def check_one_of_two_accounts_with_one_address_has_it(old: Apps) -> Iterator[None]:
    """IDNA 2003 refused a digit after Arabic letters, so that two spellings of such a name were two addresses."""
    addresses = ["max@نامه１.example", "max@نامه1.example"]
    younger = timezone.now()
    keys = [
        old_user(old, address, email_verified_at=younger, created_at=younger - dt.timedelta(days=number)).pk
        for number, address in enumerate(addresses)
    ]
    yield
    users = [User.objects.get(pk=key) for key in keys]
    assert [(user.email, user.proven_email) for user in users] == [(address, address) for address in addresses]
    for address in addresses:
        assert User.objects.with_proven_email(address).get() == users[1]
        assert set(User.objects.with_email(address)) == set(users)
    assert users[0].proven_email_key == f"{users[1].proven_email_key} {users[0].pk.hex}"


def check_people_have_uids_and_card_lines(old: Apps) -> Iterator[None]:
    lines = ["X-ODD:kept", "DEATHDATE:18521127", "X-ANDROID-STARRED:1"]
    person = Person(pk=old_person(old, old_user(old, "cards@example.org"), uid=None, vcard_extra=lines).pk)
    yield
    person.refresh_from_db()
    assert person.uid == f"urn:uuid:{person.pk}"
    assert person.card_lines == [
        {"line": "X-ODD:kept"},
        {"line": "DEATHDATE:18521127", "fields": ["deathday"]},
        {"line": "X-ANDROID-STARRED:1", "fields": ["favourite"]},
    ]
    assert (person.deathday, person.favourite, person.more) == (
        dt.date(1852, 11, 27),
        True,
        [{"name": "X-ODD", "value": "kept", "label": None}],
    )


def check_texts_are_composed_and_found(old: Apps) -> Iterator[None]:
    """Of what becomes one the younger gets a number, and nothing is deleted."""
    owner = old_user(old, "forms@example.org", name="Zoe\u0308", revision=3)
    entries = [{"id": str(uuid.uuid4()), "type": "Ho\u0308hle", "number": "+52 1 55 1234 5678"}]
    ada = old_person(old, owner, name="Zoe\u0308", notes="Gru\u0308\u00dfe", phone_numbers=entries)
    obrien = old_person(old, owner, name="O\u2019Brien", uid="2", phone_numbers=[{**entries[0], "number": "4711"}])
    too_long = old_person(old, owner, name="\u0958" * 100, uid="3")
    groups = old.get_model("people", "Group")._base_manager
    names = ("\u00c4rzte", "A\u0308rzte", "A\u0308rzte 2")
    made = [groups.create(owner=owner, name=name, name_key=name.casefold(), color="#000000").pk for name in names]
    values = {"label": "Go\u0308ttin", "color": "#123456"}
    types = old.get_model("relationships", "RelationshipType")._base_manager
    kinds = [uuid.UUID(int=1), uuid.UUID(int=2)]
    for key, name in zip(kinds, ("G\u00d6TTIN", "GO\u0308TTIN"), strict=True):
        types.create(pk=key, inverse_id=key, owner=owner, name=name, **values)
    yield
    user = User.objects.get(pk=owner.pk)
    assert (user.name, user.revision) == ("Zo\u00eb", 3)
    api = client_of(user)
    person = api.ok("GET", f"/api/people/{ada.pk}")["person"]
    assert (person["name"], person["notes"], person["phoneNumbers"]) == (
        *("Zo\u00eb", "Gr\u00fc\u00dfe"),
        [{**entries[0], "type": "H\u00f6hle"}],
    )
    assert Person.unscoped.get(pk=too_long.pk).name == "\u0958" * 100
    assert [Group.unscoped.get(pk=key).name for key in made] == ["\u00c4rzte", "\u00c4rzte 2", "\u00c4rzte 2 2"]
    assert [RelationshipType.unscoped.get(pk=key).name for key in kinds] == ["G\u00d6TTIN", "G\u00d6TTIN_2"]
    for query, found in (("55 1234 5678", ada), ("4711", obrien), ("obrien", obrien), ("grusse", ada)):
        assert [row["person"]["id"] for row in api.ok("GET", f"/api/find?q={query}")["results"]] == [str(found.pk)]
    assert [row["id"] for row in api.ok("GET", "/api/people/search?q=o'br")["people"]] == [str(obrien.pk)]
    assert list(find_violations("people have")) == list(find_violations("words")) == []


def check_rows_have_the_revision_of_their_account(old: Apps) -> Iterator[None]:
    owner = old_user(old, "revisions@example.org", revision=7)
    ada = old_person(old, owner)
    values = {"name": "G", "name_key": "g", "color": "#000000"}
    group = old.get_model("people", "Group")._base_manager.create(owner=owner, **values)
    old.get_model("people", "Membership")._base_manager.create(owner=owner, person=ada, group=group)
    yield
    assert Person.unscoped.get(pk=ada.pk).revision == Group.unscoped.get(pk=group.pk).revision == 7
    assert User.objects.get(pk=owner.pk).settings_revision == 7


def check_people_in_groups_are_marked_and_counted(old: Apps) -> Iterator[None]:
    owner = old_user(old, "groups@example.org")
    ada, bob, _ = (old_person(old, owner, name=name, uid=name) for name in ("Ada", "Bob", "Eve"))
    groups = old.get_model("people", "Group")._base_manager
    for name, deleted_at, member in (("G", None, ada), ("H", None, ada), ("deleted", timezone.now(), bob)):
        values = {"name": name, "name_key": name, "color": "#000000", "deleted_at": deleted_at}
        group = groups.create(owner=owner, **values)
        old.get_model("people", "Membership")._base_manager.create(owner=owner, person=member, group=group)
    yield
    without_groups = Person.unscoped.filter(owner=owner.pk, without_groups=True)
    assert set(without_groups.values_list("name", flat=True)) == {"Bob", "Eve"}
    assert wrong_counts(owner.pk) == []


def check_types_and_their_references_survive(old: Apps) -> Iterator[None]:
    """Relationship types once belonged to the app relationships."""
    owner = old_user(old, "types@example.org")
    friend = uuid.uuid4()
    values = {"name": "FRIEND", "label": "Friend", "color": "#123456"}
    types = old.get_model("relationships", "RelationshipType")._base_manager
    types.create(pk=friend, inverse_id=friend, owner=owner, **values)
    ada = old_person(old, owner, relationship_to_user_id=friend)
    bob = old_person(old, owner, name="Bob", uid="2")
    key, other = uuid.uuid4(), uuid.uuid4()
    relationships = old.get_model("relationships", "Relationship")._base_manager
    with transaction.atomic():
        for pk, inverse, person, related in ((key, other, ada, bob), (other, key, bob, ada)):
            ends = {"person": person, "related_person": related, "relationship_type_id": friend}
            relationships.create(pk=pk, inverse_id=inverse, owner=owner, **ends)
    kinds = old.get_model("contenttypes", "ContentType")._base_manager
    kind, _ = kinds.get_or_create(app_label="relationships", model="relationshiptype")
    log = old.get_model("admin", "LogEntry")._base_manager
    log.create(user=owner, content_type=kind, object_id=str(friend), action_flag=1)
    yield
    api = client_of(User.objects.get(pk=owner.pk))
    [found] = api.ok("GET", "/api/relationship-types")["relationshipTypes"]
    assert found["id"] == str(friend)
    assert {name: found[name] for name in values} == values
    assert RelationshipType.unscoped.get(pk=friend).inverse_id == friend
    assert Relationship.unscoped.get(pk=key).relationship_type_id == friend
    assert Person.unscoped.get(pk=ada.pk).relationship_to_user_id == friend
    assert ContentType.objects.get(model="relationshiptype").app_label == "people"
    assert LogEntry.objects.get().content_type == ContentType.objects.get_for_model(RelationshipType)
    api.ok("PUT", f"/api/relationship-types/{friend}", {"label": "Mate"})
