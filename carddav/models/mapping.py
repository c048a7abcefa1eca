"""Which card on the server belongs to which person, and the state on which both sides last agreed."""

import datetime as dt
import hashlib
from collections.abc import Mapping as MappingOf
from typing import Any, Self

from django.db import models

from carddav.models.connection import MAX_URL_LENGTH, Connection
from contacts_project.kernel.database.columns import StoredTextField
from contacts_project.kernel.ownership.models import OwnedManager, OwnedModel, OwnedQuerySet, UnscopedManager
from contacts_project.kernel.texts import Text
from contacts_project.kernel.vocabularies import Vocabulary
from people.models import Person

MAX_KEY_LENGTH = 200
MAX_UID_LENGTH = 1000
MAX_ETAG_LENGTH = 500
#: A value of `Mapping.local_rev` below every revision: the person has unsent changes.
UNSENT = -1


class MappingStatus(Vocabulary):
    """CLEAN; DIRTY: to be sent; CONFLICT: fields in conflict; HELD: the card is gone, and the user has to decide;
    QUARANTINED: the card is held back, see HeldBack."""

    CLEAN = "clean"
    DIRTY = "dirty"
    CONFLICT = "conflict"
    HELD = "held"
    QUARANTINED = "quarantined"


class HeldBack(Vocabulary):
    """Why a card is not written for now. Those of the first line wait until the content changes, the others pass."""

    REFUSED = "refused"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    """The card as last fetched cannot be read, so it cannot be patched."""
    PASSING = "passing"
    """A 404, 409 or 412 for a card that is there as it was."""
    SERVER_ERROR = "server_error"
    LOCKED = "locked"
    NO_SPACE = "no_space"
    READ_ONLY = "read_only"


#: A card is sent in this many runs; after that it waits for this delay, which doubles with each failure.
MAX_TRIES = 3
_FIRST_DELAY, _MAX_DELAY = dt.timedelta(hours=1), dt.timedelta(days=1)

WAITING_FOR_CONTENT = frozenset({HeldBack.REFUSED, HeldBack.TOO_LARGE, HeldBack.UNREADABLE})


def _delay(failures: int) -> dt.timedelta:
    if failures < MAX_TRIES:
        return dt.timedelta(0)
    doublings: int = min(failures - MAX_TRIES, 10)
    delay: dt.timedelta = min(_FIRST_DELAY * 2**doublings, _MAX_DELAY)
    return delay


def hash_text(text: str) -> str:
    """The hash by which the text of a card is recognised: SHA-256, hexadecimal."""
    # "replace": a card may contain lone surrogates, which UTF-8 cannot encode.
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


Bases = tuple[MappingOf[str, Any], MappingOf[str, Any]]
"""The local and the remote base."""


class MappingQuerySet(OwnedQuerySet["Mapping"]):
    def held_back(self) -> Self:
        """Cards that are not written for now, of people who are synced."""
        return self.exclude(code="").filter(person__deleted_at=None, person__card_dav_sync_enabled=True)

    def mark_unsent(self) -> int:
        """Let the next push look at these contacts again."""
        return self.update(local_rev=UNSENT)

    def try_again(self, now: dt.datetime) -> int:
        """Let the next run send these cards, also with the content that was refused."""
        return self.exclude(code="").update(next_try_at=now, body_hash="", failures=0)


class Mapping(OwnedModel):
    """The card of one person.

    `href` is as the server spelled it, `href_key` its form for comparison (`href_key` of kernel.webdav.hrefs).
    While there is no card, `href` is the one under which it was sent, if any, and `href_key` is `new:` and the
    person's id.
    `remote_raw` is the card as last fetched, or empty. Two bases detect edits: `base_remote` has the fields of
    `remote_raw`, `base_local` the fields of the person when both sides last agreed. A value that a server drops or re-
    spells is therefore an edit of neither side. `local_rev` is the account's revision at that time.

    A card that is held back has a `code` (HeldBack) and the reason in `error`, since `held_since`. It is sent again
    once the hash of its content differs from `body_hash`, or from `next_try_at` on (null: the server refuses the
    content). `failures` counts those in a row. UIDs are not unique on servers.

    Only the methods below change the state, so that its columns agree.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+", db_index=False)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    uid = models.CharField(max_length=MAX_UID_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: the card has none
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    remote_raw = models.TextField(blank=True)
    base_remote = models.JSONField(default=dict, blank=True)
    base_local = models.JSONField(default=dict, blank=True)
    local_rev = models.BigIntegerField(default=0)
    status = models.CharField(max_length=15, choices=MappingStatus.choices, default=MappingStatus.CLEAN)
    error = StoredTextField(blank=True)
    body_hash = models.CharField(max_length=64, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)
    code = models.CharField(max_length=15, choices=HeldBack.choices, blank=True)
    held_since = models.DateTimeField(null=True, blank=True)
    next_try_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["Mapping", MappingQuerySet](MappingQuerySet)
    objects = OwnedManager["Mapping", MappingQuerySet](MappingQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person"], name="carddav_mapping_of_person"),
            models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_mapping_of_card"),
        ]
        indexes = [
            models.Index(fields=["connection", "status"], name="carddav_mapping_status"),
            models.Index(fields=["connection", "uid"], name="carddav_mapping_uid"),
            models.Index(fields=["updated_at"], name="carddav_mapping_held", condition=models.Q(status="held")),
            models.Index(fields=["connection"], name="carddav_mapping_held_back", condition=~models.Q(code="")),
        ]

    @property
    def has_card(self) -> bool:
        """Whether the card exists on the server, as far as is known."""
        return bool(self.remote_raw)

    def keep_text(self, text: str, etag: str | None, uid: str | None) -> None:
        """The card was fetched (not saved)."""
        self.remote_raw, self.etag, self.uid = text, etag, uid

    def agree(self, bases: Bases, local_rev: int, *, is_conflict: bool) -> None:
        """Both sides have what `bases` say, or will have once the card is sent (`local_rev` is UNSENT); a card that is
        held back stays so until it is sent. `is_conflict`: some fields are undecided."""
        self.base_local, self.base_remote = dict(bases[0]), dict(bases[1])
        self.local_rev = local_rev
        if local_rev != UNSENT or self.status != MappingStatus.QUARANTINED:
            self._end_holding_back()
            self.status = MappingStatus.CONFLICT if is_conflict else MappingStatus.CLEAN
        self.save()

    def record_sent(self, text: str, etag: str | None, uid: str | None, *, href: str, href_key: str) -> None:
        """The server has taken the card, under this href (not saved: `agree` follows)."""
        self._end_holding_back()
        self.status = MappingStatus.CLEAN
        self.href, self.href_key = href, href_key
        self.keep_text(text, etag, uid)

    def respell(self, bases: Bases) -> None:
        """The card was read back after our write: `bases` have the server's spelling."""
        self.base_local, self.base_remote = dict(bases[0]), dict(bases[1])
        self.save(update_fields=["base_local", "base_remote", "remote_raw", "etag", "uid", "updated_at"])

    def link(self, href: str, href_key: str, empty: MappingOf[str, object]) -> None:
        """The person has this card, a new one, or one that has moved to this href, whose bases stay (not saved)."""
        self.href, self.href_key = href, href_key
        self.local_rev, self.status = UNSENT, MappingStatus.CLEAN
        if empty:
            self.base_local, self.base_remote = dict(empty), dict(empty)
        self._end_holding_back()

    def requeue(self, href: str = "") -> None:
        """There is no card: the next push writes one, under `href` if one was sent there already."""
        self.href, self.href_key, self.etag, self.remote_raw = href, f"new:{self.person_id}", None, ""
        self.base_local, self.base_remote, self.local_rev = {}, {}, UNSENT
        self.status = MappingStatus.DIRTY
        self._end_holding_back()
        self.save()

    @classmethod
    def queued(cls, **links: object) -> Self:
        """A mapping of a person without a card (not saved): the next push writes one."""
        key = f"new:{links['person_id']}"
        return cls(href_key=key, local_rev=UNSENT, status=MappingStatus.DIRTY, **links)

    @classmethod
    def agreed(cls, bases: Bases, local_rev: int, **card: object) -> Self:
        """A mapping of a person who was made from the card (not saved)."""
        return cls(base_local=dict(bases[0]), base_remote=dict(bases[1]), local_rev=local_rev, **card)

    def reserve(self, href: str) -> None:
        """A new card will be sent under this href."""
        self.href = href
        self.save(update_fields=["href", "updated_at"])

    def add_group(self, name: str, revision: int | None) -> None:
        """Both sides know the membership, which a group card on the server has told."""
        self.base_local["groups"] = [*self.base_local.get("groups", ()), name]
        self.mark_current(revision)

    def mark_current(self, revision: int | None) -> None:
        """A change of this revision is nothing to be sent; None if other changes are unsent."""
        if self.local_rev != UNSENT and revision is not None:
            self.local_rev = revision
        self.save(update_fields=["base_local", "local_rev", "updated_at"])

    def hold(self) -> None:
        """The card is gone and the person was edited: the user decides."""
        self._end_holding_back()
        self.status = MappingStatus.HELD
        self.save()

    def release(self) -> None:
        """What was undecided is decided (not saved)."""
        self.status = MappingStatus.CLEAN

    def decide(self, bases: Bases) -> None:
        """The user has decided a conflict: with these bases the next merge takes the chosen side."""
        self.base_local, self.base_remote = dict(bases[0]), dict(bases[1])
        self.status, self.local_rev = MappingStatus.CLEAN, UNSENT
        self.save()

    def hold_back(self, code: HeldBack, reason: Text, body_hash: str, now: dt.datetime) -> bool:
        """Do not write this content for now. What was refused for its content waits for a change, the rest for the next
        runs, then for an hour, doubling to a day. Returns whether this is news."""
        is_news = self.code != code or self.body_hash != body_hash
        # A server without room, or for whose writes we have no right, says nothing about this card.
        counts = code in {HeldBack.PASSING, HeldBack.SERVER_ERROR, HeldBack.LOCKED}
        self.failures = (1 if is_news else min(self.failures + 1, 1000)) if counts else 0
        self.held_since = now if self.held_since is None else self.held_since
        self.next_try_at = None if code in WAITING_FOR_CONTENT else now + _delay(self.failures)
        self.status, self.code, self.error, self.body_hash = MappingStatus.QUARANTINED, code, reason, body_hash
        self.save()
        return is_news

    def retry_at(self) -> dt.datetime | None:
        """When a run tries the card again: at its time, but not before the next automatic run, if there are any."""
        due = self.next_try_at
        return due and (max(due, self.connection.next_sync_at) if self.connection.sync_enabled else due)

    def is_held_back(self, body_hash: str, now: dt.datetime) -> bool:
        """Whether this content must not be sent now."""
        if self.status != MappingStatus.QUARANTINED or self.body_hash != body_hash:
            return False
        return self.next_try_at is None or now < self.next_try_at

    def put_tombstone(self, state: "TombstoneState") -> None:
        """The person is deleted: record what becomes of the card."""
        values = {
            "person_id": self.person_id,
            "href": self.href,
            "uid": self.uid,
            "etag": self.etag,
            "remote_raw": self.remote_raw,
            "state": state,
        }
        Tombstone.objects.owned_by(self.owner_id).update_or_create(
            connection_id=self.connection_id,
            href_key=self.href_key,
            defaults=values,
            create_defaults={"owner_id": self.owner_id, **values},
        )

    def _end_holding_back(self) -> None:
        self.code, self.error, self.body_hash, self.failures = "", "", "", 0
        self.held_since = self.next_try_at = None


class Todo(OwnedModel):
    """A card that a listing named and that was not fetched yet. It lets the sync token move on."""

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known

    unscoped = UnscopedManager["Todo", OwnedQuerySet["Todo"]](OwnedQuerySet)
    objects = OwnedManager["Todo", OwnedQuerySet["Todo"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_todo_of_card")]


class TombstoneState(Vocabulary):
    """The card stays on the server, is to be deleted there, or is gone."""

    KEPT = "kept"
    TO_DELETE = "to_delete"
    GONE = "gone"


class Tombstone(OwnedModel):
    """A card whose person was deleted, or that was dismissed: it is not offered as an import again.

    `etag` and `remote_raw` are as last fetched, to detect a later edit on the server. `person` is the deleted person
    while its row exists.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    href = models.CharField(max_length=MAX_URL_LENGTH)
    href_key = models.CharField(max_length=MAX_KEY_LENGTH)
    uid = models.CharField(max_length=MAX_UID_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: the card has none
    etag = models.CharField(max_length=MAX_ETAG_LENGTH, null=True, blank=True)  # noqa: DJ001 - null: not known
    remote_raw = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=TombstoneState.choices, default=TombstoneState.KEPT)

    unscoped = UnscopedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)
    objects = OwnedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "href_key"], name="carddav_tombstone_of_card")]
        indexes = [
            models.Index(
                fields=["connection"], name="carddav_tombstone_to_delete", condition=models.Q(state="to_delete")
            ),
        ]
