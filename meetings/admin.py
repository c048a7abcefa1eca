"""What operators see of calendars: which ones fail, and why. No address beyond the host, no event."""

from urllib.parse import urlsplit

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from contacts_project.kernel.admin import OperatorAdmin, WordFilter
from contacts_project.kernel.crypto.fields import UndecryptableError
from meetings.models import CalendarSource, SourceState


class StateFilter(WordFilter[CalendarSource]):
    title, parameter_name = "state", "state"
    words = ((SourceState.FAILING.value, "the last reading failed"),)

    def narrow(self, rows: QuerySet[CalendarSource], value: str) -> QuerySet[CalendarSource]:
        return rows.filter(state=value)


@admin.register(CalendarSource)
class CalendarSourceAdmin(OperatorAdmin):
    """Of the address only the host; neither user name nor password."""

    list_display = (
        *("id", "account", "host", "kind", "state", "last_error_code", "failures", "broken"),
        *("last_read_at", "next_read_at"),
    )
    list_filter = (StateFilter,)
    ordering = ("-id",)
    fields = readonly_fields = (*list_display, "days_back", "held_until", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[CalendarSource]:
        return super().get_queryset(request).defer("password", "username", "name", "calendars", "last_error")

    @admin.display(description="host")
    def host(self, source: CalendarSource) -> str:
        try:
            return urlsplit(source.url).hostname or "–"
        except (ValueError, UndecryptableError):
            return "–"
