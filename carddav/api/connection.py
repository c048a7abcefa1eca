"""Routes of the account's one connection."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, in_own_transactions, not_in_atomic_batches, reads_one_record, sends_etag
from accounts.api.viewsets import ApiViewSet
from accounts.fields import SecretField
from carddav.models import CardDavProvider, Connection, ImportMode, Mapping, NameFormat
from carddav.models.connection import MAX_SYNC_INTERVAL_SECONDS, MAX_URL_LENGTH, MIN_SYNC_INTERVAL_SECONDS
from carddav.services.connections import (
    ConnectionExistsError,
    create_connection,
    delete_connection,
    get_connection,
    update_connection,
)
from carddav.services.server_checks import (
    CheckBrokenError,
    CheckLoginError,
    CheckNotFoundError,
    CheckRefusedError,
    CheckTimeoutError,
    check_server,
)
from contacts_project.kernel.api.etags import conditional_status
from contacts_project.kernel.api.fields import (
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictIntegerField,
)
from contacts_project.kernel.api.json import representation_response
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError, MissingError, RateLimitedError
from contacts_project.kernel.json import Representation
from contacts_project.kernel.texts import define_text

_FOUND = define_text(
    "books_found", "%(count)s address book was found.", plural="%(count)s address books were found.", number="count"
)


class ConnectionAnswer(serializers.ModelSerializer[Connection]):
    """The connection as answers show it; never with its password."""

    serverUrl = serializers.CharField(source="server_url")
    provider = serializers.ChoiceField(choices=list(CardDavProvider.values), allow_null=True)
    syncEnabled = serializers.BooleanField(source="sync_enabled")
    autoExportNew = serializers.BooleanField(source="auto_export_new")
    autoSyncInterval = serializers.IntegerField(source="auto_sync_interval", help_text="Seconds.")
    importMode = serializers.ChoiceField(choices=list(ImportMode.values), source="import_mode")
    cardDavNameFormat = serializers.ChoiceField(choices=list(NameFormat.values), source="name_format")
    addressBookUrl = serializers.SerializerMethodField(help_text="Null until a sync has found it.")
    addressBookName = serializers.SerializerMethodField()
    lastSyncAt = serializers.DateTimeField(source="last_sync_at", allow_null=True)
    lastError = serializers.SerializerMethodField()
    lastErrorAt = serializers.DateTimeField(source="last_error_at", allow_null=True)
    heldBack = serializers.SerializerMethodField(help_text="Cards that cannot be written for now.")
    createdAt = serializers.DateTimeField(source="created_at")
    updatedAt = serializers.DateTimeField(source="updated_at")

    class Meta:
        model = Connection
        fields = (
            "id",
            "serverUrl",
            "username",
            "provider",
            "syncEnabled",
            "autoExportNew",
            "autoSyncInterval",
            "importMode",
            "cardDavNameFormat",
            "addressBookUrl",
            "addressBookName",
            "lastSyncAt",
            "lastError",
            "lastErrorAt",
            "heldBack",
            "createdAt",
            "updatedAt",
        )

    def get_addressBookUrl(self, row: Connection) -> str | None:  # noqa: N802 - DRF derives it
        return row.book_url or None

    def get_addressBookName(self, row: Connection) -> str | None:  # noqa: N802
        return row.book_name or None

    def get_heldBack(self, row: Connection) -> int:  # noqa: N802
        return Mapping.objects.owned_by(row.owner_id).held_back().count()

    def get_lastError(self, row: Connection) -> str | None:  # noqa: N802
        return str(row.last_error) if row.last_error else None


class ConnectionSettings(serializers.Serializer[Any]):
    """What is optional in every body."""

    provider = StrictChoiceField(list(CardDavProvider.values), required=False, allow_null=True)
    syncEnabled = StrictBooleanField(source="sync_enabled", required=False)
    autoExportNew = StrictBooleanField(source="auto_export_new", required=False)
    autoSyncInterval = StrictIntegerField(
        min_value=MIN_SYNC_INTERVAL_SECONDS,
        max_value=MAX_SYNC_INTERVAL_SECONDS,
        source="auto_sync_interval",
        required=False,
    )
    importMode = StrictChoiceField(list(ImportMode.values), source="import_mode", required=False)
    cardDavNameFormat = StrictChoiceField(list(NameFormat.values), source="name_format", required=False)


class CreateConnection(ConnectionSettings):
    """Body of POST connection."""

    serverUrl = StrictCharField(max_length=MAX_URL_LENGTH, source="server_url")
    username = StrictCharField(max_length=255)
    password = SecretField()


class UpdateConnection(ConnectionSettings):
    """Body of PUT connection: what is left out stays."""

    serverUrl = StrictCharField(max_length=MAX_URL_LENGTH, source="server_url", required=False)
    username = StrictCharField(max_length=255, required=False)
    password = SecretField(required=False, allow_null=True)


class CheckConnection(serializers.Serializer[Any]):
    """Body of POST connection/test."""

    serverUrl = StrictCharField(max_length=MAX_URL_LENGTH)
    username = StrictCharField(max_length=255)
    password = SecretField()
    provider = StrictChoiceField(list(CardDavProvider.values), required=False, allow_null=True)


_BOOKS = inline_serializer(
    "CardDavAddressBook", {"url": serializers.CharField(), "name": serializers.CharField()}, many=True
)


class ConnectionViewSet(ApiViewSet[Any]):
    """The account's connection, and the test of one that is not saved."""

    record_serializer = ConnectionAnswer

    def current_record(self) -> Representation:
        return _represent(get_connection(self.owner))

    def stored_revision(self) -> int | None:
        """The current revision of the settings; None if there is no connection."""
        revisions = Connection.objects.owned_by(self.owner).values_list("revision", flat=True)
        found: int | None = revisions.first()
        return found

    @extend_schema(
        operation_id="getCardDavConnection", responses=envelope("CardDavConnectionFound", connection=ConnectionAnswer())
    )
    @action(detail=False)
    @raises(MissingError)
    @reads_one_record
    @conditional_status
    def connection(self, request: Request) -> Response:
        """The connection, without its password; 404 if there is none."""
        return _connection_response(get_connection(self.owner))

    @extend_schema(
        operation_id="createCardDavConnection",
        request=CreateConnection,
        responses=envelope("CardDavConnectionCreated", connection=ConnectionAnswer()),
    )
    @connection.mapping.post
    @raises(ConnectionExistsError)
    @sends_etag
    @in_own_transactions
    def create_connection(self, request: Request) -> Response:
        """Connect a CardDAV server. Nothing is sent there yet."""
        settings = self.read_body(CreateConnection)
        return _connection_response(
            create_connection(owner=self.owner, password=settings.pop("password"), settings=settings)
        )

    @extend_schema(
        operation_id="updateCardDavConnection",
        request=UpdateConnection,
        responses=envelope("CardDavConnectionUpdated", connection=ConnectionAnswer()),
    )
    @connection.mapping.put
    @raises(MissingError)
    @sends_etag
    @if_match
    @not_in_atomic_batches
    def update_connection(self, request: Request) -> Response:
        """Change the connection; the password only when it is in the body."""
        get_connection(self.owner)
        settings = self.read_body(UpdateConnection)
        password = settings.pop("password", None)
        return _connection_response(
            update_connection(owner=self.owner, password=password, settings=settings, now=timezone.now())
        )

    @extend_schema(
        operation_id="deleteCardDavConnection",
        responses={200: envelope("CardDavConnectionDeleted", success=serializers.BooleanField())},
    )
    @connection.mapping.delete
    @raises(MissingError)
    @if_match
    @not_in_atomic_batches
    def delete_connection(self, request: Request) -> Response:
        """Remove the connection with all mappings and pending imports; people and the server's cards stay."""
        delete_connection(owner=self.owner)
        return Response({"success": True})

    @extend_schema(
        operation_id="testCardDavConnection",
        request=CheckConnection,
        responses=envelope(
            "CardDavConnectionTest",
            success=serializers.BooleanField(),
            message=serializers.CharField(),
            addressBooks=_BOOKS,
        ),
    )
    @action(detail=False, methods=["post"], url_path="connection/test")
    @raises(
        FieldError,
        RateLimitedError,
        CheckLoginError,
        CheckNotFoundError,
        CheckTimeoutError,
        CheckRefusedError,
        CheckBrokenError,
    )
    @in_own_transactions
    def test_connection(self, request: Request) -> Response:
        """Look for address books with a login, without saving it. Ten times in 15 minutes."""
        data = self.read_body(CheckConnection)
        books = check_server(
            owner=self.owner,
            server_url=data["serverUrl"],
            username=data["username"],
            password=data["password"],
            provider=data.get("provider"),
        )
        found = [{"url": book.url, "name": book.name} for book in books]
        message = _FOUND.format(count=len(found))
        return Response({"success": True, "message": message, "addressBooks": found})


def _represent(row: Connection) -> Representation:
    return Representation(row.revision, ConnectionAnswer(row).data)


def _connection_response(row: Connection) -> Response:
    return representation_response("connection", _represent(row))
