"""Deleting an account removes everything: rows, files, sessions, queued mails."""

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection

from accounts import signals
from accounts.api.views import sessions
from accounts.models import AccountMail, AccountSession, PendingFileDeletion, User
from accounts.services.deletion import delete_account, delete_pending_files
from accounts.services.sign_in import check_credentials
from contacts_project.kernel.ownership.models import OwnedModel
from tests.builders import PASSWORD, make_person, make_user
from tests.client import Client
from tests.row_factory import account_models, fill_account, owner_field

BODY = {"password": PASSWORD, "confirmationText": "DELETE"}


def rows_of(key: Any) -> dict[str, int]:
    """The number of rows of the account in each table."""
    found = {}
    for model in account_models():
        field = owner_field(model)
        assert field
        if count := model._base_manager.filter(**{field.attname: key}).count():
            found[model.__name__] = count
    return found


def test_no_table_keeps_a_row(api: Client, alice: User, mallory: User) -> None:
    make_person(alice)
    fill_account(alice)
    fill_account(mallory)
    before, hers = rows_of(mallory.pk), rows_of(alice.pk)
    assert set(hers) >= {model.__name__ for model in account_models() if issubclass(model, OwnedModel)}
    assert "message" in api.ok("DELETE", "/api/user/delete", BODY)
    assert rows_of(alice.pk) == {}
    assert rows_of(mallory.pk) == before
    api.ok("GET", "/api/auth/session", status=401)
    Client().ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, status=401)


def test_no_column_of_any_table_names_the_account(api: Client, alice: User) -> None:
    """Nothing is left in tables without a foreign key to the account either: sessions, queues, logs."""
    fill_account(alice)
    AccountMail.objects.create(kind="RESET", address=alice.email)
    browser = Client()
    browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    api.ok("DELETE", "/api/user/delete", BODY)
    for text in (str(alice.pk), alice.pk.hex, alice.email):
        assert tables_with(text) == []
    assert not Session.objects.exists()


def tables_with(text: str) -> list[str]:
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            if any(text in str(value) for row in cursor.fetchall() for value in row):
                found.append(table)
    return found


def test_files_are_deleted_after_the_commit(
    api: Client, alice: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    path = default_storage.save("photos/of-alice.jpg", ContentFile(b"x"))
    monkeypatch.setattr(signals, "_file_listers", [lambda owner_id: [path]])
    with django_capture_on_commit_callbacks(execute=True):
        api.ok("DELETE", "/api/user/delete", BODY)
        assert default_storage.exists(path)
    assert not default_storage.exists(path)
    assert not PendingFileDeletion.objects.exists()


def test_files_are_deleted_later_after_a_crash(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    path = default_storage.save("photos/of-alice.jpg", ContentFile(b"x"))
    monkeypatch.setattr(signals, "_file_listers", [lambda owner_id: [path]])
    delete_account(user=alice)  # the test's transaction never commits, as if the process had died right after
    assert default_storage.exists(path)
    assert delete_pending_files() == 1
    assert delete_pending_files() == 0
    assert not default_storage.exists(path)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"password": PASSWORD}, "confirmationText"),
        ({"password": PASSWORD, "confirmationText": "delete"}, "confirmationText"),
        ({"password": PASSWORD, "confirmationText": " DELETE"}, "confirmationText"),
        ({"password": PASSWORD, "confirmationText": True}, "confirmationText"),
        ({"confirmationText": "DELETE"}, "password"),
        ({"password": "Wrong-Horse-7", "confirmationText": "DELETE"}, "password"),
        ({"password": 5, "confirmationText": "DELETE"}, "password"),
    ],
)
def test_invalid_deletion_requests_are_refused(api: Client, alice: User, body: dict[str, Any], field: str) -> None:
    response = api.ok("DELETE", "/api/user/delete", body, status=400)
    assert [detail["field"] for detail in response["details"]] == [field]
    assert User.objects.filter(pk=alice.pk).exists()


def test_without_a_body_nothing_is_deleted(api: Client, alice: User) -> None:
    api.ok("DELETE", "/api/user/delete", status=400)
    assert User.objects.filter(pk=alice.pk).exists()


def test_account_without_a_password_is_deleted_without_one(api: Client, alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    api.ok("DELETE", "/api/user/delete", {"confirmationText": "DELETE"})
    assert not User.objects.filter(pk=alice.pk).exists()


def test_deletion_ends_the_session(alice: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD})
    csrf = browser.ok("GET", "/api/auth/csrf")["csrfToken"]
    browser.ok("DELETE", "/api/user/delete", BODY, HTTP_X_CSRFTOKEN=csrf)
    browser.ok("GET", "/api/auth/session", status=401)
    assert not AccountSession.unscoped.exists()


def test_account_deleted_during_the_password_check_is_not_signed_in(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_and_delete(**arguments: Any) -> User:
        user = check_credentials(**arguments)
        User.objects.get(pk=user.pk).delete()
        return user

    monkeypatch.setattr(sessions, "check_credentials", check_and_delete)
    browser = Client()
    browser.ok("POST", "/api/auth/login", {"email": alice.email, "password": PASSWORD}, status=401)
    browser.ok("GET", "/api/auth/session", status=401)
    assert not Session.objects.exists()


def test_token_deletes_its_own_account_and_not_that_of_the_session(alice: User, api: Client) -> None:
    """With a bearer header, the session of the same request is ignored."""
    bystander = make_user("bob@example.org")
    api.ok("POST", "/api/auth/login", {"email": bystander.email, "password": PASSWORD}, HTTP_AUTHORIZATION="")
    api.ok("DELETE", "/api/user/delete", BODY)
    user = api.ok("GET", "/api/auth/session", HTTP_AUTHORIZATION="")["user"]
    assert user["id"] == str(bystander.pk)
