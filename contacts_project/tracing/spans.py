"""Spans of OpenTelemetry's instrumentation for Django and Celery, with an allow list of what is exported.

Everything else is dropped: URLs, headers, arguments and texts of exceptions may contain personal data.
"""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.propagate import set_global_textmap
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from contacts_project.kernel.api.request_log import method_of, route_of
from contacts_project.kernel.logs import request_id

REQUEST_ID, METHOD, ROUTE, STATUS = (
    "contacts.request_id",
    "http.request.method",
    "http.route",
    "http.response.status_code",
)
_ALLOWED_ATTRIBUTES = {
    *(REQUEST_ID, METHOD, ROUTE, STATUS),
    *("celery.action", "celery.task_name", "celery.state", "celery.retries"),
    *("messaging.destination", "messaging.message.id", "messaging.message_id"),
}
_ALLOWED_EVENT_ATTRIBUTES = {"exception.type"}


def start(process: str, endpoint: str) -> TracerProvider:
    """Start tracing the requests and tasks of this process."""
    provider = TracerProvider(resource=Resource.create({"service.name": f"contacts-{process}"}))
    provider.add_span_processor(_RequestIdProcessor())
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(AllowListExporter(exporter)))
    # Trace ids only, not OpenTelemetry's default, which also propagates baggage: arbitrary text of the caller.
    set_global_textmap(TraceContextTextMapPropagator())
    # Position 1 is just inside RequestLogMiddleware, which sets the request id.
    DjangoInstrumentor().instrument(tracer_provider=provider, response_hook=_set_route, middleware_position=1)
    CeleryInstrumentor().instrument(tracer_provider=provider)
    return provider


class AllowListExporter(SpanExporter):
    """Exports ids, names, times and allowed attributes; of exceptions only the class."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self.exporter.export([_filter_span(span) for span in spans])

    def shutdown(self) -> None:
        self.exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self.exporter.force_flush(timeout_millis)


class _RequestIdProcessor(SpanProcessor):
    """Sets the request id on each span, by which it can be found in the log."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        span.set_attribute(REQUEST_ID, request_id.get())


def _set_route(span: trace.Span, request: HttpRequest, response: HttpResponse) -> None:
    """Name the span by the route's template, as metrics and logs do. The path would contain ids and tokens."""
    method, route = method_of(request.method), route_of(request)
    span.update_name(f"{method} {route}")
    span.set_attributes({METHOD: method, ROUTE: route, STATUS: response.status_code})


def _filter_span(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in _ALLOWED_ATTRIBUTES},
        events=[_filter_event(event) for event in span.events],
        kind=span.kind,
        status=Status(span.status.status_code),  # without its description, which is the text of an exception
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _filter_event(event: Event) -> Event:
    kept = {name: value for name, value in (event.attributes or {}).items() if name in _ALLOWED_EVENT_ATTRIBUTES}
    return Event(event.name, kept, event.timestamp)
