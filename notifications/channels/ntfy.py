"""ntfy: topic push through ntfy.sh or a server of the owner's own (https://docs.ntfy.sh/publish/#publish-as-json)."""

import time
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson
import requests

from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.outbound import Code, OutboundError, check_status, outbound_session
from contacts_project.kernel.outbound.session import DEADLINE_SECONDS
from notifications.channels.endpoint import EndpointChannel
from notifications.models.destination import Destination, DestinationType
from notifications.notices.actions import Offer, offers_without_three_days
from notifications.notices.notice import Notice, NoticeKind
from notifications.notices.wording import wording_of

MAX_PARENTS = 5
# ntfy turns a longer message into an attached file.
MAX_MESSAGE_BYTES = 4000
TYPE_TAGS = {"BIRTHDAY": "birthday", "ANNIVERSARY": "heart", "MEMORIAL": "candle"}
KIND_TAGS = {NoticeKind.CONTACT: "wave", NoticeKind.CONTACTS_FOUND: "inbox_tray", NoticeKind.TEST: "white_check_mark"}


class NtfyChannel(EndpointChannel):
    """Publishes to a topic. The sequence id makes a second try replace the first on the owner's devices."""

    name = "ntfy"
    type = DestinationType.NTFY

    def deliver_to(self, destination: Destination, notice: Notice) -> None:
        """Publish to one topic; anything but JSON in the answer is no ntfy server's."""
        wording = wording_of(notice)
        message: dict[str, Any] = {
            "topic": topic_of(destination.url),
            "title": wording.title,
            "message": cut_bytes(wording.text, MAX_MESSAGE_BYTES),
            "click": wording.url,
            "tags": [_tag(notice)],
            "sequence_id": str(notice.id),
        }
        if offers := offers_without_three_days(notice):
            message["actions"] = [_button(offer) for offer in offers]
        headers = {"Content-Type": "application/json"}
        if destination.secret:
            headers["Authorization"] = f"Bearer {destination.secret}"
        with outbound_session() as session:
            response = session.request("POST", destination.server_url + "/", data=dumps(message), headers=headers)
        check_status(response)
        if not _is_json(response):
            raise OutboundError(Code.UNEXPECTED_RESPONSE, "The answer is not JSON.", status=response.status_code)


def _button(offer: Offer) -> dict[str, Any]:
    """One tap posts it, and the message goes (https://docs.ntfy.sh/publish/#send-http-request); at most three."""
    return {"action": "http", "label": offer.label, "url": offer.url, "method": "POST", "clear": True}


def topic_of(url: str) -> str:
    """The topic a topic URL names: its last segment."""
    return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])


def find_server(url: str) -> str | None:
    """The root of the ntfy server behind a topic URL, the longest parent path first; None: there is none.

    Raises OutboundError when the host cannot be asked at all. One deadline for all parents together.
    """
    parts = urlsplit(url)
    segments = parts.path.rstrip("/").split("/")[:-1]
    ends_at = time.monotonic() + DEADLINE_SECONDS
    with outbound_session() as session:
        for length in range(len(segments), max(0, len(segments) - MAX_PARENTS), -1):
            root = f"{parts.scheme}://{parts.netloc}{'/'.join(segments[:length])}"
            seconds = ends_at - time.monotonic()
            if seconds <= 0:
                raise OutboundError(Code.TIMEOUT)
            if _is_healthy_answer(session.request("GET", f"{root}/v1/health", timeout=seconds)):
                return root
    return None


def cut_bytes(text: str, limit: int) -> str:
    """The text, cut to at most `limit` bytes of UTF-8 with an ellipsis when it is longer."""
    data = text.encode()
    return text if len(data) <= limit else data[: limit - 3].decode(errors="ignore") + "…"


def _is_healthy_answer(response: requests.Response) -> bool:
    if not 200 <= response.status_code < 300:
        return False
    try:
        answer = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return False
    return isinstance(answer, dict) and isinstance(answer.get("healthy"), bool)


def _is_json(response: requests.Response) -> bool:
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")


def _tag(notice: Notice) -> str:
    return KIND_TAGS.get(notice.kind) or TYPE_TAGS.get(notice.content.get("type") or "", "calendar")
