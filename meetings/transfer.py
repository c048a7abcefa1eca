"""Calendars and answers in the export and import of an account: sources without address and password, answers as
hashes."""

from collections.abc import Iterator
from typing import Any

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, exclude_table, register_section, times_of
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictCharField, StrictChoiceField, StrictIntegerField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from meetings.models import KEY_LENGTH, MAX_NAME_LENGTH, AnswerKind, CalendarSource, MeetingAnswer, SourceKind
from meetings.services.sources import MAX_SOURCES, TooManySourcesError

_NOT_A_KEY = define_text("not_a_meeting_key", "This is not the hash of a meeting.")


def register_transfer() -> None:
    """Register the sections of this app; called once."""
    register_section(SourceSection())
    register_section(AnswerSection())
    exclude_table("meetings.MeetingProposal", "Found again when the calendar is read.")
    exclude_table("meetings.ProposedPerson", "Found again when the calendar is read.")


class SourceRecordSerializer(TimestampsSerializer):
    name = StrictCharField(max_length=MAX_NAME_LENGTH)
    kind = StrictChoiceField(list(SourceKind.values))
    username = StrictCharField(max_length=255, required=False, allow_null=True)
    daysBack = StrictIntegerField(min_value=0, max_value=365, source="days_back", required=False, default=30)


class SourceSection(Section):
    """Matched by id, else by name and kind. It is read once its owner has entered its address again."""

    name, order, models = "calendarSources", 90, (CalendarSource,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in CalendarSource.objects.owned_by(owner).order_by("pk"):
            yield {
                "id": str(row.pk),
                "name": row.name,
                "kind": row.kind,
                "username": row.username or None,
                "daysBack": row.days_back,
                "createdAt": row.created_at,
            }

    def serializer(self) -> SourceRecordSerializer:
        return SourceRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(CalendarSource, records)
        rows = list(CalendarSource.objects.owned_by(run.owner).values_list("name", "kind", "pk"))
        by_name = run.index(self.name, {(name, kind): key for name, kind, key in rows})
        taken = run.index(f"{self.name} taken", {key: None for _, _, key in rows})
        new = []
        for record in records:
            data = record.data
            found = ids.found.get(record.source_id) or by_name.get((data["name"], data["kind"]))
            if found:
                run.skipped(record, found)
            elif len(taken) >= MAX_SOURCES:
                run.failed(record, TooManySourcesError.message)
            else:
                pk = ids.new[record.source_id]
                new.append(
                    CalendarSource(
                        pk=pk,
                        owner=run.owner,
                        name=data["name"],
                        kind=data["kind"],
                        username=data.get("username") or "",
                        days_back=data["days_back"],
                        next_read_at=None,
                        created_at=times_of(data, run.now)["created_at"],
                    )
                )
                by_name[data["name"], data["kind"]] = pk
                taken[pk] = None
                run.imported(record, pk)
        run.insert(CalendarSource, new)


class AnswerRecordSerializer(TimestampsSerializer):
    kind = StrictChoiceField(list(AnswerKind.values))
    key = StrictCharField(max_length=KEY_LENGTH)
    dayKey = StrictCharField(max_length=KEY_LENGTH, source="day_key", required=False, allow_null=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        for name, key in (("key", attrs["key"]), ("dayKey", attrs.get("day_key"))):
            if key and (len(key) != KEY_LENGTH or set(key) - set("0123456789abcdef")):
                raise InvalidError({name: [_NOT_A_KEY]})
        return attrs


class AnswerSection(Section):
    """Matched by key: what was accepted or dismissed is not proposed again."""

    name, order, models = "meetingAnswers", 91, (MeetingAnswer,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in MeetingAnswer.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "kind": row.kind,
                "key": row.key,
                "dayKey": row.day_key or None,
                "createdAt": row.created_at,
            }

    def serializer(self) -> AnswerRecordSerializer:
        return AnswerRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(MeetingAnswer, records)
        keys = [record.data["key"] for record in records]
        stored = MeetingAnswer.objects.owned_by(run.owner).filter(key__in=keys).values_list("key", "pk")
        by_key: dict[str, Any] = run.index(self.name, {})
        by_key.update(stored)
        new = []
        for record in records:
            data = record.data
            if found := ids.found.get(record.source_id) or by_key.get(data["key"]):
                run.skipped(record, found)
                continue
            pk = ids.new[record.source_id]
            new.append(
                MeetingAnswer(
                    pk=pk,
                    owner=run.owner,
                    kind=data["kind"],
                    key=data["key"],
                    day_key=data.get("day_key") or "",
                    created_at=times_of(data, run.now)["created_at"],
                )
            )
            by_key[data["key"]] = pk
            run.imported(record, pk)
        run.insert(MeetingAnswer, new)
