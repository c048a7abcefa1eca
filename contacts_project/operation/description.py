"""Tags of the API description: the domains to which its operations belong."""

import accounts.api.schema  # noqa: F401 - registers extensions of drf-spectacular
import people.api.schema  # noqa: F401 - as above
from accounts.api.views.preferences import PREFERENCES
from contacts_project.kernel.json import JsonObject

# Each with its description and the prefixes of its paths below /api/. The longest matching prefix decides.
DOMAINS: dict[str, tuple[str, tuple[str, ...]]] = {
    "People": ("People and what is known of them.", ("people", "find", "upcoming")),
    "Important dates": (
        "Birthdays and other dates of a person, with reminders.",
        ("people/{personId}/important-dates",),
    ),
    "Addresses": (
        "Who lives at one address, and letters to households.",
        ("addresses", "people/addresses", "people/{personId}/addresses"),
    ),
    "Interactions": ("What passed between the user and people.", ("interactions", "people/{personId}/interactions")),
    "Insights": ("Who drifts away, whose details are missing, which round days come.", ("insights",)),
    "Photos": ("Pictures of people and of the account.", ("photos", "people/{personId}/photo", "user/photo")),
    "Groups": ("Groups of people.", ("groups",)),
    "Custom fields": ("Typed fields that the account defines.", ("custom-field-templates",)),
    "Duplicates": (
        "People who are likely one, merging them, and undoing it.",
        ("people/duplicates", "people/merge", "people/merges", "people/{personId}/duplicates"),
    ),
    "Relationships": ("What people are to each other.", ("relationships",)),
    "Relationship suggestions": (
        "Relationships that are likely; none is made without a yes.",
        ("relationship-suggestions",),
    ),
    "Relationship types": ("The kinds of relationships, each with its inverse.", ("relationship-types",)),
    "Network": (
        "The graph of people: who would lose touch, and actions on many.",
        ("people/bulk", "people/{personId}/orphans", "people/{personId}/graph", "dashboard"),
    ),
    "Map": ("Where people are.", ("map",)),
    "Trash": ("What was deleted and can still be restored.", ("deleted",)),
    "vCard": ("Files of contacts, in and out.", ("vcard",)),
    "Imports": ("Contacts out of other products, and taking them back.", ("import", "imports")),
    "CardDAV": ("Contacts of a CardDAV server.", ("carddav", "cron")),
    "Meetings": (
        "Calendars that are read, and the meetings that they propose to log.",
        ("calendar-sources", "meeting-proposals"),
    ),
    "Sharing": ("People that several accounts keep together.", ("shares", "share-invitations", "share-conflicts")),
    "Notifications": ("Channels, destinations and devices, and what was sent.", ("notifications", "unsubscribe")),
    "Webhooks": ("What destinations of type WEBHOOK receive.", ()),
    "Calendar feeds": ("Addresses at which calendars read the dates.", ("calendar-feeds",)),
    "Reminders": ("What will be sent, and what is done about it where it is read.", ("reminders", "actions")),
    "Sign-in": ("Registration, sessions and mailed links.", ("auth",)),
    "Account": ("The profile, the password, and the end of the account.", ("user",)),
    "Preferences": (
        "How the account likes to see things; each has a route of its own.",
        tuple(f"user/{line.path}" for line in PREFERENCES),
    ),
    "Security": ("Sessions, API tokens and the second factor.", ("user/sessions", "user/api-tokens", "user/mfa")),
    "Changes": ("What has changed, for clients that keep a copy.", ("changes",)),
    "Batch": ("Many requests in one.", ("batch",)),
    "Transfer": ("The whole account as one document.", ("user/export", "user/import")),
    "Operation": ("Whether the service is well.", ("health", "instance", "version")),
}


def add_domains(result: JsonObject, **kwargs: object) -> JsonObject:
    """Postprocessing hook of drf-spectacular: list the domains as tags, and tag each operation with its domain."""
    result["tags"] = [{"name": name, "description": text} for name, (text, _) in DOMAINS.items()]
    for path, item in result["paths"].items():
        for operation in item.values():
            operation["tags"] = [domain_of(path)]
    return result


def domain_of(path: str) -> str:
    """The domain with the longest prefix of `path`. Raises LookupError if there is none."""
    matches = {
        prefix: name
        for name, (_, prefixes) in DOMAINS.items()
        for prefix in prefixes
        # With the slash, so that a prefix ends at a segment: "import" must not match "imports".
        if f"{path}/".startswith(f"/api/{prefix}/")
    }
    if not matches:
        raise LookupError(f"{path} belongs to no domain: add it to DOMAINS in {__name__}.")
    return matches[max(matches, key=len)]
