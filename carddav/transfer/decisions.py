"""What waits for a decision in the account's export: conflicts, also resolved ones, and pending imports. The next sync
links conflicts to their cards again."""

from collections.abc import Iterator
from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from carddav.models import Conflict, ConflictKind, PendingImport
from carddav.models.mapping import hash_text
from carddav.transfer.connections import NO_CONNECTION
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictCharField, StrictChoiceField, StrictDateTimeField, messages
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.contents.fields import EMPTY_FIELDS, remote_fields
from people.vcard import VCardError, read_card
from people.vocabularies import Resolution

_NO_PERSON = define_text("person_not_imported", "The person it is about did not come in.")
_NOT_A_VALUE = define_text("not_a_conflict_value", "This must be null, a text, or a list of texts and entries.")

_RESOLUTION = define_text("resolution_and_time", "It goes with resolvedAt: both or neither.")
_REPEATED = define_text("field_named_twice", "Each field is named once.")
_NO_FIELDS = define_text("conflict_without_fields", "An open conflict of fields names one at least.")

_MAX_RAW_LENGTH = 10 * 1024 * 1024
_RESOLUTIONS = [value for value in Resolution.values if value]


class SideField(serializers.JSONField):
    """One side's value of a field: null, text, or a list of texts and flat entries."""

    default_error_messages = messages(invalid=_NOT_A_VALUE)

    def to_internal_value(self, data: Any) -> Any:
        values = data if isinstance(data, list) else [data]
        for value in values:
            is_entry = isinstance(value, dict) and isinstance(data, list)
            if not all(map(_is_scalar, [*value.keys(), *value.values()] if is_entry else [value])):
                self.fail("invalid")
        if not isinstance(data, list | str | None):
            self.fail("invalid")
        return data


def _is_scalar(value: object) -> bool:
    # PostgreSQL cannot store NUL in JSON.
    return "\0" not in value if isinstance(value, str) else value is None or isinstance(value, bool | int | float)


class ConflictFieldRecordSerializer(serializers.Serializer[Any]):
    field = StrictChoiceField(list(EMPTY_FIELDS))
    base = SideField(allow_null=True)
    local = SideField(allow_null=True)
    remote = SideField(allow_null=True)


class ConflictRecordSerializer(TimestampsSerializer):
    connectionId = StrictCharField(max_length=36)
    personId = StrictCharField(max_length=36)
    kind = StrictChoiceField(list(ConflictKind.values))
    fields = ConflictFieldRecordSerializer(many=True, required=False, default=list)  # type: ignore[assignment]  # hides Serializer.fields
    remoteRaw = serializers.CharField(
        max_length=_MAX_RAW_LENGTH,
        trim_whitespace=False,
        allow_blank=True,
        source="remote_raw",
        required=False,
        default="",
    )
    resolution = StrictChoiceField(_RESOLUTIONS, required=False, allow_null=True)
    resolvedAt = StrictDateTimeField(source="resolved_at", required=False, allow_null=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if bool(attrs.get("resolution")) != bool(attrs.get("resolved_at")):
            raise InvalidError({"resolution": [_RESOLUTION]})
        names = [entry["field"] for entry in attrs["fields"]]
        if len(set(names)) != len(names):
            raise InvalidError({"fields": [_REPEATED]})
        if attrs["kind"] == ConflictKind.FIELDS and not attrs.get("resolved_at"):
            self._check_card(attrs)
        return attrs

    def _check_card(self, attrs: JsonObject) -> None:
        """Resolving takes the server's values from the card, so it must be readable. The remote values are replaced by
        the card's own."""
        if not attrs["fields"]:
            raise InvalidError({"fields": [_NO_FIELDS]})
        try:
            remote = remote_fields(read_card(attrs["remote_raw"])[0])
        except VCardError as error:
            raise InvalidError({"remoteRaw": [error.text]}) from error
        for entry in attrs["fields"]:
            entry["remote"] = remote[entry["field"]]


class ConflictSection(Section):
    """Matched by id. A person has at most one open conflict, and an existing one stays."""

    name, order, models = "cardDavConflicts", 87, (Conflict,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in Conflict.objects.owned_by(owner).order_by("pk").iterator(chunk_size=100):
            yield {
                "id": str(row.pk),
                "connectionId": str(row.connection_id),
                "personId": str(row.person_id),
                "kind": row.kind,
                "fields": row.fields,
                "remoteRaw": row.remote_raw,
                "resolution": row.resolution or None,
                "resolvedAt": row.resolved_at,
                "createdAt": row.created_at,
            }

    def serializer(self) -> ConflictRecordSerializer:
        return ConflictRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(Conflict, records)
        people = {record: run.find("people", record.data["personId"]) for record in records}
        rows = Conflict.objects.owned_by(run.owner).unresolved().filter(person__in=set(people.values()) - {None})
        still_open = run.index(self.name, dict(rows.values_list("person_id", "pk")))
        new = []
        for record, person in people.items():
            is_open = not record.data.get("resolved_at")
            if found := ids.found.get(record.source_id) or (still_open.get(person) if is_open else None):
                run.skipped(record, found)
                continue
            connection = run.find("cardDavConnections", record.data["connectionId"])
            if person is None or connection is None:
                run.failed(record, _NO_PERSON if person is None else NO_CONNECTION)
                continue
            row = Conflict(pk=ids.new[record.source_id], owner=run.owner, connection_id=connection, person_id=person)
            _set_columns(row, record.data, run)
            if is_open:
                still_open[person] = row.pk
            new.append(row)
            run.imported(record, row.pk)
        run.insert(Conflict, new)


def _set_columns(row: Conflict, data: JsonObject, run: TransferRun) -> None:
    row.kind, row.fields, row.remote_raw = data["kind"], data["fields"], data["remote_raw"]
    row.resolution = data.get("resolution") or Resolution.OPEN
    # A document may have times in the future, which this instance must not show.
    row.resolved_at = min(data["resolved_at"], run.now) if data.get("resolved_at") else None
    row.created_at = times_of(data, run.now)["created_at"]


class PendingImportRecordSerializer(TimestampsSerializer):
    uid = StrictCharField(max_length=255, required=False, allow_null=True)
    displayName = StrictCharField(max_length=500, source="display_name")
    raw = serializers.CharField(max_length=_MAX_RAW_LENGTH, trim_whitespace=False)
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
