"""Lists of people: a page, the matches of a search, all people, or the trash.

Each related table takes one query for any number of people.

The database writes JSON text, which is put into the response unparsed (orjson.Fragment). Dictionaries for ten thousand
people would cost more, in memory and garbage collection, than writing the text costs the database.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast
from orjson import Fragment

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query, query_by_ids
from contacts_project.kernel.database.expressions import IdHex, RawColumn
from contacts_project.kernel.ids import format_id
from contacts_project.kernel.text_forms import fold_letters
from people.duplicates.keys import letter_block
from people.extensions import EXTENSIONS
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    Group,
    ImportantDate,
    LookupKey,
    Membership,
    Person,
    RelationshipType,
)
from people.projection.columns import IdHexList
from people.projection.people import (
    COLUMNS,
    COLUMNS_WITH_LISTS,
    DATE_OBJECT,
    FETCH_SIZE,
    GroupLists,
    TypeFragment,
    build_assembler,
    build_group_lists,
    date_json,
    summarize_source,
    summarize_type,
    template_json,
    value_json,
)
from people.scripts import is_cjk

# In rows of `_project_rows`: the first column of COLUMNS, and the one that is added behind them.
_pick_id_and_group_ids = itemgetter(0, -1)
# For more people, the related rows of the whole account are read: that costs less than a query by so many ids.
_MAX_PEOPLE_BY_ID = 500


def project(owner: User, rows: Any, *, include_details: bool = True) -> list[Fragment]:
    """The JSON of the people in a small queryset, in its order; `include_details` adds the multi-value fields."""
    columns = COLUMNS_WITH_LISTS if include_details else COLUMNS
    return _project_rows(owner, columns, list(rows.values_list(*columns.values(), _group_ids(owner.pk))))


def project_found(owner: User, text: str, *, others: Collection[UUID] = (), limit: int) -> list[Fragment]:
    """The JSON of the first people, in name order, whose names contain the text or who are among `others`.

    Case and accents do not matter, nor spaces in scripts without them. A name of such a script that stands in a single
    field is found in either order, wherever it is cut.
    """
    folded = fold_letters(text)
    if others:
        people = Person.objects.owned_by(owner).active().with_name_containing(folded, others=Q(pk__in=others))
        return project(owner, people.in_name_order()[:limit])
    compact = "".join(folded.split())
    if is_cjk(compact):
        rows = _found_without_spaces.rows(owner_id=owner.pk, folded=compact, block=letter_block(compact), limit=limit)
    else:
        rows = _found_query.rows(owner_id=owner.pk, folded=folded, limit=limit)
    return _project_rows(owner, COLUMNS_WITH_LISTS, rows)


def project_page(owner: User, *, limit: int, offset: int, include_details: bool) -> list[Fragment]:
    """The JSON of one page of all active people, in name order."""
    columns, query = (COLUMNS_WITH_LISTS, _page_query) if include_details else (COLUMNS, _page_without_lists)
    return _project_rows(owner, columns, query.rows(owner_id=owner.pk, limit=limit, offset=offset))


def project_ids(owner: User, ids: Sequence[str], *, include_details: bool) -> list[Fragment]:
    """The JSON of the active people with these ids (IdHex), in their order."""
    columns, query = (COLUMNS_WITH_LISTS, _by_ids_query) if include_details else (COLUMNS, _by_ids_without_lists)
    keys = [UUID(key) for key in ids]
    rows = {row[0]: row for row in query.rows(owner_id=owner.pk, person_ids=keys)} if keys else {}
    return _project_rows(owner, columns, [rows[key] for key in ids if key in rows])


def _by_ids(owner_id: UUID, person_ids: Collection[UUID], columns: Mapping[str, Any]) -> Rows:
    people = Person.objects.owned_by(owner_id).active().filter(pk__in=person_ids)
    return people.values_list(*columns.values(), _group_ids(owner_id))


def _project_rows(owner: User, columns: Collection[str], rows: list[Any]) -> list[Fragment]:
    """The JSON of rows that have `columns`, and behind them _group_ids."""
    summaries = _load_summaries(owner)
    find_groups = _group_finder(summaries)
    groups = {key: find_groups(group_ids) for key, group_ids in map(_pick_id_and_group_ids, rows) if group_ids}
    assemble = build_assembler(owner, columns, load_types(owner), _sources(summaries), groups, {})
    return [Fragment(assemble(row)) for row in rows]


def project_all(
    owner: User,
    rows: Any,
    *,
    include_details: bool = True,
    include_all: bool = False,
    places: Mapping[str, int] | None = None,
) -> Iterator[bytes]:
    """The JSON of each person in a large queryset.

    The related tables are read before the first person is yielded; the people are read while iterating. With `places`,
    the people (IdHex) in these places instead of the order of the rows; then they are all read at once.
    """
    columns = COLUMNS_WITH_LISTS if include_details else COLUMNS
    lists: dict[str, Mapping[str, str]] = {}
    if include_all:
        from_extensions = {extension.name: extension.rows(owner, None) for extension in EXTENSIONS if extension.name}
        lists = {"importantDates": _load_dates(owner), **from_extensions, "customFieldValues": _load_values(owner)}
    summaries = _load_summaries(owner)
    groups = _load_members(owner, summaries)
    assemble = build_assembler(owner, columns, load_types(owner), _sources(summaries), groups, lists)
    people = rows.values_list(*columns.values())
    if places is not None:
        return map(assemble, sorted((row for row in people if row[0] in places), key=lambda row: places[row[0]]))
    return map(assemble, people.iterator(chunk_size=FETCH_SIZE))


def deleted_people(owner: User, rows: QuerySet[Person]) -> list[Fragment]:
    """People in the trash, without their multi-value fields."""
    if rows.query.is_sliced or rows.count() <= _MAX_PEOPLE_BY_ID:
        return project(owner, rows, include_details=False)
    return [Fragment(person) for person in project_all(owner, rows, include_details=False)]


def _page(owner_id: UUID, limit: int, offset: int, columns: Mapping[str, Any]) -> Rows:
    people = Person.objects.owned_by(owner_id)
    # The ids come from the index of names. With a plain OFFSET PostgreSQL computes all columns of every skipped person.
    listed = people.active().in_name_order().values("pk")[offset : offset + limit]
    return people.filter(pk__in=listed).in_name_order().values_list(*columns.values(), _group_ids(owner_id))


def _group_ids(owner_id: UUID) -> Subquery:
    """The ids of a person's groups as an IdHexList; for a page cheaper than a statement of its own."""
    rows = Membership.objects.owned_by(owner_id).filter(person_id=OuterRef("pk"))
    return Subquery(rows.values("person_id").annotate(ids=IdHexList("group_id")).values("ids"))


@compiled_query
def _found_query(owner_id: UUID, folded: str, limit: int) -> Rows:
    people = Person.objects.owned_by(owner_id).active().with_name_containing(folded)
    return people.in_name_order().values_list(*COLUMNS_WITH_LISTS.values(), _group_ids(owner_id))[:limit]


@compiled_query
def _found_without_spaces(owner_id: UUID, folded: str, block: str, limit: int) -> Rows:
    same_letters = LookupKey.objects.filter(owner_id=owner_id, kind=LookupKey.BLOCK, key=block)
    whole = Q(pk__in=same_letters.values("person_id"), surname=None, middle_name=None, second_last_name=None)
    people = Person.objects.owned_by(owner_id).active()
    found = people.with_name_containing(folded, ignore_spaces=True, others=whole)
    return found.in_name_order().values_list(*COLUMNS_WITH_LISTS.values(), _group_ids(owner_id))[:limit]


@query_by_ids
def _by_ids_query(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return _by_ids(owner_id, person_ids, COLUMNS_WITH_LISTS)


@query_by_ids
def _by_ids_without_lists(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return _by_ids(owner_id, person_ids, COLUMNS)


@compiled_query
def _page_query(owner_id: UUID, limit: int, offset: int) -> Rows:
    return _page(owner_id, limit, offset, COLUMNS_WITH_LISTS)


@compiled_query
def _page_without_lists(owner_id: UUID, limit: int, offset: int) -> Rows:
    return _page(owner_id, limit, offset, COLUMNS)


@compiled_query
def _types(owner_id: UUID) -> Rows:
    return RelationshipType.objects.owned_by(owner_id).active().values_list(IdHex("id"), "name", "label", "color")


@compiled_query
def active_groups(owner_id: UUID) -> Rows:
    return Group.objects.owned_by(owner_id).active().values_list("name_key", IdHex("id"), "name", "color")


def load_types(owner: User) -> dict[str, TypeFragment]:
    """The account's active relationship types, by IdHex."""
    rows = _types.rows(owner_id=owner.pk)
    return {key: summarize_type(key, name, label, color) for key, name, label, color in rows}


_Summaries = Mapping[str, dict[str, str]]
"""The active groups by IdHex, in name order, each as the entry of a person's `groups`."""


def _load_summaries(owner: User) -> _Summaries:
    rows = active_groups.rows(owner_id=owner.pk)
    # Sorted here, because databases collate text differently.
    return {key: {"id": format_id(key), "name": name, "color": color} for _, key, name, color in sorted(rows)}


def _sources(summaries: _Summaries) -> dict[str, Fragment]:
    return {key: summarize_source(key, group["name"]) for key, group in summaries.items()}


def _group_finder(summaries: _Summaries) -> Callable[[str], GroupLists]:
    """A function that returns the active groups of an IdHexList; people with equal lists share the result."""

    @cache
    def find_groups(ids: str) -> GroupLists:
        group_ids = set(ids.split(","))
        return build_group_lists([group for key, group in summaries.items() if key in group_ids])

    return find_groups


def load_groups(owner: User) -> dict[str, GroupLists]:
    """The active groups of every person that has any, by IdHex."""
    return _load_members(owner, _load_summaries(owner))


def _load_members(owner: User, summaries: _Summaries) -> dict[str, GroupLists]:
    find_groups = _group_finder(summaries)
    # All in one row: for SQLite's driver, each row takes longer than splitting two ids from a text.
    pairs = Membership.objects.owned_by(owner).aggregate(ids=IdHexList("person_id", "group_id"))["ids"]
    ids = pairs.split(",") if pairs else []
    return {
        person_id: find_groups(group_ids)
        for person_id, group_ids in _join(zip(ids[::2], ids[1::2], strict=True)).items()
    }


def _load_dates(owner: User) -> dict[str, str]:
    """The active dates of each person as JSON in order of creation, like people.projection.records."""
    rows = ImportantDate.objects.owned_by(owner).active().order_by()
    # Text, because the driver of SQLite takes longer to convert a timestamp than to read the rest of the row.
    columns = rows.values_list(IdHex("person_id"), Cast("created_at", TextField()), IdHex("id"), DATE_OBJECT)
    first: dict[str, Any] = {}
    several: dict[str, list[Any]] = {}
    for row in columns.iterator(chunk_size=FETCH_SIZE):
        person_id = row[0]
        before = first.setdefault(person_id, row)
        if before is not row:
            several.setdefault(person_id, [before]).append(row)
    texts = {person_id: date_json(person_id, key, rest) for person_id, _, key, rest in first.values()}
    # Sorted here, because few people have more than one date and the database would sort all of them.
    for person_id, dates in several.items():
        texts[person_id] = ",".join([date_json(person_id, key, rest) for _, _, key, rest in sorted(dates)])
    return texts


def _load_values(owner: User) -> dict[str, str]:
    """The custom values of each person as JSON in the order of the active templates."""
    ordered = CustomFieldTemplate.objects.owned_by(owner).active().order_by("position", "id")
    columns = ordered.values_list(IdHex("id"), "name", "slug", "type")
    templates = {key: template_json(key, *rest) for key, *rest in columns}
    if not templates:
        return {}
    # Sorted here: to do so, the database would join every value with its template.
    by_template: dict[str, list[tuple[str, str]]] = {key: [] for key in templates}
    values = CustomFieldValue.objects.owned_by(owner).order_by()
    rows = values.values_list(IdHex("person_id"), IdHex("id"), IdHex("template_id"), RawColumn("value"))
    for person_id, key, template_id, value in rows.iterator(chunk_size=FETCH_SIZE):
        # Left out: values of templates that are in the trash, or that were created since the first query.
        if template := templates.get(template_id):
            by_template[template_id].append((person_id, value_json(key, template, value)))
    return _join(chain.from_iterable(by_template.values()))


def _join(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The entries of each person, separated by commas."""
    found: dict[str, str] = {}
    for person_id, entry in entries:
        before = found.get(person_id)
        found[person_id] = entry if before is None else f"{before},{entry}"
    return found
