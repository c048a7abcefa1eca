"""A client of the Nominatim search API."""

from typing import Any, NamedTuple

import orjson
from django.conf import settings

from contacts_project.kernel.outbound.failures import Code, OutboundError, check_status
from contacts_project.kernel.outbound.session import OutboundSession


class Place(NamedTuple):
    """Degrees, WGS 84."""

    latitude: float
    longitude: float


def find_place(session: OutboundSession, text: str) -> Place | None:
    """The coordinates of an address, or None when the provider finds none. One request. Raises OutboundError."""
    response = session.request(
        "GET",
        f"{settings.GEOCODER_URL.removesuffix('/search')}/search",
        params={"format": "jsonv2", "q": text, "limit": "1"},
    )
    check_status(response)
    try:
        return _parse_place(orjson.loads(response.content))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise OutboundError(Code.UNEXPECTED_RESPONSE, "The geocoder's answer makes no sense.") from None


def _parse_place(body: Any) -> Place | None:
    if not isinstance(body, list):
        raise TypeError
    if not body:
        return None
    # Nominatim returns the coordinates as strings.
    place = Place(float(body[0]["lat"]), float(body[0]["lon"]))
    # Also refuses NaN, which is outside every range.
    if not (-90 <= place.latitude <= 90 and -180 <= place.longitude <= 180):
        raise ValueError
    return place
