"""Imports of files, and the records that each import wrote, so that it can be undone."""

import datetime as dt
from bisect import bisect_right
from collections.abc import Sequence

from django.db import models

from contacts_project.kernel.database.columns import one_of
from contacts_project.kernel.leases import Leased
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.vocabularies import ImportSource, ImportState, RecordKind


class RevisionSet:
    """A set of revisions, stored as sorted inclusive ranges `[[first, last], ...]` (ContactImport.own_revisions)."""

    def __init__(self, ranges: Sequence[Sequence[int]]) -> None:
        self.ranges = [[first, last] for first, last in ranges]

    def __contains__(self, revision: object) -> bool:
        if not isinstance(revision, int):
            return False
        index = bisect_right(self.ranges, revision, key=lambda pair: pair[0]) - 1
        return index >= 0 and revision <= self.ranges[index][1]

    @property
    def since(self) -> int:
        """The revision before the first range, or 0 without ranges."""
        return self.ranges[0][0] - 1 if self.ranges else 0

    def add(self, revision: int) -> None:
        """Add a revision that is higher than all before."""
        if self.ranges and revision == self.ranges[-1][1] + 1:
            self.ranges[-1][1] = revision
        elif revision not in self:
            self.ranges.append([revision, revision])


class ContactImport(Leased, OwnedModel):
    """One imported file. The counts are updated after each batch; after the last one they equal its receipt.

    The row is written before the first record, with the `total` of its records (null for imports of older versions),
    and is removed if the file has changed nothing. While it is leased, the import runs. Of one whose process was killed
    the lease expires, and `ended_at` stays null.
    `own_revisions` are the revisions that the import and its undo wrote (RevisionSet); a record with
    another revision was edited by somebody else. An undo sets `undo_until`, after which the import writes nothing more:
    in the future it is the lease of a running undo, in the past the undo has ended or was killed. `last_revision` is
    for imports of older versions, which stored only that.
    """

    owner = owner_without_index()
    holder = models.CharField(max_length=150, blank=True, db_default="")
    total = models.PositiveIntegerField(null=True, blank=True)
    source = models.CharField(max_length=8, choices=ImportSource.choices)
    file_name = models.CharField(max_length=255)
    imported = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    own_revisions = models.JSONField(default=list, db_default=[])
    last_revision = models.BigIntegerField(default=0, db_default=0)
    ended_at = models.DateTimeField(null=True, blank=True)
    undo_until = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["ContactImport", OwnedQuerySet["ContactImport"]](OwnedQuerySet)
    objects = OwnedManager["ContactImport", OwnedQuerySet["ContactImport"]](OwnedQuerySet)

    class Meta:
        constraints = [one_of(ImportSource, "source", name="contact_import_source_known")]
        indexes = [models.Index(fields=["owner", "created_at", "id"], name="contact_import_list")]

    def written_revisions(self) -> RevisionSet:
        """The revisions written by the import and its undo."""
        return RevisionSet(self.own_revisions or [[0, self.last_revision]])

    def state(self, clock: dt.datetime) -> ImportState:
        """One that was cut off is done: it writes nothing more."""
        if self.undone_at is not None:
            return ImportState.UNDONE
        return ImportState.DONE if self.is_free(clock) else ImportState.RUNNING

    @property
    def done(self) -> int:
        """How many of its records have an outcome."""
        return self.imported + self.updated + self.skipped + self.errors


class ImportReceipt(OwnedModel):
    """The receipt of an import as its POST answered it: JSON, compressed by zlib. Kept for the retention period."""

    owner = owner_without_index()
    contact_import = models.OneToOneField(ContactImport, on_delete=models.CASCADE, related_name="receipt")
    content = models.BinaryField()
    size = models.PositiveIntegerField()

    unscoped = UnscopedManager["ImportReceipt", OwnedQuerySet["ImportReceipt"]](OwnedQuerySet)
    objects = OwnedManager["ImportReceipt", OwnedQuerySet["ImportReceipt"]](OwnedQuerySet)

    class Meta:
        indexes = [models.Index(fields=["owner", "created_at"], name="import_receipt_age")]


class ImportedRecord(OwnedModel):
    """A record that an import created (`is_new`) or changed, kept for the retention period.

    `record_id` is not a foreign key, because the record may be permanently removed or belong to another app. For a
    person, `fingerprint` is a hash of its content after the import, and `before` holds the values that the import
    changed (people.importing.undo).
    """

    owner = owner_without_index()
    contact_import = models.ForeignKey(ContactImport, on_delete=models.CASCADE, related_name="records", db_index=False)
    kind = models.CharField(max_length=12, choices=RecordKind.choices)
    record_id = models.UUIDField()
    is_new = models.BooleanField(default=True)
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    before = models.JSONField(default=dict, blank=True)

    unscoped = UnscopedManager["ImportedRecord", OwnedQuerySet["ImportedRecord"]](OwnedQuerySet)
    objects = OwnedManager["ImportedRecord", OwnedQuerySet["ImportedRecord"]](OwnedQuerySet)

    class Meta:
        constraints = [
            one_of(RecordKind, "kind", name="imported_record_kind_known"),
            models.UniqueConstraint(fields=["contact_import", "kind", "record_id"], name="imported_record_once"),
        ]
        indexes = [models.Index(fields=["owner", "created_at"], name="imported_record_age")]
