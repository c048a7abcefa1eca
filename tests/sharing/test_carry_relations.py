"""Relationships between two people of one share."""

from django.utils import timezone

from accounts.models import User
from people.models import Person, RelationshipType
from relationships.models import Relationship
from relationships.services.relationships import (
    create_relationship,
    delete_relationship,
    find_relationship,
    update_relationship,
)
from relationships.services.types import create_type
from sharing.models import SharedPerson, SharedRelation
from tests.builders import make_person
from tests.sharing.conftest import (
    add_person,
    carry_all,
    copy_of,
    edit,
    leave_group,
    person_of,
    put_into_group,
    share_people,
)


def relate(user: User, one: Person, other: Person, name: str | None, **content: str) -> Relationship:
    kind = RelationshipType.objects.owned_by(user).active().get(name=name) if name else None
    return create_relationship(
        owner=user,
        person_id=one.pk,
        related_person_id=other.pk,
        type_id=kind.pk if kind else None,
        now=timezone.now(),
        content=content,
    )


def relations(user: User) -> set[tuple[str, str | None, str, str | None]]:
    """Person, type, other, inverse of every active relationship, in both directions."""
    rows = (
        Relationship.objects.owned_by(user)
        .active()
        .select_related("person", "related_person", "relationship_type__inverse")
    )
    return {
        (
            row.person.name,
            row.relationship_type.name if row.relationship_type else None,
            row.related_person.name,
            row.relationship_type.inverse.name if row.relationship_type and row.relationship_type.inverse else None,
        )
        for row in rows
    }


PARENTS = {("Ada", "CHILD", "Byron", "PARENT"), ("Byron", "PARENT", "Ada", "CHILD")}


def test_a_relationship_travels_in_its_direction(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada, byron = add_person(alice), add_person(alice, name="Byron")
    relate(alice, byron, ada, "PARENT", since="1815", notes="never met")
    carry_all()
    assert relations(bob) == PARENTS
    assert set(Relationship.objects.owned_by(bob).values_list("since", "notes")) == {("1815", None)}
    assert "never met" not in str(list(SharedPerson.unscoped.rows().values()))


def test_a_relationship_is_edited_and_removed(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada, byron = add_person(alice), add_person(alice, name="Byron")
    carry_all()
    relate(bob, person_of(bob, ada), person_of(bob, byron), "FRIEND")
    carry_all()
    assert relations(alice) == {("Ada", "FRIEND", "Byron", "FRIEND"), ("Byron", "FRIEND", "Ada", "FRIEND")}
    own = Relationship.objects.owned_by(alice).active().get(person=ada)
    child = RelationshipType.objects.owned_by(alice).active().get(name="CHILD")
    update_relationship(
        owner=alice,
        row=find_relationship(alice, own.pk),
        data={"type_id": child.pk, "until": "1852"},
        now=timezone.now(),
    )
    carry_all()
    assert relations(bob) == PARENTS
    row = Relationship.objects.owned_by(bob).active().get(person=person_of(bob, byron))
    assert row.until == "1852"
    delete_relationship(owner=bob, relationship_id=row.pk, now=timezone.now())
    carry_all()
    assert relations(alice) == set()
    assert not SharedRelation.unscoped.rows().exists()


def test_one_without_a_type_and_one_with_an_unknown_one(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada, byron, mary = add_person(alice), add_person(alice, name="Byron"), add_person(alice, name="Mary")
    create_type(
        owner=alice,
        data={"name": "TEACHER", "label": "Lehrerin", "inverse_label": "Pupil"},
        now=timezone.now(),
    )
    relate(alice, mary, ada, "TEACHER")
    relate(alice, byron, mary, None)
    carry_all()
    assert relations(bob) == {
        ("Mary", "TEACHER", "Ada", "PUPIL"),
        ("Ada", "PUPIL", "Mary", "TEACHER"),
        ("Byron", None, "Mary", None),
        ("Mary", None, "Byron", None),
    }
    assert RelationshipType.objects.owned_by(bob).active().get(name="TEACHER").label == "Lehrerin"


def test_a_name_that_means_the_inverse_elsewhere(alice: User, bob: User) -> None:
    """Bob's GUIDE is somebody who is guided: its inverse is another one than Alice's."""
    share_people(alice, bob)
    now = timezone.now()
    create_type(owner=alice, data={"name": "GUIDE", "label": "Guide", "inverse_label": "Guest"}, now=now)
    create_type(owner=bob, data={"name": "GUIDE", "label": "Guided", "inverse_label": "Leader"}, now=now)
    ada, byron, mary = add_person(alice), add_person(alice, name="Byron"), add_person(alice, name="Mary")
    relate(alice, ada, byron, "GUIDE")
    carry_all()
    assert relations(bob) == {("Ada", "GUIDE_2", "Byron", "GUEST"), ("Byron", "GUEST", "Ada", "GUIDE_2")}
    relate(alice, ada, mary, "GUIDE")
    carry_all()
    assert ("Ada", "GUIDE_2", "Mary", "GUEST") in relations(bob)
    assert ("Ada", "GUIDE", "Mary", "GUEST") in relations(alice)


def test_a_relationship_with_somebody_who_is_not_shared_stays(alice: User, bob: User) -> None:
    share_people(alice, bob)
    ada = add_person(alice)
    byron = make_person(alice, name="Byron")
    relate(alice, byron, ada, "PARENT")
    carry_all()
    assert relations(bob) == set()
    put_into_group(alice, byron)
    carry_all()
    assert relations(bob) == PARENTS


def test_somebody_taken_out_here_keeps_the_relationship_there(alice: User, bob: User, carol: User) -> None:
    share_people(alice, bob, carol)
    ada, byron = add_person(alice), add_person(alice, name="Byron")
    relate(alice, byron, ada, "PARENT")
    carry_all()
    leave_group(bob, person_of(bob, byron))
    carry_all()
    for user in (alice, bob, carol):
        assert relations(user) == PARENTS
    row = Relationship.objects.owned_by(alice).active().get(person=byron)
    delete_relationship(owner=alice, relationship_id=row.pk, now=timezone.now())
    carry_all()
    assert (relations(bob), relations(carol)) == (PARENTS, set())


def test_members_who_see_different_relationships_of_somebody_become_quiet(alice: User, bob: User, carol: User) -> None:
    share_people(alice, bob, carol)
    ada, byron, mary = add_person(alice), add_person(alice, name="Byron"), add_person(alice, name="Mary")
    relate(alice, ada, byron, "CHILD")
    relate(alice, ada, mary, None)
    carry_all()
    leave_group(bob, person_of(bob, byron))
    leave_group(carol, person_of(carol, mary))
    carry_all()
    for user in (bob, carol):
        edit(user, person_of(user, ada), nickname=user.name)
        carry_all()
    assert len(SharedPerson.unscoped.rows().get(pk=copy_of(alice, ada).shared_id).fields["relationships"]) == 2
