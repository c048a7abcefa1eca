"""A configuration profile of Apple's: the account of contacts and calendars to tap, without the password.

https://developer.apple.com/documentation/devicemanagement/carddav and /caldav: payload types com.apple.carddav.account
and com.apple.caldav.account. The ids stay the same for a token, so that installing it again replaces it.
"""

import plistlib
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.conf import settings

from accounts.models import ApiToken, User
from dav.resources.paths import principal_path

_NAME = "Contact network"
_DEFAULT_PORTS = {"https": 443, "http": 80}


def profile_of(owner: User, token: ApiToken) -> bytes:
    base = urlsplit(settings.BASE_URL)
    is_encrypted = base.scheme == "https"
    port = base.port or _DEFAULT_PORTS[base.scheme]
    # Apple's reversed domain; the id of the token makes two of one host two.
    identifier = f"{'.'.join(reversed((base.hostname or 'localhost').split('.')))}.contacts.{token.pk}"
    payloads = [
        {
            "PayloadType": f"com.apple.{kind.lower()}.account",
            "PayloadVersion": 1,
            "PayloadIdentifier": f"{identifier}.{kind.lower()}",
            "PayloadUUID": _payload_uuid(token.pk, kind),
            "PayloadDisplayName": f"{_NAME}: {title}",
            f"{kind}AccountDescription": token.name,
            f"{kind}HostName": base.hostname or "",
            f"{kind}Port": port,
            f"{kind}UseSSL": is_encrypted,
            f"{kind}PrincipalURL": principal_path(owner.pk),
            f"{kind}Username": owner.email,
        }
        for kind, title in (("CardDAV", "contacts"), ("CalDAV", "calendars"))
    ]
    profile = {
        "PayloadType": "Configuration",
        "PayloadVersion": 1,
        "PayloadIdentifier": identifier,
        "PayloadUUID": _payload_uuid(token.pk, "profile"),
        "PayloadDisplayName": f"{_NAME} ({base.hostname})",
        "PayloadDescription": f"Contacts and calendars of {owner.email}. Asks for the app password.",
        "PayloadOrganization": _NAME,
        "PayloadRemovalDisallowed": False,
        "PayloadContent": payloads,
    }
    return plistlib.dumps(profile)


def _payload_uuid(token_id: UUID, kind: str) -> str:
    return str(uuid5(token_id, kind)).upper()
