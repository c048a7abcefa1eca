"""The route that the operator's cron calls."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import OpenViewSet
from carddav.api.sync_responses import receipt_schema, serialize_receipt
from carddav.models import Trigger
from carddav.services.schedule import is_cron_secret, sync_due
from contacts_project.kernel.api.schema import raises


class CronViewSet(OpenViewSet):
    """Authenticated by CRON_SECRET as a bearer token; sessions and API tokens are not accepted."""

    @extend_schema(
        operation_id="cronCardDavSync",
        responses=receipt_schema("CronSyncAnswer", "total", "synced", "skipped"),
    )
    @action(detail=False, url_path="carddav-sync")
    @raises(NotAuthenticated)
    def carddav_sync(self, request: Request) -> Response:
        """Sync every account that is due, one after the other."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not is_cron_secret(secret.strip()):
            raise NotAuthenticated
        receipt = sync_due(now=timezone.now(), trigger=Trigger.CRON)
        total = receipt.done + receipt.skipped + receipt.errors
        return Response({**serialize_receipt(receipt, "synced"), "total": total})
