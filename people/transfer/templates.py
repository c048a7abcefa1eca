"""The section of custom field templates. Values are in the section of people."""

from collections.abc import Iterator

from accounts.models import User
from accounts.transfer.run import ImportRecord, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, times_of
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictCharField, StrictChoiceField, StrictIntegerField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.api.transferred_fields import OptionsField
from people.models import CustomFieldTemplate
from people.transfer.plan_allowance import PlanAllowance
from people.vocabularies import TemplateType

_SLUG_TAKEN = define_text("slug_taken", "There is a field of type %(type)s with this slug.")

_OPTIONS = define_text("options_belong_to_select", "Options belong to SELECT, which needs one at least.")


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
