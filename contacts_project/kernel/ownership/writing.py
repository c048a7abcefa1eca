"""An account's writes take turns: the one way to open a transaction that changes what an account owns."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F
from rest_framework import status

from contacts_project.kernel.api.errors import ApiError


class AccountGoneError(ApiError):
    """The account was deleted before its write got its turn."""

    status_code = status.HTTP_401_UNAUTHORIZED
    message = "This account has been deleted."


@contextmanager
def account_write(owner: Any) -> Iterator[None]:
    """Open a transaction and take the account's turn by raising its revision. `owner`: a user or the id of one.

    The UPDATE locks the account's row until the end (SQLite: the whole database), so that two writes of one account
    never interleave: limits, caps and "one of each" hold by counting inside. It is also what makes every ETag of the
    account change with the write. Raises AccountGoneError. No network inside.
    """
    with transaction.atomic():
        key = getattr(owner, "pk", owner)
        if not get_user_model().objects.filter(pk=key).update(revision=F("revision") + 1):
            raise AccountGoneError
        yield


@contextmanager
def account_pause(owner: Any) -> Iterator[None]:
    """Open a transaction that takes the account's turn for a job that changes nothing a caller can see.

    As account_write, but ETags stay. Raises AccountGoneError. No network inside.
    """
    with transaction.atomic():
        # SQLite took the write lock with BEGIN IMMEDIATE and leaves FOR UPDATE out.
        rows = get_user_model().objects.select_for_update(no_key=True)
        if not rows.filter(pk=getattr(owner, "pk", owner)).values_list("pk").first():
            raise AccountGoneError
        yield
