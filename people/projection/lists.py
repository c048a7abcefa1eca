"""Lists of people: a page, what a search found, everybody. What stands beside the rows is read in one query each,
however many people.

Everything comes as JSON text that an answer takes in as it is (orjson.Fragment): for ten thousand people dictionaries
would cost more, in memory and in the garbage collector's time, than the database takes to write the text.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery
from orjson import Fragment

from accounts.models import User
from contacts_project.kernel.api.columns import RawColumn
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.api.json import format_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.extensions import EXTENSIONS
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Group,
    ImportantDate,
    Membership,
    Person,
    RelationshipType,
)
from people.projection.columns import KeyList
from people.projection.people import (
    COLUMNS,
    DATE_COLUMNS,
    FETCH,
    WITH_LISTS,
    Groups,
    Kind,
    assembler,
    date_json,
    groups_answer,
    template_json,
    type_summary,
    value_json,
)


def project(owner: User, rows: Any, *, details: bool = True) -> list[Fragment]:
    """The answers for a queryset of few people, in its order; `details` adds the multi-value fields."""
    columns = WITH_LISTS if details else COLUMNS
    return _projected(owner, columns, list(rows.values_list(*columns.values(), _group_keys(owner.pk))))


def project_page(owner: User, *, limit: int, offset: int, details: bool) -> list[Fragment]:
    """The same for a page of all active people, in name order."""
    columns, query = (WITH_LISTS, _PAGE) if details else (COLUMNS, _PAGE_WITHOUT_LISTS)
    return _projected(owner, columns, query.rows(owner_id=owner.pk, limit=limit, offset=offset))


def _projected(owner: User, columns: Collection[str], found: list[Any]) -> list[Fragment]:
    """Answers of rows that have the KeyList of the person's groups behind the columns."""
    answer = _groups_by_keys(owner)
    groups = {row[0]: answer(row[-1]) for row in found if row[-1]}
    assemble = assembler(owner, columns, types_of(owner), groups, {})
    return [Fragment(assemble(row)) for row in found]


def project_all(owner: User, rows: Any, *, details: bool = True, everything: bool = False) -> Iterator[bytes]:
    """The same for a queryset of many people, each as JSON.

    What stands beside the rows is read at once, before the first answer; the rows themselves as they are asked for.
    """
    columns = WITH_LISTS if details else COLUMNS
    lists = lists_of(owner) if everything else {}
    assemble = assembler(owner, columns, types_of(owner), groups_of(owner), lists)
    return map(assemble, rows.values_list(*columns.values()).iterator(chunk_size=FETCH))


def _page(owner_id: UUID, limit: int, offset: int, columns: Mapping[str, Any]) -> Any:
    """Who is on the page is read from the index of names: of a plain OFFSET PostgreSQL makes all columns of everybody
    before it.
    """
    people = Person.objects.owned_by(owner_id)
    listed = people.active().in_name_order().values("pk")[offset : offset + limit]
    return people.filter(pk__in=listed).in_name_order().values_list(*columns.values(), _group_keys(owner_id))


def _group_keys(owner_id: UUID) -> Subquery:
    """The KeyList of a person's groups beside the person: for a page cheaper than a statement of its own."""
    rows = Membership.objects.owned_by(owner_id).filter(person_id=OuterRef("pk"))
    return Subquery(rows.values("person_id").annotate(keys=KeyList("group_id")).values("keys"))


_PAGE = CompiledQuery(lambda owner_id, limit, offset: _page(owner_id, limit, offset, WITH_LISTS))
_PAGE_WITHOUT_LISTS = CompiledQuery(lambda owner_id, limit, offset: _page(owner_id, limit, offset, COLUMNS))


_TYPES = CompiledQuery(
    lambda owner_id: (
        RelationshipType.objects.owned_by(owner_id).active().values_list(IdHex("id"), "name", "label", "color")
    )
)
_GROUPS = CompiledQuery(
    lambda owner_id: Group.objects.owned_by(owner_id).active().values_list("name_key", IdHex("id"), "name", "color")
)


def types_of(owner: User) -> dict[str, Kind]:
    """The account's active relationship types, by IdHex."""
    rows = _TYPES.rows(owner_id=owner.pk)
    kinds = {}
    for key, name, label, color in rows:
        kinds[key] = type_summary(key, name, label, color)
    return kinds


def _groups_by_keys(owner: User) -> Callable[[str], Groups]:
    """A function that says which active groups a KeyList names; people in the same groups share what it gives."""
    rows = _GROUPS.rows(owner_id=owner.pk)
    # Sorted here: databases collate differently.
    groups = {key: {"id": format_id(key), "name": name, "color": color} for _, key, name, color in sorted(rows)}

    @cache
    def answer(keys: str) -> Groups:
        own = set(keys.split(","))
        return groups_answer([group for key, group in groups.items() if key in own])

    return answer


def groups_of(owner: User) -> dict[str, Groups]:
    """The active groups of everybody who has any."""
    answer = _groups_by_keys(owner)
    rows = Membership.objects.owned_by(owner).values_list(IdHex("person_id"), IdHex("group_id"))
    return {person: answer(keys) for person, keys in _listed(rows.iterator(chunk_size=FETCH)).items()}


def important_dates_of(owner: User) -> dict[str, str]:
    """The active dates of each person, in the order they were added; as people.projection.important_dates shows one."""
    rows = ImportantDate.objects.owned_by(owner).active().order_by()
    columns = rows.values_list(IdHex("person_id"), RawColumn("created_at"), IdHex("id"), DATE_COLUMNS)
    first: dict[str, Any] = {}
    several: dict[str, list[Any]] = {}
    for row in columns.iterator(chunk_size=FETCH):
        before = first.setdefault(row[0], row)
        if before is not row:
            several.setdefault(row[0], [before]).append(row)
    texts = {person: date_json(person, key, rest) for person, _, key, rest in first.values()}
    # Sorted here: few have more than one, and the database would sort them all.
    for person, dates in several.items():
        texts[person] = ",".join([date_json(person, key, rest) for _, _, key, rest in sorted(dates)])
    return texts


def custom_field_values_of(owner: User) -> dict[str, str]:
    """The values of each person whose template is active, in the order of the templates."""
    columns = CustomFieldTemplate.objects.owned_by(owner).active().values_list(IdHex("id"), "name", "slug", "type")
    templates = {key: template_json(key, *rest) for key, *rest in columns}
    if not templates:
        return {}
    rows = CustomFieldValue.objects.owned_by(owner).filter(template__deleted_at=None)
    rows = rows.order_by("template__position", "template_id")
    found = rows.values_list(IdHex("person_id"), IdHex("id"), IdHex("template_id"), RawColumn("value")).iterator(
        chunk_size=FETCH
    )
    return _listed(
        (person, value_json(key, templates[template], value))
        for person, key, template, value in found
        if template in templates
    )


def _listed(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Each person's entries with commas between."""
    found: dict[str, str] = {}
    for person, entry in entries:
        before = found.get(person)
        found[person] = entry if before is None else f"{before},{entry}"
    return found


def lists_of(owner: User) -> dict[str, Mapping[str, str]]:
    """The lists of an answer that shows everything: by the name of each, the JSON of its entries by person."""
    above = {extension.name: extension.rows(owner, None) for extension in EXTENSIONS if extension.name}
    return {
        "importantDates": important_dates_of(owner),
        **above,
        "customFieldValues": custom_field_values_of(owner),
    }
