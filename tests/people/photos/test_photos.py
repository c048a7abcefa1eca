"""Photos through the API: upload, reading, replacing, deletion, and the stored files."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from accounts.models import User
from people.invariants import find_wrong_files
from people.models import Person
from people.photos.files import account_photo_paths
from tests.builders import PASSWORD, make_person
from tests.client import Client, client_of
from tests.pictures import decode_picture, jpeg_of_scans, photo_files, picture, png_header, upload

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("media"),
    pytest.mark.sqlite_suffices,
]


def stored_name(response: Any) -> str:
    assert response.status_code == 200, response.content
    name: str = response.json()["photo"]
    return name


def test_a_photo_is_stored_and_read(api: Client, ada: Person, media: Path) -> None:
    name = stored_name(upload(api, f"/api/people/{ada.pk}/photo", picture("PNG"), "evil.svg"))
    assert photo_files(media) == {name}
    response = api.call("get", f"/api/photos/{ada.pk}", HTTP_ACCEPT="image/*")
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "private" in response["Cache-Control"]
    assert decode_picture(response.content).size == (256, 256)
    repeated = api.call("get", f"/api/photos/{ada.pk}", HTTP_IF_NONE_MATCH=response["ETag"])
    assert (repeated.status_code, repeated.content, repeated["ETag"]) == (304, b"", response["ETag"])


def test_the_file_name_and_the_etag_change_with_the_content(api: Client, ada: Person, media: Path) -> None:
    path, read = f"/api/people/{ada.pk}/photo", f"/api/photos/{ada.pk}"
    first = stored_name(upload(api, path, picture(color="red")))
    etag = api.call("get", read)["ETag"]
    assert stored_name(upload(api, path, picture(color="red"))) == first
    second = stored_name(upload(api, path, picture(color="blue")))
    assert second != first
    assert photo_files(media) == {second}
    assert api.call("get", read, HTTP_IF_NONE_MATCH=etag).status_code == 200


def test_deleting_a_photo_removes_row_and_file(api: Client, ada: Person, media: Path) -> None:
    path = f"/api/people/{ada.pk}/photo"
    upload(api, path, picture())
    assert "message" in api.ok("delete", path)
    assert photo_files(media) == set()
    assert api.call("get", f"/api/photos/{ada.pk}").status_code == 404
    ada.refresh_from_db()
    assert ada.photo is None
    assert "message" in api.ok("delete", path)


def test_file_of_another_row_is_kept(api: Client, alice: User, ada: Person, media: Path) -> None:
    bob = make_person(alice, name="Bob")
    name = stored_name(upload(api, f"/api/people/{ada.pk}/photo", picture()))
    assert stored_name(upload(api, f"/api/people/{bob.pk}/photo", picture())) == name
    api.ok("delete", f"/api/people/{ada.pk}/photo")
    assert photo_files(media) == {name}
    api.ok("delete", f"/api/people/{bob.pk}/photo")
    assert photo_files(media) == set()


def test_two_accounts_never_share_a_file(
    api: Client, stranger: Client, mallory: User, ada: Person, media: Path
) -> None:
    eve = make_person(mallory, name="Eve")
    hers = stored_name(upload(stranger, f"/api/people/{eve.pk}/photo", picture()))
    name = stored_name(upload(api, f"/api/people/{ada.pk}/photo", picture()))
    assert hers != name
    api.ok("delete", f"/api/people/{ada.pk}/photo")
    assert photo_files(media) == {hers}


def test_the_account_has_a_photo_of_its_own(api: Client, alice: User, media: Path) -> None:
    assert api.call("get", "/api/photos/user").status_code == 404
    before = alice.updated_at
    name = stored_name(upload(api, "/api/user/photo", picture("WEBP")))
    alice.refresh_from_db()
    assert alice.photo == name
    assert alice.updated_at > before
    response = api.call("get", "/api/photos/user")
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    assert api.call("get", "/api/photos/user", HTTP_IF_NONE_MATCH=response["ETag"]).status_code == 304
    assert "message" in api.ok("delete", "/api/user/photo")
    assert photo_files(media) == set()
    assert api.call("get", "/api/photos/user").status_code == 404


@pytest.mark.one_database
@pytest.mark.parametrize("path", ["/api/people/{}/photo", "/api/user/photo", "/api/photos/convert"])
@pytest.mark.parametrize("content", [b"<svg xmlns='http://www.w3.org/2000/svg'/>", png_header(60_000, 60_000), b"x"])
def test_invalid_picture_is_reported_by_field(api: Client, ada: Person, media: Path, path: str, content: bytes) -> None:
    response = upload(api, path.format(ada.pk), content, "photo.png")
    assert response.status_code == 400
    assert response.json()["details"][0]["field"] == "photo"
    assert photo_files(media) == set()


@pytest.mark.parametrize("path", ["/api/people/{}/photo", "/api/user/photo"])
@pytest.mark.parametrize(
    ("content", "words"),
    [(jpeg_of_scans(201, (40, 30)), "more than 200 scans"), (picture("JPEG", (400, 300))[:-60], "cut off")],
)
def test_what_is_wrong_with_a_jpeg_is_said(api: Client, ada: Person, path: str, content: bytes, words: str) -> None:
    response = upload(api, path.format(ada.pk), content)
    assert response.status_code == 400
    [detail] = response.json()["details"]
    assert detail["field"] == "photo"
    assert words in detail["message"]


def test_a_jpeg_without_its_end_marker_is_stored(api: Client, ada: Person, media: Path) -> None:
    whole, cut = (upload(api, f"/api/people/{ada.pk}/photo", data) for data in (picture(), picture()[:-2]))
    assert stored_name(cut) == stored_name(whole)


def test_a_body_without_the_file_is_400(api: Client, ada: Person) -> None:
    path = f"/api/people/{ada.pk}/photo"
    for content in (None, "text"):
        response = upload(api, path, content)
        assert response.status_code == 400
        assert response.json()["details"][0]["field"] == "photo"
    assert api.call("post", path, {"photo": "x"}).status_code == 415
    assert upload(api, path, b"").status_code == 400


def test_a_file_over_the_limit_is_413(api: Client, ada: Person, settings: LazySettings) -> None:
    settings.MAX_PHOTO_BYTES = 1000
    path = f"/api/people/{ada.pk}/photo"
    assert upload(api, path, picture() + b"\0" * 2000).status_code == 413
    assert upload(api, path, b"\0" * 200_000).status_code == 413
    assert upload(api, path, picture("PNG")).status_code == 200


def test_photos_of_others_and_of_deleted_people_are_404(
    api: Client, stranger: Client, ada: Person, media: Path
) -> None:
    name = stored_name(upload(api, f"/api/people/{ada.pk}/photo", picture()))
    assert stranger.call("get", f"/api/photos/{ada.pk}").status_code == 404
    assert upload(stranger, f"/api/people/{ada.pk}/photo", picture()).status_code == 404
    assert stranger.call("delete", f"/api/people/{ada.pk}/photo").status_code == 404
    Person.unscoped.filter(pk=ada.pk).update(deleted_at=ada.created_at)
    assert api.call("get", f"/api/photos/{ada.pk}").status_code == 404
    assert upload(api, f"/api/people/{ada.pk}/photo", picture()).status_code == 404
    assert photo_files(media) == {name}
    assert api.call("get", "/api/photos/no-such-id").status_code == 404


def test_convert_returns_a_jpeg(api: Client, media: Path) -> None:
    response = upload(api, "/api/photos/convert", picture("HEIF", (320, 240)), "photo.heic")
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    image = decode_picture(response.content)
    assert (image.format, image.size) == ("JPEG", (320, 240))
    assert upload(api, "/api/photos/convert", picture("JPEG")).status_code == 400
    assert photo_files(media) == set()


def test_deleting_an_account_deletes_its_files(
    alice: User, ada: Person, media: Path, django_capture_on_commit_callbacks: Any
) -> None:
    client = client_of(alice)
    upload(client, f"/api/people/{ada.pk}/photo", picture(color="red"))
    upload(client, "/api/user/photo", picture(color="blue"))
    alice.refresh_from_db()
    assert {Path(path).name for path in account_photo_paths(alice.pk)} == photo_files(media)
    with django_capture_on_commit_callbacks(execute=True):
        client.ok("DELETE", "/api/user/delete", {"password": PASSWORD, "confirmationText": "DELETE"})
    assert photo_files(media) == set()


def test_a_photo_raises_the_persons_revision(api: Client, ada: Person) -> None:
    before = ada.revision
    upload(api, f"/api/people/{ada.pk}/photo", picture())
    ada.refresh_from_db()
    assert ada.revision > before


def test_a_full_disk_leaves_nothing_behind(
    api: Client, ada: Person, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/api/people/{ada.pk}/photo"
    temporary = media / "aside"
    temporary.touch()
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.mkstemp", lambda **options: (os.open("/dev/full", os.O_WRONLY), str(temporary)))
        response = upload(api, path, picture())
        assert (response.status_code, response.json()["code"]) == (503, "unavailable")
        assert "Retry-After" in response
    assert [found for found in media.rglob("*") if found.is_file()] == []
    ada.refresh_from_db()
    assert ada.photo is None
    stored_name(upload(api, path, picture()))
    assert decode_picture(api.call("get", f"/api/photos/{ada.pk}").content).size == (256, 256)


@pytest.mark.both_databases
def test_disk_full_at_fsync_leaves_nothing_behind(
    api: Client, ada: Person, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    assert upload(api, f"/api/people/{ada.pk}/photo", picture()).status_code == 503
    assert [found for found in media.rglob("*") if found.is_file()] == []


def test_empty_file_is_reported_by_doctor_and_written_again(api: Client, ada: Person, media: Path) -> None:
    name = stored_name(upload(api, f"/api/people/{ada.pk}/photo", picture()))
    [file] = media.rglob(name)
    assert list(find_wrong_files()) == []
    file.write_bytes(b"")
    assert list(find_wrong_files()) == [f"{name} (missing or damaged)"]
    assert stored_name(upload(api, f"/api/people/{ada.pk}/photo", picture())) == name
    assert decode_picture(file.read_bytes()).size == (256, 256)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
