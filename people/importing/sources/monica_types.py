"""Maps the built-in relationship types of Monica to ours, and builds custom types within our limits."""

from people.importing.sources.records import RelationshipTypeRecord

# By Monica's name: our name and label, then the name and label of the inverse if it is another type. Where a default
# type of ours has the same meaning, it is used.
_TYPES = {
    "partner": ("PARTNER", "Partner"),
    "spouse": ("SPOUSE", "Spouse"),
    "date": ("DATE", "Date"),
    "lover": ("LOVER", "Lover"),
    "inlovewith": ("IN_LOVE_WITH", "In love with", "LOVED_BY", "Loved by"),
    "lovedby": ("LOVED_BY", "Loved by", "IN_LOVE_WITH", "In love with"),
    "ex": ("EX", "Ex-partner"),
    "ex_husband": ("EX_SPOUSE", "Ex-spouse"),
    "parent": ("PARENT", "Parent", "CHILD", "Child"),
    "child": ("CHILD", "Child", "PARENT", "Parent"),
    "sibling": ("SIBLING", "Sibling"),
    "grandparent": ("GRANDPARENT", "Grandparent", "GRANDCHILD", "Grandchild"),
    "grandchild": ("GRANDCHILD", "Grandchild", "GRANDPARENT", "Grandparent"),
    "uncle": ("UNCLE_OR_AUNT", "Uncle or aunt", "NEPHEW_OR_NIECE", "Nephew or niece"),
    "nephew": ("NEPHEW_OR_NIECE", "Nephew or niece", "UNCLE_OR_AUNT", "Uncle or aunt"),
    "cousin": ("COUSIN", "Cousin"),
    "godfather": ("GODPARENT", "Godparent", "GODCHILD", "Godchild"),
    "godson": ("GODCHILD", "Godchild", "GODPARENT", "Godparent"),
    "stepparent": ("STEPPARENT", "Stepparent", "STEPCHILD", "Stepchild"),
    "stepchild": ("STEPCHILD", "Stepchild", "STEPPARENT", "Stepparent"),
    "friend": ("FRIEND", "Friend"),
    "bestfriend": ("BEST_FRIEND", "Best friend"),
    "colleague": ("COLLEAGUE", "Colleague"),
    "boss": ("BOSS", "Boss", "SUBORDINATE", "Subordinate"),
    "subordinate": ("SUBORDINATE", "Subordinate", "BOSS", "Boss"),
    "mentor": ("MENTOR", "Mentor", "PROTEGE", "Protégé"),
    "protege": ("PROTEGE", "Protégé", "MENTOR", "Mentor"),
}
_MAX_NAME = 50


def map_type(name: str, inverse: str) -> RelationshipTypeRecord:
    """Map a type by its name in Monica. `inverse` is the name of its inverse, used only for the user's own types."""
    if found := _TYPES.get(name):
        label, *back = found[1:]
        return RelationshipTypeRecord(
            name=found[0], label=label, inverse=back[0] if back else "", inverse_label=back[1] if back else ""
        )
    return build_custom_type(name, name, inverse, inverse)


def build_custom_type(name: str, label: str, inverse: str, inverse_label: str) -> RelationshipTypeRecord:
    """Build a type that the user of another product has created, within our limits."""
    key, back = _build_type_name(name), _build_type_name(inverse)
    if not back or back == key:
        return RelationshipTypeRecord(name=key, label=_clean_name(label) or key)
    return RelationshipTypeRecord(
        name=key, label=_clean_name(label) or key, inverse=back, inverse_label=_clean_name(inverse_label) or back
    )


def _build_type_name(name: str) -> str:
    return "_".join(_clean_name(name).upper().split())[:_MAX_NAME]


def _clean_name(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:_MAX_NAME]
