"""Every route and method of the API: the body that it needs, and the status that its owner gets.

`{names}` in paths and bodies stand for the ids of alice's records, which tests/routes/route_data.py creates.
"""

from dataclasses import dataclass
from typing import Any

from tests.builders import PASSWORD
from tests.client import Client
from tests.people.importing.uploads import send_form
from tests.pictures import picture, upload


@dataclass(frozen=True)
class Route:
    """One method of one route. `body` is JSON, or a function that sends the request.

    `owner` is the status for its owner; `is_open` routes need no authentication; `session_only` ones refuse tokens.
    """

    method: str
    path: str
    body: Any = None
    owner: int = 200
    is_open: bool = False
    session_only: bool = False
    foreign_body: bool = False  # the body has ids of alice's records: a stranger gets 400 or 404
    own_credential: bool = False  # answers 401 to every session and token (cron)

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def names_a_record(self) -> bool:
        # {source} is the name of a product, and the placeholders of open routes are tokens.
        return "{" in self.path.replace("{source}", "") and not self.is_open


def send_card(client: Any, path: str, ids: dict[str, str]) -> Any:
    return client.generic("POST", path, b"BEGIN:VCARD\r\nFN:Newcomer\r\nEND:VCARD\r\n", "text/vcard")


_DATES = "/api/people/{person}/important-dates"

LOGIN = {"email": "alice@example.org", "password": PASSWORD}
WEBHOOK = {"type": "WEBHOOK", "label": "Mine", "url": "https://127.0.0.1/another"}
CARDDAV = {"serverUrl": "http://127.0.0.1/", "username": "ada", "password": "secret"}  # nothing listens there
CALENDAR = {"name": "Work", "kind": "ics", "url": "http://127.0.0.1/calendar.ics"}  # nothing listens there
PUSH_SUBSCRIPTION = {"endpoint": "https://push.example/another", "keys": {"p256dh": "key", "auth": "secret"}}
REGISTRATION = {"email": "new@example.org", "password": PASSWORD, "name": "New"}


def follow_unsubscribe(method: str) -> Any:
    """A body that follows the unsubscribe link of alice's mails."""
    return lambda client, path, ids: client.generic(method, f"{path}?token={ids['unsubscribe_token']}")


def send_photo(client: Client, path: str, ids: dict[str, str]) -> Any:
    return upload(client, path, picture())


def send_table(client: Client, path: str, ids: dict[str, str]) -> Any:
    return send_form(client, path, "First Name,Last Name,Email\nGrace,Hopper,grace@example.org\n")


def send_heif(client: Client, path: str, ids: dict[str, str]) -> Any:
    return upload(client, path, picture("HEIF"))


ROUTES: list[Route] = [
    # Accounts
    Route("GET", "/api/auth/csrf", is_open=True),
    Route("POST", "/api/auth/register", REGISTRATION, owner=201, is_open=True),
    Route("POST", "/api/auth/login", LOGIN, is_open=True),
    Route("POST", "/api/auth/token", {**LOGIN, "name": "phone"}, owner=201, is_open=True),
    Route("DELETE", "/api/auth/token"),
    Route("POST", "/api/auth/logout", session_only=True),
    Route("GET", "/api/auth/session"),
    Route("POST", "/api/auth/verify-email", {"token": "{verify_token}"}, is_open=True),
    Route("POST", "/api/auth/take-back-email", {"token": "{take_back_token}"}, is_open=True),
    Route("POST", "/api/auth/resend-verification", {"email": "alice@example.org"}, is_open=True),
    Route("POST", "/api/auth/forgot-password", {"email": "alice@example.org"}, is_open=True),
    Route("POST", "/api/auth/reset-password", {"token": "{reset_token}", "password": "Other-Horse-8"}, is_open=True),
    Route("GET", "/api/auth/providers", is_open=True),
    Route("GET", "/api/auth/oidc/start", owner=404, is_open=True),
    Route("GET", "/api/auth/oidc/callback", owner=404, is_open=True),
    Route("POST", "/api/auth/oidc/second-factor", {"code": "000000"}, owner=400, is_open=True),
    Route("POST", "/api/auth/oidc/token", {"code": "c", "codeVerifier": "v", "name": "phone"}, owner=400, is_open=True),
    Route("GET", "/api/user/profile"),
    Route("PUT", "/api/user/profile", {"name": "Alice", "email": "alice@example.org"}),
    Route("PUT", "/api/user/password", {"currentPassword": PASSWORD, "newPassword": "Other-Horse-8"}),
    Route("DELETE", "/api/user/delete", {"password": PASSWORD, "confirmationText": "DELETE"}),
    Route("POST", "/api/batch", {"operations": [{"method": "POST", "path": "/api/people", "body": {"name": "Grace"}}]}),
    Route("GET", "/api/changes"),
    Route("GET", "/api/changes/stream"),
    Route("GET", "/api/user/export"),
    Route("POST", "/api/user/import", {"format": "contact-network", "version": 1}),
    Route("POST", "/api/user/import/validate", {"format": "contact-network", "version": 1}),
    Route("PUT", "/api/user/theme", {"theme": "DARK"}),
    Route("PUT", "/api/user/date-format", {"dateFormat": "DMY"}),
    Route("PUT", "/api/user/name-order", {"nameOrder": "EASTERN"}),
    Route("PUT", "/api/user/name-sort", {"nameSort": "SURNAME"}),
    Route("PUT", "/api/user/name-display-format", {"nameDisplayFormat": "SHORT"}),
    Route("PUT", "/api/user/graph-display", {"graphMode": "bubbles"}),
    Route("PUT", "/api/user/saved-lists", {"savedLists": [{"name": "Neglected", "query": "sort=lastContact"}]}),
    Route("PUT", "/api/user/me-person", {"personId": "{person}"}),
    Route("PUT", "/api/user/geocoding", {"geocodingEnabled": True}),
    Route("PUT", "/api/user/date-reminder-default", {"dateReminderDefault": "all"}),
    Route("PUT", "/api/user/reminder-lead-days", {"days": 7}),
    Route("PUT", "/api/user/weekly-digest", {"enabled": True, "weekday": 0}),
    Route("PUT", "/api/user/timezone", {"timezone": "Asia/Tokyo"}),
    Route("PUT", "/api/user/reminder-hour", {"hour": 7}),
    Route("PUT", "/api/user/quiet-hours", {"from": "22:00", "to": "07:00"}),
    Route("PUT", "/api/user/leap-day-rule", {"leapDayRule": "MAR1"}),
    Route("PUT", "/api/user/language", {"language": "nb-NO"}),
    Route("GET", "/api/user/sessions"),
    Route("DELETE", "/api/user/sessions/{session}"),
    Route("POST", "/api/user/mfa/totp", session_only=True),
    Route("DELETE", "/api/user/mfa/totp", {"password": PASSWORD}, session_only=True),
    Route("POST", "/api/user/mfa/totp/confirm", {"code": "000000"}, owner=400, session_only=True),
    Route("POST", "/api/user/mfa/recovery-codes", {"password": PASSWORD}, owner=400, session_only=True),
    Route("GET", "/api/user/api-tokens", session_only=True),
    Route("POST", "/api/user/api-tokens", {"name": "laptop"}, owner=201, session_only=True),
    Route(
        "PUT",
        "/api/user/api-tokens/{api_token}",
        {"name": "phone", "groupCards": True, "book": {"reachable": True}},
        session_only=True,
    ),
    Route("DELETE", "/api/user/api-tokens/{api_token}", session_only=True),
    Route("GET", "/api/user/devices"),
    Route("POST", "/api/user/devices/{api_token}/undo-deletions", {}),
    Route("POST", "/api/user/devices/{api_token}/replaced/{replaced}/restore", None),
    Route("GET", "/api/user/devices/{api_token}/profile"),
    # Notifications
    Route("GET", "/api/notifications/channels"),
    Route("PUT", "/api/notifications/email", {"enabled": False}),
    Route("GET", "/api/notifications/push/public-key", is_open=True),
    Route("POST", "/api/notifications/push/subscribe", PUSH_SUBSCRIPTION, owner=201),
    Route("GET", "/api/notifications/push/subscriptions"),
    Route("POST", "/api/notifications/push/subscriptions/{push_subscription}/test"),
    Route("DELETE", "/api/notifications/push/subscriptions/{push_subscription}"),
    Route("GET", "/api/notifications/endpoints"),
    Route("POST", "/api/notifications/endpoints", WEBHOOK, owner=201),
    Route("GET", "/api/notifications/endpoints/{destination}"),
    Route("PUT", "/api/notifications/endpoints/{destination}", {"label": "New"}),
    Route("DELETE", "/api/notifications/endpoints/{destination}"),
    Route("POST", "/api/notifications/endpoints/{destination}/test"),
    Route("GET", "/api/calendar-feeds"),
    Route("POST", "/api/calendar-feeds", {"name": "Phone", "groupIds": ["{group}"]}, owner=201, foreign_body=True),
    Route("GET", "/api/calendar-feeds/{calendar_feed}"),
    Route("PUT", "/api/calendar-feeds/{calendar_feed}", {"alarms": False}),
    Route("DELETE", "/api/calendar-feeds/{calendar_feed}"),
    Route("POST", "/api/calendar-feeds/{calendar_feed}/rotate"),
    Route("GET", "/api/actions/{action_token}", is_open=True),
    Route("POST", "/api/actions/{action_token}", is_open=True),
    Route("GET", "/api/unsubscribe", follow_unsubscribe("GET"), is_open=True),
    Route("POST", "/api/unsubscribe", follow_unsubscribe("POST"), is_open=True),
    # The service itself
    Route("GET", "/api/health", is_open=True),
    Route("GET", "/api/instance", is_open=True),
    Route("GET", "/api/version"),
    Route("GET", "/api/openapi.json", is_open=True),
    Route("GET", "/api/docs", is_open=True),
    # People
    Route("GET", "/api/people"),
    Route("GET", "/api/people?includeAll=true"),
    Route("GET", "/api/people?sort=name&order=desc&favouritesFirst=true"),
    Route("GET", "/api/people?sort=surname"),
    Route("GET", "/api/people?sort=lastContact"),
    Route("GET", "/api/people?sort=createdAt&order=desc"),
    Route("GET", "/api/people?sort=nextDate&favouritesFirst=true"),
    Route("GET", "/api/people?favourite=false&quiet=false"),
    Route("GET", "/api/people?favourite=true"),
    Route("GET", "/api/people?withoutGroups=true"),
    Route("POST", "/api/people", {"name": "Grace"}, owner=201),
    Route("GET", "/api/people/search?q=ada"),
    Route("GET", "/api/people/search-index"),
    Route("GET", "/api/people/{person}"),
    Route("PUT", "/api/people/{person}", {"surname": "Lovelace"}),
    Route("DELETE", "/api/people/{person}"),
    Route("POST", "/api/people/{deleted_person}/restore"),
    Route("DELETE", "/api/people/{deleted_person}/permanent"),
    # Relationship suggestions
    Route("GET", "/api/relationship-suggestions"),
    Route("POST", "/api/relationship-suggestions/accept", {"ids": ["{suggestion}"]}, foreign_body=True),
    Route("POST", "/api/relationship-suggestions/dismiss", {"ids": ["{other_suggestion}"]}, foreign_body=True),
    # Duplicates
    Route("GET", "/api/people/duplicates"),
    Route("GET", "/api/people/{person}/duplicates"),
    Route(
        "POST",
        "/api/people/duplicates/dismiss",
        {"personAId": "{person}", "personBId": "{friend}"},
        foreign_body=True,
    ),
    Route(
        "POST",
        "/api/people/merge",
        {"primaryId": "{person}", "secondaryId": "{friend}"},
        foreign_body=True,
    ),
    Route("POST", "/api/people/merge/{merge}/undo"),
    Route("GET", "/api/people/merges"),
    # Important dates
    Route("GET", f"{_DATES}"),
    Route("POST", f"{_DATES}", {"title": "Met", "date": "2020-05-04"}),
    Route("GET", f"{_DATES}/{{date}}"),
    Route("PUT", f"{_DATES}/{{date}}", {"title": "Met", "date": "2020-05-04"}),
    Route("DELETE", f"{_DATES}/{{date}}"),
    Route("POST", f"{_DATES}/{{deleted_date}}/restore"),
    Route("DELETE", f"{_DATES}/{{deleted_date}}/permanent"),
    # Interactions
    Route("GET", "/api/interactions"),
    Route(
        "POST",
        "/api/interactions",
        {"personIds": ["{person}"], "kind": "CALL", "at": "2026-02-03T12:00:00Z"},
        owner=201,
        foreign_body=True,
    ),
    Route("GET", "/api/interactions/{interaction}"),
    Route("PUT", "/api/interactions/{interaction}", {"kind": "MEETING", "at": "2026-02-04T12:00:00Z"}),
    Route("DELETE", "/api/interactions/{interaction}"),
    Route("POST", "/api/interactions/{deleted_interaction}/restore"),
    Route("DELETE", "/api/interactions/{deleted_interaction}/permanent"),
    Route("GET", "/api/people/{person}/interactions"),
    Route("GET", "/api/find?q=ada"),
    Route("GET", "/api/insights"),
    Route("GET", "/api/upcoming?days=366"),
    Route("GET", "/api/reminders/upcoming?days=366"),
    Route("GET", "/api/reminders/answers"),
    Route(
        "POST",
        "/api/reminders/answer",
        {"personId": "{person}", "on": "2026-02-28", "action": "undo"},
        foreign_body=True,
    ),
    Route("GET", "/api/notifications/deliveries?limit=1"),
    # Relationships
    Route("GET", "/api/relationships"),
    Route(
        "POST",
        "/api/relationships",
        {"personId": "{person}", "relatedPersonId": "{neighbour}", "relationshipTypeId": "{type}"},
        foreign_body=True,
    ),
    Route("GET", "/api/relationships/{relationship}"),
    Route("PUT", "/api/relationships/{relationship}", {"relationshipTypeId": "{type}", "notes": "Met at school"}),
    Route("DELETE", "/api/relationships/{relationship}"),
    Route("POST", "/api/relationships/{deleted_relationship}/restore"),
    Route("DELETE", "/api/relationships/{deleted_relationship}/permanent"),
    Route("GET", "/api/relationship-types"),
    Route("POST", "/api/relationship-types", {"name": "mentor", "label": "Mentor", "inverseLabel": "Mentee"}),
    Route("GET", "/api/relationship-types/{type}"),
    Route("PUT", "/api/relationship-types/{type}", {"label": "New", "symmetric": False, "inverseLabel": "Back"}),
    Route("DELETE", "/api/relationship-types/{type}"),
    Route("POST", "/api/relationship-types/{deleted_type}/restore"),
    Route("DELETE", "/api/relationship-types/{deleted_type}/permanent"),
    Route("POST", "/api/people/bulk", {"action": "delete", "personIds": ["{friend}"]}, foreign_body=True),
    Route("POST", "/api/people/bulk/orphans", {"personIds": ["{friend}"]}, foreign_body=True),
    Route("GET", "/api/people/{person}/orphans"),
    Route("GET", "/api/people/{person}/graph"),
    Route("GET", "/api/dashboard/graph?limit=1"),
    # vCard
    Route("POST", "/api/vcard/import", send_card),
    Route("GET", "/api/vcard/export"),
    Route("POST", "/api/vcard/upload", send_card),
    Route("POST", "/api/import/{source}", send_table),
    Route("POST", "/api/import/csv/inspect", send_table),
    Route("GET", "/api/imports"),
    Route("GET", "/api/imports/{import}"),
    Route("DELETE", "/api/imports/{import}"),
    Route("GET", "/api/carddav/connection"),
    Route("POST", "/api/carddav/connection", CARDDAV, owner=409),
    Route("PUT", "/api/carddav/connection", {"syncEnabled": False}),
    Route("DELETE", "/api/carddav/connection"),
    Route("POST", "/api/carddav/connection/test", CARDDAV, owner=404),
    Route("POST", "/api/carddav/backup", owner=502),
    Route("GET", "/api/carddav/pending-imports"),
    Route("GET", "/api/carddav/pending-count"),
    # CardDAV
    Route("POST", "/api/carddav/sync"),
    Route("GET", "/api/carddav/runs"),
    Route("POST", "/api/carddav/runs/{run}/undo"),
    Route("POST", "/api/carddav/discover"),
    Route("POST", "/api/carddav/import", {"importIds": ["{pending}"]}, foreign_body=True),
    Route("POST", "/api/carddav/export-bulk", {"personIds": ["{friend}"]}, foreign_body=True),
    Route("GET", "/api/carddav/conflicts"),
    Route("POST", "/api/carddav/conflicts/{conflict}/resolve", {"resolution": "keep_local"}),
    Route("GET", "/api/carddav/held-back"),
    Route("POST", "/api/carddav/held-back/{held_back}/retry"),
    Route("GET", "/api/cron/carddav-sync", own_credential=True),
    # Meetings
    Route("GET", "/api/calendar-sources"),
    Route("POST", "/api/calendar-sources", CALENDAR, owner=201),
    Route("GET", "/api/calendar-sources/{calendar_source}"),
    Route("PUT", "/api/calendar-sources/{calendar_source}", {"name": "New"}),
    Route("DELETE", "/api/calendar-sources/{calendar_source}"),
    Route("POST", "/api/calendar-sources/{calendar_source}/read", owner=202),
    Route("POST", "/api/calendar-sources/test", CALENDAR, owner=404),
    Route("GET", "/api/meeting-proposals"),
    Route("GET", "/api/meeting-proposals/{meeting_proposal}"),
    Route("POST", "/api/meeting-proposals/accept", {"ids": ["{meeting_proposal}"]}, foreign_body=True),
    Route("POST", "/api/meeting-proposals/dismiss", {"ids": ["{meeting_proposal}"]}, foreign_body=True),
    # Sharing
    Route("GET", "/api/shares"),
    Route("POST", "/api/shares", {"name": "Kin", "groupId": "{group}"}, owner=201, foreign_body=True),
    Route("GET", "/api/shares/{share}"),
    Route("PUT", "/api/shares/{share}", {"name": "Kin", "reminders": "all"}),
    Route("DELETE", "/api/shares/{share}/membership"),
    Route("DELETE", "/api/shares/{share}/members/{member}"),
    Route("GET", "/api/shares/{share}/invitations"),
    Route("POST", "/api/shares/{share}/invitations", {"email": "bob@example.org"}, owner=201),
    Route("DELETE", "/api/shares/{share}/invitations/{invitation}"),
    Route("GET", "/api/share-invitations"),
    Route("POST", "/api/share-invitations/{received}/accept", owner=409),
    Route("POST", "/api/share-invitations/{received}/decline"),
    Route("GET", "/api/shares/{share}/waiting"),
    Route("POST", "/api/shares/{share}/waiting", {"all": "skip", "finish": True}),
    Route("POST", "/api/shares/{share}/held", {"action": "accept"}),
    Route("GET", "/api/shares/{share}/conflicts"),
    Route("POST", "/api/share-conflicts/{share_conflict}/resolve", {"resolution": "keep_local"}),
    Route("GET", "/api/shares/{share}/log"),
    Route("POST", "/api/shares/{share}/log/{share_log_entry}/undo", {"force": True}),
    # Groups
    Route("GET", "/api/groups"),
    Route("POST", "/api/groups", {"name": "New", "peopleIds": ["{person}"]}, owner=201, foreign_body=True),
    Route("GET", "/api/groups/{group}"),
    Route("PUT", "/api/groups/{group}", {"name": "Other"}),
    Route("DELETE", "/api/groups/{group}"),
    Route("POST", "/api/groups/{deleted_group}/restore"),
    Route("DELETE", "/api/groups/{deleted_group}/permanent"),
    Route("POST", "/api/groups/{group}/apply-rule"),
    Route("POST", "/api/groups/{group}/members", {"personId": "{person}"}),
    Route("DELETE", "/api/groups/{group}/members/{person}"),
    # Custom field templates
    Route("GET", "/api/custom-field-templates"),
    Route("POST", "/api/custom-field-templates", {"name": "Size", "type": "NUMBER"}, owner=201),
    Route("PUT", "/api/custom-field-templates/reorder", {"ids": ["{template}"]}, foreign_body=True),
    Route("GET", "/api/custom-field-templates/{template}"),
    Route("PUT", "/api/custom-field-templates/{template}", {"name": "Other"}),
    Route("DELETE", "/api/custom-field-templates/{template}"),
    Route("POST", "/api/custom-field-templates/{deleted_template}/restore"),
    Route("DELETE", "/api/custom-field-templates/{deleted_template}/permanent"),
    # Trash
    Route("GET", "/api/deleted?type=groups"),
    # Dashboard and map
    Route("GET", "/api/dashboard/stats"),
    Route("GET", "/api/map/markers"),
    Route("GET", "/api/people/addresses"),
    Route("GET", "/api/people/addresses?format=csv"),
    Route("GET", "/api/people/{person}/addresses/{address}/shared"),
    Route(
        "POST",
        "/api/addresses/replace",
        {
            "from": {"personId": "{person}", "entryId": "{address}"},
            "to": {"streetLine1": "Am Graben 2"},
            "personIds": ["{person}"],
        },
        foreign_body=True,
    ),
    # Photos
    Route("POST", "/api/people/{person}/photo", send_photo),
    Route("DELETE", "/api/people/{person}/photo"),
    Route("GET", "/api/photos/user"),
    Route("GET", "/api/photos/{person}"),
    Route("POST", "/api/user/photo", send_photo),
    Route("DELETE", "/api/user/photo"),
    Route("POST", "/api/photos/convert", send_heif),
]
