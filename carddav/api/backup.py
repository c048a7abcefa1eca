"""The route that downloads the whole address book."""

from typing import Any

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.api.decorators import excluded_from_batches, ignores_idempotency_key
from accounts.api.viewsets import ApiViewSet
from carddav.services.backups import back_up_book
from carddav.services.server_checks import ServerError
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import MissingError


class BackupViewSet(ApiViewSet[Any]):
    """Every card of the book."""

    @extend_schema(
        operation_id="backUpCardDavBook",
        request=None,
        responses={(200, "text/vcard"): OpenApiResponse(OpenApiTypes.STR, description="Every card of the book.")},
    )
    @action(detail=False, methods=["post"])
    @raises(MissingError, ServerError)
    @ignores_idempotency_key
    @excluded_from_batches
    def backup(self, request: Request) -> FileResponse:
        """Every contact on the server as one vCard file, group cards included; X-Contact-Count says how many."""
        made = back_up_book(owner=self.owner)
        name = f"contacts-{timezone.now():%Y-%m-%d}.vcf"
        response = FileResponse(made.file, as_attachment=True, filename=name, content_type="text/vcard; charset=utf-8")
        response["X-Contact-Count"] = str(made.cards)
        response["Cache-Control"] = "no-store"
        if made.unreadable:
            response["X-Unreadable-Count"] = str(made.unreadable)
        return response
