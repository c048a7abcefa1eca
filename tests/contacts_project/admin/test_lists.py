"""Every list of the admin: what it shows, what it costs, and how it handles hostile requests."""

import datetime as dt
import re
from collections.abc import Sequence
from uuid import uuid4

import pytest
from django.contrib.admin import site
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule

from accounts.models import User
from contacts_project.kernel.admin import OperatorAdmin
from contacts_project.kernel.database.triggers import without_triggers
from contacts_project.kernel.ownership.account_lock import account_write
from notifications.models import Delivery, Destination
from people.models import CustomFieldTemplate, GeocodedAddress, Group, ImportantDate
from tests.builders import UNKNOWN_ID, make_person, make_user
from tests.carddav.builders import make_connection
from tests.client import Client
from tests.contacts_project.admin.scene import (
    LIST_PATHS,
    SECRET_WORDS,
    keys_in_list,
    make_destination,
    make_row_for_every_list,
)
from tests.contacts_project.operation.rows import make_delivery, make_ended_run
from tests.queries import count_work
from tests.rounds import rounds

PAGES = [*LIST_PATHS, "/admin/", "/admin/trash/", "/admin/operation/"]
HOSTILE_QUERIES = (
    *("?plan__exact=%00", "?q=%00", "?%00=1", "?p=-1", "?p=0", "?p=1e9", f"?p={10**40}", "?p=%00", "?o=99999", "?o=-"),
    *("?o=%00", f"?o={10**40}", "?o=1.-2.3.4", "?o=-1.-1", "?all=", "?all=1", "?e=1", "?_facets=True", "?_popup=1"),
    *("?_to_field=id", "?_to_field=password", "?_changelist_filters=%00", "?is_active__exact=2", "?plan__exact=X"),
    *("?plan__exact=FREE&plan__exact=PRO", "?plan__isnull=maybe", "?is_active__isnull=1", "?password__startswith=a"),
    *("?created_at__year=99999999999", "?created_at__gte=2026-99-99", "?created_at__date=x", "?id__exact=x"),
    *("?owner__password__startswith=a", "?owner__id__exact=x", "?pk__in=1,2,x", "?revision__gt=9" + "9" * 40),
    *("?state=%00", "?state=nothing", "?state=failed&state=sent", "?channel=", "?channel=%F0%9F%92%A9", "?code=dns"),
    *("?age=week&state=failed&channel=webhook&code=dns", "?age=9999999", "?verified=maybe", "?what=x.y.z", "?due=now"),
    *("?what=accounts.user", "?outcome=failed", "?trigger=cron", "?kind=VERIFY", "?tries=failed", "?enabled__exact=x"),
    *("?q=%F0%9F%92%A9%20OR%201=1", "?q=" + "a" * 3000, "?q=%22%27%5C", "?q=%F0", "?q=a&q=b", f"?q={UNKNOWN_ID}"),
)
STATES_BY_LIST = {
    "notifications/delivery": ("pending", "sending", "sent", "failed", "skipped"),
    "notifications/destination": ("on", "off", "auto", "failing"),
    "carddav/connection": ("auth", "deletions_held", "failing", "off"),
    "carddav/run": ("queued", "running", "ended"),
    "carddav/conflict": ("open", "decided"),
    "meetings/calendarsource": ("failing",),
    "sharing/sharemembership": ("due",),
    "people/geocodedaddress": ("pending", "done", "failed", "skipped"),
}


def sample_of(cases: Sequence[str], number: int) -> Sequence[str]:
    """Every tenth case, different ones for each page and database; all with TEST_ROUNDS=10."""
    number += 5 * (connection.vendor == "postgresql")
    return [case for place, case in enumerate(cases) if (place + number) % 10 < rounds(1)]


@pytest.fixture
def operator_with_rows(operator: Client, alice: User, schedule: None) -> Client:
    """The operator's browser. Every list has a row."""
    make_row_for_every_list(alice)
    interval, _ = IntervalSchedule.objects.get_or_create(every=1, period="days")
    LogEntry.objects.log_actions(User.objects.get(email="op@example.org").pk, [alice], 2, "x")
    assert interval.pk
    return operator


def html_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return str(response.content.decode())


@pytest.mark.sqlite_suffices
def test_no_page_shows_contents_of_accounts_or_secrets(operator_with_rows: Client) -> None:
    paths = [*PAGES]
    for path in LIST_PATHS:
        keys = list(keys_in_list(path))
        assert keys, f"{path} has no row to look at"
        paths += [f"{path}{keys[-1]}/change/", f"{path}{keys[-1]}/history/"]
    for path in paths:
        html = html_of(operator_with_rows, path)
        assert [word for word in SECRET_WORDS if word in html] == [], path
    assert "hooks.example.org" in html_of(operator_with_rows, "/admin/notifications/destination/")
    assert "hooks.example.org" in html_of(operator_with_rows, "/admin/notifications/delivery/")
    assert "dav.example.org" in html_of(operator_with_rows, "/admin/carddav/connection/")
    assert "calendar.example.org" in html_of(operator_with_rows, "/admin/meetings/calendarsource/")
    assert "organization" in html_of(operator_with_rows, "/admin/carddav/conflict/")
    assert "the destination has a fault of its own" in html_of(operator_with_rows, "/admin/notifications/delivery/")


def test_index_groups_the_lists_for_operators(operator: Client) -> None:
    html = html_of(operator, "/admin/")
    assert re.findall(r"<caption>(.*?)</caption>", html) == [
        *("Accounts", "Reminders", "Address books", "Calendars", "Shares", "Background work", "Operators")
    ]
    assert all(path in html for path in LIST_PATHS)
    assert "Contacts · Operation" in html
    assert "Django" not in html


def test_hostile_queries_cause_no_server_error(operator_with_rows: Client) -> None:
    for number, path in enumerate(PAGES):
        for query in sample_of(HOSTILE_QUERIES, number):
            status = operator_with_rows.get(f"{path}{query}").status_code
            assert status in {200, 302, 400}, (path, query, status)


def test_hostile_ids_cause_no_server_error(operator_with_rows: Client) -> None:
    keys = ["%00", "x", "0", "-1", str(10**40), UNKNOWN_ID, "1.5", "a" * 2000, "_5F", "%F0%9F%92%A9", "..%2F..", "__"]
    for number, path in enumerate(LIST_PATHS):
        for key in sample_of(keys, number):
            for page in ("change/", "history/", "delete/", ""):
                status = operator_with_rows.get(f"{path}{key}/{page}").status_code
                assert status < 500, (path, key, page)
            for action in ("x", "%00", "delete_selected", ""):
                form = f"action={action}&_selected_action={key}&index=0&select_across=1"
                status = operator_with_rows.generic("POST", path, form, "application/x-www-form-urlencoded").status_code
                assert status < 500, (path, key, action)


def test_id_of_another_model_is_not_found(operator_with_rows: Client, alice: User) -> None:
    assert operator_with_rows.get(f"/admin/notifications/delivery/{alice.pk}/change/").status_code == 302
    for place in (f"/admin/r/1/{alice.pk}/", "/admin/password_change/", "/admin/r/x/y/", "/admin/autocomplete/?x=1"):
        assert operator_with_rows.get(place).status_code in {403, 404}, place


def test_state_filters_accept_every_state(operator_with_rows: Client) -> None:
    for place, states in STATES_BY_LIST.items():
        for state in states:
            assert operator_with_rows.get(f"/admin/{place}/?state={state}").status_code == 200, (place, state)
    for query, shown in (("?state=failed&channel=webhook&code=http_5xx&age=hour", True), ("?code=dns", False)):
        assert ("hooks.example.org" in html_of(operator_with_rows, f"/admin/notifications/delivery/{query}")) is shown


def queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_number_of_queries_does_not_grow_with_the_list(operator_with_rows: Client) -> None:
    for path in LIST_PATHS:
        operator_with_rows.get(path)  # fills the caches of the process
    one = {path: queries(operator_with_rows, path) for path in LIST_PATHS}
    for number in range(9):
        make_row_for_every_list(make_user(f"user{number}@example.org"))
    assert {path: queries(operator_with_rows, path) for path in LIST_PATHS} == one
    assert max(one.values()) <= 14


def test_account_search_by_address_uses_an_index(operator_with_rows: Client, alice: User) -> None:
    make_user("alice@example.org.example")
    assert html_of(operator_with_rows, "/admin/accounts/user/?q=ALICE@example.org").count("action-select") == 1
    assert html_of(operator_with_rows, f"/admin/accounts/user/?q={alice.pk}").count("action-select") == 1
    assert html_of(operator_with_rows, "/admin/accounts/user/?q=alice").count("action-select") == 0
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
    plan = str(User.objects.with_email("alice@example.org").values("pk").explain()).lower()
    assert "user_email_key" in plan
    assert "proven_email_key=?" in plan or "user_proven_email_unique" in plan  # SQLite names no index of a constraint


def test_trash_page_reads_only_deleted_rows(operator: Client, alice: User) -> None:
    def cost() -> int:
        with count_work() as read, connection.cursor() as cursor:
            if connection.vendor == "postgresql":  # SQLite would keep the statistics for later tests
                cursor.execute("ANALYZE")
            html_of(operator, "/admin/trash/")
            before = read()
            html_of(operator, "/admin/trash/")
            return read() - before

    person, few = make_person(alice), cost()
    names = [f"x{number}" for number in range(500)]
    with account_write(alice):
        Group.objects.bulk_create(Group(owner=alice, name=x, name_key=x, color="#336699") for x in names)
        CustomFieldTemplate.objects.bulk_create(
            CustomFieldTemplate(owner=alice, name=x, slug=x, type="TEXT") for x in names
        )
        dates = [ImportantDate(owner=alice, person=person, title=x, date=dt.date(2000, 1, 1)) for x in names]
        ImportantDate.objects.bulk_create(dates)
    assert cost() <= few + 100


#: Filters that match few rows of a healthy instance, so they must not read the whole table.
RARE_FILTERS = (
    *(
        "notifications/delivery/?code=dns",
        "notifications/delivery/?channel=ntfy",
        "notifications/delivery/?state=failed",
    ),
    *("carddav/run/?outcome=failed", "carddav/run/?trigger=cron", "carddav/run/?state=queued"),
    *("accounts/user/?is_staff__exact=1", "accounts/user/?is_active__exact=0", "accounts/user/?plan__exact=PRO"),
    *("notifications/destination/?state=failing", "notifications/destination/?state=auto"),
    *("notifications/destination/?state=off", "notifications/destination/?code=dns"),
    *("carddav/connection/?state=failing", "carddav/connection/?state=off", "people/geocodedaddress/?state=failed"),
)
#: SQLite does not use the partial indexes for these, because it does not infer their conditions from the filter's.
NOT_INDEXED_ON_SQLITE = {"notifications/delivery/?state=failed", "carddav/run/?state=queued"}


def test_filters_for_rare_rows_use_an_index(operator: Client, alice: User) -> None:
    def costs() -> dict[str, int]:
        found = {}
        with count_work() as read, connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("ANALYZE")
            for path in (
                RARE_FILTERS if connection.vendor == "postgresql" else set(RARE_FILTERS) - NOT_INDEXED_ON_SQLITE
            ):
                before = read()
                html_of(operator, f"/admin/{path}")
                found[path] = read() - before
        return found

    make_connection(alice)
    costs()  # fills the caches of the process
    few = costs()
    users = [User(email=f"n{number}@example.org") for number in range(500)]
    User.objects.bulk_create(users)
    now = timezone.now()
    make_delivery(alice, now)
    make_destination(alice)
    run = make_ended_run(alice, now, 1)
    sources = [*Delivery.unscoped.all(), Destination.unscoped.get(), run.connection, run]
    sources.append(GeocodedAddress(owner=alice, key="k", text="x", state="done", next_try_at=now))
    with without_triggers():  # rows of other accounts, whose counts do not matter here
        for source in sources:
            copy_row_for_users(source, users)
    more = costs()
    assert {path: (few[path], cost) for path, cost in more.items() if cost > few[path] + 100} == {}


def copy_row_for_users(source: models.Model, users: list[User]) -> None:
    """Copy the row for each user, with a new id."""
    values = {field.attname: getattr(source, field.attname) for field in source._meta.concrete_fields}
    copies = [{**values, "id": uuid4(), "owner_id": user.pk} for user in users]
    if "source_id" in values:
        copies = [{**copy, "source_id": uuid4()} for copy in copies]
    type(source)._base_manager.bulk_create(type(source)(**copy) for copy in copies)


def test_only_operators_can_open_the_admin(alice: User, signed_in: Client) -> None:
    for client in (Client(), signed_in):
        for path in PAGES:
            assert client.get(path).status_code == 302, path


def test_staff_with_view_permission_cannot_run_actions(db: None, alice: User) -> None:
    """Staff with Django's permission to view users and no other permission."""
    clerk = make_user("clerk@example.org", is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="view_user"))
    client = Client()
    client.force_login(clerk)
    assert "switch_off" not in html_of(client, "/admin/accounts/user/")
    form = f"action=switch_off&_selected_action={alice.pk}"
    client.generic("POST", "/admin/accounts/user/", form, "application/x-www-form-urlencoded")
    alice.refresh_from_db()
    assert alice.is_active


def test_every_list_is_an_operator_admin() -> None:
    """Django's own ModelAdmin accepts any column as a filter."""
    assert [model for model, made in site._registry.items() if not isinstance(made, OperatorAdmin)] == []
