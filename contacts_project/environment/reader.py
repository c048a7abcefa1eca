"""Reads the settings from the environment and from .env. The first invalid value stops the start of the program."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ

from contacts_project.environment.table import SETTINGS, Setting
from notifications.vapid import public_key_of

_ENV_LINE = re.compile(r"(?:export )?([A-Za-z_0-9]+)=.*")  # what django-environ reads; it ignores other lines
_HOST_PORT_PATH = re.compile(r"[\w.-]*(:[0-9]+)?(/[\w./%-]*)?")
_MAX_SHOWN_CHARACTERS = 100


class WrongSettingError(ValueError):
    """The message is one line: the variable, its value without secrets, and what is allowed."""


def read_settings(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of every setting. An empty variable counts as not set. Raises WrongSettingError."""
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        text = variables.get(setting.name, "").strip()
        try:
            value = text or setting.default
            values[setting.name] = setting.kind.parse(value) if value else setting.kind.unset
        except ValueError:
            raise WrongSettingError(wrong_setting_message(setting.name, text)) from None
    if values["SESSION_SAMESITE"] == "None" and urlsplit(values["BASE_URL"]).scheme != "https":
        allowed = "Lax or Strict, unless BASE_URL begins with https://: browsers refuse it over plain http"
        raise WrongSettingError(wrong_setting_message("SESSION_SAMESITE", "None", allowed))
    if store := values["PHOTO_STORAGE"]:
        _set_store_scheme(store, values["OUTBOUND_ALLOWED_NETWORKS"], variables["PHOTO_STORAGE"])
    private, public = values["VAPID_PRIVATE_KEY"], values["VAPID_PUBLIC_KEY"]
    if public.rstrip("=") != (public_key_of(private) if private else ""):
        raise WrongSettingError(wrong_setting_message("VAPID_PUBLIC_KEY", public))
    return values


def _set_store_scheme(store: dict[str, str], networks: list[str], text: str) -> None:
    """Use https, and plain http only for an address in the allowed networks.

    A host name is not resolved here: the outbound policy checks its address with each connection.
    """
    host = urlsplit(f"//{store['host']}").hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        may_be_plain = host == "localhost" or store["scheme"] == "http"
    else:
        may_be_plain = any(address in ip_network(network, strict=False) for network in networks)
    if store["scheme"] == "http" and not may_be_plain:
        allowed = "plain http only to addresses inside OUTBOUND_ALLOWED_NETWORKS"
        raise WrongSettingError(wrong_setting_message("PHOTO_STORAGE", text, allowed))
    store["scheme"] = store["scheme"] or ("http" if may_be_plain else "https")


def wrong_setting_message(name: str, text: str, allowed: str = "") -> str:
    setting = next(setting for setting in SETTINGS if setting.name == name)
    return f"{name}={mask(setting, text)} is not allowed. Allowed: {allowed or setting.kind.allowed}."


def mask(setting: Setting, text: str) -> str:
    """Return the value as it may be shown: without secrets and passwords, on one line."""
    if setting.is_secret:
        return "***"
    if "://" in text or setting.holds_password:
        text = _mask_url(text, setting.holds_password)
    escaped = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return escaped if len(escaped) <= _MAX_SHOWN_CHARACTERS else f"{escaped[:_MAX_SHOWN_CHARACTERS]}..."


def _mask_url(text: str, holds_password: bool) -> str:
    """Mask user and query; in a setting with a password also the rest, unless it is clearly host, port and path."""
    scheme = re.match(r"[A-Za-z0-9+.-]+://", text)
    start = scheme[0] if scheme else ""
    # The last @: a password that was not percent-encoded may contain others.
    _, at, rest = text[len(start) :].rpartition("@")
    location, *query = re.split(r"[?#]", rest, maxsplit=1)
    shown = "***" if holds_password and not _HOST_PORT_PATH.fullmatch(location) else location
    return f"{start}{'***@' if at else ''}{shown}{'?***' if query else ''}"


def load_env_file(path: Path) -> None:
    """Add the lines of `path`, if it exists, to the environment of this process. Raises WrongSettingError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise WrongSettingError(f"{path} cannot be read: {reason}.") from None
    # django-environ would ignore a malformed line, and the setting would silently keep its default.
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#") and not _ENV_LINE.fullmatch(line):
            raise WrongSettingError(
                f"{path}, line {number}: {_mask_line(line)} is not allowed. "
                "Allowed: NAME=value, without spaces before the name and around the =."
            )
    environ.Env.read_env(path)


def misspelt_names(path: Path) -> Iterator[tuple[str, str]]:
    """Return each unknown name in the file that resembles a setting, with the name of that setting."""
    names = [setting.name for setting in SETTINGS]
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for name in [match[1] for line in lines if (match := _ENV_LINE.fullmatch(line))]:
        if name not in names and (meant := get_close_matches(name, names, 1, 0.8)):
            yield name, meant[0]


def _mask_line(line: str) -> str:
    name, equals, text = (part.strip() for part in line.partition("="))
    setting = next((setting for setting in SETTINGS if setting.name == name.removeprefix("export ").strip()), None)
    # A line without a known name is not shown at all: it may be a secret.
    return f"{name} {equals} {mask(setting, text)}" if setting else "a line of another form"
