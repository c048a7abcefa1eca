"""The section of groups. Memberships are in the section of people."""

from collections.abc import Iterator

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from contacts_project.kernel.api.fields import ColorField, StrictCharField
from contacts_project.kernel.json import JsonObject
from people.api.transferred_fields import RuleSerializer
from people.models import Group
from people.models.groups import group_key
from people.transfer.plan_allowance import PlanAllowance


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
