"""Metrics of deliveries: states that were reached, and attempts that failed."""

from contacts_project.kernel.metrics import Counter

DELIVERIES = Counter(
    "contacts_deliveries_total",
    "Deliveries that came to a state: planned (pending), sent, failed, skipped.",
    ("channel", "state"),
)
FAILURES = Counter("contacts_delivery_failures_total", "Tries that failed, by reason.", ("channel", "code"))


def count_deliveries(channel: str, state: str, number: int = 1) -> None:
    """Count deliveries that reached a state. An empty channel means that there was none to send over."""
    DELIVERIES.count(channel or "none", str(state), number=number)
