"""Creates rows directly, for tests that do not need the API to create them."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.models.tokens import TOKEN_HASH, new_token
from accounts.models.user import Plan
from accounts.signals import start_account
from accounts.vocabularies import TokenScope
from contacts_project.kernel.ownership.account_lock import account_write
from people.lookup import keys_of, replace_keys
from people.models import Person
from people.names import keys_of_names

PASSWORD = "Correct-Horse-7"
# A well-formed id that no record has.
UNKNOWN_ID = "01900000-0000-7000-8000-000000000000"


def make_user(email: str, **fields: Any) -> User:
    """Create an account, in the state after registration."""
    user = User.objects.create_user(email, PASSWORD, **{"name": email.partition("@")[0], **fields})
    with account_write(user):
        start_account(user.pk)
    return user


def set_plan_limits(settings: Any, **limits: int) -> None:
    """Limit the free plan, which is the plan of every new account: `set_plan_limits(settings, people=2)`."""
    settings.SAAS_MODE, settings.PLAN_LIMITS = True, {Plan.FREE: limits}


def verify_email(user: User) -> User:
    """Set what following the verification mail's link sets; returns the user."""
    user.proven_email, user.claimed_at = user.email, timezone.now()
    user.save(update_fields=["proven_email", "claimed_at"])
    return user


def make_token(user: User, scope: str = TokenScope.READ_WRITE) -> str:
    """Create an API token of `user` that was just used (its next request does not record the use); returns its text."""
    token = new_token()
    ApiToken.objects.create(
        owner=user,
        name="test",
        prefix=token[:12],
        digest=TOKEN_HASH(token.encode()).hexdigest(),
        scope=scope,
        last_used_at=timezone.now(),
    )
    return token


def make_person(owner: User, **fields: Any) -> Person:
    """Create a person with the sort and search keys of its name, and no related rows."""
    person = Person(owner=owner, **{"name": "Ada", "contact_before": fields.get("last_contact"), **fields})
    person.sort_key, person.search_key = keys_of_names(person)
    person.save()
    return person


def make_keys(owner: User, people: Iterable[Person]) -> None:
    """Create the look-up keys of people that have none yet, which `make_person` does not."""
    replace_keys(owner.pk, [(person.pk, set(), keys_of(person.__dict__)) for person in people])
