"""Admin lists of deliveries, destinations and digest schedules. No page shows the content of a notice."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from contacts_project.kernel.admin import OperatorAdmin, WordFilter
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.outbound.failures import Code
from notifications.channels import channels
from notifications.models import Delivery, DeliveryState, Destination, DestinationType, DigestSchedule
from notifications.services.dispatch import retry_delivery
from notifications.tasks import send

#: The codes of deliveries that failed or were skipped, explained for operators.
CODE_DESCRIPTIONS: Mapping[str, str] = {
    **{code.value: code.value for code in Code},
    Code.BLOCKED: "the address policy forbids the destination",
    Code.DNS: "the host name does not resolve",
    Code.TIMEOUT: "no answer in time",
    Code.REFUSED: "nobody listens there",
    Code.TLS: "the certificate or the encryption is not right",
    Code.REDIRECT: "it redirects, which is not followed",
    Code.HTTP_4XX: "the destination refuses it",
    Code.HTTP_429: "the destination is asked too often",
    Code.HTTP_5XX: "the destination has a fault of its own",
    Code.UNEXPECTED_RESPONSE: "the answer is not one of its kind",
    Code.UNKNOWN: "a fault on our side: see the log",
    "no_channel": "no channel was on",
    "missed": "too late to make up for",
    "crashed": "who tried it was killed each time",
    "account_inactive": "the account is off",
    "reminder_off": "the reminder was switched off",
    "deleted": "the person or the date was deleted",
    "contacted": "the owner was in touch meanwhile",
    "snoozed": "the owner wanted it later",
    "skipped": "the owner did not want it this time",
    "removed": "the destination was removed",
    "disabled": "the destination is off",
    "auto_disabled": "the destination was switched off for failing",
    "email_disabled": "reminders by e-mail are off",
    "plan": "the plan does not include it",
}


def host_of(url: str) -> str:
    """The host of a URL. Path and query are not shown, since they may be secrets."""
    try:
        return urlsplit(url).hostname or "–"
    except ValueError:
        return "–"


def describe_code(code: str) -> str:
    """The code with its description."""
    return f"{code}: {CODE_DESCRIPTIONS.get(code, 'see the log')}" if code else "–"


class StateFilter(WordFilter[Delivery]):
    title, parameter_name = "state", "state"
    words = tuple((state.value, state.value) for state in DeliveryState)

    def narrow(self, rows: QuerySet[Delivery], value: str) -> QuerySet[Delivery]:
        # Written like the conditions of the partial indexes, which are small: few deliveries are pending or sending.
        if value == DeliveryState.PENDING:
            return rows.filter(next_try_at__isnull=False)
        if value == DeliveryState.SENDING:
            return rows.filter(held_until__isnull=False, state=value)
        return rows.filter(state=value)


class ChannelFilter(WordFilter[Delivery]):
    title, parameter_name = "channel", "channel"

    def lookups(self, request: HttpRequest, model_admin: "admin.ModelAdmin[Delivery]") -> list[tuple[str, str]]:
        return [*((name, name) for name in channels()), ("none", "none")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> QuerySet[Delivery]:
        value = self.value()
        if value not in {*channels(), "none"}:
            return queryset
        if value == "email":
            return queryset.filter(channel=value)
        # Written like the condition of the partial index, which leaves out mails, as most deliveries are.
        return queryset.exclude(channel="email").filter(channel="" if value == "none" else value)


class CodeFilter(WordFilter[Delivery]):
    title, parameter_name = "code", "code"
    words = tuple((code, code) for code in CODE_DESCRIPTIONS)

    def narrow(self, rows: QuerySet[Delivery], value: str) -> QuerySet[Delivery]:
        return rows.exclude(code="").filter(code=value)


class AgeFilter(WordFilter[Delivery]):
    title, parameter_name = "age", "age"
    words = (("hour", "the last hour"), ("day", "the last day"), ("week", "the last week"), ("older", "older"))
    spans: ClassVar[dict[str, dt.timedelta]] = {
        "hour": dt.timedelta(hours=1),
        "day": dt.timedelta(days=1),
        "week": dt.timedelta(days=7),
    }

    def narrow(self, rows: QuerySet[Delivery], value: str) -> QuerySet[Delivery]:
        now = timezone.now()
        if value == "older":
            return rows.filter(planned_at__lt=now - self.spans["week"])
        return rows.filter(planned_at__gte=now - self.spans[value])


@admin.register(Delivery)
class DeliveryAdmin(OperatorAdmin):
    """The delivery ledger, without people, labels and content."""

    list_display = (
        "planned_at",
        "account",
        "kind",
        "channel",
        "host",
        "state",
        "reason",
        "answered",
        "attempts",
        "next_try_at",
        "ended_at",
    )
    list_filter = (StateFilter, ChannelFilter, CodeFilter, AgeFilter)
    ordering = ("-planned_at",)
    actions = ("try_again",)
    fields = readonly_fields = (
        *("id", "account", "kind", "channel", "host", "state", "reason", "answered", "late", "attempts", "due_at"),
        *("planned_at", "first_tried_at", "next_try_at", "expires_at", "ended_at", "held_until"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        # Content and labels are personal data: they are not even read.
        return super().get_queryset(request).defer("content", "label")

    def notes_on(self, rows: list[Any]) -> Mapping[Any, dict[str, Any]]:
        """The hosts of the rows' destinations, loaded with one query."""
        keys: dict[UUID, UUID] = {row.pk: key for row in rows if (key := parse_id(row.target_key))}
        urls = dict(Destination.unscoped.filter(pk__in=keys.values()).values_list("pk", "url"))
        return {pk: {"host": host_of(urls[key])} for pk, key in keys.items() if key in urls}

    @admin.display(description="host")
    def host(self, delivery: Any) -> str:
        return str(delivery.notes.get("host", "–"))

    @admin.display(description="why")
    def reason(self, delivery: Delivery) -> str:
        return describe_code(delivery.code)

    @admin.display(description="answered")
    def answered(self, delivery: Delivery) -> str:
        """The account's answers, in order."""
        return ", ".join(f"{answer['kind']} {answer.get('days', '')}".strip() for answer in delivery.answers) or "–"

    @admin.action(description="Try again", permissions=["operate"])
    def try_again(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        done: list[Any] = []
        refused: list[tuple[Any, DomainError]] = []
        for delivery in queryset.select_related("owner"):
            try:
                retry_delivery(delivery=delivery, now=timezone.now())
            except DomainError as error:
                refused.append((delivery.pk, error))
            else:
                done.append(delivery)
                key = str(delivery.pk)
                # After the commit: a worker that starts at once must see the row.
                transaction.on_commit(lambda key=key: send.delay(key), robust=True)  # type: ignore[misc]
        self.report_action(request, done, refused, "Try again")


class TypeFilter(WordFilter[Destination]):
    title, parameter_name = "channel", "channel"
    words = tuple(DestinationType.choices)
    column = "type"


class DestinationStateFilter(WordFilter[Destination]):
    title, parameter_name = "state", "state"
    words = (("on", "on"), ("off", "off"), ("auto", "switched off for failing"), ("failing", "failing"))

    def narrow(self, rows: QuerySet[Destination], value: str) -> QuerySet[Destination]:
        return {
            "on": rows.filter(enabled=True),
            "off": rows.filter(enabled=False),
            "auto": rows.filter(enabled=False, auto_disabled_at__isnull=False),
            "failing": rows.filter(consecutive_failures__gt=0),
        }[value]


class FailureFilter(WordFilter[Destination]):
    title, parameter_name = "code", "code"
    words = tuple((code.value, code.value) for code in Code)

    def narrow(self, rows: QuerySet[Destination], value: str) -> QuerySet[Destination]:
        return rows.exclude(last_failure_code="").filter(last_failure_code=value)


class LastSuccessFilter(WordFilter[Destination]):
    title, parameter_name = "last success", "age"
    words = (("week", "the last week"), ("older", "longer ago"), ("never", "never"))

    def narrow(self, rows: QuerySet[Destination], value: str) -> QuerySet[Destination]:
        week = timezone.now() - dt.timedelta(days=7)
        return {
            "week": rows.filter(last_success_at__gte=week),
            "older": rows.filter(last_success_at__lt=week),
            "never": rows.filter(last_success_at=None),
        }[value]


@admin.register(Destination)
class DestinationAdmin(OperatorAdmin):
    """Destinations, without labels, tokens and signing secrets. Of a URL only the host is shown."""

    list_display = (
        *("id", "account", "type", "host", "is_enabled", "consecutive_failures", "reason"),
        *("last_success_at", "last_failure_at", "auto_disabled_at"),
    )
    list_filter = (DestinationStateFilter, TypeFilter, FailureFilter, LastSuccessFilter)
    ordering = ("-id",)
    fields = readonly_fields = (*list_display, "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Destination]:
        # Not read at all, so that no page can show them.
        return super().get_queryset(request).defer("secret", "old_secret", "label")

    @admin.display(description="host")
    def host(self, destination: Destination) -> str:
        return host_of(destination.url)

    @admin.display(description="on", boolean=True)
    def is_enabled(self, destination: Destination) -> bool:
        return destination.enabled

    @admin.display(description="last failure")
    def reason(self, destination: Destination) -> str:
        return describe_code(destination.last_failure_code)


class DueFilter(WordFilter[DigestSchedule]):
    title, parameter_name = "due", "due"
    words = (("now", "now"), ("week", "within a week"))

    def narrow(self, rows: QuerySet[DigestSchedule], value: str) -> QuerySet[DigestSchedule]:
        ahead = dt.timedelta(days=7 if value == "week" else 0)
        return rows.filter(next_due_at__lte=timezone.now() + ahead)


@admin.register(DigestSchedule)
class DigestScheduleAdmin(OperatorAdmin):
    """Accounts with the weekly digest, by when the next one is due."""

    list_display = ("account", "next_due_at", "next_on")
    list_filter = (DueFilter,)
    ordering = ("next_due_at",)
    fields = readonly_fields = list_display
