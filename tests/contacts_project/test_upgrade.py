"""An instance of an older version is upgraded: what its rows say stays, and what later versions want is made of it.

Migrating back and forth takes longer than anything else in here, so it is done once for all cases. Each is a generator
in three parts: rows as this version writes them, rows as the old schema holds them, and what the upgrade made of them.
"""

import datetime as dt
from collections.abc import Iterator

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.triggers import missing_triggers
from contacts_project.kernel.ownership.triggers import owner_triggers
from people.models import Group, Membership, RelationshipType
from relationships.models import Relationship
from tests.builders import make_person, make_user
from tests.client import Client, client_of


@pytest.mark.django_db(transaction=True)
def test_an_upgrade_keeps_what_there_is(alice: User, mallory: User) -> None:
    cases = [
        verified_addresses_are_proven_and_claimed(),
        people_get_uids_and_card_lines(mallory),
        rows_get_the_revision_of_their_account(alice),
        types_and_what_names_them_survive(mallory),
    ]
    for case in cases:
        next(case)
    # SQLite rebuilds a table, and refuses to rename one while a trigger names a table that is not there.
    call_command("migrate", "relationships", "0002", verbosity=0)
    rebuilt = [trigger for trigger in owner_triggers() if trigger.table == Relationship._meta.db_table]
    assert rebuilt
    assert not {name for trigger in rebuilt for name in trigger.names(connection.vendor)} & set(missing_triggers())
    try:
        call_command("migrate", "people", "0005", verbosity=0)
        call_command("migrate", "accounts", "0007", verbosity=0)
        ContentType.objects.clear_cache()
        for case in cases:
            next(case)
    finally:
        call_command("migrate", verbosity=0)
    ContentType.objects.clear_cache()
    assert missing_triggers() == []
    for case in cases:
        assert next(case, "checked") == "checked"


def verified_addresses_are_proven_and_claimed() -> Iterator[None]:
    verified, unverified = "ada@example.org", "bob@example.org"
    spelled = {"eve@bücher.example": True, "eve@xn--bcher-kva.example": False, "Max@xn--bcher-kva.example": True}
    emails = [verified, unverified, *spelled]
    users = {email: make_user(f"u{number}@example.org") for number, email in enumerate(emails)}
    yield
    with connection.cursor() as cursor:
        for email, user in users.items():
            key = user._meta.pk.get_db_prep_value(user.pk, connection)
            values = [email, None if email == unverified else timezone.now(), key]
            cursor.execute("UPDATE accounts_user SET email = %s, email_verified_at = %s WHERE id = %s", values)
    yield
    for email, user in users.items():
        user.refresh_from_db()
        assert user.email == User.objects.normalize_email(email)
        assert user.email_verified == user.is_claimed == (email == verified or spelled.get(email, False))


def people_get_uids_and_card_lines(owner: User) -> Iterator[None]:
    person = make_person(owner)
    yield
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE people_person SET uid = NULL, vcard_extra = '["X-ODD:kept","DEATHDATE:18521127"]'""")
    yield
    person.refresh_from_db()
    assert person.uid == f"urn:uuid:{person.pk}"
    assert person.card_lines == [{"line": "X-ODD:kept"}, {"line": "DEATHDATE:18521127", "fields": ["deathday"]}]
    assert (person.deathday, person.more) == (
        dt.date(1852, 11, 27),
        [{"name": "X-ODD", "value": "kept", "label": None}],
    )


def rows_get_the_revision_of_their_account(owner: User) -> Iterator[None]:
    ada = make_person(owner)
    group = Group.objects.create(owner=owner, name="G", name_key="g", color="#000000")
    Membership.objects.create(owner=owner, person=ada, group=group)
    User.objects.filter(pk=owner.pk).update(revision=7)
    yield
    yield
    for row in (owner, ada, group):
        row.refresh_from_db()
    assert (ada.revision, group.revision, owner.settings_revision) == (7, 7, 7)


def types_and_what_names_them_survive(owner: User) -> Iterator[None]:
    """The types were of the app above once."""
    api: Client = client_of(owner)
    friend = RelationshipType.objects.owned_by(owner).get(name="FRIEND")
    ada, bob = make_person(owner, relationship_to_user=friend), make_person(owner, name="Bob")
    body = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), "relationshipTypeId": str(friend.pk)}
    key = api.ok("POST", "/api/relationships", body)["relationship"]["id"]
    before = api.ok("GET", "/api/relationship-types")
    yield
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM django_content_type WHERE app_label = 'relationships' AND model = %s", ["relationshiptype"]
        )
        [(old,)] = cursor.fetchall()
    LogEntry.objects.create(user_id=owner.pk, content_type_id=old, object_id=str(friend.pk), action_flag=ADDITION)
    yield
    assert api.ok("GET", "/api/relationship-types") == before
    assert Relationship.unscoped.get(pk=key).relationship_type == friend
    ada.refresh_from_db()
    assert ada.relationship_to_user == friend
    assert ContentType.objects.get(model="relationshiptype").app_label == "people"
    assert LogEntry.objects.get().content_type == ContentType.objects.get_for_model(RelationshipType)
    api.ok("PUT", f"/api/relationship-types/{friend.pk}", {"label": "Mate"})
