"""Alice's records for the route table, created once for the whole table, mostly through the API."""

import datetime as dt
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import AccountSession, ApiToken, EmailChange, User
from accounts.services.mail import LinkPurpose, make_link_token, make_take_back_token
from carddav.models import HeldBack
from contacts_project.kernel.texts import Text
from dav.models import Device, ReplacedValue
from meetings.models import CalendarSource
from notifications.models import Delivery, DeliveryState
from notifications.notices import actions
from notifications.notices.notice import NoticeKind
from notifications.notices.unsubscribe import Subject, unsubscribe_url
from people.entries import identify_entries
from people.models import Person
from sharing.models import ShareMember, ShareMembership
from tests.builders import make_person, make_user, verify_email
from tests.carddav.builders import make_conflict, make_connection, make_mapping, make_pending, make_run
from tests.client import Client, client_of
from tests.meetings.builders import make_proposal
from tests.people.importing.uploads import send_form
from tests.pictures import picture, upload
from tests.sharing.builders import make_hold, make_share, make_shared_person


@dataclass
class RouteData:
    """The ids of the records, by their names in the table."""

    owner: User
    client: Client
    ids: dict[str, str] = field(default_factory=dict)


# Needed while the records are created, and by every test that uses them.
ROUTE_SETTINGS: dict[str, Any] = {
    "OUTBOUND_ALLOWED_NETWORKS": ["127.0.0.0/8"],
    "VAPID_PUBLIC_KEY": "public",
    "VAPID_PRIVATE_KEY": "private",
}


UNVERIFIED = "unverified@example.org"
"""The address of an account that `make_route_data` creates besides."""


def apply_route_settings(settings: Any) -> None:
    for name, value in ROUTE_SETTINGS.items():
        setattr(settings, name, value)


def make_route_data(owner: User) -> RouteData:
    """Create the records that the paths and bodies of the route table name."""
    route_data = RouteData(verify_email(owner), client_of(owner))
    home = {"type": "home", "streetLine1": "Am Hof 1", "locality": "Wien"}
    person = make_person(owner, addresses=identify_entries("addresses", [home], []))
    route_data.ids["person"], route_data.ids["address"] = str(person.pk), person.addresses[0]["id"]
    route_data.ids["deleted_person"] = str(make_person(owner, name="Eve", deleted_at=timezone.now()).pk)
    _add_accounts(route_data)
    _add_merges(route_data)
    _add_important_dates(route_data)
    _add_interactions(route_data)
    _add_relationships(route_data)
    _add_suggestions(route_data)
    _add_notifications(route_data)
    _add_groups(route_data)
    _add_templates(route_data)
    _add_photos(route_data)
    _add_carddav(route_data)
    _add_meetings(route_data)
    _add_sharing(route_data)
    receipt = send_form(route_data.client, "/api/import/csv", "Name\nImported\n").json()
    route_data.ids |= {"source": "csv", "import": receipt["importId"]}
    return route_data


def _add_carddav(route_data: RouteData) -> None:
    connection = make_connection(route_data.owner, server_url="http://127.0.0.1/")
    mapping = make_mapping(connection, Person.objects.owned_by(route_data.owner).get(pk=route_data.ids["person"]))
    route_data.ids["conflict"] = str(make_conflict(mapping).pk)
    held_back = make_mapping(connection, Person.objects.owned_by(route_data.owner).get(pk=route_data.ids["friend"]))
    held_back.hold_back(HeldBack.REFUSED, Text("refused", "No."), "x", timezone.now())
    route_data.ids["held_back"] = route_data.ids["friend"]
    route_data.ids["run"] = str(make_run(connection).pk)
    route_data.ids["pending"] = str(make_pending(route_data.owner).pk)


def _add_meetings(route_data: RouteData) -> None:
    body = {"name": "Mine", "kind": "ics", "url": "http://127.0.0.1/mine.ics"}
    made = route_data.client.ok("post", "/api/calendar-sources", body, status=201)["calendarSource"]
    route_data.ids["calendar_source"] = made["id"]
    person = Person.objects.owned_by(route_data.owner).get(pk=route_data.ids["person"])
    source = CalendarSource.objects.owned_by(route_data.owner).get(pk=made["id"])
    route_data.ids["meeting_proposal"] = str(make_proposal(source, person).pk)


def _add_sharing(route_data: RouteData) -> None:
    """A share of alice's, to which the same address is invited as that of her own account: she may answer it, too."""
    share = make_share(route_data.client, "Household")["id"]
    invite = partial(route_data.client.ok, "post", f"/api/shares/{share}/invitations", status=201)
    invitation = invite({"email": "carol@example.org"})["invitation"]
    received = invite({"email": route_data.owner.email})["invitation"]
    member = ShareMember.objects.create(share_id=UUID(share), name="Bob")
    route_data.ids |= {"share": share, "member": str(member.pk)}
    route_data.ids |= {"invitation": invitation["id"], "received": received["id"]}
    membership = ShareMembership.objects.owned_by(route_data.owner).find_share(share)
    route_data.ids |= make_shared_person(membership, "Shared")
    make_hold(membership.share)


def _add_important_dates(route_data: RouteData) -> None:
    path = f"/api/people/{route_data.ids['person']}/important-dates"
    for name in ("date", "deleted_date"):
        body = {"title": name, "date": "2020-05-04"}
        route_data.ids[name] = route_data.client.ok("post", path, body)["importantDate"]["id"]
    route_data.client.ok("delete", f"{path}/{route_data.ids['deleted_date']}")


def _add_interactions(route_data: RouteData) -> None:
    for name in ("interaction", "deleted_interaction"):
        body = {"personIds": [route_data.ids["person"]], "kind": "CALL", "at": "2026-02-01T12:00:00Z", "title": name}
        made = route_data.client.ok("post", "/api/interactions", body, status=201)["interaction"]
        route_data.ids[name] = made["id"]
    route_data.client.ok("delete", f"/api/interactions/{route_data.ids['deleted_interaction']}")


def _add_accounts(route_data: RouteData) -> None:
    token = ApiToken.objects.create(
        owner=route_data.owner, name="route_data", prefix="cnt_scene", digest=str(route_data.owner.pk)
    )
    route_data.ids["api_token"] = str(token.pk)
    Device.objects.create(owner=route_data.owner, token=token, last_seen_at=timezone.now(), user_agent="DAVx5/4.4")
    person = Person.objects.owned_by(route_data.owner).find(UUID(route_data.ids["person"]))
    replaced = ReplacedValue.objects.create(
        owner=route_data.owner, token=token, person=person, property="nickname", value=route_data.owner.name
    )
    route_data.ids["replaced"] = str(replaced.pk)
    session = AccountSession.objects.create(
        owner=route_data.owner, session_key=str(route_data.owner.pk), last_used_at=timezone.now()
    )
    # Of another account: alice has proven her address, without which she could invite nobody.
    route_data.ids["verify_token"] = make_link_token(make_user(UNVERIFIED), LinkPurpose.VERIFY)
    change = EmailChange.objects.create(
        owner=route_data.owner, old_email="former@example.org", new_email=route_data.owner.email
    )
    route_data.ids["take_back_token"] = make_take_back_token(change)
    route_data.ids["reset_token"] = make_link_token(route_data.owner, LinkPurpose.RESET)
    route_data.ids["session"] = str(session.pk)


def _add_notifications(route_data: RouteData) -> None:
    webhook = {"type": "WEBHOOK", "label": "Mine", "url": "https://127.0.0.1/hook"}
    route_data.ids["destination"] = route_data.client.ok("post", "/api/notifications/endpoints", webhook, status=201)[
        "endpoint"
    ]["id"]
    feed = route_data.client.ok("post", "/api/calendar-feeds", {"name": "Mine"}, status=201)["calendarFeed"]
    route_data.ids["calendar_feed"] = feed["id"]
    device = {"endpoint": "https://push.example/device", "keys": {"p256dh": "key", "auth": "secret"}}
    route_data.client.ok("post", "/api/notifications/push/subscribe", device, status=201)
    devices = route_data.client.ok("get", "/api/notifications/push/subscriptions")["subscriptions"]
    route_data.ids["push_subscription"] = devices[0]["id"]
    route_data.ids["unsubscribe_token"] = unsubscribe_url(route_data.owner, Subject.REMINDERS).partition("token=")[2]

    expires_at = timezone.now() + dt.timedelta(days=1)
    route_data.ids["action_token"] = actions.make_token(_add_delivery(route_data).pk, actions.ACTIONS[-1], expires_at)


def _add_delivery(route_data: RouteData) -> Delivery:
    """Create the sent delivery of a reminder about the person."""
    yesterday = timezone.now() - dt.timedelta(days=1)
    return Delivery.objects.create(
        owner=route_data.owner,
        kind=NoticeKind.CONTACT,
        source_id=route_data.ids["person"],
        person_id=route_data.ids["person"],
        occurrence_on=yesterday.date(),
        content={"personId": route_data.ids["person"], "personName": "Ada", "lastContact": None},
        channel="email",
        state=DeliveryState.SENT,
        due_at=yesterday,
        planned_at=yesterday,
        expires_at=timezone.now(),
        ended_at=yesterday,
    )


def _add_groups(route_data: RouteData) -> None:
    for name in ("group", "deleted_group"):
        body = {"name": name, "peopleIds": [route_data.ids["person"]]}
        route_data.ids[name] = route_data.client.ok("post", "/api/groups", body, status=201)["group"]["id"]
    route_data.client.ok("delete", f"/api/groups/{route_data.ids['deleted_group']}")


def _add_templates(route_data: RouteData) -> None:
    path = "/api/custom-field-templates"
    for name in ("template", "deleted_template"):
        body = {"name": name, "type": "TEXT"}
        route_data.ids[name] = route_data.client.ok("post", path, body, status=201)["customFieldTemplate"]["id"]
    route_data.client.ok("delete", f"{path}/{route_data.ids['deleted_template']}")


def _add_photos(route_data: RouteData) -> None:
    for path in (f"/api/people/{route_data.ids['person']}/photo", "/api/user/photo"):
        assert upload(route_data.client, path, picture()).status_code == 200


def _add_relationships(route_data: RouteData) -> None:
    for name in ("friend", "neighbour"):
        route_data.ids[name] = str(make_person(route_data.owner, name=name).pk)
    for name in ("deleted_relationship", "relationship"):
        body = {"personId": route_data.ids["person"], "relatedPersonId": route_data.ids["friend"]}
        if name == "relationship":
            body["relationshipTypeId"] = _find_type(route_data, "FRIEND")
        route_data.ids[name] = route_data.client.ok("post", "/api/relationships", body)["relationship"]["id"]
        if name == "deleted_relationship":
            route_data.client.ok("delete", f"/api/relationships/{route_data.ids[name]}")
    for name in ("type", "deleted_type"):
        made = route_data.client.ok("post", "/api/relationship-types", {"name": name, "label": name, "symmetric": True})
        route_data.ids[name] = made["relationshipType"]["id"]
    route_data.client.ok("delete", f"/api/relationship-types/{route_data.ids['deleted_type']}")


def _add_suggestions(route_data: RouteData) -> None:
    lines = (b"BEGIN:VCARD", b"FN:Kin", b"RELATED;VALUE=text:Aunt May", b"RELATED;VALUE=text:Ben", b"END:VCARD", b"")
    card = b"\r\n".join(lines)
    assert route_data.client.generic("POST", "/api/vcard/import", card, "text/vcard").status_code == 200
    suggestions = route_data.client.ok("get", "/api/relationship-suggestions")["suggestions"]
    for name, suggestion in zip(("suggestion", "other_suggestion"), suggestions, strict=True):
        route_data.ids[name] = suggestion["id"]


def _find_type(route_data: RouteData, name: str) -> str:
    types = route_data.client.ok("get", "/api/relationship-types")["relationshipTypes"]
    return str(next(kind["id"] for kind in types if kind["name"] == name))


def _add_merges(route_data: RouteData) -> None:
    body = {f"{role}Id": str(make_person(route_data.owner, name=role).pk) for role in ("primary", "secondary")}
    route_data.ids["merge"] = route_data.client.ok("post", "/api/people/merge", body)["mergeId"]
