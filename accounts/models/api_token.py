"""API tokens: `cnt_` + 40 random base62 characters + 6 characters of checksum; only the SHA-256 is stored."""

import hashlib
import re
import secrets
import string
import zlib

from django.db import models

from accounts.vocabularies import TokenKind, TokenScope
from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

TOKEN_PATTERN = re.compile(r"cnt_[0-9A-Za-z]{46}")
# The hex digest of a token is stored. A plain SHA-256 is enough: with 238 random bits nobody can guess a token from its
# digest. It also allows a look-up by index, which a salted password hash would not.
TOKEN_HASH = hashlib.sha256


class ApiToken(OwnedModel):
    """A bearer token of one account. `prefix` is the beginning of its text, shown in lists."""

    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=TokenScope.choices, default=TokenScope.READ_WRITE)
    kind = models.CharField(max_length=6, choices=TokenKind.choices, default=TokenKind.TOKEN)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

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
