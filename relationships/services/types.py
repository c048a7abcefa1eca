"""Relationship types: their names, their writes, and those that a new account starts with.

After each write, a type is the inverse of its inverse, or has none, and relationships match their types.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, DomainError, FieldError
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.languages import CODES
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from contacts_project.kernel.ownership.models import TrashQuerySet
from contacts_project.kernel.text_forms import nfc
from contacts_project.kernel.texts import define_text
from people.extensions import RelationshipTypeSpec
from people.models import Person, RelationshipType
from people.models.groups import pick_color
from relationships.models import Relationship, RelationshipQuerySet

_TAKEN = define_text("type_name_taken", "There is already a relationship type named %(name)s.")

NAME_LENGTH: Final = 50


def normalize_type_name(text: str) -> str:
    """`text` in upper case and NFC, with `_` for white space between words: the form in which names are stored."""
    return nfc("_".join(text.upper().split()))  # upper() takes some letters apart


def taken_names(owner_id: UUID) -> set[str]:
    """The names of the active types."""
    return set(RelationshipType.objects.owned_by(owner_id).active().values_list("name", flat=True))


def check_name_free(name: str, taken: set[str]) -> None:
    """Raise FieldError if `name` is taken."""
    if name in taken:
        raise FieldError("name", _TAKEN.format(name=name))


def unique_name(preferred: str, taken: set[str]) -> str:
    """`preferred`, with a number as suffix if it is taken: `CHILD_2`."""
    name, number = preferred, 2
    while name in taken:
        suffix = f"_{number}"
        name, number = preferred[: NAME_LENGTH - len(suffix)] + suffix, number + 1
    return name


class TypeInUseError(DomainError):
    """An active relationship, or an active person's relationship to the user, has this type."""

    message = define_text("in_use", "This relationship type is in use.")


def create_type(*, owner: User, data: JsonObject, now: dt.datetime) -> RelationshipType:
    """Insert a type and set its inverse: itself, an existing type, or a new one. Raises FieldError, IdTakenError."""
    with account_write(owner):
        check_name_free(data["name"], taken_names(owner.pk))
        row = RelationshipType(id=claimed_id(data), owner=owner, created_at=now, name=data["name"], label=data["label"])
        row.color = data.get("color") or pick_color(row.name)
        row.save(force_insert=True)
        set_inverse(row, data, now, is_new=True)
    return row


def update_type(*, owner: User, type_id: UUID, data: JsonObject, now: dt.datetime) -> RelationshipType:
    """Change the fields that `data` contains. A new inverse changes the relationships too. Raises FieldError."""
    with account_write(owner):
        row = RelationshipType.objects.owned_by(owner).active().select_related("inverse").find(type_id)
        if "name" in data:
            check_name_free(data["name"], taken_names(owner.pk) - {row.name})
            row.name = data["name"]
        row.label = data.get("label", row.label)
        if "color" in data:
            row.color = data["color"] or pick_color(row.name)
        row.save(update_fields=["name", "label", "color", "updated_at"])
        _mark_inverses([row])
        set_inverse(row, data, now)
    return row


def delete_type(*, owner: User, type_id: UUID, now: dt.datetime) -> None:
    """Soft-delete a type, but not its inverse. Raises TypeInUseError."""
    with account_write(owner):
        row = RelationshipType.objects.find_active(owner, type_id)
        used = Relationship.objects.owned_by(owner).active().filter(relationship_type=row)
        to_user = Person.objects.owned_by(owner).active().filter(relationship_to_user=row)
        if used.exists() or to_user.exists():
            raise TypeInUseError
        RelationshipType.objects.owned_by(owner).filter(pk=row.pk).update(deleted_at=now, updated_at=now)
        _mark_inverses([row])


def restore_type(*, owner: User, type_id: UUID, now: dt.datetime) -> RelationshipType:
    """Take a type out of the trash. Raises NotDeletedError, or FieldError if its name is taken."""
    with account_write(owner):
        row = RelationshipType.objects.owned_by(owner).within_retention(now).find_deleted(type_id)
        check_name_free(row.name, taken_names(owner.pk))
        _restore([row], now)
    return row


def remove_type(*, owner: User, type_id: UUID, now: dt.datetime) -> None:
    """Permanently delete a type and clear all references to it. Raises NotDeletedError."""
    with account_write(owner):
        row = RelationshipType.objects.owned_by(owner).within_retention(now).find_deleted(type_id)
        remove_types(owner.pk, [row.pk])


def remove_types(owner_id: UUID, type_ids: Collection[UUID]) -> list[str]:
    """Permanently delete types that are in the trash, in the caller's transaction.

    Clears the type of both rows of their relationships, which are all in the trash too. Returns the files to delete
    with them: none.
    """
    types = RelationshipType.objects.owned_by(owner_id).deleted().filter(pk__in=type_ids)
    keys = list(types.values_list("pk", flat=True))
    relationships = Relationship.objects.owned_by(owner_id)
    rows = relationships.filter(relationship_type__in=keys)
    # The inverse rows first: they are found by the type, which the second UPDATE clears.
    relationships.filter(pk__in=rows.values("inverse")).update(relationship_type=None)
    rows.update(relationship_type=None)
    types.delete()
    return []


def restore_deleted_types(owner_id: UUID, type_ids: Iterable[UUID | None], now: dt.datetime) -> None:
    """Take those of `type_ids` that are in the trash out of it, because an active row refers to them again.

    A name that is taken by now gets a number as suffix. Must be called inside `account_write`.
    """
    ids = [type_id for type_id in type_ids if type_id]
    rows = list(RelationshipType.objects.owned_by(owner_id).deleted().filter(pk__in=ids)) if ids else []
    if not rows:
        return
    names = taken_names(owner_id)
    for row in rows:
        row.name = unique_name(row.name, names)
        names.add(row.name)
    _restore(rows, now)


def _restore(rows: Collection[RelationshipType], now: dt.datetime) -> None:
    for row in rows:
        row.deleted_at = None
        row.updated_at = now
    RelationshipType.unscoped.bulk_update(rows, ["name", "deleted_at", "updated_at"])
    _mark_inverses(rows)


def _mark_inverses(rows: Collection[RelationshipType]) -> None:
    """Mark the inverses as changed: the JSON of a type contains its inverse as long as that is active."""
    for row in rows:
        if row.inverse_id and not row.symmetric:
            RelationshipType.objects.owned_by(row.owner_id).active().filter(pk=row.inverse_id).update()


_SYMMETRIC = define_text("symmetric_with_inverse", "A symmetric type is its own inverse: give no other.")
_NEEDS_INVERSE = define_text(
    "inverse_needed", "A type that is not symmetric needs an inverse: inverseId or inverseLabel."
)
_OWN_INVERSE = define_text("own_inverse", "A type that is not symmetric cannot be its own inverse.")
_INVERSE_SYMMETRIC = define_text("inverse_is_symmetric", "That type is symmetric: it is its own inverse.")
_INVERSE_TAKEN = define_text("inverse_taken", "That type already has another inverse.")
_BOTH_WAYS = define_text("related_both_ways", "Two people are related by this type and by its inverse as well.")


def set_inverse(row: RelationshipType, data: JsonObject, now: dt.datetime, *, is_new: bool = False) -> None:
    """Give `row` the inverse that the body `data` asks for, if any, and update its relationships. Raises FieldError."""
    candidate: RelationshipType | None = data.get("inverse")
    label: str | None = data.get("inverse_label")
    if data.get("symmetric"):
        if label or candidate not in {None, row}:
            raise FieldError("symmetric", _SYMMETRIC)
        _make_symmetric(row, now)
        return
    needs_inverse = is_new or (row.symmetric and data.get("symmetric") is False)
    if candidate:
        if needs_inverse or candidate.pk != row.inverse_id:
            _pair_types(row, _assignable_inverse(candidate, row), now)
    elif label:
        inverse = row.active_inverse
        if inverse is None or inverse == row or inverse.label != label:
            name = unique_name(normalize_type_name(label)[:NAME_LENGTH], taken_names(row.owner_id))
            inverse = RelationshipType.objects.create(
                owner_id=row.owner_id, name=name, label=label, color=pick_color(name)
            )
            _pair_types(row, inverse, now)
    elif needs_inverse:
        raise FieldError("inverseLabel", _NEEDS_INVERSE)


def _assignable_inverse(candidate: RelationshipType, row: RelationshipType) -> RelationshipType:
    """The type that the body names, read again under the lock. Raises FieldError if it cannot be the inverse."""
    found: RelationshipType | None = _types(row).active().select_related("inverse").filter(pk=candidate.pk).first()
    if found is None:
        raise FieldError("inverseId", NO_SUCH_RECORD)
    if found == row:
        raise FieldError("inverseId", _OWN_INVERSE)
    if found.symmetric:
        raise FieldError("inverseId", _INVERSE_SYMMETRIC)
    if found.active_inverse:
        raise FieldError("inverseId", _INVERSE_TAKEN)
    return found


def _make_symmetric(row: RelationshipType, now: dt.datetime) -> None:
    """Make `row` its own inverse, and give both rows of its relationships this type."""
    former = row.inverse
    if former == row:
        return
    if former:
        # Once symmetric, two people related by both types would have the same relationship twice.
        same_pair = (
            _of_type(former).active().filter(person=OuterRef("person"), related_person=OuterRef("related_person"))
        )
        if _of_type(row).active().filter(Exists(same_pair)).exists():
            raise FieldError("symmetric", _BOTH_WAYS)
        _set_type(row.owner_id, _ids_of_inverse_rows(row), row, now)
        _unpair(former, now)
    _store_inverse(row, row, now)


def _pair_types(row: RelationshipType, inverse: RelationshipType, now: dt.datetime) -> None:
    """Make the two each other's inverse, update their relationships, and unpair the inverses they had before."""
    # Both lists are read before the first update, which changes what the second query would find.
    ids_of_row, ids_of_inverse = _ids_of_inverse_rows(row), _ids_of_inverse_rows(inverse)
    for one, other, ids in ((row, inverse, ids_of_row), (inverse, row, ids_of_inverse)):
        _set_type(one.owner_id, ids, other, now)
        if one.inverse and one.inverse != one:
            _unpair(one.inverse, now)
    _store_inverse(row, inverse, now)
    _store_inverse(inverse, row, now)


def _ids_of_inverse_rows(row: RelationshipType) -> list[UUID]:
    """The inverse rows of the relationships of this type; of a symmetric type the newer row of each pair."""
    if row.inverse is None:
        return []
    rows = _of_type(row.inverse)
    if row.symmetric:
        rows = rows.filter(pk__gt=F("inverse"))
    return list(rows.values_list("pk", flat=True))


def _set_type(owner_id: UUID, ids: Collection[UUID], to: RelationshipType, now: dt.datetime) -> None:
    if ids:
        Relationship.objects.owned_by(owner_id).filter(pk__in=ids).update(relationship_type=to, updated_at=now)


def _store_inverse(row: RelationshipType, inverse: RelationshipType, now: dt.datetime) -> None:
    _types(row).filter(pk=row.pk).update(inverse=inverse, updated_at=now)
    row.inverse = inverse


def _unpair(former: RelationshipType, now: dt.datetime) -> None:
    """Clear the inverse of a former inverse, and move it to the trash unless it is some person's type to the user."""
    to_user = Person.objects.owned_by(former.owner_id).active().filter(relationship_to_user=former)
    deleted_at = former.deleted_at or (None if to_user.exists() else now)
    _types(former).filter(pk=former.pk).update(inverse=None, deleted_at=deleted_at, updated_at=now)


def _types(row: RelationshipType) -> TrashQuerySet[RelationshipType]:
    return RelationshipType.objects.owned_by(row.owner_id)


def _of_type(row: RelationshipType) -> RelationshipQuerySet:
    return Relationship.objects.owned_by(row.owner_id).filter(relationship_type=row)


def ensure_types(owner_id: UUID, specs: Sequence[RelationshipTypeSpec]) -> Mapping[str, UUID]:
    """The ids of the active types with these names. Creates missing ones; existing ones keep their inverse."""
    names = {name for kind in specs for name in (kind.name, kind.inverse) if name}
    active = RelationshipType.objects.owned_by(owner_id).active().filter(name__in=names)
    existing = dict(active.values_list("name", "pk"))
    new: dict[str, RelationshipType] = {}
    for kind in specs:
        if not kind.name or kind.name in existing or kind.name in new:
            continue
        row = new[kind.name] = _build_type(owner_id, kind.name, kind.label)
        if not kind.inverse:
            row.inverse_id = row.pk
        elif kind.inverse in new:
            new[kind.inverse].inverse_id, row.inverse_id = row.pk, new[kind.inverse].pk
        elif kind.inverse not in existing:
            inverse = new[kind.inverse] = _build_type(owner_id, kind.inverse, kind.inverse_label)
            inverse.inverse_id, row.inverse_id = row.pk, inverse.pk
        else:
            # The account has a type of that name, with another inverse: leave it, and make this one symmetric.
            row.inverse_id = row.pk
    RelationshipType.objects.bulk_create(new.values())
    return existing | {name: row.pk for name, row in new.items()}


def find_or_make_pair(owner_id: UUID, spec: RelationshipTypeSpec) -> UUID:
    """The id of the active type with this name whose inverse has the name of `spec.inverse` (without: its own inverse).

    If there is none it is made, under a name with a number if the name is taken by a type with another inverse; one
    that was made so before is found by its labels. Must be called inside `account_write`.
    """
    inverse_name, inverse_label = spec.inverse or spec.name, spec.inverse_label if spec.inverse else spec.label
    rows = RelationshipType.objects.owned_by(owner_id).active().select_related("inverse")
    for row in sorted(rows.filter(name__startswith=spec.name), key=lambda row: (row.name != spec.name, row.pk)):
        inverse = row.inverse  # of one in the trash, the relationship takes it out
        if inverse is None or (inverse == row) != (not spec.inverse):
            continue
        if (row.name, inverse.name) == (spec.name, inverse_name) or (
            _is_numbered(row.name, spec.name) and (row.label, inverse.label) == (spec.label, inverse_label)
        ):
            return row.pk
    taken = taken_names(owner_id)
    made = _build_type(owner_id, unique_name(spec.name, taken), spec.label)
    new = [made]
    made.inverse_id = made.pk
    if spec.inverse:
        inverse = _build_type(owner_id, unique_name(spec.inverse, {*taken, made.name}), inverse_label)
        made.inverse_id, inverse.inverse_id = inverse.pk, made.pk
        new.append(inverse)
    RelationshipType.objects.bulk_create(new)
    return made.pk


def _is_numbered(name: str, preferred: str) -> bool:
    """Whether `unique_name` may have made the name from the preferred one."""
    return name == preferred or name.removeprefix(f"{preferred}_").isdigit()


def _build_type(owner_id: UUID, name: str, label: str) -> RelationshipType:
    return RelationshipType(id=new_id(), owner_id=owner_id, name=name, label=label or name, color=pick_color(name))


# Name, name of the inverse, labels in the order of CODES, which is that of settings.LANGUAGES.
DEFAULT_TYPES: Final = (
    ("PARENT", "CHILD", ("Parent", "Padre/Madre", "親", "Forelder", "Elternteil", "Parent")),
    ("CHILD", "PARENT", ("Child", "Hijo/Hija", "子ども", "Barn", "Kind", "Enfant")),
    ("SIBLING", "SIBLING", ("Sibling", "Hermano/Hermana", "きょうだい", "Søsken", "Geschwister", "Frère/Sœur")),
    ("SPOUSE", "SPOUSE", ("Spouse", "Cónyuge", "配偶者", "Ektefelle", "Ehepartner", "Conjoint")),
    ("PARTNER", "PARTNER", ("Partner", "Pareja", "パートナー", "Partner", "Partner", "Partenaire")),
    ("FRIEND", "FRIEND", ("Friend", "Amigo/Amiga", "友人", "Venn", "Freund/Freundin", "Ami/Amie")),
    ("COLLEAGUE", "COLLEAGUE", ("Colleague", "Colega", "同僚", "Kollega", "Kollege/Kollegin", "Collègue")),
    ("ACQUAINTANCE", "ACQUAINTANCE", ("Acquaintance", "Conocido", "知人", "Bekjent", "Bekannte", "Connaissance")),
    ("RELATIVE", "RELATIVE", ("Relative", "Pariente", "親戚", "Slektning", "Verwandte", "Membre de la famille")),
    ("OTHER", "OTHER", ("Other", "Otro", "その他", "Annet", "Sonstige", "Autre")),
)


def default_type(name: str, language: str) -> RelationshipTypeSpec:
    """The default type `name` and its inverse, with labels in `language`."""
    column = CODES.index(language)
    labels = {key: translations[column] for key, _, translations in DEFAULT_TYPES}
    inverse = next(inverse for key, inverse, _ in DEFAULT_TYPES if key == name)
    return RelationshipTypeSpec(name, labels[name], "" if inverse == name else inverse, labels[inverse])


def translate_types(owner_id: UUID, language: str) -> None:
    """Give the default types the labels of `language`, but for those that somebody has renamed.

    Must be called inside `account_write`.
    """
    column = CODES.index(language)
    defaults = {name: translations for name, _, translations in DEFAULT_TYPES}
    rows = [
        row
        for row in RelationshipType.objects.owned_by(owner_id).filter(name__in=defaults)
        if row.label in defaults[row.name] and row.label != defaults[row.name][column]
    ]
    now = timezone.now()
    for row in rows:
        row.label, row.updated_at = defaults[row.name][column], now
    RelationshipType.objects.bulk_update(rows, ["label", "updated_at"])
    _mark_inverses(rows)


def create_default_types(owner_id: UUID) -> None:
    """Create the types of a new account. Must be called inside the transaction that creates the account."""
    column = CODES.index(User.objects.values_list("language", flat=True).get(pk=owner_id))
    ids = {name: new_id() for name, _, _ in DEFAULT_TYPES}
    RelationshipType.objects.bulk_create(
        RelationshipType(
            id=ids[name],
            owner_id=owner_id,
            name=name,
            label=labels[column],
            color=pick_color(name),
            inverse_id=ids[inverse],
        )
        for name, inverse, labels in DEFAULT_TYPES
    )
