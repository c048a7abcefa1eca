"""Attempts to get hold of somebody else's account by its address; each was possible once."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import ApiToken, EmailChange, OidcIdentity, TotpDevice, User
from accounts.tasks import sweep_accounts
from tests.accounts.test_pages import submit
from tests.builders import PASSWORD, make_token, make_user, prove
from tests.client import Client, client_of
from tests.mailbox import Mailbox, text_of

NEW = "Better-Horse-8"
VICTIM = "victim@example.org"
THIEF = "thief@example.net"

Post = Callable[[], int]

pytestmark = pytest.mark.django_db


@pytest.fixture
def mandatory(settings: Any) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def victim(db: None) -> User:
    return prove(make_user(VICTIM, name="Vic"))


def register(email: str, password: str = PASSWORD) -> None:
    Client().ok("POST", "/api/auth/register", {"email": email, "password": password, "name": "Somebody"}, status=201)


def sign_in(email: str, password: str = PASSWORD, status: int = 200) -> Client:
    client = Client()
    client.ok("POST", "/api/auth/login", {"email": email, "password": password}, status=status)
    return client


def verify(token: str, client: Client | None = None, status: int = 200, **extra: str) -> Any:
    return (client or Client()).ok("POST", "/api/auth/verify-email", {"token": token, **extra}, status=status)


def reset(token: str, status: int = 200) -> None:
    Client().ok("POST", "/api/auth/reset-password", {"token": token, "password": NEW}, status=status)


def take_back(token: str, status: int = 200) -> Any:
    return Client().ok("POST", "/api/auth/take-back-email", {"token": token}, status=status)


def change_email(client: Client, email: str) -> dict[str, Any]:
    answer = client.ok("PUT", "/api/user/profile", {"name": "Somebody", "email": email})
    assert answer["emailChanged"] is True
    assert (answer["user"]["email"], answer["user"]["emailVerified"]) == (email, False)
    user: dict[str, Any] = answer["user"]
    return user


def profile(client: Client) -> tuple[str, bool]:
    user = client.ok("GET", "/api/user/profile")["user"]
    return user["email"], user["emailVerified"]


# --- A stranger prepares an account ------------------------------------------------------------------


def test_an_account_moved_to_the_victims_address_stays_the_strangers(
    mandatory: None, mailbox: Mailbox, post: Post
) -> None:
    register(THIEF)
    post()
    verify(mailbox.last_token(), password=PASSWORD)
    stranger = sign_in(THIEF)
    token = Client()
    token.bearer = stranger.ok("POST", "/api/user/api-tokens", {"name": "x"}, status=201)["apiToken"]["token"]
    change_email(stranger, VICTIM)
    register(VICTIM, NEW)
    post()
    strangers, victims = mailbox.tokens(VICTIM, "verify-email")
    assert verify(strangers, status=401)["code"] == "sign_in_required"
    verify(victims)
    victim = sign_in(VICTIM, NEW)
    assert profile(victim) == (VICTIM, True)
    assert profile(token) == profile(stranger) == (THIEF, True)
    assert victim.ok("GET", "/api/user/api-tokens")["tokens"] == []
    verify(strangers, victim, status=400)


def test_who_resets_an_unclaimed_account_has_it_alone(mailbox: Mailbox, post: Post, alice: User) -> None:
    """A stranger registered Alice's address; she opens the link, which proves it, and resets the password."""
    stranger = sign_in(alice.email)
    leave_behind(alice)
    stranger.ok("POST", "/api/auth/resend-verification", {"email": alice.email})
    post()
    verify(mailbox.last_token())
    assert profile(stranger) == (alice.email, True)
    Client().ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    post()
    reset(mailbox.last_token())
    stranger.ok("GET", "/api/auth/session", status=401)
    sign_in(alice.email, NEW)
    assert left_behind(alice) == [0, 0, 0]


@pytest.mark.parametrize("how", ["session", "password", "reset"])
def test_who_has_claimed_an_account_keeps_its_second_factor_through_a_reset(
    mailbox: Mailbox, post: Post, alice: User, how: str
) -> None:
    client = sign_in(alice.email)
    kind = "forgot-password" if how == "reset" else "resend-verification"
    client.ok("POST", f"/api/auth/{kind}", {"email": alice.email})
    post()
    match how:
        case "session":
            verify(mailbox.last_token(), client)
        case "password":
            verify(mailbox.last_token(), password=PASSWORD)
        case "reset":
            reset(mailbox.last_token())
    leave_behind(alice)
    client.ok("POST", "/api/auth/forgot-password", {"email": alice.email})
    post()
    reset(mailbox.last_token())
    assert left_behind(alice) == [0, 1, 1], "tokens end with every reset, nothing else does"


def leave_behind(user: User) -> None:
    make_token(user)
    OidcIdentity.objects.create(owner=user, issuer="https://id.example", subject=str(user.pk))
    TotpDevice.objects.create(owner=user, secret="x", confirmed_at=user.created_at)


def left_behind(user: User) -> list[int]:
    return [model.unscoped.rows().filter(owner=user).count() for model in (ApiToken, OidcIdentity, TotpDevice)]


def test_a_wrong_password_beside_the_link_proves_nothing(mailbox: Mailbox, post: Post, alice: User) -> None:
    Client().ok("POST", "/api/auth/resend-verification", {"email": alice.email})
    post()
    assert verify(mailbox.last_token(), status=401, password="Wrong-Horse-7")["code"] == "sign_in_required"
    verify(mailbox.last_token())


# --- A token takes an account over -------------------------------------------------------------------


def test_a_token_moves_the_address_and_gets_nothing_by_it(mailbox: Mailbox, post: Post, victim: User) -> None:
    owner, token = sign_in(VICTIM), client_of(victim)
    change_email(token, THIEF)
    post()
    (link,) = mailbox.tokens(THIEF, "verify-email")
    for thief in (Client(), token):
        assert verify(link, thief, status=401)["code"] == "sign_in_required"
    assert verify(link, status=401, password="Wrong-Horse-7")["code"] == "sign_in_required"
    for email in (THIEF, VICTIM):
        Client().ok("POST", "/api/auth/forgot-password", {"email": email})
    post()
    assert mailbox.tokens(THIEF, "reset-password") == []
    sign_in(VICTIM)
    reset(mailbox.tokens(VICTIM, "reset-password")[0])
    owner.ok("GET", "/api/auth/session", status=401)
    token.ok("GET", "/api/user/profile", status=401)
    sign_in(VICTIM, NEW)


def test_the_owner_proves_the_new_address_signed_in_or_by_password(mailbox: Mailbox, post: Post, victim: User) -> None:
    owner = sign_in(VICTIM)
    change_email(owner, "one@example.org")
    post()
    (link,) = mailbox.tokens("one@example.org", "verify-email")
    verify(link, status=401)
    verify(link, owner)
    assert profile(owner) == ("one@example.org", True)
    verify(link, owner, status=400)
    change_email(owner, "two@example.org")
    post()
    verify(mailbox.tokens("two@example.org", "verify-email")[0], password=PASSWORD)
    assert profile(owner) == ("two@example.org", True)
    Client().ok("POST", "/api/auth/forgot-password", {"email": VICTIM})
    assert post() == 0, "the old address has no rights any more"
    sign_in(VICTIM, status=401)


# --- The change is taken back ------------------------------------------------------------------------


@pytest.mark.parametrize("proven", [False, True])
def test_the_old_address_takes_the_change_back(mailbox: Mailbox, post: Post, victim: User, proven: bool) -> None:
    thief, token = sign_in(VICTIM), client_of(victim)
    change_email(token, THIEF)
    post()
    if proven:
        verify(mailbox.tokens(THIEF, "verify-email")[0], thief)
        assert profile(thief) == (THIEF, True)
    (link,) = mailbox.tokens(VICTIM, "take-back")
    take_back(link)
    for client in (thief, token):
        client.ok("GET", "/api/user/profile", status=401)
    assert profile(sign_in(VICTIM)) == (VICTIM, True)
    assert post() == 1
    reset(mailbox.tokens(VICTIM, "reset-password")[0])
    assert take_back(link, status=400)["details"][0]["field"] == "token"


def test_the_thief_takes_nothing_back_after_the_owner_has(mailbox: Mailbox, post: Post, victim: User) -> None:
    """From the thief's own mailbox, which was the account's proven address for a while. Its password goes, too."""
    thief = sign_in(VICTIM)
    change_email(thief, THIEF)
    post()
    verify(mailbox.tokens(THIEF, "verify-email")[0], thief)
    thief.ok("POST", "/api/auth/forgot-password", {"email": THIEF})
    post()
    reset(mailbox.tokens(THIEF, "reset-password")[0])
    change_email(sign_in(THIEF, NEW), "third@example.net")
    post()
    TotpDevice.objects.create(owner=victim, secret="x", confirmed_at=timezone.now())
    take_back(mailbox.tokens(VICTIM, "take-back")[0])
    take_back(mailbox.tokens(THIEF, "take-back")[0], status=400)
    sign_in(VICTIM, NEW, status=401)
    post()
    reset(mailbox.tokens(VICTIM, "reset-password")[-1])
    assert profile(sign_in(VICTIM, NEW)) == (VICTIM, True)


def test_a_second_factor_older_than_the_change_stays(mailbox: Mailbox, post: Post, victim: User) -> None:
    leave_behind(victim)
    change_email(client_of(victim), THIEF)
    post()
    take_back(mailbox.last_token())
    assert left_behind(victim) == [0, 1, 1]


def test_an_address_is_not_changed_for_ever(mailbox: Mailbox, post: Post, victim: User) -> None:
    """Each change sends mails. The first of them still takes all of it back."""
    token = client_of(victim)
    statuses = [
        token.call("PUT", "/api/user/profile", {"name": "V", "email": f"a{number}@example.net"}).status_code
        for number in range(21)
    ]
    assert statuses == [200] * 20 + [429]
    post()
    links = mailbox.tokens(VICTIM, "take-back")
    assert len(links) == 10
    take_back(links[0])
    take_back(links[1], status=400)
    assert profile(sign_in(VICTIM)) == (VICTIM, True)


def test_the_old_address_may_be_another_accounts_by_then(mailbox: Mailbox, post: Post, victim: User) -> None:
    owner = sign_in(VICTIM)
    change_email(owner, "new@example.org")
    post()
    verify(mailbox.tokens("new@example.org", "verify-email")[0], owner)
    (link,) = mailbox.tokens(VICTIM, "take-back")
    other = prove(make_user(VICTIM))
    assert take_back(link, status=400)["code"] == "address_taken"
    assert profile(owner) == ("new@example.org", True)
    other.delete()
    take_back(link)


def test_the_take_back_link_ends_after_seven_days_and_cannot_be_made_up(
    mailbox: Mailbox, post: Post, victim: User
) -> None:
    with time_machine.travel(dt.datetime(2026, 5, 1, tzinfo=dt.UTC), tick=False) as clock:
        change_email(client_of(victim), THIEF)
        post()
        link, verification = mailbox.tokens(VICTIM, "take-back")[0], mailbox.tokens(THIEF, "verify-email")[0]
        row, _, signature = link.rpartition(".")
        for forged in (verification, row, f"{row}.{signature[::-1]}", "x", ""):
            take_back(forged, status=400)
        verify(link, status=400)
        reset(link, status=400)
        clock.shift(dt.timedelta(days=7))
        take_back(link, status=400)
        assert profile(client_of(victim)) == (THIEF, False)
        clock.shift(dt.timedelta(seconds=-1))
        take_back(link)
        sweep_accounts()
    assert not EmailChange.unscoped.exists()


# --- Programs that open every link --------------------------------------------------------------------


def test_who_opens_every_link_of_a_mail_changes_nothing(mailbox: Mailbox, post: Post, victim: User) -> None:
    newcomer = make_user("new@example.org")
    change_email(client_of(victim), THIEF)
    for email in (VICTIM, "new@example.org"):
        Client().ok("POST", "/api/auth/forgot-password", {"email": email})
    Client().ok("POST", "/api/auth/resend-verification", {"email": "new@example.org"})
    post()
    assert len(mailbox.messages) == 5
    for message in mailbox.messages:
        links = re.findall(r"http://[^\s\"<]+", text_of(message))
        assert len(links) == 1
        for method in ("GET", "HEAD", "OPTIONS"):
            Client().call(method, links[0].partition("8000")[2])
    for user, email in ((victim, THIEF), (newcomer, "new@example.org")):
        before = user.password, user.proven_email, user.claimed_at
        user.refresh_from_db()
        assert (user.email, user.password, user.proven_email, user.claimed_at) == (email, *before)


def test_the_page_asks_for_the_password_where_nobody_is_signed_in(mailbox: Mailbox, post: Post, victim: User) -> None:
    owner = client_of(victim)
    change_email(owner, "new@example.org")
    post()
    path = f"/account/verify-email?token={mailbox.tokens('new@example.org', 'verify-email')[0]}"
    browser = Client(enforce_csrf_checks=True)
    page = browser.call("GET", path).content.decode()
    assert 'autocomplete="current-password" required' in page
    assert "/account/sign-in?next=" in page
    for password in ("", "Wrong-Horse-7"):
        refused = submit(browser, path, page, password=password)
        assert (refused.status_code, 'class="problem"' in refused.content.decode()) == (403, True)
    assert profile(owner) == ("new@example.org", False)
    assert submit(browser, path, page, password=PASSWORD).status_code == 200
    assert profile(owner) == ("new@example.org", True)


def test_the_page_takes_the_change_back(mailbox: Mailbox, post: Post, victim: User) -> None:
    change_email(client_of(victim), THIEF)
    post()
    path = f"/account/take-back?token={mailbox.tokens(VICTIM, 'take-back')[0]}"
    browser = Client(enforce_csrf_checks=True)
    page = browser.call("GET", path).content.decode()
    assert VICTIM in page
    assert THIEF in page
    assert submit(browser, path, page).status_code == 200
    assert profile(sign_in(VICTIM)) == (VICTIM, True)
    assert browser.call("GET", path).status_code == 400
