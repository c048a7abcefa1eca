"""Routes about the service: health, version, OpenAPI and its interactive docs."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import CharField, ChoiceField, IntegerField
from rest_framework.views import APIView

from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.api.schema import envelope
from contacts_project.operation.health import check_health

HEALTH = envelope(
    "Health",
    status=ChoiceField(choices=["ok", "unfit"]),
    checks=envelope(
        "HealthChecks",
        database=CharField(),
        migrations=CharField(),
        broker=CharField(),
        scheduler=envelope("SchedulerHealth", status=CharField(), lagSeconds=IntegerField(allow_null=True)),
    ),
)


class OpenView(APIView):
    """A route that anybody may read."""

    authentication_classes = []
    permission_classes = [AllowAny]


class VersionView(APIView):
    @extend_schema(operation_id="getVersion", responses=envelope("Version", version=CharField()), tags=["operation"])
    def get(self, request: Request) -> Response:
        """The version of the running service."""
        return Response({"version": settings.VERSION})


class HealthView(OpenView):
    @extend_schema(
        operation_id="getHealth",
        responses={200: HEALTH, 503: HEALTH},
        tags=["operation"],
    )
    def get(self, request: Request) -> Response:
        """Whether the service is fit to serve: 200, else 503 with the part that is not."""
        fit, checks = check_health(timezone.now())
        return Response({"status": "ok" if fit else "unfit", "checks": checks}, status=200 if fit else 503)


class OpenAPIView(OpenView):
    """The API described as OpenAPI 3.1."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(_description(), content_type="application/json")


@cache
def _description() -> bytes:
    """Once a process: it takes a second to make, and anybody may ask for it."""
    generator: Any = SchemaGenerator
    return dumps(generator().get_schema(request=None, public=True))


class DocsView(SpectacularSwaggerView):
    """Interactive docs, all assets served from here."""

    authentication_classes = []
    permission_classes = [AllowAny]
    url_name = "openapi"
