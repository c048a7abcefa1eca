"""Hooks for schemathesis: client addresses, event streams, and which refusals of valid input are legitimate."""

import ipaddress
import os
import random
from typing import Any

import orjson
import requests
import schemathesis

_addresses = random.Random(0)

#: Beginnings of the messages that refuse input which the description allows, by rules that JSON Schema cannot express.
LEGITIMATE_REFUSALS = (
    # The record does not exist, or is not in the required state.
    "There is no such record",
    "There is no such time zone",
    "This record has not been deleted",
    "This relationship type is in use",
    "There is a group of this name already",
    "There is an account with this address",
    "Another account has this address",
    "There is already a relationship type named",
    "These two people already have an active relationship",
    # A wrong secret.
    "This is not the password",
    "The password is not good enough",
    "Type DELETE to confirm",
    "This is no cursor that was given out here",
    "This link is not valid",
    "This link was used already",
    "This code was used already",
    "This sign-in has expired",
    "This is not the code that the app should show now",
    "This must be a UUID of version 4 or 7.",  # a date of a person; that of an existing one may have any version
    # It depends on the stored record, or on the current time.
    "Nobody who is unknown here was there",
    "Another server needs the password again",
    "This calendar has no address yet",
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
    "This goes with one id alone",
    "Somebody of your people must have been there",
    "Give either personIds or selectAll",
    "This must differ from where the quiet hours begin",
    "There is no type '",  # in a list of words, with commas between them
    # JSON Schema counts 7.0 as an integer; the contract accepts only 7. (In a query, the message has the bounds.)
    "This must be a whole number.",
    # Formats that a pattern cannot check completely.
    "This must not be empty",  # only spaces: texts are trimmed first
    "This must be a comma, a semicolon, a tab or a vertical bar",  # or its name, in any case
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
    *(f"This is {kind}" for kind in ("a picture", "a document", "a spreadsheet", "a calendar", "a file of vCards")),
    *(f"This is {kind}" for kind in ("a web page", "an archive", "JSON", "XML", "LDIF", "SQL")),
    "There is no row of columns in this file",
    "This file has no line with the columns",
    "The columns of this file are not those of",
    "This must be 1 to 255 printable ASCII",  # a key among the headers of an operation of a batch
    "This must be JSON: {",  # a mapping of columns, which a form has as text
    "This must be an object: {",
    "This is no JSON document of",
    "This is no SQL export of",
    "The character U+",  # control characters are not allowed in texts
    "Null characters are not allowed",  # Django's message for one of them, in texts that are not trimmed
)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Send each request from an address of its own; otherwise the rate limits per client address would refuse most.

    An auth object sets the header, not the case: if a hook changes the headers of a case, schemathesis evaluates them
    again and sends a credential that it had omitted on purpose.
    """
    kwargs["auth"] = _Sender(str(ipaddress.IPv4Address(_addresses.getrandbits(32))), os.environ["FUZZ_COOKIE"])


class _Sender(requests.auth.AuthBase):
    """Adds to a finished request its client address, and the cookies that belong to no security scheme."""

    def __init__(self, address: str, cookie: str) -> None:
        self.address, self.cookie = address, cookie

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["X-Forwarded-For"] = self.address
        if self.cookie:
            request.headers["Cookie"] = "; ".join(filter(None, (request.headers.get("Cookie"), self.cookie)))
        return request


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Replace the schema of streams: schemathesis applies it to each event, which OpenAPI 3.1 leaves open."""
    event = {"type": "object", "required": ["event", "data"], "properties": {"event": {"pattern": "^[a-z]+$"}}}
    for item in raw_schema["paths"].values():
        for operation in item.values():
            for response in operation["responses"].values():
                if stream := response.get("content", {}).get("text/event-stream"):
                    stream["schema"] = event


@schemathesis.check
def refusals_of_good_input_are_rules(ctx: Any, response: Any, case: Any) -> None:
    """A 400 for input that the description allows is a finding, unless all its messages are legitimate refusals."""
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    refusal = orjson.loads(response.content)
    # The template decides what a custom value must be.
    details = [row for row in refusal.get("details", ()) if not row["field"].startswith("customFieldValues")]
    reasons = [row["message"] for row in details] if "details" in refusal else [refusal["error"]]
    unknown = [reason for reason in reasons if not reason.startswith(LEGITIMATE_REFUSALS)]
    assert not unknown, f"Good input is refused: {unknown}"
