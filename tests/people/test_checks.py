"""The checks of `manage.py doctor` for people: the address of the geocoder, the folder of the photos."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from people.checks import check_geocoder, check_photo_folder


@pytest.mark.parametrize(
    ("url", "networks", "ports", "is_fit"),
    [
        ("", [], [], True),
        ("https://nominatim.example.org", [], [], True),
        ("http://127.0.0.1:8080", [], [], False),
        ("http://127.0.0.1:8080", ["127.0.0.0/8"], ["8080"], True),
        ("https://nominatim.example.org:8080", [], [], False),
        ("ftp://nominatim.example.org", [], [], False),
        ("nominatim", [], [], False),
    ],
)
def test_the_geocoder_is_within_the_policy(
    settings: LazySettings, url: str, networks: list[str], ports: list[str], is_fit: bool
) -> None:
    settings.GEOCODER_URL, settings.OUTBOUND_ALLOWED_NETWORKS, settings.OUTBOUND_ALLOWED_PORTS = url, networks, ports
    assert [message.id for message in check_geocoder(None)] == ([] if is_fit else ["doctor.E050"])


def test_the_folder_of_the_photos(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path / "not" / "there"
    assert check_photo_folder(None) == []
    # root may write anywhere, so the rights themselves cannot be tried here
    monkeypatch.setattr("people.checks.os.access", lambda path, mode: path != tmp_path)
    assert [message.id for message in check_photo_folder(None)] == ["doctor.E051"]
