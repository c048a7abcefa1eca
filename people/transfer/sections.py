"""The sections of the tables beside people: groups, templates, geocoded addresses, interactions, dismissals.

Memberships and custom values are in the section of people.
"""

from collections.abc import Iterator

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    ColorField,
    StrictCharField,
    StrictChoiceField,
    StrictFloatField,
    StrictIntegerField,
)
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from people.api.transferred_fields import MAX_PEOPLE, OptionsField, RuleSerializer, TimestampField
from people.dates import schedule
from people.geocoding.addresses import address_key
from people.lookup import index_interactions
from people.models import CustomFieldTemplate, DuplicateDismissal, GeocodedAddress, Group, Interaction, Participation
from people.models.groups import group_key
from people.projection.records import participant_ids
from people.services.last_contact import set_counts_at, update_last_contacts
from people.services.person_writer import PersonWriter
from people.services.plan_limits import count_of, describe_limit
from people.vocabularies import GeocodeState, InteractionKind, TemplateType

_SLUG_TAKEN = define_text("slug_taken", "There is a field of type %(type)s with this slug.")
_OPTIONS = define_text("options_belong_to_select", "Options belong to SELECT, which needs one at least.")
_NO_COORDINATES = define_text("place_without_coordinates", "A place that was found has both coordinates.")
_STATE_VALUES = list(GeocodeState.values)
_NOBODY = define_text("nobody_came_in", "It names nobody who came in.")
TWO_PEOPLE_MISSING = define_text("two_people_missing", "It does not name two people who came in.")
_PAIR = ("first_id", "second_id")


class PlanAllowance:
    """The number of further records that the account's plan allows.

    Counts the existing records once per batch under the account lock, then decreases for each imported record.
    """

    def __init__(self, run: TransferRun, kind: str) -> None:
        self.run, self.kind = run, kind
        limit = run.owner.plan_limit(kind)
        self.left = None if limit is None else limit - count_of(run.owner, kind)
        if self.left is not None and run.dry:
            # Earlier batches of a dry run wrote no rows that count_of could count.
            self.left -= run.allowance_used[kind]
        self.message = describe_limit(run.owner, kind)

    def take(self) -> bool:
        """Use one; returns False if the plan allows no more."""
        if self.left is None:
            return True
        if self.left <= 0:
            return False
        self.left -= 1
        self.run.allowance_used[self.kind] += 1
        return True


class GroupRecordSerializer(RuleSerializer, TimestampsSerializer):
    name = StrictCharField(max_length=100)
    description = StrictCharField(max_length=500, required=False, allow_null=True)
    color = ColorField()


class GroupSection(Section):
    """An existing group is found by id, else by name among the active groups."""

    name, order, models = "groups", 20, (Group,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for group in Group.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(group.pk),
                "name": group.name,
                "description": group.description,
                "color": group.color,
                "contactReminder": group.contact_reminder,
                "leadDays": group.lead_days,
                "createdAt": group.created_at,
                "deletedAt": group.deleted_at,
            }

    def serializer(self) -> GroupRecordSerializer:
        return GroupRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(Group, records)
        keys = {group_key(record.data["name"]) for record in records}
        active = Group.objects.owned_by(run.owner).active().filter(name_key__in=keys)
        keys_by_name = run.index(self.name, dict(active.values_list("name_key", "pk")))
        allowance, new = PlanAllowance(run, "groups"), []
        for record in records:
            key, times = group_key(record.data["name"]), times_of(record.data, run.now)
            is_active = times["deleted_at"] is None
            # Names are unique among active groups only.
            found = ids.found.get(record.source_id) or (keys_by_name.get(key) if is_active else None)
            if found:
                run.skipped(record, found)
            elif is_active and not allowance.take():
                run.failed(record, allowance.message)
            else:
                columns = ("name", "description", "color", "contact_reminder", "lead_days")
                values = {column: record.data.get(column) for column in columns}
                group = Group(pk=ids.new[record.source_id], owner=run.owner, name_key=key, **values, **times)
                new.append(group)
                run.imported(record, group.pk)
                if is_active:
                    keys_by_name[key] = group.pk
        run.insert(Group, new)


class TemplateRecordSerializer(TimestampsSerializer):
    name = StrictCharField(max_length=60)
    slug = StrictCharField(max_length=80)
    type = StrictChoiceField(TemplateType.values)
    options = OptionsField(required=False)
    order = StrictIntegerField(min_value=0, max_value=1_000_000, required=False, source="position", default=0)

    def validate(self, attrs: JsonObject) -> JsonObject:
        options = attrs.get("options") or []
        if (attrs["type"] == TemplateType.SELECT) != bool(options):
            raise InvalidError({"options": [_OPTIONS]})
        return {**attrs, "options": options}


class TemplateSection(Section):
    """An existing template is found by id, else by slug; a different type is an error."""

    name, order, models = "customFieldTemplates", 30, (CustomFieldTemplate,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in CustomFieldTemplate.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "name": row.name,
                "slug": row.slug,
                "type": row.type,
                "options": row.options,
                "order": row.position,
                "createdAt": row.created_at,
                "deletedAt": row.deleted_at,
            }

    def serializer(self) -> TemplateRecordSerializer:
        return TemplateRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(CustomFieldTemplate, records)
        rows = CustomFieldTemplate.objects.owned_by(run.owner)
        by_id = rows.in_bulk(list(ids.found.values()))
        # In the trash, too: a slug is unique among all templates of the account.
        with_same_slug = rows.filter(slug__in=[record.data["slug"] for record in records])
        slugs = run.index(self.name, {row.slug: row for row in with_same_slug})
        allowance, new = PlanAllowance(run, "templates"), []
        for record in records:
            data, times = record.data, times_of(record.data, run.now)
            found = by_id.get(ids.found.get(record.source_id)) or slugs.get(data["slug"])
            if found and found.type != data["type"]:
                run.failed(record, _SLUG_TAKEN.format(type=found.type))
            elif found:
                run.skipped(record, found.pk, ref=found)
            elif times["deleted_at"] is None and not allowance.take():
                run.failed(record, allowance.message)
            else:
                values = {column: data[column] for column in ("name", "slug", "type", "options", "position")}
                row = CustomFieldTemplate(pk=ids.new[record.source_id], owner=run.owner, **values, **times)
                new.append(row)
                slugs[row.slug] = row
                run.imported(record, row.pk, ref=row)
        run.insert(CustomFieldTemplate, new)


class PlaceRecordSerializer(TimestampsSerializer):
    text = StrictCharField(max_length=2000)
    geocodeStatus = StrictChoiceField(_STATE_VALUES, source="state")
    latitude = StrictFloatField(min_value=-90, max_value=90, required=False, allow_null=True)
    longitude = StrictFloatField(min_value=-180, max_value=180, required=False, allow_null=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if attrs["state"] == GeocodeState.DONE and None in (attrs.get("latitude"), attrs.get("longitude")):
            raise InvalidError({"geocodeStatus": [_NO_COORDINATES]})
        return attrs


class PlaceSection(Section):
    """Geocoding results, so that addresses need not be geocoded again after an import.

    An existing row is found by id, else by the text of the address.
    """

    name, order, models = "places", 45, (GeocodedAddress,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in GeocodedAddress.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "text": row.text,
                "geocodeStatus": row.state,
                "latitude": row.latitude,
                "longitude": row.longitude,
                "createdAt": row.created_at,
            }

    def serializer(self) -> PlaceRecordSerializer:
        return PlaceRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(GeocodedAddress, records)
        keys = {address_key(record.data["text"]) for record in records}
        rows = GeocodedAddress.objects.owned_by(run.owner).filter(key__in=keys)
        texts = run.index(self.name, dict(rows.values_list("key", "pk")))
        new = []
        for record in records:
            key = address_key(record.data["text"])
            if found := ids.found.get(record.source_id) or texts.get(key):
                run.skipped(record, found)
                continue
            values = {column: record.data.get(column) for column in ("text", "state", "latitude", "longitude")}
            row = GeocodedAddress(
                pk=ids.new[record.source_id],
                owner=run.owner,
                key=key,
                next_try_at=run.now,
                created_at=times_of(record.data, run.now)["created_at"],
                **values,
            )
            texts[key] = row.pk
            new.append(row)
            run.imported(record, row.pk)
        run.insert(GeocodedAddress, new)


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
            if existing := ids.found.get(record.source_id):
                run.skipped(record, existing)
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


class DismissalRecordSerializer(TimestampsSerializer):
    personAId = StrictCharField(max_length=36)
    personBId = StrictCharField(max_length=36)


class DismissalSection(Section):
    """Pairs of people who are not duplicates. An existing row is found by its pair."""

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
