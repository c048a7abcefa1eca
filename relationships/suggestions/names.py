"""Which person a name on a card means, by the scoring of duplicates (docs/duplicates.md)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from accounts.models import User
from people.duplicates.keys import name_blocks, name_key
from people.duplicates.similarity import THRESHOLD, identity, similarity
from people.importing.known import uid_spellings
from people.models import LookupKey, Person
from people.names import COLUMNS, NameParts, display_name

_FAMILY: Final = frozenset({"PARENT", "CHILD", "SIBLING", "SPOUSE", "PARTNER"})
_UID: Final = "urn:uuid:"
# Rows of shared keys that are looked at for one name, on average; some keys are those of hundreds of people.
_ROWS_A_NAME, _FEWEST_ROWS = 20, 5_000


class Named(NamedTuple):
    """A name on the card of a person, whose own name `parts` are."""

    id: UUID
    person_id: UUID
    name: str
    type_name: str
    parts: NameParts

    @property
    def is_uid(self) -> bool:
        return self.name.lower().startswith("urn:")

    def forms(self) -> list[NameParts]:
        """The name as it stands; of a lone given name in the family also with the person's surname."""
        bare = NameParts(self.name)
        if " " in self.name or not self.parts.surname or self.type_name not in _FAMILY:
            return [bare]
        return [NameParts(self.name, self.parts.surname), bare]


class Found(NamedTuple):
    """A person who may be meant."""

    id: UUID
    parts: NameParts


def shown_name(owner: User, parts: NameParts) -> str:
    """The name as the owner reads names."""
    return display_name(parts, order=owner.name_order, form=owner.name_display_format)


def people_meant(owner: User, names: Sequence[Named]) -> dict[UUID, Found]:
    """By the id of the name the active person whom it most likely means; at most three statements.

    A UID means the person with that UID. A name means whoever is as similar as duplicates are, or bears it alone.
    """
    found = _by_uid(owner, [one for one in names if one.is_uid])
    spelled = [one for one in names if not one.is_uid]
    for kind in (LookupKey.NAME, LookupKey.BLOCK):
        left = [one for one in spelled if one.id not in found]
        found |= _by_keys(owner, left, kind)
    return found


def _by_uid(owner: User, names: list[Named]) -> dict[UUID, Found]:
    if not names:
        return {}
    wanted = {spelling for one in names for spelling in uid_spellings(one.name)}
    rows = Person.objects.owned_by(owner).active().filter(uid__in=wanted).order_by("-pk")
    people = {uid: Found(pk, NameParts(*parts)) for pk, uid, *parts in rows.values_list("pk", "uid", *COLUMNS)}
    spellings = {one.id: [people[uid] for uid in uid_spellings(one.name) if uid in people] for one in names}
    return {key: found[0] for key, found in spellings.items() if found}


def _keys(parts: NameParts, kind: int) -> set[str]:
    return name_blocks(parts) if kind == LookupKey.BLOCK else {name_key(parts) or ""}


def _by_keys(owner: User, names: list[Named], kind: int) -> dict[UUID, Found]:
    wanted = {key for one in names for form in one.forms() for key in _keys(form, kind)} - {""}
    if not wanted:
        return {}
    rows = LookupKey.objects.filter(owner=owner, kind=kind, key__in=wanted).order_by("key", "person")
    columns = ("key", "person_id", "person__deleted_at", *(f"person__{column}" for column in COLUMNS))
    sharing: dict[str, list[Found]] = defaultdict(list)
    most = max(_ROWS_A_NAME * len(names), _FEWEST_ROWS)
    for key, person_id, deleted_at, *parts in rows.values_list(*columns)[:most]:
        if deleted_at is None:
            sharing[key].append(Found(person_id, NameParts(*parts)))
    best = {one.id: _best(one, sharing, kind) for one in names}
    return {key: found for key, found in best.items() if found}


def _best(one: Named, sharing: dict[str, list[Found]], kind: int) -> Found | None:
    """The most similar, the one made first where several are."""
    scored: list[tuple[float, int, Found]] = []
    for form in one.forms():
        known = identity(form)
        for key in _keys(form, kind):
            others = [found for found in sharing.get(key, ()) if found.id != one.person_id]
            bears_it_alone = kind == LookupKey.NAME and len(others) == 1
            for found in others:
                score = similarity(known, identity(found.parts))
                if score >= THRESHOLD or bears_it_alone:
                    scored.append((score, -found.id.int, found))
    return max(scored)[2] if scored else None


def split_name(name: str) -> tuple[str, str | None]:
    """Given name and surname of somebody new: what stands before a comma is the surname, else the last word."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and given and family:
        return given[:100], family[:100]
    *before, last = name.split()
    return (" ".join(before)[:100], last[:100]) if before else (last[:100], None)


def names_of(owner: User, person_ids: Iterable[UUID]) -> dict[UUID, NameParts]:
    """The names of people. One statement."""
    rows: Any = Person.objects.owned_by(owner).active().filter(pk__in=list(person_ids))
    return {pk: NameParts(*parts) for pk, *parts in rows.values_list("pk", *COLUMNS)}
