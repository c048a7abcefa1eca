"""Calendars that are read, the meetings that they propose, and what was answered."""

import datetime as dt

from django.db import models
from django.utils import timezone

from contacts_project.kernel.crypto.fields import EncryptedTextField
from contacts_project.kernel.database.columns import StoredTextField, one_of
from contacts_project.kernel.leases import Leased, LeaseQuerySet
from contacts_project.kernel.ownership.models import (
    FeedModel,
    FeedQuerySet,
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
    owner_without_index,
)
from contacts_project.kernel.vocabularies import Vocabulary
from people.mentions import Topic, may_be_mentioned
from people.models import Interaction, Person

MAX_URL_LENGTH = 2000
MAX_NAME_LENGTH = 100
KEY_LENGTH = 64
"""Of a SHA-256 in hex."""


class SourceKind(Vocabulary):
    """How a calendar is read: a file at an address, or the calendars of a CalDAV server."""

    ICS = "ics"
    CALDAV = "caldav"


class SourceState(Vocabulary):
    """What came of the last reading. READING is never stored: it is a lease."""

    NEW = "new"
    READING = "reading"
    OK = "ok"
    FAILING = "failing"


class FoundBy(Vocabulary):
    """By what somebody was found in an event."""

    EMAIL = "email"
    NAME = "name"


class AnswerKind(Vocabulary):
    """What a key in an answer is of: an occurrence that was accepted or dismissed, or what is never proposed again."""

    ACCEPTED = "accepted"
    DISMISSED = "dismissed"
    SERIES = "series"
    TITLE = "title"


class SourceQuerySet(LeaseQuerySet["CalendarSource"], OwnedQuerySet["CalendarSource"]):  # type: ignore[override]  # as_manager
    """Calendar sources, with their leases."""

    def due(self, now: dt.datetime) -> "SourceQuerySet":
        """Those whose time has come, of accounts that are not disabled."""
        return self.filter(next_read_at__lte=now, owner__is_active=True)


class CalendarSource(Leased, OwnedModel):
    """A calendar of the account that is read.

    `url` is encrypted, since it is often a secret; an imported source has none, and no `next_read_at` until it gets
    one.
    `calendars` are those that the CalDAV server lists, `[{href, name}]`; `chosen` the hrefs to read, null for all.

    `validators` (the ETag of a file, the sync tokens of calendars) say whether anything has changed there. They count
    until `fresh_until`, when the next event ends, and while the account's revision is still `read_revision`: a file
    that has not changed proposes more once an event is over, or once somebody in it is a person. `revision` is that of
    the write which last changed the settings; readings do not change it. `broken` counts events that cannot be read.
    """

    name = models.CharField(max_length=MAX_NAME_LENGTH)
    kind = models.CharField(max_length=6, choices=SourceKind.choices)
    url = EncryptedTextField(blank=True)
    username = models.CharField(max_length=255, blank=True)
    password = EncryptedTextField(blank=True)
    calendars = models.JSONField(default=list, blank=True)
    chosen = models.JSONField(null=True, blank=True)
    days_back = models.PositiveSmallIntegerField(default=30)
    revision = models.BigIntegerField(default=0, editable=False)

    state = models.CharField(max_length=7, choices=SourceState.choices, default=SourceState.NEW)
    validators = models.JSONField(default=dict, blank=True)
    fresh_until = models.DateTimeField(null=True, blank=True)
    read_revision = models.BigIntegerField(default=0)
    broken = models.PositiveIntegerField(default=0)
    last_read_at = models.DateTimeField(null=True, blank=True)
    next_read_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    failures = models.PositiveSmallIntegerField(default=0)
    last_error_code = models.CharField(max_length=20, blank=True)
    last_error = StoredTextField(blank=True)

    unscoped = UnscopedManager["CalendarSource", SourceQuerySet](SourceQuerySet)
    objects = OwnedManager["CalendarSource", SourceQuerySet](SourceQuerySet)

    class Meta:
        constraints = [
            one_of(SourceKind, "kind", name="calendar_source_kind_known"),
            one_of(SourceState, "state", name="calendar_source_state_known"),
        ]
        indexes = [
            models.Index(
                fields=["next_read_at"], name="calendar_source_due", condition=models.Q(next_read_at__isnull=False)
            ),
            # A filter of the operator's list in the admin.
            models.Index(fields=["id"], name="calendar_source_failing", condition=models.Q(state="failing")),
        ]

    def current_state(self, now: dt.datetime) -> SourceState:
        """The state as answers show it."""
        is_read = self.claim is not None and self.held_until is not None and self.held_until > now
        return SourceState.READING if is_read else SourceState(self.state)

    def forget_reading(self, now: dt.datetime) -> None:
        """Begin anew at another address: nothing of the last reading holds, and a reading under way stores nothing."""
        self.calendars, self.validators, self.fresh_until, self.broken = [], {}, None, 0
        self.state, self.failures, self.last_error_code, self.last_error = SourceState.NEW, 0, "", ""
        self.held_until, self.holder, self.claim = None, "", None
        self.next_read_at = now if self.url else None


class ProposalQuerySet(FeedQuerySet["MeetingProposal"]):
    """Open proposals."""

    def with_people(self) -> "ProposalQuerySet":
        """Those with somebody who can be spoken of now."""
        return self.filter(
            models.Exists(ProposedPerson.unscoped.rows().of_now().filter(proposal=models.OuterRef("pk")))
        )


class MeetingProposal(FeedModel):
    """A past event with people of the account, which it may log as an interaction. An answer deletes the row.

    The keys are hashes (meetings.calendars.occurrences). `day` is set for an event of whole days.
    """

    owner = owner_without_index()
    source = models.ForeignKey(CalendarSource, on_delete=models.CASCADE, related_name="proposals")
    key = models.CharField(max_length=KEY_LENGTH)
    day_key = models.CharField(max_length=KEY_LENGTH)
    series_key = models.CharField(max_length=KEY_LENGTH)
    title_key = models.CharField(max_length=KEY_LENGTH)
    title = models.CharField(max_length=200, blank=True)
    location = models.CharField(max_length=300, blank=True)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    day = models.DateField(null=True, blank=True)
    unknown = models.JSONField(default=list, blank=True)

    FEED_TYPE = "meetingProposal"

    unscoped = UnscopedManager["MeetingProposal", ProposalQuerySet](ProposalQuerySet)
    objects = OwnedManager["MeetingProposal", ProposalQuerySet](ProposalQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="meeting_proposal_once")]
        indexes = [
            models.Index(fields=["owner", "revision", "id"], name="meeting_proposal_feed"),
            models.Index(fields=["owner", "starts_at", "id"], name="meeting_proposal_list"),
        ]


class ProposedPersonQuerySet(OwnedQuerySet["ProposedPerson"]):
    """People in proposals."""

    def of_now(self) -> "ProposedPersonQuerySet":
        """Those who are not in the trash, and can be spoken of."""
        return self.filter(may_be_mentioned(Topic.CONTACT, "person__"), person__deleted_at=None)


class ProposedPerson(OwnedModel):
    """A person in a proposal, found `by` an address or a name; `position` is the order."""

    owner = owner_without_index()
    proposal = models.ForeignKey(MeetingProposal, on_delete=models.CASCADE, related_name="people", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    by = models.CharField(max_length=5, choices=FoundBy.choices)
    position = models.PositiveSmallIntegerField(default=0)

    unscoped = UnscopedManager["ProposedPerson", ProposedPersonQuerySet](ProposedPersonQuerySet)
    objects = OwnedManager["ProposedPerson", ProposedPersonQuerySet](ProposedPersonQuerySet)

    class Meta:
        constraints = [
            one_of(FoundBy, "by", name="proposed_person_by_known"),
            models.UniqueConstraint(fields=["proposal", "person"], name="proposed_person_once"),
        ]


class MeetingAnswer(OwnedModel):
    """That a key is never proposed again. Of an occurrence also the key of its day, and which proposal it was."""

    owner = owner_without_index()
    kind = models.CharField(max_length=9, choices=AnswerKind.choices)
    key = models.CharField(max_length=KEY_LENGTH)
    day_key = models.CharField(max_length=KEY_LENGTH, blank=True)
    proposal_id = models.UUIDField(null=True, blank=True)
    interaction = models.ForeignKey(Interaction, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    unscoped = UnscopedManager["MeetingAnswer", OwnedQuerySet["MeetingAnswer"]](OwnedQuerySet)
    objects = OwnedManager["MeetingAnswer", OwnedQuerySet["MeetingAnswer"]](OwnedQuerySet)

    class Meta:
        constraints = [
            one_of(AnswerKind, "kind", name="meeting_answer_kind_known"),
            models.UniqueConstraint(fields=["owner", "key"], name="meeting_answer_once"),
        ]
        indexes = [
            models.Index(fields=["owner", "day_key"], name="meeting_answer_day"),
            models.Index(
                fields=["owner", "proposal_id"],
                name="meeting_answer_proposal",
                condition=models.Q(proposal_id__isnull=False),
            ),
        ]
