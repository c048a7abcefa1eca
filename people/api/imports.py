"""The routes of imports: upload a file of another product, list imports, look at one, undo one."""

import datetime as dt
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import register_converter
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, in_own_transactions
from accounts.api.viewsets import ApiViewSet, OwnedViewSet
from accounts.vocabularies import DateFormat
from contacts_project.kernel.api.body_limit import IMPORT_LIMIT
from contacts_project.kernel.api.schema import AnyField, envelope, raises
from contacts_project.kernel.errors import FieldError, PlanLimitError
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.ownership.account_lock import IMPORTS
from contacts_project.kernel.ownership.client_ids import IdTakenError
from contacts_project.kernel.text_forms import NOT_A_TEXT
from contacts_project.kernel.texts import define_text, describe_remarks
from people.api.uploads import (
    CLIENT_ID,
    DRY_RUN,
    FILE_TOO_LARGE,
    JOINED_GROUPS,
    REMIND,
    client_id_field,
    dry_run_field,
    joined_groups_field,
    read_client_id,
    read_dry_run,
    read_joined_groups,
    read_remind,
    remind_field,
    uploaded_file,
)
from people.api.vcard import import_receipt_fields
from people.importing.receipts import load_receipt
from people.importing.runs import FileImport, ImportFile, place_for_import
from people.importing.sources.days import AMBIGUOUS
from people.importing.sources.sheets import date_orders
from people.importing.sources.tables import CsvTable, TableOptions, open_table, read_options
from people.importing.sources.targets import ColumnTarget, propose_targets
from people.importing.undo import (
    ImportRunningError,
    ImportTooOldError,
    ImportUndoneError,
    UndoUnderWayError,
    check_undoable,
    undo_import,
)
from people.models import ContactImport
from people.services.plan_limits import limit_error
from people.vocabularies import UPLOAD_SOURCES, ImportSource, ImportState

_NO_FILE = define_text("no_import_file", "A file is needed.")


class SourceConverter:
    """The path converter of `<import_source:source>`; any other source is 404."""

    regex = "|".join(UPLOAD_SOURCES)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(SourceConverter, "import_source")

DATE_ORDERS = [*DateFormat.values, AMBIGUOUS]
_MAX_SAMPLES, _MAX_SAMPLE_LENGTH = 5, 100
_MAX_TEXT_LENGTH = 100_000


def _option_fields() -> dict[str, AnyField]:
    """What a client may say about a table."""
    return {
        "encoding": serializers.CharField(required=False, help_text="Such as utf-8, windows-1252 or shift_jis."),
        "delimiter": serializers.CharField(required=False, help_text="A comma, a semicolon, a tab or |."),
        "dateOrder": serializers.ChoiceField(DateFormat.values, required=False),
    }


_FILE = inline_serializer("TableFile", {"file": serializers.FileField(), **_option_fields()})
_FORM = inline_serializer(
    "ImportFile",
    {
        "file": serializers.FileField(),
        "mapping": serializers.CharField(
            required=False, help_text="For csv: JSON, { column: field }, columns by header or number."
        ),
        **client_id_field(),
        **dry_run_field(),
        **joined_groups_field(),
        **remind_field(),
        **_option_fields(),
    },
)
_RECEIPT = inline_serializer("ImportReceipt", import_receipt_fields())


class ColumnSerializer(serializers.Serializer[Any]):
    """A column of a table. `dateOrder` is that of the dates in a column of days."""

    optional = ("dateOrder",)

    name = serializers.CharField(allow_blank=True)
    samples = serializers.ListField(child=serializers.CharField())
    proposal = serializers.CharField(help_text="A field as a mapping names it.")
    dateOrder = serializers.ChoiceField(DATE_ORDERS)


def _import_fields() -> dict[str, AnyField]:
    return {
        "id": serializers.UUIDField(),
        "source": serializers.ChoiceField(ImportSource.values),
        "fileName": serializers.CharField(allow_blank=True),
        "createdAt": serializers.DateTimeField(),
        "updatedAt": serializers.DateTimeField(),
        "endedAt": serializers.DateTimeField(
            allow_null=True, help_text="Null while it runs, and of one that was cut off: send its file again."
        ),
        "imported": serializers.IntegerField(),
        "updated": serializers.IntegerField(),
        "skipped": serializers.IntegerField(),
        "errors": serializers.IntegerField(),
        "undoneAt": serializers.DateTimeField(allow_null=True),
        "state": serializers.ChoiceField(ImportState.values),
        "done": serializers.IntegerField(help_text="How many of its records have an outcome."),
        "total": serializers.IntegerField(help_text="How many records its file has."),
    }


_IMPORTS = inline_serializer("ContactImport", _import_fields(), many=True)
# What is there of an import that has ended, for the retention period.
_RECEIPT_FIELDS = {name: each for name, each in import_receipt_fields().items() if name not in _import_fields()}
_IMPORT = envelope("ContactImportState", optional=tuple(_RECEIPT_FIELDS), **{**_import_fields(), **_RECEIPT_FIELDS})


class ImportKeptPersonSerializer(serializers.Serializer[Any]):
    """Somebody who keeps what an import brought."""

    personId = serializers.UUIDField()
    personName = serializers.CharField()
    reason = serializers.CharField()
    code = serializers.CharField()


class FileImportViewSet(ApiViewSet[Any]):
    """Imports of files."""

    @extend_schema(
        operation_id="importContacts",
        parameters=[
            CLIENT_ID,
            OpenApiParameter("source", str, OpenApiParameter.PATH, enum=UPLOAD_SOURCES),
            JOINED_GROUPS,
            REMIND,
            DRY_RUN,
        ],
        request={"multipart/form-data": _FORM},
        responses=_RECEIPT,
    )
    @action(
        detail=False,
        methods=["post"],
        url_path="<import_source:source>",
        parser_classes=[MultiPartParser],
        body_limit=IMPORT_LIMIT,
    )
    @raises(PlanLimitError, IdTakenError)
    @excluded_from_batches
    @in_own_transactions
    def import_file(self, request: Request, source: str) -> Response:
        """Import a file of another product. What is equal already is skipped; `importId` undoes it all."""
        file = _read_file(request)
        upload = ImportFile(
            source=source,
            file=file.file,
            name=file.name or "",
            mapping=_read_text(request, "mapping"),
            options=_read_options(request),
            group_ids=read_joined_groups(request, self.owner),
            remind=read_remind(request),
        )
        is_dry, import_id = read_dry_run(request), read_client_id(request)
        with place_for_import(self.owner, import_id):
            run = FileImport(owner=self.owner, upload=upload, now=timezone.now(), import_id=import_id, is_dry=is_dry)
            list(run.run())
        if run.is_refused_by_plan:
            raise limit_error(self.owner, "people")
        return Response(run.receipt())

    @extend_schema(
        operation_id="inspectTable",
        request={"multipart/form-data": _FILE},
        responses=envelope(
            "TableInspection",
            encoding=serializers.CharField(),
            encodingCertain=serializers.BooleanField(),
            delimiter=serializers.CharField(),
            columns=ColumnSerializer(many=True),
        ),
    )
    @action(
        detail=False,
        methods=["post"],
        url_path="csv/inspect",
        parser_classes=[MultiPartParser],
        body_limit=IMPORT_LIMIT,
    )
    @excluded_from_batches
    def inspect(self, request: Request) -> Response:
        """What a table looks like: its columns, with samples and the fields that they could be. Nothing is kept."""
        with IMPORTS.hold(self.owner.pk):
            table = open_table(_read_file(request).file, _read_options(request))
            targets = propose_targets(table)
            orders = date_orders(self.owner, table, targets, timezone.now())
        columns = [_describe_column(table, index, target, orders) for index, target in enumerate(targets)]
        encoding = {"encoding": table.encoding.name, "encodingCertain": table.encoding.is_certain}
        return Response({**encoding, "delimiter": table.delimiter, "columns": columns})


class ContactImportViewSet(OwnedViewSet[ContactImport]):
    """The caller's imports."""

    model = ContactImport
    lookup_url_kwarg = "import_id"

    @extend_schema(operation_id="listImports", responses=envelope("ImportList", imports=_IMPORTS))
    def list(self, request: Request) -> Response:
        """All imports, newest first."""
        rows, clock = self.get_queryset().order_by("-created_at", "-id"), timezone.now()
        return Response({"imports": [_serialize_import(row, clock) for row in rows]})

    @extend_schema(operation_id="getImport", responses=_IMPORT)
    def retrieve(self, request: Request, import_id: UUID) -> Response:
        """How far an import is; of one that has ended its receipt, too, for the retention period."""
        row, clock = self.get_object(), timezone.now()
        receipt = load_receipt(row, clock) or {}
        return Response({**receipt, **_serialize_import(row, clock)})

    @extend_schema(
        operation_id="undoImport",
        responses={
            200: envelope(
                "ImportUndone", removed=serializers.IntegerField(), kept=ImportKeptPersonSerializer(many=True)
            )
        },
    )
    @raises(ImportUndoneError, ImportTooOldError, ImportRunningError, UndoUnderWayError)
    @in_own_transactions
    def destroy(self, request: Request, import_id: UUID) -> Response:
        """Undo an import. People it made go to the trash unless somebody edited them since, empty groups too."""
        # Before the wait for a place, which the import itself may hold.
        check_undoable(self.get_object(), timezone.now())
        with IMPORTS.hold(self.owner.pk):
            undone = undo_import(owner=self.owner, import_id=import_id, now=timezone.now())
        kept = [
            {"personId": str(key), "personName": name, **describe_remarks([remark])}
            for key, name, remark in undone.kept
        ]
        return Response({"removed": undone.removed, "kept": kept})


def _serialize_import(row: ContactImport, clock: dt.datetime) -> JsonObject:
    return {
        "id": str(row.pk),
        "source": row.source,
        "fileName": row.file_name,
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
        "endedAt": format_timestamp(row.ended_at) if row.ended_at else None,
        "imported": row.imported,
        "updated": row.updated,
        "skipped": row.skipped,
        "errors": row.errors,
        "undoneAt": format_timestamp(row.undone_at) if row.undone_at else None,
        "state": row.state(clock),
        "done": row.done,
        "total": row.done if row.total is None else row.total,
    }


def _describe_column(table: CsvTable, index: int, target: ColumnTarget, orders: dict[int, str]) -> JsonObject:
    cells = (row.cells[index].strip() for row in table.sample if len(row.cells) > index)
    samples = list(dict.fromkeys(cell[:_MAX_SAMPLE_LENGTH] for cell in cells if cell))[:_MAX_SAMPLES]
    column = {"name": table.names[index], "samples": samples, "proposal": str(target)}
    return column | {"dateOrder": orders[index]} if index in orders else column


def _read_file(request: Request) -> Any:
    return uploaded_file(
        request,
        "file",
        max_bytes=settings.MAX_IMPORT_BYTES,
        missing=_NO_FILE,
        too_large=FILE_TOO_LARGE.format(limit=settings.MAX_IMPORT_BYTES),
    )


def _read_text(request: Request, name: str) -> str:
    text = request.data.get(name, "")
    if not isinstance(text, str) or len(text) > _MAX_TEXT_LENGTH:
        raise FieldError(name, NOT_A_TEXT)
    return text


def _read_options(request: Request) -> TableOptions:
    return read_options(
        encoding=_read_text(request, "encoding"),
        delimiter=_read_text(request, "delimiter"),
        date_order=_read_text(request, "dateOrder"),
    )
