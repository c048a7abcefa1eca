"""Links between accounts and the subjects of an OpenID Connect provider."""

from django.db import models

from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager


class OidcIdentity(OwnedModel):
    """A subject of an issuer that signs in to the account."""

    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)

    unscoped = UnscopedManager["OidcIdentity", OwnedQuerySet["OidcIdentity"]](OwnedQuerySet)
    objects = OwnedManager["OidcIdentity", OwnedQuerySet["OidcIdentity"]](OwnedQuerySet)

    class Meta:
        verbose_name_plural = "OIDC identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="oidc_identity_unique")]
