"""What schemathesis does beyond its own: addresses of callers, streams, and which refusals of good input are rules."""

import ipaddress
import os
import random
from typing import Any

import orjson
import requests
import schemathesis

_addresses = random.Random(0)

#: What a refusal says where the input is of the described form, and a rule that no JSON Schema can say forbids it.
RULES = (
    # It names what is not there, or is not in the state for it.
    "There is no such record",
    "There is no such time zone",
    "This record has not been deleted",
    "This relationship type is in use",
    "There is a group of this name already",
    "There is an account with this address",
    "Another account has this address",
    "There is already a relationship type named",
    "These two people already have an active relationship",
    # A secret that is not the right one.
    "This is not the password",
    "The password still needs",
    "This password is",
    "Type DELETE to confirm",
    "This is no cursor that was given out here",
    "This link is not valid",
    "This link was used already",
    "This code was used already",
    "This sign-in has expired",
    "This is not the code that the app should show now",
    "This must be a UUID of version 4 or 7.",  # a date of a person: where the person is there, it is of any version
    # What the record has, or the time that it is.
    "That type already has another inverse",
    "That type is symmetric: it is its own inverse",
    "A type that is not symmetric",
    "A symmetric type is its own inverse",
    "Two people are related by this type and by its inverse",
    "This type has lost its inverse",
    "This person already has a date of type",
    "This person would not become an orphan",
    "A person cannot be merged with itself",
    "A person cannot be told apart from itself",
    "A person has no relationship with itself",
    "The option ",
    "This field is not in conflict",
    "The account's password is needed",
    "The server does not answer as an ntfy server does",
    "This must be in the future",
    "This must be in a year from 1000",
    "The year must be between 1000",
    # One field depends on another.
    "Only one date of type",  # of the entries of one body
    "The action ",
    "A SELECT field needs",
    "Only a SELECT field has options",
    "A date without a type needs a title",
    "Only an NTFY destination has a token",
    "This field cannot be overridden",
    "Send both times, or null for both",
    "Give either personIds or selectAll",
    "This must differ from where the quiet hours begin",
    "There is no type '",  # in a list of words, with commas between them
    # JSON Schema has 7.0 for a whole number; the contract takes 7 alone. A number in a query is told with its bounds.
    "This must be a whole number.",
    # Text of a form of its own: its format is checked, by more than a pattern.
    "This must not be empty",  # nothing but spaces: texts are trimmed first
    "This is not an e-mail address",
    "The host",
    "The URL",
    "Port ",
    "This is not a JPEG",
    "This is not a HEIC",
    "A vCard file is needed",
    "There is no vCard in this file",
    "This must be a date, YYYY-MM-DD",
    "There is no such day",
    "This is no export of this service",
    "This is no text. Save a spreadsheet",
    "There is no row of columns in this file",
    "This file has no line with the columns",
    "The columns of this file are not those of",
    "This must be 1 to 255 printable ASCII",  # a key among the headers of an operation of a batch
    "This must be JSON: {",  # a mapping of columns, which a form has as text
    "This must be an object: {",
    "This is no JSON document of",
    "This is no SQL export of",
    "The character U+",  # control characters are in no text
    "Null characters are not allowed",  # Django's word for one of them, of what is compared as it stands
)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Each request comes from an address of its own: else the budgets of client addresses would answer.

    The case is left alone: where a hook changes its headers, schemathesis looks at them anew, and sends a credential
    that it had left out of them on purpose.
    """
    kwargs["auth"] = _Sender(str(ipaddress.IPv4Address(_addresses.getrandbits(32))), os.environ["FUZZ_COOKIE"])


class _Sender(requests.auth.AuthBase):
    """Completes a request once schemathesis is done with it: its address, and the cookie of which no scheme speaks."""

    def __init__(self, address: str, cookie: str) -> None:
        self.address, self.cookie = address, cookie

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["X-Forwarded-For"] = self.address
        if self.cookie:
            request.headers["Cookie"] = "; ".join(filter(None, (request.headers.get("Cookie"), self.cookie)))
        return request


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """schemathesis takes the schema of a stream for that of each event, which OpenAPI 3.1 leaves open."""
    event = {"type": "object", "required": ["event", "data"], "properties": {"event": {"pattern": "^[a-z]+$"}}}
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for response in operation["responses"].values():
                if stream := response.get("content", {}).get("text/event-stream"):
                    stream["schema"] = event


@schemathesis.check
def refusals_of_good_input_are_rules(ctx: Any, response: Any, case: Any) -> None:
    """A 400 for what the description allows is a finding, unless every reason that it gives is in RULES."""
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    refusal = orjson.loads(response.content)
    # What a custom value must be, its template says.
    rows = [row for row in refusal.get("details", ()) if not row["field"].startswith("customFieldValues")]
    reasons = [row["message"] for row in rows] if "details" in refusal else [refusal["error"]]
    unknown = [reason for reason in reasons if not reason.startswith(RULES)]
    assert not unknown, f"Good input is refused: {unknown}"
