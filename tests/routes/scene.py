"""Alice's records that the route table names, made through the API once for the whole table."""

from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.link_tokens import Purpose, make_take_back_token, make_token
from accounts.models import AccountSession, ApiToken, EmailChange, User
from notifications.notices.unsubscribe import Subject, unsubscribe_url
from people.models import Person
from tests.builders import make_person
from tests.carddav.builders import make_conflict, make_connection, make_mapping, make_pending, make_run
from tests.client import Client, client_of
from tests.pictures import picture, upload


@dataclass
class Scene:
    """The ids by the names that the table uses."""

    owner: User
    client: Client
    ids: dict[str, str] = field(default_factory=dict)


# In force while the scene is made, and in every test on it.
SCENE_SETTINGS: dict[str, Any] = {
    "OUTBOUND_ALLOWED_NETWORKS": ["127.0.0.0/8"],
    "VAPID_PUBLIC_KEY": "public",
    "VAPID_PRIVATE_KEY": "private",
}


def make_scene(owner: User) -> Scene:
    scene = Scene(owner, client_of(owner))
    scene.ids["person"] = str(make_person(owner).pk)
    scene.ids["deleted_person"] = str(make_person(owner, name="Eve", deleted_at=timezone.now()).pk)
    _accounts(scene)
    _merges(scene)
    _important_dates(scene)
    _relationships(scene)
    _notifications(scene)
    _groups(scene)
    _templates(scene)
    _photos(scene)
    _carddav(scene)
    return scene


def _carddav(scene: Scene) -> None:
    connection = make_connection(scene.owner, server_url="http://127.0.0.1/")
    mapping = make_mapping(connection, Person.objects.owned_by(scene.owner).get(pk=scene.ids["person"]))
    scene.ids["conflict"] = str(make_conflict(mapping).pk)
    scene.ids["run"] = str(make_run(connection).pk)
    scene.ids["pending"] = str(make_pending(scene.owner).pk)


def _important_dates(scene: Scene) -> None:
    path = f"/api/people/{scene.ids['person']}/important-dates"
    for name in ("date", "deleted_date"):
        body = {"title": name, "date": "2020-05-04"}
        scene.ids[name] = scene.client.ok("post", path, body)["importantDate"]["id"]
    scene.client.ok("delete", f"{path}/{scene.ids['deleted_date']}")


def _accounts(scene: Scene) -> None:
    token = ApiToken.objects.create(owner=scene.owner, name="scene", prefix="cnt_scene", digest=str(scene.owner.pk))
    scene.ids["api_token"] = str(token.pk)
    session = AccountSession.objects.create(
        owner=scene.owner, session_key=str(scene.owner.pk), last_used_at=timezone.now()
    )
    scene.ids["verify_token"] = make_token(scene.owner, Purpose.VERIFY)
    change = EmailChange.objects.create(owner=scene.owner, old_email="former@example.org", new_email=scene.owner.email)
    scene.ids["take_back_token"] = make_take_back_token(change)
    scene.ids["reset_token"] = make_token(scene.owner, Purpose.RESET)
    scene.ids["session"] = str(session.pk)


def _notifications(scene: Scene) -> None:
    webhook = {"type": "WEBHOOK", "label": "Mine", "url": "https://127.0.0.1/hook"}
    scene.ids["destination"] = scene.client.ok("post", "/api/notifications/endpoints", webhook, status=201)["endpoint"][
        "id"
    ]
    device = {"endpoint": "https://push.example/device", "keys": {"p256dh": "key", "auth": "secret"}}
    scene.client.ok("post", "/api/notifications/push/subscribe", device, status=201)
    devices = scene.client.ok("get", "/api/notifications/push/subscriptions")["subscriptions"]
    scene.ids["push_subscription"] = devices[0]["id"]
    scene.ids["unsubscribe_token"] = unsubscribe_url(scene.owner, Subject.REMINDERS).partition("token=")[2]


def _groups(scene: Scene) -> None:
    for name in ("group", "deleted_group"):
        body = {"name": name, "peopleIds": [scene.ids["person"]]}
        scene.ids[name] = scene.client.ok("post", "/api/groups", body, status=201)["group"]["id"]
    scene.client.ok("delete", f"/api/groups/{scene.ids['deleted_group']}")


def _templates(scene: Scene) -> None:
    path = "/api/custom-field-templates"
    for name in ("template", "deleted_template"):
        body = {"name": name, "type": "TEXT"}
        scene.ids[name] = scene.client.ok("post", path, body, status=201)["customFieldTemplate"]["id"]
    scene.client.ok("delete", f"{path}/{scene.ids['deleted_template']}")


def _photos(scene: Scene) -> None:
    for path in (f"/api/people/{scene.ids['person']}/photo", "/api/user/photo"):
        assert upload(scene.client, path, picture()).status_code == 200


def _relationships(scene: Scene) -> None:
    for name in ("friend", "neighbour"):
        scene.ids[name] = str(make_person(scene.owner, name=name).pk)
    for name in ("deleted_relationship", "relationship"):
        body = {"personId": scene.ids["person"], "relatedPersonId": scene.ids["friend"]}
        if name == "relationship":
            body["relationshipTypeId"] = _type_named(scene, "FRIEND")
        scene.ids[name] = scene.client.ok("post", "/api/relationships", body)["relationship"]["id"]
        if name == "deleted_relationship":
            scene.client.ok("delete", f"/api/relationships/{scene.ids[name]}")
    for name in ("type", "deleted_type"):
        made = scene.client.ok("post", "/api/relationship-types", {"name": name, "label": name, "symmetric": True})
        scene.ids[name] = made["relationshipType"]["id"]
    scene.client.ok("delete", f"/api/relationship-types/{scene.ids['deleted_type']}")


def _type_named(scene: Scene, name: str) -> str:
    types = scene.client.ok("get", "/api/relationship-types")["relationshipTypes"]
    return str(next(kind["id"] for kind in types if kind["name"] == name))


def _merges(scene: Scene) -> None:
    body = {f"{role}Id": str(make_person(scene.owner, name=role).pk) for role in ("primary", "secondary")}
    scene.ids["merge"] = scene.client.ok("post", "/api/people/merge", body)["mergeId"]
