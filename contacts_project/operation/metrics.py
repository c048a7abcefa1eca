"""GET /metrics: metrics in the text format of Prometheus, for callers with METRICS_TOKEN."""

import logging
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from rest_framework.exceptions import NotAuthenticated

from contacts_project.kernel.api.errors import plain_error_response
from contacts_project.kernel.metrics import Histogram, Metric, Sample, declared, read_all
from contacts_project.operation import figures

log = logging.getLogger(__name__)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The counters of this machine, and gauges of the whole instance."""
    if not _is_authorized(request.headers.get("Authorization", "")):
        return plain_error_response(request, NotAuthenticated())
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415 - needed by scrapes only

    text = generate_latest(_Collector())
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def _is_authorized(authorization: str) -> bool:
    scheme, _, token = authorization.partition(" ")
    expected = settings.METRICS_TOKEN
    # Without a token configured, nobody may read the metrics.
    return bool(expected) and scheme.lower() == "bearer" and constant_time_compare(token.strip(), expected)


class _Collector:
    """Stands in for a registry of prometheus_client, which only calls `collect`."""

    def collect(self) -> Iterator[Any]:
        samples = read_all()
        for metric in declared():
            yield _family(metric, samples.get(metric.name, []))
        yield from _gauges()


def _family(metric: Metric, samples: list[Sample]) -> Any:
    from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily  # noqa: PLC0415 - as above

    if not isinstance(metric, Histogram):
        counter = CounterMetricFamily(metric.name, metric.text, labels=metric.labels)
        for sample in samples:
            counter.add_metric(sample.labels, sample.values[0])
        return counter
    histogram = HistogramMetricFamily(metric.name, metric.text, labels=metric.labels)
    bounds = [*(f"{float(bound):g}" for bound in metric.buckets), "+Inf"]
    for sample in samples:
        buckets = list(zip(bounds, accumulate(sample.values[:-1]), strict=True))
        histogram.add_metric(sample.labels, buckets, sum_value=sample.values[-1])
    return histogram


def _gauges() -> Iterator[Any]:
    """The gauges of the instance, without those that cannot be read."""
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415 - as above

    single_values: dict[str, tuple[str, Callable[[], float | None]]] = {
        "contacts_due_oldest_seconds": (
            "For how long the oldest of what is due has been waiting.",
            lambda: figures.oldest_due_seconds(timezone.now()),
        ),
        "contacts_due_scan_lag_seconds": (
            "Since when no due scan has completed; it runs each minute.",
            lambda: figures.due_scan_lag_seconds(timezone.now()),
        ),
        "contacts_database_bytes": ("What the database takes.", figures.database_bytes),
        "contacts_photo_bytes": ("What the photos take.", figures.photo_bytes),
        "contacts_accounts": ("Accounts.", figures.accounts),
        "contacts_people": ("People of all accounts, without those in the trash.", figures.people),
    }
    for name, (text, read) in single_values.items():
        if (value := _read_gauge(name, read)) is not None:
            yield GaugeMetricFamily(name, text, value=value)
    by_label: dict[str, tuple[str, str, Callable[[], dict[str, int]]]] = {
        "contacts_queue_messages": ("Tasks that wait for a worker.", "queue", figures.queue_messages),
        "contacts_database_connections": (
            "Connections to PostgreSQL, of all processes.",
            "state",
            figures.database_connections,
        ),
    }
    for name, (text, label, read_all_labels) in by_label.items():
        if numbers := _read_gauge(name, read_all_labels):
            family = GaugeMetricFamily(name, text, labels=[label])
            for word, number in numbers.items():
                family.add_metric([word], number)
            yield family


Found = TypeVar("Found")


def _read_gauge(name: str, read: Callable[[], Found]) -> Found | None:
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - database, broker and disk raise different errors
        log.warning("%s cannot be read: %s", name, type(error).__name__)
    return None
