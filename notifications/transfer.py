"""Export and import of an account's destinations, without their secrets, and of its answers to reminders."""

from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import F

from accounts.models import User
from accounts.models.user import Plan
from accounts.transfer.run import NO_ID, ImportRecord, ResolvedIds, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, exclude_table, register_section, times_of
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateField,
    StrictIntegerField,
)
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from notifications.models import AnswerState, Delivery, Destination, DestinationType, ReminderAnswer
from notifications.models.destinations import MAX_URL_LENGTH, url_key
from notifications.notices.actions import PERSON_REMINDERS
from notifications.notices.notice import NoticeKind
from notifications.services.destinations import (
    MAX_DESTINATIONS,
    NEEDS_PRO,
    TooManyDestinationsError,
    UrlRefusedError,
    check_url,
)
from people.dates import schedule
from people.models import ImportantDate

_OTHER_SERVER = define_text("server_without_topic", "This is not where the topic is.")
_AGAIN_ON = define_text("answer_day", "What is snoozed has a day; what is skipped has none.")
_NO_DATE = define_text("answer_without_date", "All but reminders of contact are of a date.")
_NOT_IMPORTED = define_text("answer_source_missing", "Its date or its person did not come in.")


class DestinationRecordSerializer(TimestampsSerializer):
    type = StrictChoiceField(list(DestinationType.values))
    label = StrictCharField(max_length=60)  # type: ignore[assignment]  # hides Field.label, which no field needs
    url = StrictCharField(max_length=MAX_URL_LENGTH)
    serverUrl = StrictCharField(max_length=MAX_URL_LENGTH, required=False, allow_null=True)
    enabled = StrictBooleanField(required=False, default=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        try:
            check_url(DestinationType(attrs["type"]), attrs["url"])
        except UrlRefusedError as error:
            raise InvalidError({"url": [error.message]}) from None
        server, url = attrs.get("serverUrl"), attrs["url"]
        if server and urlsplit(server)[:2] != urlsplit(url)[:2]:
            raise InvalidError({"serverUrl": [_OTHER_SERVER]})
        return attrs


class DestinationSection(Section):
    """Matched by id, else by URL. A webhook comes without its signing secret: `rotateSecret` creates and shows one."""

    name, order, models = "notificationDestinations", 80, (Destination,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in Destination.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "type": row.type,
                "label": row.label,
                "url": row.url,
                "serverUrl": row.server_url or None,
                "enabled": row.enabled,
                "createdAt": row.created_at,
            }

    def serializer(self) -> DestinationRecordSerializer:
        return DestinationRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(Destination, records)
        rows = Destination.objects.owned_by(run.owner)
        by_url = run.index(self.name, dict(rows.values_list("url_key", "pk")))
        new = []
        for record in records:
            if found := ids.found.get(record.source_id) or by_url.get(url_key(record.data["url"])):
                run.skipped(record, found)
            elif len(by_url) >= MAX_DESTINATIONS:
                run.failed(record, TooManyDestinationsError.message)
            else:
                row = _build_destination(run, record, ids.new[record.source_id])
                if row.needs_pro and run.owner.effective_plan != Plan.PRO:
                    run.failed(record, NEEDS_PRO)
                    continue
                new.append(row)
                by_url[row.url_key] = row.pk
                run.imported(record, row.pk)
        run.insert(Destination, new)


def _build_destination(run: TransferRun, record: ImportRecord, pk: UUID) -> Destination:
    data = record.data
    row = Destination(
        pk=pk,
        owner=run.owner,
        created_at=times_of(data, run.now)["created_at"],
        **{column: data[column] for column in ("type", "label", "enabled")},
    )
    row.set_url(data["url"], data.get("serverUrl") or "")
    return row


class ReminderAnswerRecordSerializer(TimestampsSerializer):
    importantDateId = StrictCharField(max_length=36, required=False, allow_null=True)
    personId = StrictCharField(max_length=36)
    date = StrictDateField()
    state = StrictChoiceField(list(AnswerState.values))
    kind = StrictChoiceField(sorted(kind.value for kind in PERSON_REMINDERS))
    leadDays = StrictIntegerField(min_value=0, max_value=365, required=False, default=0)
    againOn = StrictDateField(required=False, allow_null=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if (attrs["state"] == AnswerState.SNOOZED) is (attrs.get("againOn") is None):
            raise InvalidError({"againOn": [_AGAIN_ON]})
        if (attrs["kind"] == NoticeKind.CONTACT) is bool(attrs.get("importantDateId")):
            raise InvalidError({"importantDateId": [_NO_DATE]})
        return attrs


class AnswerSection(Section):
    """Matched by id, else by source and occurrence. Answers to a date have its `personId` as well."""

    name, order, models = "reminderAnswers", 68, (ReminderAnswer,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        rows = ReminderAnswer.objects.owned_by(owner).order_by("pk").annotate(dated=F("important_date__person_id"))
        for row in rows.iterator():
            yield {
                "id": str(row.pk),
                "importantDateId": str(row.important_date_id) if row.important_date_id else None,
                "personId": str(row.person_id or row.dated),
                "date": row.occurrence_on,
                "state": row.state,
                "kind": row.kind,
                "leadDays": row.lead_days,
                "againOn": row.again_on,
                "createdAt": row.created_at,
            }

    def serializer(self) -> ReminderAnswerRecordSerializer:
        return ReminderAnswerRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(ReminderAnswer, records)
        dates = run.resolve_ids(
            ImportantDate, filter(None, (parse_id(record.data.get("importantDateId")) for record in records))
        )
        rows = ReminderAnswer.objects.owned_by(run.owner)
        known = run.index(self.name, {row.key: row.pk for row in rows})
        # The highest round of each occurrence here: a round that has deliveries must not be used again.
        sent = Delivery.objects.owned_by(run.owner).filter(round__gt=0).order_by("round")
        columns = sent.values_list("source_id", "occurrence_on", "round")
        rounds = {(source_id, day): number for source_id, day, number in columns}
        new = []
        for record in records:
            source = _find_source(run, record, dates)
            occurrence = source or NO_ID, record.data["date"]
            if found := ids.found.get(record.source_id) or known.get(occurrence):
                run.skipped(record, found)
            elif source is None:
                run.failed(record, _NOT_IMPORTED)
            else:
                row = _build_answer(run, record, ids.new[record.source_id], source, rounds.get(occurrence, 0) + 1)
                new.append(row)
                known[occurrence] = row.pk
                run.imported(record, row.pk)
        run.insert(ReminderAnswer, new)


def _find_source(run: TransferRun, record: ImportRecord, dates: ResolvedIds) -> UUID | None:
    """The id of the answer's date or person in this account; None if it was not imported."""
    person: UUID | None = run.find("people", record.data["personId"])
    key = parse_id(record.data.get("importantDateId"))
    if person is None or key is None:
        return person
    # In a dry run the date is not written. It counts as imported if its person does.
    return dates.found.get(key) or (dates.new[key] if run.dry else None)


def _build_answer(run: TransferRun, record: ImportRecord, pk: UUID, source: UUID, round_: int) -> ReminderAnswer:
    data, calendar = record.data, schedule.load_calendar(run.owner)
    again_on = data.get("againOn")
    is_contact = data["kind"] == NoticeKind.CONTACT
    return ReminderAnswer(
        pk=pk,
        owner=run.owner,
        important_date_id=None if is_contact else source,
        person_id=source if is_contact else None,
        occurrence_on=data["date"],
        state=data["state"],
        kind=data["kind"],
        lead_days=data["leadDays"],
        round=round_ if again_on else 0,
        again_on=again_on,
        due_at=(calendar.reminder_time(again_on) or run.now) if again_on else None,
        created_at=times_of(data, run.now)["created_at"],
    )


def register_transfer() -> None:
    """Register the sections of notifications. Called once, when all models are loaded."""
    register_section(DestinationSection())
    register_section(AnswerSection())
    exclude_table("notifications.PushSubscription", "A subscription is valid for the VAPID keys of this instance only.")
    exclude_table("notifications.CalendarFeed", "A feed is an address with a secret; secrets are not exported.")
    exclude_table("notifications.Delivery", "The ledger of what this instance has sent.")
    exclude_table("notifications.DigestSchedule", "Computed from the preferences.")
