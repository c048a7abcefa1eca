"""The count of relationships, kept by the database as people.counts describes."""

from people.counts import Counted

RELATIONSHIPS = "relationships"

# Rows: a pair is two of them.
COUNTED_RELATIONSHIPS = Counted(
    RELATIONSHIPS,
    "relationships_relationship",
    ("deleted_at", "person_id", "related_person_id"),
    people=("person_id", "related_person_id"),
)
