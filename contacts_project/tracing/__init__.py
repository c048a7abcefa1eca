"""Traces of requests and tasks, sent over OTLP to OTEL_EXPORTER_OTLP_ENDPOINT if that is set (docs/monitoring.md)."""

from collections.abc import Callable

from django.conf import settings

_shutdowns: list[Callable[[], None]] = []


def start_tracing(process: str) -> None:
    """Trace this process as `contacts-web`, `contacts-worker` or `contacts-beat`. Without an endpoint, do nothing."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from contacts_project.tracing.spans import start  # noqa: PLC0415 - an optional dependency

        _shutdowns.append(start(process, settings.OTEL_EXPORTER_OTLP_ENDPOINT).shutdown)


def stop_tracing() -> None:
    """Send the remaining spans, within seconds. For processes that end by a signal and so run no exit handlers."""
    while _shutdowns:
        _shutdowns.pop()()
