"""The check of `manage.py doctor` for calendars."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning, register
from django.db import DatabaseError
from django.db.models import Count

from meetings.models import CalendarSource, SourceState


@register("doctor", deploy=True)
def check_sources(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[CheckMessage]:
    """How many calendars fail, and why: a code that many have is rather this instance's fault than their servers'."""
    rows = CalendarSource.unscoped.rows().filter(state=SourceState.FAILING)
    try:
        counts = list(rows.values_list("last_error_code").annotate(number=Count("pk")).order_by("-number"))
    except DatabaseError:  # another check says that the tables are missing
        return []
    if not counts:
        return []
    listed = ", ".join(f"{code} {number}" for code, number in counts)
    hint = "The admin lists them: Calendar sources. If all have one code, look at the network and the outbound policy."
    return [Warning(f"Calendars cannot be read: {listed}.", hint=hint, id="doctor.W056")]
