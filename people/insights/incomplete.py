"""People without phone number, e-mail address and postal address."""

from accounts.models import User
from contacts_project.kernel.texts import define_text
from people.insights.insight import MAX_INSIGHTS, Insight
from people.mentions import Topic, may_be_mentioned
from people.models import Person

_UNREACHABLE = define_text("no_way_to_reach", "Neither phone, e-mail nor address.")

CODE = "no_way_to_reach"


def incomplete_people(owner: User) -> list[Insight]:
    """In name order."""
    unreachable = (
        Person.objects.owned_by(owner)
        .active()
        .filter(may_be_mentioned(Topic.CONTACT), phone_numbers=[], emails=[], addresses=[])
        .in_name_order()
    )
    people = unreachable.defer(*Person.HEAVY_COLUMNS)[:MAX_INSIGHTS]
    return [Insight(person.pk, person.display_name_for(owner), CODE, _UNREACHABLE) for person in people]
