"""The section of pairs of people who are not duplicates."""

from collections.abc import Iterator

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from contacts_project.kernel.api.fields import StrictCharField
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.models import DuplicateDismissal

TWO_PEOPLE_MISSING = define_text("two_people_missing", "It does not name two people who came in.")

_PAIR = ("first_id", "second_id")


class DismissalRecordSerializer(TimestampsSerializer):
    personAId = StrictCharField(max_length=36)
    personBId = StrictCharField(max_length=36)


class DismissalSection(Section):
    """An existing row is found by its pair."""

    name, order, models = "duplicateDismissals", 70, (DuplicateDismissal,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in DuplicateDismissal.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "personAId": str(row.first_id),
                "personBId": str(row.second_id),
                "createdAt": row.created_at,
            }

    def serializer(self) -> DismissalRecordSerializer:
        return DismissalRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(DuplicateDismissal, records)
        couples = {
            record: {run.find("people", record.data[key]) for key in ("personAId", "personBId")} for record in records
        }
        rows = DuplicateDismissal.objects.owned_by(run.owner).filter(first__in=set().union(*couples.values()) - {None})
        pairs = run.index(self.name, {(first, second): pk for pk, first, second in rows.values_list("pk", *_PAIR)})
        new = []
        for record, person_ids in couples.items():
            if None in person_ids or len(person_ids) != 2:
                run.failed(record, TWO_PEOPLE_MISSING)
                continue
            # The smaller id first, as the table requires.
            first, second = pair = tuple(sorted(person_ids))
            if found := pairs.get(pair):
                run.skipped(record, found)
                continue
            # ids.new has no id for a record whose row exists here; that row may have another pair by now.
            key = ids.new.get(record.source_id) or new_id()
            made = times_of(record.data, run.now)["created_at"]
            new.append(DuplicateDismissal(pk=key, owner=run.owner, first_id=first, second_id=second, created_at=made))
            pairs[pair] = key
            run.imported(record, key)
        run.insert(DuplicateDismissal, new)
