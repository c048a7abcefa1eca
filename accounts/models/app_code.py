"""Authorization codes that apps exchange for a device token (RFC 6749, section 4.1)."""

from django.db import models

from accounts.models.api_token import ApiToken
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


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
