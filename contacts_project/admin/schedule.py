"""The schedule of periodic tasks, which operators can change, and the log of operators' actions."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from contacts_project.kernel.admin import OperatorAdmin, WordFilter

for model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(model)


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(OperatorAdmin):
    """Operators can change when a task runs, and whether, but not which task."""

    list_display = ("name", "enabled", "crontab", "interval", "last_run_at", "total_run_count")
    list_filter = ("enabled",)
    list_select_related = ("crontab", "interval")
    ordering = ("name",)
    readonly_fields = ("name", "task", "last_run_at", "total_run_count", "date_changed")
    fields = ("name", "task", "enabled", "crontab", "interval", "last_run_at", "total_run_count", "date_changed")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_operate_permission(request)


class _ScheduleAdmin(OperatorAdmin):
    """Times at which a task can run. They cannot be deleted, since their tasks would be deleted with them."""

    list_select_related = False
    ordering = ("pk",)

    def has_add_permission(self, request: HttpRequest, *args: object) -> bool:
        return self.has_operate_permission(request)


@admin.register(CrontabSchedule)
class CrontabAdmin(_ScheduleAdmin):
    list_display = ("__str__", "human_readable")


@admin.register(IntervalSchedule)
class IntervalAdmin(_ScheduleAdmin):
    list_display = ("__str__",)


class KindFilter(WordFilter[LogEntry]):
    title, parameter_name = "what", "what"
    words = (("accounts.user", "users"), ("notifications.delivery", "deliveries"))

    def narrow(self, rows: QuerySet[LogEntry], value: str) -> QuerySet[LogEntry]:
        app_label, model = value.split(".")
        return rows.filter(content_type__app_label=app_label, content_type__model=model)


@admin.register(LogEntry)
class LogEntryAdmin(OperatorAdmin):
    """The log of operators' actions."""

    list_display = ("action_time", "user", "message", "content_type", "object_repr")
    list_filter = (KindFilter,)
    list_select_related = ("user", "content_type")
    ordering = ("-id",)  # the primary key has an index and is in order of time; action_time has none
    fields = readonly_fields = (*list_display, "object_id")

    @admin.display(description="did")
    def message(self, entry: LogEntry) -> str:
        return entry.get_change_message() or entry.get_action_flag_display()
