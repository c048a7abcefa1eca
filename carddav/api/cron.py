"""The route for the operator's cron."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import OpenViewSet
from carddav.api.answers import receipt_answer, receipt_schema
from carddav.models import Trigger
from carddav.services.schedule import is_cron, sync_due
from contacts_project.kernel.api.schema import raises


class CronViewSet(OpenViewSet):
    """A bearer of CRON_SECRET calls it; no session or token does."""

    @extend_schema(
        operation_id="cronCardDavSync",
        responses=receipt_schema("CronSyncAnswer", "total", "synced", "skipped"),
    )
    @action(detail=False, url_path="carddav-sync")
    @raises(NotAuthenticated)
    def carddav_sync(self, request: Request) -> Response:
        """Sync every account that is due, one after the other."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not is_cron(secret.strip()):
            raise NotAuthenticated
        receipt = sync_due(now=timezone.now(), trigger=Trigger.CRON)
        total = receipt.done + receipt.skipped + receipt.errors
        return Response({**receipt_answer(receipt, "synced"), "total": total})
