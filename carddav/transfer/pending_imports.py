"""Pending imports in the account's export. Cards on a server are found again by the next sync."""

from collections.abc import Iterator

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer
from carddav.models import PendingImport
from carddav.models.mapping import hash_text
from contacts_project.kernel.api.fields import StrictCharField, StrictDateTimeField
from contacts_project.kernel.json import JsonObject


class PendingImportRecordSerializer(TimestampsSerializer):
    uid = StrictCharField(max_length=255, required=False, allow_null=True)
    displayName = StrictCharField(max_length=500, source="display_name")
    raw = serializers.CharField(max_length=10 * 1024 * 1024, trim_whitespace=False)
    discoveredAt = StrictDateTimeField(source="discovered_at", required=False, allow_null=True)


class PendingImportSection(Section):
    """Matched by id, else by the text of the card."""

    name, order, models = "pendingImports", 90, (PendingImport,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in PendingImport.objects.owned_by(owner).order_by("pk").iterator(chunk_size=100):
            yield {
                "id": str(row.pk),
                "uid": row.uid,
                "displayName": row.display_name,
                "raw": row.raw,
                "discoveredAt": row.discovered_at,
            }

    def serializer(self) -> PendingImportRecordSerializer:
        return PendingImportRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(PendingImport, records)
        digests_by_record = {record: hash_text(record.data["raw"]) for record in records}
        rows = PendingImport.objects.owned_by(run.owner).filter(digest__in=digests_by_record.values())
        digests = run.index(self.name, dict(rows.values_list("digest", "pk")))
        new = []
        for record, digest in digests_by_record.items():
            if found := ids.found.get(record.source_id) or digests.get(digest):
                run.skipped(record, found)
                continue
            columns = {column: record.data.get(column) for column in ("uid", "display_name", "raw")}
            found_at = min(record.data.get("discovered_at") or run.now, run.now)
            row = PendingImport(
                pk=ids.new[record.source_id], owner=run.owner, digest=digest, discovered_at=found_at, **columns
            )
            digests[digest] = row.pk
            new.append(row)
            run.imported(record, row.pk)
        run.insert(PendingImport, new)
