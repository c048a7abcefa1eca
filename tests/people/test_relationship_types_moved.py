"""An instance of before, whose relationship types were of the app above: they stay, and so does all that names them."""

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection

from accounts.models import User
from contacts_project.kernel.database.triggers import missing_triggers
from people.models import RelationshipType
from relationships.models import Relationship
from tests.builders import make_person
from tests.client import Client

pytestmark = pytest.mark.django_db(transaction=True)


def test_types_and_what_names_them_survive_the_upgrade(api: Client, alice: User) -> None:
    friend = RelationshipType.objects.owned_by(alice).get(name="FRIEND")
    ada, bob = make_person(alice, relationship_to_user=friend), make_person(alice, name="Bob")
    body = {"personId": str(ada.pk), "relatedPersonId": str(bob.pk), "relationshipTypeId": str(friend.pk)}
    key = api.ok("POST", "/api/relationships", body)["relationship"]["id"]
    before = api.ok("GET", "/api/relationship-types")
    call_command("migrate", "people", "0012", verbosity=0)
    try:
        ContentType.objects.clear_cache()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT id FROM django_content_type WHERE app_label = 'relationships' AND model = %s",
                ["relationshiptype"],
            )
            [(old,)] = cursor.fetchall()
        LogEntry.objects.create(user_id=alice.pk, content_type_id=old, object_id=str(friend.pk), action_flag=ADDITION)
    finally:
        call_command("migrate", verbosity=0)
    ContentType.objects.clear_cache()
    assert api.ok("GET", "/api/relationship-types") == before
    assert Relationship.unscoped.get(pk=key).relationship_type == friend
    ada.refresh_from_db()
    assert ada.relationship_to_user == friend
    assert missing_triggers() == []
    assert ContentType.objects.get(model="relationshiptype").app_label == "people"
    assert LogEntry.objects.get().content_type == ContentType.objects.get_for_model(RelationshipType)
    api.ok("PUT", f"/api/relationship-types/{friend.pk}", {"label": "Mate"})
