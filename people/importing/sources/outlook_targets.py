"""The targets of Outlook's columns, by their English names."""

import re

from people.importing.sources.target import IGNORE, Target, parse_target

_FIELDS = {
    "First Name": "name",
    "Middle Name": "middleName",
    "Last Name": "surname",
    "Title": "prefix",
    "Suffix": "suffix",
    "Nickname": "nickname",
    "Given Yomi": "phoneticName",
    "Surname Yomi": "phoneticSurname",
    "Company": "organization",
    "Job Title": "jobTitle",
    "Gender": "gender",
    "Birthday": "birthday",
    "Anniversary": "anniversary",
    "Categories": "group",
    "Notes": "notes",
    "Web Page": "url",
    "Personal Web Page": "url:home",
    "Business Web Page": "url:work",
}
_EMAIL_COLUMN = re.compile(r"E-mail (?:([23]) )?Address")
_PHONE_COLUMN = re.compile(r"(.*?) ?(Phone|Fax)(?: [0-9])?")
_OTHER_PHONE_COLUMNS = frozenset({"Callback", "ISDN", "Pager", "Telex", "TTY/TDD Phone"})
_ADDRESS_COLUMN = re.compile(
    r"(Home|Business|Other) (?:Address )?"
    r"(Street|Street 2|Street 3|City|State|Postal Code|Country|Country/Region|PO Box)"
)
#: An address in one piece, which only counts if its parts are missing.
WHOLE_ADDRESS_COLUMN = re.compile(r"(?:Home|Business|Other) Address")
_ADDRESS_PARTS = {
    "City": "city",
    "State": "region",
    "Postal Code": "postalCode",
    "Country": "country",
    "Country/Region": "country",
}
_TYPE_NAMES = {"business": "work", "primary": "main", "company main": "company", "assistant's": "assistant"}
# Outlook fills these in for every contact, so that they contain nothing about the person.
_IGNORED_COLUMN = re.compile(
    r"E-mail (?:[23] )?(?:Type|Display Name)|Initials|Internet Free Busy|Directory Server|Priority|Sensitivity|Private"
)


def outlook_target(name: str) -> Target:
    """The target of a column, empty if there is none."""
    if field := _FIELDS.get(name):
        return parse_target(field)
    if _IGNORED_COLUMN.fullmatch(name):
        return Target(IGNORE)
    if _EMAIL_COLUMN.fullmatch(name):
        return Target("email")
    return _address_target(name) or _phone_target(name) or Target()


def _address_target(name: str) -> Target | None:
    if match := _ADDRESS_COLUMN.fullmatch(name):
        return Target(f"address.{_ADDRESS_PARTS.get(match[2], 'street')}", _type_name(match[1]))
    if WHOLE_ADDRESS_COLUMN.fullmatch(name):
        return Target("address.street", _type_name(name.removesuffix(" Address")))
    return None


def _phone_target(name: str) -> Target | None:
    if name in _OTHER_PHONE_COLUMNS:
        return Target("phone", name.lower())
    if match := _PHONE_COLUMN.fullmatch(name):
        kind = _type_name(match[1])
        return Target("phone", f"{kind} fax".strip() if match[2] == "Fax" else kind)
    return None


def _type_name(text: str) -> str:
    return _TYPE_NAMES.get(text.lower(), text.lower())
