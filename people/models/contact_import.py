"""Imports of files from elsewhere, and what each of them made, for its undoing."""

from django.db import models

from contacts_project.kernel.database.vocabularies import one_of
from contacts_project.kernel.ownership.models import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
    owner_without_index,
)
from people.models.own_writes import OwnWrites
from people.vocabularies import ImportSource, RecordKind


class ContactImport(OwnedModel):
    """One file that was imported; the counts follow its batches, and are those of its receipt once it has ended.

    `own_revisions` are the account's writes by it, and by its undo, for people.models.own_writes: what others made
    or changed since is somebody's edit. `undo_until` is set by an undo, and from then on the import writes no more: in
    the future it is the lease of an undo under way, in the past that of one that has ended or was cut off.
    `last_revision`: of imports by older versions, which kept no more.
    """

    owner = owner_without_index()
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

    def writes(self) -> OwnWrites:
        """Its own, and those of its undo."""
        return OwnWrites(self.own_revisions or [[0, self.last_revision]])


class ImportedRecord(OwnedModel):
    """A record that an import made (`is_new`) or changed, kept for the retention period.

    `record_id` is no foreign key: the record may be removed for good, or be another app's. Of people, `fingerprint`
    says what they were when the import had written them, and `before` what it changed, for people.importing.undo.
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
