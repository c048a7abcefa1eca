"""What is counted of deliveries: each state that one comes to, and each try that failed."""

from contacts_project.kernel.metrics import Counter

DELIVERIES = Counter(
    "contacts_deliveries_total",
    "Deliveries that came to a state: planned (pending), sent, failed, skipped.",
    ("channel", "state"),
)
FAILURES = Counter("contacts_delivery_failures_total", "Tries that failed, by reason.", ("channel", "code"))


def count_deliveries(channel: str, state: str, number: int = 1) -> None:
    """Count deliveries that came to a state; without a channel nothing could be sent."""
    DELIVERIES.count(channel or "none", str(state), number=number)
