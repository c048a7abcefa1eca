"""What the doctor says of people: the geocoder's address, the folder of the photos, the counts."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from accounts.models import User
from people.checks import check_counts, check_geocoder, check_photo_folder
from people.counts import PEOPLE
from people.models import AccountCount
from tests.builders import make_person


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


def test_counts_that_are_not_those_of_the_rows(alice: User, mallory: User) -> None:
    make_person(alice)
    make_person(mallory)
    assert check_counts(None) == []
    AccountCount.objects.filter(owner=alice, kind=PEOPLE).update(number=7)
    (message,) = check_counts(None)
    assert (message.id, message.msg) == (
        "doctor.E053",
        "Counts are not those of the rows (1), such as people : 7 instead of 1.",
    )
