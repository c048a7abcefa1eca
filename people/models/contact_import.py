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
from people.vocabularies import ImportSource, RecordKind


class ContactImport(OwnedModel):
    """One file that was imported; the counts are those of its receipt, set when it has ended.

    `last_revision` is that of the account's last write by it: what was made or changed later is somebody's edit.
    """

    owner = owner_without_index()
    source = models.CharField(max_length=8, choices=ImportSource.choices)
    file_name = models.CharField(max_length=255)
    imported = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    last_revision = models.BigIntegerField(default=0)
    undone_at = models.DateTimeField(null=True, blank=True)

    unscoped = UnscopedManager["ContactImport", OwnedQuerySet["ContactImport"]](OwnedQuerySet)
    objects = OwnedManager["ContactImport", OwnedQuerySet["ContactImport"]](OwnedQuerySet)

    class Meta:
        constraints = [one_of(ImportSource, "source", name="contact_import_source_known")]
        indexes = [models.Index(fields=["owner", "created_at", "id"], name="contact_import_list")]


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
