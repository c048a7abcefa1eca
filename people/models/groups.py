"""Groups, their members, and the members that they wait for."""

import zlib
from typing import Final

from django.db import models

from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    TrashModel,
    TrashQuerySet,
    UnscopedManager,
    owner_without_index,
)
from contacts_project.kernel.text_forms import case_key
from people.models.person import Person
from people.vocabularies import Unit

PALETTE: Final = (
    "#E57373",
    "#F06292",
    "#BA68C8",
    "#9575CD",
    "#7986CB",
    "#64B5F6",
    "#4DD0E1",
    "#4DB6AC",
    "#81C784",
    "#AED581",
    "#FFD54F",
    "#FFB74D",
    "#FF8A65",
    "#A1887F",
    "#90A4AE",
)


def pick_color(name: str) -> str:
    """The default colour of a group or a relationship type: from its name without case.

    It is the same on every machine and in every run.
    """
    # crc32, because hash() of a text differs from process to process.
    return PALETTE[zlib.crc32(name.casefold().encode()) % len(PALETTE)]


def group_key(name: str) -> str:
    """The name without case and in NFC, which is unique among an account's active groups."""
    return case_key(name)


class Group(TrashModel):
    """A group of people. `name_key` is its `group_key`, unique among the account's active groups.

    Its rule (people.services.group_rules): who joins gets a contact reminder every `contact_interval` units, and
    `lead_days` for the reminders of important dates. Null where the rule says nothing.
    """

    name = models.CharField(max_length=100)
    name_key = models.CharField(max_length=300, editable=False)
    description = models.CharField(max_length=500, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    color = models.CharField(max_length=7)
    contact_interval = models.PositiveSmallIntegerField(null=True, blank=True)
    contact_interval_unit = models.CharField(max_length=6, choices=Unit.choices, null=True, blank=True)  # noqa: DJ001 - null is the contract's value
    lead_days = models.PositiveSmallIntegerField(null=True, blank=True)

    FEED_TYPE = "group"

    unscoped = UnscopedManager["Group", TrashQuerySet["Group"]](TrashQuerySet)
    objects = OwnedManager["Group", TrashQuerySet["Group"]](TrashQuerySet)

    @property
    def contact_reminder(self) -> JsonObject | None:
        """The interval of the rule as the API shows it."""
        unit = self.contact_interval_unit
        return None if unit is None else {"interval": self.contact_interval, "unit": unit}

    @contact_reminder.setter
    def contact_reminder(self, value: JsonMapping | None) -> None:
        self.contact_interval, self.contact_interval_unit = (
            (value["interval"], value["unit"]) if value else (None, None)
        )

    @property
    def has_rule(self) -> bool:
        return self.contact_interval is not None or self.lead_days is not None

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name_key"], name="group_name_unique", condition=models.Q(deleted_at=None)
            ),
            one_of(Unit, "contact_interval_unit", name="group_contact_interval_unit_known"),
            models.CheckConstraint(
                condition=models.Q(contact_interval=None, contact_interval_unit=None)
                | models.Q(contact_interval__isnull=False, contact_interval_unit__isnull=False),
                name="group_contact_interval_has_unit",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="group_feed"),
            models.Index(
                fields=["owner", "deleted_at"], name="group_trash", condition=models.Q(deleted_at__isnull=False)
            ),
        ]


class AwaitedMember(OwnedModel):
    """A member that a group card names, but whose own card has not come yet: it joins the group when it comes.

    `uid_key` is its UID in the form in which UIDs are compared (people.importing.matches.uid_key).
    """

    owner = owner_without_index()
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="awaited_members", db_index=False)
    uid_key = models.CharField(max_length=255)
    contact_import = models.ForeignKey(
        "people.ContactImport", on_delete=models.CASCADE, related_name="awaited_members", null=True, blank=True
    )

    unscoped = UnscopedManager["AwaitedMember", OwnedQuerySet["AwaitedMember"]](OwnedQuerySet)
    objects = OwnedManager["AwaitedMember", OwnedQuerySet["AwaitedMember"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "uid_key"], name="awaited_member_once")]
        indexes = [models.Index(fields=["owner", "uid_key"], name="awaited_member_uid")]


class Membership(OwnedModel):
    """The membership of one person in one group."""

    owner = owner_without_index()
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="memberships")
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="memberships")

    unscoped = UnscopedManager["Membership", OwnedQuerySet["Membership"]](OwnedQuerySet)
    objects = OwnedManager["Membership", OwnedQuerySet["Membership"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "group"], name="membership_once")]
        indexes = [models.Index(fields=["owner", "person"], name="membership_owner")]
