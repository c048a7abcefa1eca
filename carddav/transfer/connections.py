"""The CardDAV connection in the account's export, without its password, which the owner enters again, and the history
of its runs: counts, times and messages, without the data for an undo."""

from collections.abc import Iterator
from typing import Any

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from carddav.models import (
    RUN_COUNTS,
    CardDavProvider,
    Connection,
    ImportMode,
    NameFormat,
    Pause,
    Run,
    RunState,
    RunTrigger,
)
from carddav.models.connection import MAX_SYNC_INTERVAL_SECONDS, MAX_URL_LENGTH, MIN_SYNC_INTERVAL_SECONDS
from contacts_project.kernel.api.fields import (
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateTimeField,
    StrictIntegerField,
)
from contacts_project.kernel.json import JsonObject, camel_case, dumps
from contacts_project.kernel.texts import Text, define_text

NO_CONNECTION = define_text("connection_not_imported", "Its connection did not come in.")

_MAX_COUNT = 2**31 - 1
_MAX_MESSAGES, _MAX_MESSAGE_LENGTH = 50, 10_000
_SETTINGS = (
    "server_url",
    "username",
    "provider",
    "sync_enabled",
    "auto_export_new",
    "auto_sync_interval",
    "import_mode",
    "name_format",
)


class ConnectionRecordSerializer(TimestampsSerializer):
    serverUrl = StrictCharField(max_length=MAX_URL_LENGTH, source="server_url")
    username = StrictCharField(max_length=255)
    provider = StrictChoiceField(list(CardDavProvider.values), required=False, allow_null=True, default=None)
    syncEnabled = StrictBooleanField(source="sync_enabled", required=False, default=True)
    autoExportNew = StrictBooleanField(source="auto_export_new", required=False, default=True)
    autoSyncInterval = StrictIntegerField(
        min_value=MIN_SYNC_INTERVAL_SECONDS,
        max_value=MAX_SYNC_INTERVAL_SECONDS,
        source="auto_sync_interval",
        required=False,
        default=43_200,
    )
    importMode = StrictChoiceField(
        list(ImportMode.values), source="import_mode", required=False, default=ImportMode.MANUAL
    )
    cardDavNameFormat = StrictChoiceField(
        list(NameFormat.values), source="name_format", required=False, default=NameFormat.FULL
    )


class ConnectionSection(Section):
    """An account has at most one connection: an existing one stays. An imported one is paused until it has a
    password."""

    name, order, models = "cardDavConnections", 85, (Connection,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in Connection.objects.owned_by(owner).defer("password"):
            yield {
                "id": str(row.pk),
                "serverUrl": row.server_url,
                "username": row.username,
                "provider": row.provider,
                "syncEnabled": row.sync_enabled,
                "autoExportNew": row.auto_export_new,
                "autoSyncInterval": row.auto_sync_interval,
                "importMode": row.import_mode,
                "cardDavNameFormat": row.name_format,
                "createdAt": row.created_at,
            }

    def serializer(self) -> ConnectionRecordSerializer:
        return ConnectionRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(Connection, records)
        rows = Connection.objects.owned_by(run.owner)
        existing = run.index(self.name, dict.fromkeys(rows.values_list("pk", flat=True)))
        new = []
        for record in records:
            if existing:
                run.skipped(record, next(iter(existing)))
                continue
            made = times_of(record.data, run.now)["created_at"]
            settings = {column: record.data[column] for column in _SETTINGS}
            # Paused until the owner enters the password, which the document does not contain.
            row = Connection(
                pk=ids.new[record.source_id], owner=run.owner, created_at=made, pause=Pause.AUTH, **settings
            )
            existing[row.pk] = None
            new.append(row)
            run.imported(record, row.pk)
        run.insert(Connection, new)


def _count(source: str | None = None) -> StrictIntegerField:
    return StrictIntegerField(min_value=0, max_value=_MAX_COUNT, source=source, required=False, default=0)


class StoredMessageField(serializers.Field[Any, Any, Any, Any]):
    """A text as a row stores it: `{ code, text, params }`, or a plain string."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and len(dumps(data)) <= _MAX_MESSAGE_LENGTH:
            return Text.from_stored(data).to_stored()
        return StrictCharField(max_length=_MAX_MESSAGE_LENGTH, allow_blank=True).run_validation(data)

    def to_representation(self, value: Any) -> Any:
        return value


class RunRecordSerializer(TimestampsSerializer):
    connectionId = StrictCharField(max_length=36)
    trigger = StrictChoiceField(list(RunTrigger.values))
    dryRun = StrictBooleanField(source="dry_run", required=False, default=False)
    confirmed = StrictBooleanField(required=False, default=False)
    startedAt = StrictDateTimeField(source="started_at")
    endedAt = StrictDateTimeField(source="ended_at")
    undoneAt = StrictDateTimeField(source="undone_at", required=False, allow_null=True)
    imported = _count()
    exported = _count()
    updatedLocally = _count("updated_locally")
    updatedRemotely = _count("updated_remotely")
    conflicts = _count()
    errors = _count()  # type: ignore[assignment]  # hides Serializer.errors, which an import does not read
    pendingImports = _count("pending_imports")
    errorMessages = serializers.ListField(
        child=StoredMessageField(),
        source="error_messages",
        max_length=_MAX_MESSAGES,
        required=False,
        default=list,
    )
    code = StrictCharField(max_length=30, allow_blank=True, required=False, default="")
    error = StoredMessageField(required=False, default="")


class RunSection(Section):
    """Ended runs, matched by id, under the imported connection."""

    name, order, models = "cardDavRuns", 86, (Run,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        rows = Run.objects.owned_by(owner).filter(state=RunState.ENDED).order_by("pk")
        for row in rows.iterator(chunk_size=500):
            yield {
                "id": str(row.pk),
                "connectionId": str(row.connection_id),
                "trigger": row.trigger,
                "dryRun": row.dry_run,
                "confirmed": row.confirmed,
                "startedAt": row.started_at,
                "endedAt": row.ended_at,
                "undoneAt": row.undone_at,
                **{camel_case(name): getattr(row, name) for name in RUN_COUNTS},
                "errorMessages": row.error_messages,
                "code": row.code,
                "error": row.error.to_stored() if row.error else "",
                "createdAt": row.created_at,
            }

    def serializer(self) -> RunRecordSerializer:
        return RunRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(Run, records)
        new = []
        for record in records:
            if found := ids.found.get(record.source_id):
                run.skipped(record, found)
                continue
            connection = run.find("cardDavConnections", record.data["connectionId"])
            if connection is None:
                run.failed(record, NO_CONNECTION)
                continue
            row = Run(
                pk=ids.new[record.source_id],
                owner=run.owner,
                connection_id=connection,
                state=RunState.ENDED,
                created_at=times_of(record.data, run.now)["created_at"],
                **_run_columns(record.data, run),
            )
            new.append(row)
            run.imported(record, row.pk)
        run.insert(Run, new)


def _run_columns(data: JsonObject, run: TransferRun) -> JsonObject:
    """The columns of the record; times in the future become the time of the import."""
    names = ("trigger", "dry_run", "confirmed", "error_messages", "code", "error")
    times = {name: min(data[name], run.now) for name in ("started_at", "ended_at", "undone_at") if data.get(name)}
    error = Text.from_stored(data["error"]) if data["error"] else ""
    return {name: data[name] for name in (*names, *RUN_COUNTS)} | times | {"error": error}
