"""Traces of requests and tasks over OTLP, where OTEL_EXPORTER_OTLP_ENDPOINT says where to. See docs/monitoring.md."""

from collections.abc import Callable

from django.conf import settings

_stops: list[Callable[[], None]] = []


def start_tracing(process: str) -> None:
    """Trace this process, as `contacts-web`, `contacts-worker` or `contacts-beat`; not set, nothing is imported."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from contacts_project.tracing.spans import start  # noqa: PLC0415 - an extra, installed by who wants it

        _stops.append(start(process, settings.OTEL_EXPORTER_OTLP_ENDPOINT).shutdown)


def stop_tracing() -> None:
    """Send what is left, within seconds; for a process that ends by its signal, which runs no exit handlers."""
    while _stops:
        _stops.pop()()
