"""The route that undoes a run."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import in_own_transactions
from accounts.api.viewsets import OwnedViewSet
from carddav.models import Run
from carddav.services.connections import ConnectionBusyError
from carddav.services.undo import AlreadyUndoneError, undo_run
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.texts import describe_remarks

_KEPT = inline_serializer(
    "KeptPerson",
    {
        "personId": serializers.UUIDField(),
        "personName": serializers.CharField(),
        "reason": serializers.CharField(),
        "code": serializers.CharField(),
    },
    many=True,
)


class UndoViewSet(OwnedViewSet[Run]):
    """Undo of one run."""

    model = Run
    lookup_url_kwarg = "run_id"

    @extend_schema(
        operation_id="undoSyncRun",
        request=None,
        responses=envelope("SyncRunUndone", restored=serializers.IntegerField(), kept=_KEPT),
    )
    @action(detail=True, methods=["post"])
    @raises(AlreadyUndoneError, ConnectionBusyError)
    @in_own_transactions
    def undo(self, request: Request, run_id: UUID) -> Response:
        """Put back the people whom a run changed, made or trashed; who was edited since is kept, and named.

        The server is not touched. Until a sync is confirmed, runs are dry.
        """
        undone = undo_run(owner=self.owner, run_id=self.get_object().pk, now=timezone.now())
        kept = [
            {
                "personId": str(person.pk),
                "personName": person.display_name_for(self.owner),
                **describe_remarks([reason]),
            }
            for person, reason in undone.kept
        ]
        return Response({"restored": undone.restored, "kept": kept})
