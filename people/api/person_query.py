"""Parses the query parameters of people strictly: an invalid one is a 400 error with its name."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.http import QueryDict

from accounts.models import User
from contacts_project.kernel.api.queries import DEFAULT_LIMIT, read_choice, read_flag, read_page
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.ownership.models import TrashQuerySet
from contacts_project.kernel.text_forms import TOO_LONG, InvalidTextError, check_text
from contacts_project.kernel.texts import define_text
from people.models import Group, ImportedRecord, Membership, Person
from people.projection.orders import QUERIED_SORTS, SORT_OF_ACCOUNT, Order, Sort
from people.vocabularies import RecordKind

_NO_QUERY = define_text("no_search_text", "At least one character is needed.")

_MAX_SEARCH_LENGTH = 500
DIRECTIONS = ("asc", "desc")


@dataclass(frozen=True)
class PeopleQuery:
    """The parsed query of the people list."""

    limit: int
    offset: int
    include_details: bool
    include_all: bool
    order: Order
    group_ids: list[UUID] | None = None
    without_groups: bool = False
    import_id: UUID | str | None = None
    favourite: bool | None = None
    quiet: bool | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether some people may be left out."""
        filters = (self.group_ids, self.import_id, self.favourite, self.quiet, self.without_groups or None)
        return any(value is not None for value in filters)

    def filter_people(self, people: TrashQuerySet[Person], owner: User) -> TrashQuerySet[Person]:
        """Those of the `people` that meet all filters. Unknown ids match nobody."""
        marks = {"favourite": self.favourite, "quiet": self.quiet}
        people = people.filter(**{name: value for name, value in marks.items() if value is not None})
        members = Membership.objects.owned_by(owner)
        if self.without_groups:
            people = people.filter(_is_in_no_group(owner))
        if self.group_ids is not None:
            in_groups = members.filter(group__deleted_at=None, group_id__in=self.group_ids)
            people = people.filter(pk__in=in_groups.values("person_id"))
        if (import_id := self.import_id) is not None:
            records = ImportedRecord.objects.owned_by(owner).filter(kind=RecordKind.PERSON)
            found = records.filter(contact_import=import_id) if isinstance(import_id, UUID) else records.none()
            people = people.filter(pk__in=found.values("record_id"))
        return people


def _is_in_no_group(owner: User) -> Q:
    """The condition for somebody to have no membership, or none but in groups of the trash."""
    members = Membership.objects.owned_by(owner)
    is_member = Exists(members.filter(person=OuterRef("pk")))
    is_active_member = Exists(members.filter(person=OuterRef("pk"), group__deleted_at=None))
    # Their ids, not a subquery, for which SQLite would read all memberships: 4 ms more of 18,000.
    in_trash = members.filter(group__in=list(Group.objects.owned_by(owner).deleted().values_list("pk", flat=True)))
    # Few are members of groups in the trash; of all others an index alone tells whether they are members. The condition
    # on the sort key holds for everybody: with it SQLite goes through the index of name order, and reads only the rows
    # that stay.
    return Q(sort_key__gte=b"") & (~is_member | (Q(pk__in=in_trash.values("person_id")) & ~is_active_member))


def read_people_query(query: QueryDict, owner: User) -> PeopleQuery:
    """Parse the query of the people list of `owner`. Raises FieldError."""
    limit, offset = read_page(query, default=DEFAULT_LIMIT)
    return PeopleQuery(
        limit=limit,
        offset=offset,
        include_details=read_flag(query, "includeDetails", default=True),
        include_all=read_flag(query, "includeAll", default=False),
        order=_read_order(query, owner),
        group_ids=read_ids(query, "groupIds"),
        without_groups=read_flag(query, "withoutGroups", default=False),
        import_id=_read_import_id(query),
        favourite=read_flag(query, "favourite", default=None),
        quiet=read_flag(query, "quiet", default=None),
    )


def _read_order(query: QueryDict, owner: User) -> Order:
    of_account = SORT_OF_ACCOUNT[owner.name_sort]
    sort = Sort(read_choice(query, "sort", choices=QUERIED_SORTS, default="")) if "sort" in query else of_account
    return Order(
        sort=sort,
        is_descending=read_choice(query, "order", choices=DIRECTIONS, default=DIRECTIONS[0]) == DIRECTIONS[1],
        favourites_first=read_flag(query, "favouritesFirst", default=False),
    )


def _read_import_id(query: QueryDict) -> UUID | str | None:
    """The id; a text that is none, which no import has."""
    text = query.get("importId", "").strip()
    return (parse_id(text) or text) if text else None


def read_search(query: QueryDict, *, max_length: int = _MAX_SEARCH_LENGTH) -> str:
    """The text to search for, trimmed, of 1 to `max_length` characters. Raises FieldError."""
    try:
        text = check_text(query.get("q", ""))
    except InvalidTextError as error:
        raise FieldError("q", error.text) from None
    if not text:
        raise FieldError("q", _NO_QUERY)
    if len(text) > max_length:
        raise FieldError("q", TOO_LONG.format(limit=max_length, length=len(text)))
    return text


def read_ids(query: QueryDict, name: str) -> list[UUID] | None:
    """The ids in a parameter such as `groupIds`, with commas between; None without any. What is no id is left out."""
    text = query.get(name, "").strip()
    if not text:
        return None
    return [key for key in (parse_id(part.strip()) for part in text.split(",")) if key]
