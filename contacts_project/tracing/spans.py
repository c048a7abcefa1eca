"""Spans of OpenTelemetry's instrumentation for Django and Celery, and what of them leaves this machine.

What does is listed, what does not is not: addresses, headers, arguments, the texts of exceptions may be somebody's.
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

from contacts_project.kernel.api.logs import request_id
from contacts_project.kernel.api.middleware import method_of, route_of

REQUEST_ID, METHOD, ROUTE, STATUS = (
    "contacts.request_id",
    "http.request.method",
    "http.route",
    "http.response.status_code",
)
_ATTRIBUTES = {
    *(REQUEST_ID, METHOD, ROUTE, STATUS),
    *("celery.action", "celery.task_name", "celery.state", "celery.retries"),
    *("messaging.destination", "messaging.message.id", "messaging.message_id"),
}
_OF_EXCEPTIONS = {"exception.type"}


def start(process: str, endpoint: str) -> TracerProvider:
    """Trace requests and tasks of this process, from now on."""
    provider = TracerProvider(resource=Resource.create({"service.name": f"contacts-{process}"}))
    provider.add_span_processor(_RequestIds())
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(CleanExporter(exporter)))
    # What callers and tasks hand on of a trace: its ids. Baggage would be text of the caller's.
    set_global_textmap(TraceContextTextMapPropagator())
    # Inside RequestIdMiddleware, which makes the id of the request.
    DjangoInstrumentor().instrument(tracer_provider=provider, response_hook=_describe, middleware_position=1)
    CeleryInstrumentor().instrument(tracer_provider=provider)
    return provider


class CleanExporter(SpanExporter):
    """Hands on ids, names, times and the attributes of the list; of exceptions their class."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self.exporter.export([_cleaned(span) for span in spans])

    def shutdown(self) -> None:
        self.exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self.exporter.force_flush(timeout_millis)


class _RequestIds(SpanProcessor):
    """Each span names its request, as the lines of the log do."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        span.set_attribute(REQUEST_ID, request_id.get())


def _describe(span: trace.Span, request: HttpRequest, response: HttpResponse) -> None:
    """A request is told by the template of its route, as in metrics and logs."""
    method, route = method_of(request.method), route_of(request)
    span.update_name(f"{method} {route}")
    span.set_attributes({METHOD: method, ROUTE: route, STATUS: response.status_code})


def _cleaned(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in _ATTRIBUTES},
        events=[_cleaned_event(event) for event in span.events],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _cleaned_event(event: Event) -> Event:
    kept = {name: value for name, value in (event.attributes or {}).items() if name in _OF_EXCEPTIONS}
    return Event(event.name, kept, event.timestamp)
