"""Operators: the admin, plans, and what doctor finds."""

from typing import Any

import pyotp
import pytest
from django.contrib.admin import site
from django.core import checks
from django.core.management import call_command
from django.utils import timezone

from accounts.models import TotpDevice, User
from contacts_project.kernel.ownership.account_lock import account_write
from tests.builders import PASSWORD, make_person, make_user
from tests.client import Client

pytestmark = pytest.mark.sqlite_suffices


def test_an_operator_changes_a_plan(operator: Client, alice: User, settings: Any) -> None:
    settings.SAAS_MODE = True
    assert operator.get("/admin/accounts/user/").status_code == 200
    form = {"plan": "PRO", "is_active": "on", "_save": "Save"}
    path = f"/admin/accounts/user/{alice.pk}/change/"
    body = "&".join(f"{key}={value}" for key, value in form.items())
    response = operator.generic("POST", path, body, "application/x-www-form-urlencoded")
    assert response.status_code == 302
    alice.refresh_from_db()
    assert (alice.plan, alice.effective_plan, alice.email) == ("PRO", "PRO", "alice@example.org")


@pytest.mark.both_databases
def test_changing_a_plan_keeps_concurrent_changes_of_the_owner(rf: Any, alice: User) -> None:
    """Changes by the owner since the form was loaded stay, and the change feed reports the plan."""
    shown = User.objects.get(pk=alice.pk)
    with account_write(alice) as write:
        User.objects.filter(pk=alice.pk).update(theme="DARK")
    shown.plan = "PRO"
    admin = site.get_model_admin(User)
    admin.save_model(rf.post("/"), shown, None, change=True)
    alice.refresh_from_db()
    assert (alice.plan, alice.theme, alice.revision) == ("PRO", "DARK", write.revision + 1)


def test_an_operator_cannot_delete_an_account(operator: Client, alice: User) -> None:
    """The admin would leave the photos behind. It can deactivate an account; only the owner deletes it."""
    make_person(alice, name="Grace")
    path = f"/admin/accounts/user/{alice.pk}/delete/"
    assert operator.get(path).status_code == 403
    assert operator.generic("POST", path, "post=yes", "application/x-www-form-urlencoded").status_code == 403
    chosen = f"action=delete_selected&post=yes&_selected_action={alice.pk}"
    operator.generic("POST", "/admin/accounts/user/", chosen, "application/x-www-form-urlencoded")
    assert User.objects.filter(pk=alice.pk).exists()


def test_admin_is_hidden_from_other_users(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    assert client.get("/admin/accounts/user/").status_code == 302


def doctor_findings() -> set[str]:
    return {str(message.id) for message in checks.run_checks(tags=["doctor"], include_deployment_checks=True)}


def test_doctor_warns_about_insecure_settings(db: None, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert {"doctor.W032", "doctor.W035"} <= doctor_findings()
    make_user("a@example.org")
    assert "doctor.W033" in doctor_findings()
    make_user("op@example.org", is_superuser=True)
    assert "doctor.I034" in doctor_findings()
    settings.REGISTRATION = "closed"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    assert not {"doctor.W032", "doctor.W033", "doctor.I034", "doctor.W035"} & doctor_findings()
    settings.OIDC_ISSUER = "https://id.example.org"
    assert "doctor.E031" in doctor_findings()
    assert "doctor.E038" not in doctor_findings()
    settings.OIDC_ISSUER = "http://10.0.0.5:8080/realms/home"
    assert "doctor.E038" in doctor_findings()


def admin_login(email: str, password: str, code: str = "") -> int:
    body = f"username={email}&password={password}&code={code}"
    response = Client().generic("POST", "/admin/login/", body, "application/x-www-form-urlencoded")
    return int(response.status_code)


def test_admin_login_shares_the_rate_limit_of_the_api(db: None) -> None:
    make_user("op@example.org", is_staff=True, is_superuser=True)
    assert Client().get("/admin/login/").status_code == 200
    assert admin_login("op@example.org", PASSWORD) == 302
    assert [admin_login("op@example.org", "Wrong-Horse-7") for _ in range(10)] == [200] * 10
    assert admin_login("op@example.org", PASSWORD) == 200


def test_the_admin_asks_for_the_second_factor(db: None) -> None:
    user = make_user("op@example.org", is_staff=True, is_superuser=True)
    secret = pyotp.random_base32()
    TotpDevice.objects.create(owner=user, secret=secret, confirmed_at=timezone.now())
    assert admin_login("op@example.org", PASSWORD) == 200
    assert admin_login("op@example.org", PASSWORD, pyotp.TOTP(secret).now()) == 302


def test_createsuperuser_creates_a_complete_account(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", email="op@example.org", name="Op", interactive=False, verbosity=0)
    client = Client()
    user = client.ok("POST", "/api/auth/login", {"email": "op@example.org", "password": PASSWORD})["user"]
    assert user["emailVerified"] is True
    assert user["dateReminderDefault"] == "birthdays"
    assert client.ok("GET", "/api/relationship-types")["relationshipTypes"]
