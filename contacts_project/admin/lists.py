"""The lists of the admin that use several apps: accounts, the schedule of periodic tasks, the log of operators."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import LogEntry
from django.db.models import Count, Max, Model, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule

from accounts.models import AccountSession, ApiToken, TotpDevice, User
from accounts.services.addresses import address_write
from accounts.services.operators import (
    check_stays_operated,
    resend_verification,
    switch_off,
    switch_on,
    take_away_second_factor,
    unlock_sign_in,
)
from accounts.services.sessions import end_sessions
from contacts_project.kernel.admin import OperatorAdmin, WordFilter
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ids import parse_id
from people.counts import PEOPLE, PHOTO_BYTES, totals_of

_OPERATOR_FLAGS = ("is_staff", "is_superuser")


class VerifiedFilter(WordFilter[User]):
    title, parameter_name = "verified", "verified"
    words = (("yes", "yes"), ("no", "no"))

    def narrow(self, rows: QuerySet[User], value: str) -> QuerySet[User]:
        return rows.filter(proven_email__isnull=value == "no")


class ListedUser(Protocol):
    """A row of the list: an account with its `notes`."""

    notes: Mapping[str, Any]
    last_login: dt.datetime | None


class PlanForm(forms.ModelForm):  # type: ignore[type-arg]  # Django cannot subscript it at run time
    """Plan and rights. An operator cannot remove their own rights, or those of the last operator."""

    operator: User

    class Meta:
        model = User
        fields = ("plan", *_OPERATOR_FLAGS)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        stored = User.objects.get(pk=self.instance.pk)
        if any(getattr(stored, right) and not data.get(right) for right in _OPERATOR_FLAGS):
            try:
                check_stays_operated(user=stored, by=self.operator)
            except DomainError as error:
                raise forms.ValidationError(str(error.message)) from None
        return data


@admin.register(User)
class UserAdmin(OperatorAdmin):
    """Accounts are created by registration and deleted by their owners. Their contents are not shown."""

    form = PlanForm
    list_display = (
        *("email", "plan", "is_verified", "is_active", "second_factor", "sessions", "last_seen", "people", "storage"),
        *("is_staff", "created_at"),
    )
    list_filter = ("plan", "is_active", VerifiedFilter, "is_staff")
    list_select_related = False
    ordering = ("-created_at", "-id")
    sortable_by = ("created_at",)
    search_fields = ("email",)
    search_help_text = "The whole address, or the id of the account"
    actions = (
        *("switch_off", "switch_on", "unlock_sign_in", "resend_verification", "end_sessions"),
        "take_away_second_factor",
    )
    readonly_fields = (
        *("id", "email", "proven_email", "is_verified", "claimed_at", "is_active", "second_factor", "sessions"),
        *("last_seen", "last_login", "people", "storage", "created_at"),
    )
    editable_fields = ("plan", *_OPERATOR_FLAGS)
    fields = (*readonly_fields, *editable_fields)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).defer("password", "name", "surname", "nickname", "photo")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        """Search by id or whole address, for which there are indexes; a partial match would scan all accounts."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if (user_id := parse_id(term)) is not None:
            return queryset.filter(pk=user_id), False
        return queryset.filter(pk__in=list(User.objects.with_email(term).values_list("pk", flat=True)[:200])), False

    def notes_on(self, rows: list[Any]) -> Mapping[Any, dict[str, Any]]:
        """Figures of the accounts of one page. The number of queries is constant."""
        ids = [user.pk for user in rows]
        notes: dict[UUID, dict[str, Any]] = defaultdict(dict)
        sessions = AccountSession.unscoped.filter(owner_id__in=ids).values_list("owner_id")
        for owner_id, number, used_at in sessions.annotate(Count("pk"), Max("last_used_at")).order_by():
            notes[owner_id] |= {"sessions": number, "seen": used_at}
        tokens = ApiToken.unscoped.filter(owner_id__in=ids, last_used_at__isnull=False).values_list("owner_id")
        for owner_id, used_at in tokens.annotate(Max("last_used_at")).order_by():
            notes[owner_id]["seen"] = max(used_at, notes[owner_id].get("seen", used_at))
        factors = TotpDevice.unscoped.filter(owner_id__in=ids, confirmed_at__isnull=False)
        for owner_id in factors.values_list("owner_id", flat=True):
            notes[owner_id]["factor"] = True
        for (owner_id, kind), number in totals_of(ids, PEOPLE, PHOTO_BYTES).items():
            notes[owner_id][kind] = number
        return notes

    @admin.display(description="verified", boolean=True)
    def is_verified(self, user: User) -> bool:
        return user.email_verified

    @admin.display(description="second factor", boolean=True)
    def second_factor(self, user: ListedUser) -> bool:
        return bool(user.notes.get("factor"))

    @admin.display(description="sessions")
    def sessions(self, user: ListedUser) -> int:
        return int(user.notes.get("sessions", 0))

    @admin.display(description="last seen")
    def last_seen(self, user: ListedUser) -> dt.datetime | None:
        return max(filter(None, (user.notes.get("seen"), user.last_login)), default=None)

    @admin.display(description="people")
    def people(self, user: ListedUser) -> int:
        return int(user.notes.get(PEOPLE, 0))

    @admin.display(description="photos")
    def storage(self, user: ListedUser) -> str:
        return filesizeformat(user.notes.get(PHOTO_BYTES, 0))

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_operate_permission(request)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        return type(form.__name__, (form,), {"operator": request.user})

    def save_model(self, request: HttpRequest, obj: User, form: object, change: bool) -> None:
        """Save the form's columns only: the owner may have changed others meanwhile, such as the password."""
        with address_write(obj) as stored:
            for field in self.editable_fields:
                setattr(stored, field, getattr(obj, field))
            stored.save(update_fields=[*self.editable_fields, "updated_at"])

    @admin.action(description="Switch off", permissions=["operate"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._apply_to_each(
            request, queryset, "Switch off", lambda user: switch_off(user=user, by=_current_operator(request))
        )

    @admin.action(description="Switch on", permissions=["operate"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._apply_to_each(request, queryset, "Switch on", lambda user: switch_on(user=user))

    @admin.action(description="Unlock sign-in", permissions=["operate"])
    def unlock_sign_in(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._apply_to_each(request, queryset, "Unlock sign-in", lambda user: unlock_sign_in(user=user))

    @admin.action(description="Resend verification", permissions=["operate"])
    def resend_verification(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._apply_to_each(request, queryset, "Resend verification", lambda user: resend_verification(user=user))

    @admin.action(description="End sessions", permissions=["operate"])
    def end_sessions(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """End all sessions of the accounts, except the operator's current one."""
        keep = request.session.session_key
        self._apply_to_each(request, queryset, "End sessions", lambda user: end_sessions(user=user, keep=keep))

    @admin.action(description="Take away the second factor", permissions=["operate"])
    def take_away_second_factor(self, request: HttpRequest, queryset: QuerySet[User]) -> TemplateResponse | None:
        """Ask for confirmation first: the form of the page posts the same action again, with `confirmed`."""
        if request.POST.get("confirmed") == "yes":
            done = "Take away the second factor"
            self._apply_to_each(request, queryset, done, lambda user: take_away_second_factor(user=user))
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": "Take away the second factor?",
            "users": queryset[: self.list_max_show_all],
            "opts": self.model._meta,
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "operators/take_away_second_factor.html", context)

    def _apply_to_each(self, request: HttpRequest, rows: QuerySet[User], what: str, do: Callable[[User], None]) -> None:
        done: list[Any] = []
        refused: list[tuple[Any, DomainError]] = []
        for user in User.objects.filter(pk__in=[row.pk for row in rows]):
            try:
                do(user)
            except DomainError as error:
                refused.append((user, error))
            else:
                done.append(user)
        self.report_action(request, done, refused, what)


def _current_operator(request: HttpRequest) -> User:
    # Never raised: the admin admits signed-in operators only.
    if not isinstance(request.user, User):
        raise TypeError
    return request.user


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
