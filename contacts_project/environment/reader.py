"""Reads the environment and .env by the table of settings. The first wrong value stops whatever is being started."""

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

_LINE = re.compile(r"(?:export )?([A-Za-z_0-9]+)=.*")  # what django-environ takes; it skips other lines
_PLACE = re.compile(r"[\w.-]*(:[0-9]+)?(/[\w./%-]*)?")
_SHOWN = 100


class WrongSettingError(ValueError):
    """One line for whoever started it: the variable, its value without secrets, and what is allowed."""


def read(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of every setting. An empty variable is one that is not set."""
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        text = variables.get(setting.name, "").strip()
        try:
            value = text or setting.default
            values[setting.name] = setting.kind.parse(value) if value else setting.kind.unset
        except ValueError:
            raise WrongSettingError(wrong(setting.name, text)) from None
    if values["SESSION_SAMESITE"] == "None" and urlsplit(values["BASE_URL"]).scheme != "https":
        allowed = "Lax or Strict, unless BASE_URL begins with https://: browsers refuse it over plain http"
        raise WrongSettingError(wrong("SESSION_SAMESITE", "None", allowed))
    if store := values["PHOTO_STORAGE"]:
        _choose_scheme(store, values["OUTBOUND_ALLOWED_NETWORKS"], variables["PHOTO_STORAGE"])
    private, public = values["VAPID_PRIVATE_KEY"], values["VAPID_PUBLIC_KEY"]
    if public.rstrip("=") != (public_key_of(private) if private else ""):
        raise WrongSettingError(wrong("VAPID_PUBLIC_KEY", public))
    return values


def _choose_scheme(store: dict[str, str], networks: list[str], text: str) -> None:
    """https, but plain http to an address inside the allowed networks. Names are looked up when they are used."""
    host = urlsplit(f"//{store['host']}").hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        is_inside = host == "localhost" or store["scheme"] == "http"
    else:
        is_inside = any(address in ip_network(network, strict=False) for network in networks)
    if store["scheme"] == "http" and not is_inside:
        allowed = "plain http only to addresses inside OUTBOUND_ALLOWED_NETWORKS"
        raise WrongSettingError(wrong("PHOTO_STORAGE", text, allowed))
    store["scheme"] = store["scheme"] or ("http" if is_inside else "https")


def wrong(name: str, text: str, allowed: str = "") -> str:
    """The line about a value that is not allowed."""
    setting = next(setting for setting in SETTINGS if setting.name == name)
    return f"{name}={masked(setting, text)} is not allowed. Allowed: {allowed or setting.kind.allowed}."


def masked(setting: Setting, text: str) -> str:
    """The value as it may be shown: no secret, no password inside a URL, one line."""
    if setting.is_secret:
        return "***"
    if "://" in text or setting.holds_password:
        text = _mask_url(text, setting.holds_password)
    escaped = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return escaped if len(escaped) <= _SHOWN else f"{escaped[:_SHOWN]}..."


def _mask_url(text: str, holds_password: bool) -> str:
    """Without user and query; where a password is expected, only what is plainly a host, a port and a path is left."""
    scheme = re.match(r"[A-Za-z0-9+.-]+://", text)
    start = scheme[0] if scheme else ""
    _, at, place = text[len(start) :].rpartition("@")
    place, *query = re.split(r"[?#]", place, maxsplit=1)
    shown = "***" if holds_password and not _PLACE.fullmatch(place) else place
    return f"{start}{'***@' if at else ''}{shown}{'?***' if query else ''}"


def read_file(path: Path) -> None:
    """Add the lines of `path`, where it is there, to the environment of this process and of its children."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise WrongSettingError(f"{path} cannot be read: {reason}.") from None
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#") and not _LINE.fullmatch(line):
            raise WrongSettingError(
                f"{path}, line {number}: {_shown_line(line)} is not allowed. "
                "Allowed: NAME=value, without spaces before the name and around the =."
            )
    environ.Env.read_env(path)


def misspelt_names(path: Path) -> Iterator[tuple[str, str]]:
    """Each name of the file that is no setting, but nearly: with the one that is meant."""
    names = [setting.name for setting in SETTINGS]
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for name in [found[1] for line in lines if (found := _LINE.fullmatch(line))]:
        if name not in names and (meant := get_close_matches(name, names, 1, 0.8)):
            yield name, meant[0]


def _shown_line(line: str) -> str:
    name, equals, text = (part.strip() for part in line.partition("="))
    setting = next((setting for setting in SETTINGS if setting.name == name.removeprefix("export ").strip()), None)
    return f"{name} {equals} {masked(setting, text)}" if setting else "a line of another form"
