"""People without phone number, e-mail address and postal address."""

from accounts.models import User
from people.insights.insight import MAX_INSIGHTS, Insight
from people.models import Person

CODE = "no_way_to_reach"


def incomplete_people(owner: User) -> list[Insight]:
    """In name order."""
    unreachable = (
        Person.objects.owned_by(owner)
        .active()
        .filter(deathday=None, phone_numbers=[], emails=[], addresses=[])
        .in_name_order()
    )
    people = unreachable.defer(*Person.HEAVY_COLUMNS)[:MAX_INSIGHTS]
    reason = "Neither phone, e-mail nor address."
    return [Insight(person.pk, person.display_name_for(owner), CODE, reason) for person in people]
