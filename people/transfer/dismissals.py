"""Pairs of people who are not duplicates, in the document."""

from collections.abc import Iterator
from typing import Any

from accounts.models import User
from accounts.transfer.importing import ImportRun, Item
from accounts.transfer.sections import Section
from accounts.transfer.times import Times, times_of
from contacts_project.kernel.api.fields import Text
from people.models import DuplicateDismissal


class DismissalShape(Times):
    personAId = Text(36, required=True)
    personBId = Text(36, required=True)


class DismissalSection(Section):
    """Found again by its pair."""

    name, order, models = "duplicateDismissals", 70, (DuplicateDismissal,)

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        for row in DuplicateDismissal.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "personAId": str(row.first_id),
                "personBId": str(row.second_id),
                "createdAt": row.created_at,
            }

    def shape(self) -> DismissalShape:
        return DismissalShape()

    def write(self, run: ImportRun, items: list[Item]) -> None:
        run.known(DuplicateDismissal, items)
        pairs = {(row.first_id, row.second_id): row for row in DuplicateDismissal.objects.owned_by(run.owner)}
        new = []
        for item in items:
            both = {run.find("people", item.data[key]) for key in ("personAId", "personBId")}
            if None in both or len(both) != 2:
                run.failed(item, "It does not name two people who came in.")
                continue
            first, second = sorted(both, key=lambda person: person.pk)
            if found := pairs.get((first.pk, second.pk)):
                run.skipped(item, found)
                continue
            made = times_of(item.data, run.now)["created_at"]
            row = DuplicateDismissal(
                pk=run.new_id(item.source_id), owner=run.owner, first=first, second=second, created_at=made
            )
            pairs[first.pk, second.pk] = row
            new.append(row)
            run.imported(item, row)
        DuplicateDismissal.objects.bulk_create(new)
