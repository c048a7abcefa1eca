"""The CardDAV connection in the account's export, without its password, which the owner enters again."""

from collections.abc import Iterator

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from carddav.models import Connection, ImportMode, NameFormat, Pause, Provider
from carddav.models.connection import MAX_SYNC_INTERVAL_SECONDS, MAX_URL_LENGTH, MIN_SYNC_INTERVAL_SECONDS
from contacts_project.kernel.api.fields import (
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from contacts_project.kernel.json import JsonObject

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
    provider = StrictChoiceField(list(Provider.values), required=False, allow_null=True, default=None)
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
