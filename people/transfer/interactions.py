"""The section of interactions."""

from collections.abc import Iterator

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from contacts_project.kernel.api.fields import StrictCharField, StrictChoiceField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from people.api.transferred_fields import MAX_PEOPLE, TimestampField
from people.dates import schedule
from people.models import Interaction, Participation
from people.projection.interactions import participant_ids
from people.services.last_contact import set_counts_at, update_last_contacts
from people.services.person_writer import PersonWriter
from people.vocabularies import InteractionKind
from people.word_index import index_interactions

_NOBODY = define_text("nobody_came_in", "It names nobody who came in.")


class InteractionRecordSerializer(TimestampsSerializer):
    personIds = serializers.ListField(child=StrictCharField(max_length=36), min_length=1, max_length=MAX_PEOPLE)
    kind = StrictChoiceField(InteractionKind.values)
    at = TimestampField()
    title = StrictCharField(max_length=200, required=False, allow_null=True)
    notes = StrictCharField(max_length=10_000, required=False, allow_null=True)


class InteractionSection(Section):
    """An existing interaction is found by id. A new one has only those of its people who were imported."""

    name, order, models = "interactions", 65, (Interaction, Participation)

    def export(self, owner: User) -> Iterator[JsonObject]:
        rows = Interaction.objects.owned_by(owner).order_by("pk")
        people = participant_ids(owner)
        for row in rows.iterator():
            yield {
                "id": str(row.pk),
                "personIds": people[row.pk],
                "kind": row.kind,
                "at": row.at,
                "title": row.title,
                "notes": row.notes,
                "createdAt": row.created_at,
                "deletedAt": row.deleted_at,
            }

    def serializer(self) -> InteractionRecordSerializer:
        return InteractionRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(Interaction, records)
        calendar = schedule.load_calendar(run.owner)
        rows: list[Interaction] = []
        people: list[Participation] = []
        for record in records:
            found = [run.find("people", key) for key in record.data["personIds"]]
            came = list(dict.fromkeys(key for key in found if key))
            if known := ids.found.get(record.source_id):
                run.skipped(record, known)
            elif not came:
                run.failed(record, _NOBODY)
            else:
                values = {column: record.data.get(column) for column in ("kind", "at", "title", "notes")}
                row = Interaction(
                    pk=ids.new[record.source_id], owner=run.owner, **values, **times_of(record.data, run.now)
                )
                set_counts_at(row, calendar, run.now)
                rows.append(row)
                people += [
                    Participation(owner=run.owner, interaction=row, person_id=key, position=index, at=row.at)
                    for index, key in enumerate(came)
                ]
                run.imported(record, row.pk, run.describe_missing(personIds=("people", record.data["personIds"])))
        run.insert(Interaction, rows)
        run.insert(Participation, people)
        if rows and not run.dry:
            index_interactions(run.owner.pk, rows)
            # The people were imported before, with the day that the user entered as their last contact.
            with account_write(run.owner) as write:
                update_last_contacts(PersonWriter(run.owner, write, run.now), {row.person_id for row in people})
