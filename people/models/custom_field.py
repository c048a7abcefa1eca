"""Custom fields: templates of an account, and their values for people."""

from django.db import models

from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.models.person import Person
from people.vocabularies import TemplateType


class CustomFieldTemplate(TrashModel):
    """A custom field defined by the account. `slug` and `type` never change; `options` is empty except for SELECT."""

    name = models.CharField(max_length=60)
    slug = models.CharField(max_length=80)
    type = models.CharField(max_length=7, choices=TemplateType.choices)
    options = models.JSONField(default=list, blank=True)
    position = models.PositiveIntegerField(default=0)

    FEED_TYPE = "customFieldTemplate"

    unscoped = UnscopedManager["CustomFieldTemplate", TrashQuerySet["CustomFieldTemplate"]](TrashQuerySet)
    objects = OwnedManager["CustomFieldTemplate", TrashQuerySet["CustomFieldTemplate"]](TrashQuerySet)

    class Meta:
        constraints = [
            one_of(TemplateType, "type", name="template_type_known"),
            models.UniqueConstraint(fields=["owner", "slug"], name="template_slug_unique"),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="template_feed"),
            models.Index(
                fields=["owner", "deleted_at"], name="template_trash", condition=models.Q(deleted_at__isnull=False)
            ),
        ]


class CustomFieldValue(OwnedModel):
    """The value of one template for one person, with the JSON type of the template."""

    owner = owner_without_index()
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="custom_field_values")
    template = models.ForeignKey(CustomFieldTemplate, on_delete=models.CASCADE, related_name="values")
    value = models.JSONField()

    unscoped = UnscopedManager["CustomFieldValue", OwnedQuerySet["CustomFieldValue"]](OwnedQuerySet)
    objects = OwnedManager["CustomFieldValue", OwnedQuerySet["CustomFieldValue"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "template"], name="custom_value_once")]
        indexes = [models.Index(fields=["owner", "person"], name="custom_value_owner")]
