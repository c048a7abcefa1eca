"""API tokens, the codes that apps exchange for one, and the responses kept for repeated requests."""

import hashlib
import re
import secrets
import string
import zlib

from django.db import models

from accounts.vocabularies import TokenKind, TokenScope
from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

# `cnt_`, 40 random base62 characters, and 6 characters of checksum.
TOKEN_PATTERN = re.compile(r"cnt_[0-9A-Za-z]{46}")
# The hex digest of a token is stored. A plain SHA-256 is enough: with 238 random bits nobody can guess a token from its
# digest. It also allows a look-up by index, which a salted password hash would not.
TOKEN_HASH = hashlib.sha256


class ApiToken(OwnedModel):
    """A bearer token of one account. `prefix` is the beginning of its text, shown in lists.

    The rest says what a phone or program gets that signs in with it as an app password (open points, section 14).
    `group_cards`: groups are cards of their own; None until its first request shows what it is. `book`: whom it gets,
    an object with some of `groupIds`, `favourites`, `reachable`; None: everybody. `alarms`: whether its calendar has
    alarms. The `*_revision` are those of the account at which each was last changed, 0 if never: the device then reads
    again what they concern.
    """

    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=TokenScope.choices, default=TokenScope.READ_WRITE)
    kind = models.CharField(max_length=6, choices=TokenKind.choices, default=TokenKind.TOKEN)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    group_cards = models.BooleanField(null=True, blank=True)
    book = models.JSONField(null=True, blank=True)
    alarms = models.BooleanField(default=False)
    group_cards_revision = models.BigIntegerField(default=0, editable=False)
    book_revision = models.BigIntegerField(default=0, editable=False)
    alarms_revision = models.BigIntegerField(default=0, editable=False)

    unscoped = UnscopedManager["ApiToken", OwnedQuerySet["ApiToken"]](OwnedQuerySet)
    objects = OwnedManager["ApiToken", OwnedQuerySet["ApiToken"]](OwnedQuerySet)

    class Meta:
        constraints = [
            one_of(TokenScope, "scope", name="api_token_scope_known"),
            one_of(TokenKind, "kind", name="api_token_kind_known"),
        ]
        indexes = [models.Index(fields=["owner", "created_at"], name="api_token_owner")]


def new_token() -> str:
    """Generate a token. Only its hash is stored, so the caller can return the text only now."""
    random = "".join(secrets.choice(_BASE62) for _ in range(40))
    return f"cnt_{random}{_checksum(random)}"


def _checksum(text: str) -> str:
    # For secret scanners, which recognise a leaked token by it. Authentication ignores it: anybody can compute it.
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits


class AppCode(OwnedModel):
    """A code that the user's browser carries to an app after a sign-in through the provider.

    Only its SHA-256 is stored. `challenge` is the app's PKCE challenge (RFC 7636). `auth_hash` is the account's session
    hash when the code was created, so that a new password invalidates the code. `token` is the token that it was
    exchanged for, at `used_at`.
    """

    digest = models.CharField(max_length=64, unique=True)
    challenge = models.CharField(max_length=43)
    auth_hash = models.CharField(max_length=64)
    ends_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    token = models.ForeignKey(ApiToken, models.CASCADE, null=True, blank=True, related_name="+")

    unscoped = UnscopedManager["AppCode", OwnedQuerySet["AppCode"]](OwnedQuerySet)
    objects = OwnedManager["AppCode", OwnedQuerySet["AppCode"]](OwnedQuerySet)

    class Meta:
        indexes = [
            models.Index(fields=["owner", "ends_at"], name="app_code_owner"),
            models.Index(fields=["ends_at"], name="app_code_end"),
        ]


class StoredResponseQuerySet(LeaseQuerySet["StoredResponse"], OwnedQuerySet["StoredResponse"]):  # type: ignore[override]  # as_manager
    """Stored responses."""


class StoredResponse(Leased, OwnedModel):
    """The response to a request with an Idempotency-Key, replayed when the request is repeated.

    While the request runs, the row is leased; once `status` is set, it is the response.

    `key_digest` is a hash of path and key, `content_digest` one of query string and body. Hashes, because the texts can
    be long and private, and are only compared.
    """

    key_digest = models.CharField(max_length=64)
    content_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(default=b"")
    # In bytes: that of the body and what else a row takes, by which the responses of an account are limited.
    size = models.PositiveIntegerField(default=0)
    headers = models.JSONField(default=dict)

    unscoped = UnscopedManager["StoredResponse", StoredResponseQuerySet](StoredResponseQuerySet)
    objects = OwnedManager["StoredResponse", StoredResponseQuerySet](StoredResponseQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key_digest"], name="stored_response_once")]
        indexes = [
            models.Index(fields=["created_at"], name="stored_response_age"),
            models.Index(fields=["owner", "size"], name="stored_response_sizes"),
        ]
