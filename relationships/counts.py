"""The stored count of relationships, which database triggers maintain (see people.counts)."""

from people.counts import Counted

RELATIONSHIPS = "relationships"

# Counts rows, so each relationship twice: it has a row for each direction.
COUNTED_RELATIONSHIPS = Counted(
    RELATIONSHIPS,
    "relationships_relationship",
    ("deleted_at", "person_id", "related_person_id"),
    people=("person_id", "related_person_id"),
)
