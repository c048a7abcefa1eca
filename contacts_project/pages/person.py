"""The page of one person, to which links in notices lead if no client is configured (APP_URL)."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.pages.viewers import sign_in_required
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.pages import render_page
from contacts_project.pages.entries import (
    card_entries,
    contact_entries,
    date_entries,
    detail_entries,
    interaction_entries,
)
from contacts_project.pages.network_diagram import RelatedPerson, build_diagram
from people.merging.merge import find_merged
from people.models import CustomFieldValue, Group, ImportantDate, Interaction, Person
from people.models.groups import in_name_order
from relationships.models import Relationship

_MAX_INTERACTIONS = 5


@require_safe
@sign_in_required
def person_page(request: HttpRequest, viewer: User, person_id: str) -> HttpResponse:
    """The page of an active person of the viewer. Any other id gets the same 404, whether or not it exists.

    Of a person that was merged, it leads to the page of the one into whom: notices sent before name the former.
    """
    key = parse_id(person_id)
    people = Person.objects.owned_by(viewer).select_related("relationship_to_user")
    person: Person | None = people.filter(pk=key).first() if key else None
    if person is not None and person.deleted_at is not None:
        if merged := find_merged(viewer, person):
            return redirect("person-page", person_id=merged.pk)
        person = None
    if person is None:
        return render_page(request, "pages/missing.html", {"viewer": viewer}, language=viewer.language, status=404)
    with translation.override(viewer.language):
        context = {"viewer": viewer, **_person_context(person, viewer)}
    return render_page(request, "pages/person.html", context, language=viewer.language)


def _person_context(person: Person, viewer: User) -> dict[str, object]:
    now, name = timezone.now(), person.display_name_for(viewer)
    dates = ImportantDate.objects.owned_by(viewer).active().filter(person=person)
    values = CustomFieldValue.objects.owned_by(viewer).filter(person=person, template__deleted_at=None)
    values = values.select_related("template").order_by("template__position", "template_id")
    interactions: Any = Interaction.objects.owned_by(viewer).active().filter(participations__person=person)
    interactions = interactions.order_by("-at", "-id")[:_MAX_INTERACTIONS]
    sections = [
        (_("Contact"), list(contact_entries(person))),
        (_("Dates"), date_entries(person, viewer, dates, now)),
        (_("Latest interactions"), interaction_entries(interactions, viewer)),
        (_("Details"), list(detail_entries(person, viewer, name, values))),
        (_("From the card"), list(card_entries(person))),
    ]
    related = _relationships(person.pk, viewer)
    return {
        "person": person,
        "name": name,
        "initials": "".join(part[:1].upper() for part in (person.name, person.surname) if part),
        "occupation": ", ".join(filter(None, (person.job_title, person.organization))),
        "groups": in_name_order(Group.objects.owned_by(viewer).active().filter(memberships__person=person)),
        "sections": [section for section in sections if section[1]],
        "relationships": related,
        "diagram": build_diagram(_related_people(person, viewer, related)),
    }


def _related_people(
    person: Person, viewer: User, related: Iterable[tuple[str, list[JsonObject]]]
) -> Iterator[RelatedPerson]:
    """The viewer first, if the person is related to them, then other people in the order of the list."""
    if kind := person.relationship_to_user:
        yield RelatedPerson(viewer.name, _("you"), kind.color)
    for label, others in related:
        for other in others:
            yield RelatedPerson(other["name"], label, other["color"], f"/people/{other['id']}")


def _relationships(person_id: UUID, viewer: User) -> list[tuple[str, list[JsonObject]]]:
    """The related people, grouped by what they are to this person."""
    # Of each pair, the row in the other direction: its type is what the other one is to this person.
    rows: Iterable[Relationship] = (
        Relationship.objects.owned_by(viewer)
        .active()
        .filter(related_person_id=person_id, person__deleted_at=None)
        .select_related("person", "relationship_type")
        .defer(*(f"person__{column}" for column in Person.HEAVY_COLUMNS))
    )
    others = [
        {
            "label": row.relationship_type.label if row.relationship_type else _("Connected"),
            "color": row.relationship_type.color if row.relationship_type else None,
            "id": row.person_id,
            "name": row.person.display_name_for(viewer),
            "notes": row.notes,
            "key": (bytes(row.person.sort_key), row.pk),
        }
        for row in rows
    ]
    others.sort(key=lambda other: (other["label"], other["key"]))
    return [(label, list(members)) for label, members in groupby(others, key=lambda other: other["label"])]
