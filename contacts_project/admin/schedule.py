"""The schedule of recurring work, which operators move, and what they did."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from contacts_project.kernel.operator_lists import OperatorAdmin, WordFilter

for model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(model)


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(OperatorAdmin):
    """When a task runs and whether; what it does is not an operator's to change."""

    list_display = ("name", "enabled", "crontab", "interval", "last_run_at", "total_run_count")
    list_filter = ("enabled",)
    list_select_related = ("crontab", "interval")
    ordering = ("name",)
    readonly_fields = ("name", "task", "last_run_at", "total_run_count", "date_changed")
    fields = ("name", "task", "enabled", "crontab", "interval", "last_run_at", "total_run_count", "date_changed")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_operate_permission(request)


class _TimesAdmin(OperatorAdmin):
    """Times that a task can be set to. They stay: a task would go with its own."""

    list_select_related = False
    ordering = ("pk",)

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return self.has_operate_permission(request)


@admin.register(CrontabSchedule)
class CrontabAdmin(_TimesAdmin):
    list_display = ("__str__", "human_readable")


@admin.register(IntervalSchedule)
class IntervalAdmin(_TimesAdmin):
    list_display = ("__str__",)


class KindFilter(WordFilter):
    title, parameter_name = "what", "what"
    words = (("accounts.user", "users"), ("notifications.delivery", "deliveries"))

    def narrow(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        app_label, model = value.split(".")
        return rows.filter(content_type__app_label=app_label, content_type__model=model)


@admin.register(LogEntry)
class LogEntryAdmin(OperatorAdmin):
    """What operators did, and to what."""

    list_display = ("action_time", "user", "message", "content_type", "object_repr")
    list_filter = (KindFilter,)
    list_select_related = ("user", "content_type")
    ordering = ("-id",)  # by its index; the log is written in order of time
    fields = readonly_fields = (*list_display, "object_id")

    @admin.display(description="did")
    def message(self, entry: LogEntry) -> str:
        return entry.get_change_message() or entry.get_action_flag_display()
