"""Photos in an S3-compatible store: moto's server on loopback."""

import base64
import datetime as dt
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.conf import settings as project
from django.core.checks import run_checks
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from moto.server import ThreadedMotoServer

from accounts.models import User
from accounts.services.deletion import delete_account
from contacts_project.environment.reader import WrongSettingError, read_settings
from contacts_project.kernel.object_storage import ObjectStorage
from contacts_project.kernel.storage import StorageUnavailableError
from contacts_project.operation.health import Check, check_photos
from people.checks import check_photo_folder
from people.models import Person, StoredPhoto
from people.photos import files
from people.photos.names import photo_name
from tests.builders import make_person
from tests.client import Client, client_of
from tests.contacts_project.backup.files import empty_database_and_migrate
from tests.loopback import closed_port
from tests.pictures import picture, upload
from tests.workers import run_manage

pytestmark = pytest.mark.sqlite_suffices

BUCKET = "photos-of-contacts"
BACKEND = "contacts_project.kernel.object_storage.ObjectStorage"


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """Run moto's server; yields its port."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        yield int(server.get_host_and_port()[1])
    finally:
        server.stop()


@pytest.fixture
def bucket(server: int, settings: Any) -> Any:
    """An empty bucket, in which the service stores photos."""
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{server}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket=BUCKET)
    use_bucket(settings, server)
    yield client
    for found in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=found["Key"])


def use_bucket(settings: Any, port: int, bucket: str = BUCKET) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    url = f"s3://key:secret@127.0.0.1:{port}/{bucket}?region=us-east-1"
    options = read_settings({"PHOTO_STORAGE": url, "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8"})["PHOTO_STORAGE"]
    settings.STORAGES = {**project.STORAGES, "default": {"BACKEND": BACKEND, "OPTIONS": options}}


def keys_in_bucket(bucket: Any) -> set[str]:
    return {found["Key"] for found in bucket.list_objects_v2(Bucket=BUCKET).get("Contents", [])}


def set_photo(client: Client, person: Person, color: str = "red") -> Any:
    return upload(client, f"/api/people/{person.pk}/photo", picture(color=color))


def test_photo_is_stored_read_replaced_and_deleted(
    bucket: Any, api: Client, stranger: Client, ada: Person, django_capture_on_commit_callbacks: Any
) -> None:
    name = set_photo(api, ada).json()["photo"]
    assert keys_in_bucket(bucket) == {f"photos/{name[:2]}/{name}"}
    stored = bucket.get_object(Bucket=BUCKET, Key=f"photos/{name[:2]}/{name}")
    assert stored["ContentType"] == "image/jpeg"
    response = api.call("GET", f"/api/photos/{ada.pk}")
    assert (response.status_code, response["Content-Type"], response["ETag"]) == (200, "image/jpeg", f'"{name[:40]}"')
    assert response.content == stored["Body"].read()
    assert api.call("GET", f"/api/photos/{ada.pk}", HTTP_IF_NONE_MATCH=response["ETag"]).status_code == 304
    assert stranger.call("GET", f"/api/photos/{ada.pk}").status_code == 404
    with django_capture_on_commit_callbacks(execute=True):
        other = set_photo(api, ada, "blue").json()["photo"]
    assert keys_in_bucket(bucket) == {f"photos/{other[:2]}/{other}"}
    with django_capture_on_commit_callbacks(execute=True):
        api.ok("DELETE", f"/api/people/{ada.pk}/photo")
    assert keys_in_bucket(bucket) == set()
    assert api.call("GET", f"/api/photos/{ada.pk}").status_code == 404


def test_unreferenced_objects_are_swept(bucket: Any, api: Client, ada: Person, alice: User) -> None:
    kept = set_photo(api, ada).json()["photo"]
    stray = photo_name(alice.pk, b"stray")
    files.put_photo(stray, b"stray")
    assert len(keys_in_bucket(bucket)) == 2
    assert files.sweep_files(now=timezone.now()) == 0
    assert files.sweep_files(now=timezone.now() + dt.timedelta(days=2)) == 1
    assert keys_in_bucket(bucket) == {f"photos/{kept[:2]}/{kept}"}


@pytest.mark.both_databases
@pytest.mark.parametrize("begun", ["stored", "announced", "being deleted"])
def test_objects_of_killed_uploads_are_swept(bucket: Any, alice: User, begun: str) -> None:
    name = photo_name(alice.pk, b"half")
    if begun == "announced":
        files._mark_uploading(alice.pk, name, 4)
    else:
        assert files.upload_photo(owner_id=alice.pk, jpeg=b"half") == name
        StoredPhoto.objects.update(is_being_deleted=begun == "being deleted")
    assert files.sweep_files(now=timezone.now()) == 0
    StoredPhoto.objects.update(busy_until=timezone.now() - dt.timedelta(seconds=1))
    assert files.sweep_files(now=timezone.now()) == 1
    assert (keys_in_bucket(bucket), StoredPhoto.objects.count()) == (set(), 0)


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_during_calls_of_the_store(
    bucket: Any, alice: User, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for method in ("_save", "_open", "delete"):
        original = getattr(ObjectStorage, method)

        def checked(self: Any, *args: Any, method: str = method, original: Any = original) -> Any:
            assert not connection.in_atomic_block, method
            asked.append(method)
            return original(self, *args)

        monkeypatch.setattr(ObjectStorage, method, checked)
    ada = make_person(alice)
    for color in ("red", "blue"):
        set_photo(api, ada, color)
    upload(api, "/api/user/photo", picture(color="red"))
    jpeg = base64.b64encode(picture(color="green")).decode()
    card = f"BEGIN:VCARD\nVERSION:3.0\nFN:Grace\nN:;Grace;;;\nPHOTO;ENCODING=b;TYPE=JPEG:{jpeg}\nEND:VCARD\n"
    assert api.generic("POST", "/api/vcard/import", card, "text/vcard").json()["imported"] == 1
    api.ok("DELETE", f"/api/people/{ada.pk}/photo")
    assert set(asked) == {"_save", "_open", "delete"}
    assert {name.rpartition("/")[2] for name in keys_in_bucket(bucket)} == set(
        StoredPhoto.objects.values_list("name", flat=True)
    )
    assert StoredPhoto.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_same_picture_is_not_stored_while_it_is_being_deleted(
    bucket: Any, alice: User, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = make_person(alice)
    name = set_photo(api, ada).json()["photo"]
    original = ObjectStorage.delete
    jpeg = files.read_photo(name) or b""
    refusals: list[str] = []

    def delete(self: Any, path: str) -> None:
        with pytest.raises(StorageUnavailableError) as refusal:
            files.upload_photo(owner_id=alice.pk, jpeg=jpeg)
        refusals.append(str(refusal.value))
        original(self, path)

    monkeypatch.setattr(files, "_MAX_ATTEMPTS", 1)
    monkeypatch.setattr(ObjectStorage, "delete", delete)
    api.ok("DELETE", f"/api/people/{ada.pk}/photo")
    assert len(refusals) == 1
    assert keys_in_bucket(bucket) == set()
    assert set_photo(api, ada).json()["photo"] == name
    assert keys_in_bucket(bucket) == {f"photos/{name[:2]}/{name}"}


def test_deleting_an_account_deletes_its_photos(
    bucket: Any, alice: User, api: Client, ada: Person, django_capture_on_commit_callbacks: Any
) -> None:
    set_photo(api, ada)
    with django_capture_on_commit_callbacks(execute=True):
        delete_account(user=alice)
    assert keys_in_bucket(bucket) == set()


def is_unavailable(response: Any) -> bool:
    return (response.status_code, response.json()["code"]) == (503, "unavailable") and bool(response["Retry-After"])


@pytest.mark.one_database
def test_unavailable_store_affects_only_photos(
    bucket: Any, server: int, settings: Any, api: Client, ada: Person, alice: User
) -> None:
    set_photo(api, ada)
    before = Person.unscoped.get(pk=ada.pk).photo
    use_bucket(settings, closed_port())
    assert is_unavailable(api.call("GET", f"/api/photos/{ada.pk}"))
    assert is_unavailable(set_photo(api, ada, "blue"))
    assert Person.unscoped.get(pk=ada.pk).photo == before
    assert StoredPhoto.objects.count() == 1
    assert [person["id"] for person in api.ok("GET", "/api/people")["people"]] == [str(ada.pk)]
    api.ok("PUT", f"/api/people/{ada.pk}", {"name": "Ada Byron"})
    jpeg = base64.b64encode(picture(color="green")).decode()
    card = f"BEGIN:VCARD\nVERSION:3.0\nFN:Grace\nN:;Grace;;;\nPHOTO;ENCODING=b;TYPE=JPEG:{jpeg}\nEND:VCARD\n"
    receipt = api.generic("POST", "/api/vcard/import", card, "text/vcard").json()
    assert receipt["imported"] == 1
    assert "store of photos is away" in receipt["results"][0]["reason"]
    assert Person.unscoped.get(name="Grace").photo is None
    assert [message.id for message in check_photo_folder(None)] == ["doctor.E053"]
    assert check_photos() == Check(True, "failed")
    use_bucket(settings, server)
    assert api.call("GET", f"/api/photos/{ada.pk}").status_code == 200
    assert check_photo_folder(None) == []
    assert check_photos() == Check(True, "ok")
    assert client_of(None).call("GET", "/api/health").json()["checks"]["photos"] == "ok"
    assert run_checks(tags=["doctor"]) is not None


@pytest.mark.one_database
def test_missing_bucket_is_reported(server: int, settings: Any, api: Client, ada: Person) -> None:
    use_bucket(settings, server, "no-such-bucket")
    assert is_unavailable(set_photo(api, ada))
    assert not Person.unscoped.get(pk=ada.pk).photo


def test_store_that_just_failed_is_not_called_again(bucket: Any, settings: Any, monkeypatch: Any) -> None:
    use_bucket(settings, closed_port())
    with pytest.raises(OSError, match="is away"):
        default_storage.exists("photos/x")
    storage: Any = default_storage
    made = storage.connection
    monkeypatch.setattr(made.meta.client, "head_object", None)
    with pytest.raises(OSError, match=r"is away\.$"):
        default_storage.exists("photos/x")


def test_requests_to_other_hosts_are_refused(bucket: Any, settings: Any, monkeypatch: Any) -> None:
    storage: Any = default_storage

    class Request:
        url = "http://127.0.0.2/elsewhere"

    with pytest.raises(OSError, match="another host"):
        storage._check_request(Request())
    settings.OUTBOUND_ALLOWED_NETWORKS = ["10.0.0.0/8"]
    Request.url = f"http://{storage.host}/x"
    with pytest.raises(OSError, match="no allowed network"):
        storage._check_request(Request())


@pytest.mark.django_db(transaction=True)
def test_two_machines_share_photos_without_a_shared_disk(
    bucket: Any, server: int, alice: User, api: Client, tmp_path: Path
) -> None:
    """Two processes with separate data folders serve the photos that the other has stored."""
    ada, grace = make_person(alice), make_person(alice, name="Grace")
    mine = set_photo(api, ada).json()["photo"]
    program = (
        "from django.core.files.uploadedfile import SimpleUploadedFile\n"
        "from django.test import Client; from django.test.utils import override_settings\n"
        f"client = Client(headers={{'Authorization': 'Bearer {api.bearer}'}})\n"
        f"photo = SimpleUploadedFile('photo.jpg', {picture(color='blue')!r})\n"
        "with override_settings(ALLOWED_HOSTS=['testserver']):\n"
        f"    assert client.get('/api/photos/{ada.pk}').status_code == 200\n"
        f"    print(client.post('/api/people/{grace.pk}/photo', {{'photo': photo}}).json()['photo'])\n"
    )
    environment = {
        "DATA_DIR": str(tmp_path / "elsewhere"),
        "PHOTO_STORAGE": f"s3://key:secret@127.0.0.1:{server}/{BUCKET}",
        "SECRET_KEY": project.SECRET_KEY,
        "LOG_LEVEL": "ERROR",
    }
    exit_code, output = run_manage(tmp_path, environment, "shell", "--no-imports", "-c", program)
    assert exit_code == 0, output
    *_, theirs = output.splitlines()
    assert not list((tmp_path / "elsewhere").rglob("*.jpg"))
    assert keys_in_bucket(bucket) == {f"photos/{name[:2]}/{name}" for name in (mine, theirs)}
    response = api.call("GET", f"/api/photos/{grace.pk}")
    assert (response.status_code, response["ETag"]) == (200, f'"{theirs[:40]}"')


@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_backup_moves_photos_between_folder_and_bucket(
    bucket: Any, settings: Any, alice: User, api: Client, tmp_path: Path
) -> None:
    name = set_photo(api, make_person(alice)).json()["photo"]
    call_command("backup", str(tmp_path / "one"), stdout=StringIO())
    empty_database_and_migrate()
    disk = {"BACKEND": "contacts_project.kernel.storage.DurableFileStorage"}
    settings.STORAGES = {**project.STORAGES, "default": disk}
    settings.MEDIA_ROOT = tmp_path / "media"
    call_command("restore", str(tmp_path / "one"), stdout=StringIO())
    assert (tmp_path / "media" / "photos" / name[:2] / name).exists()
    assert client_of(User.objects.get()).call("GET", f"/api/photos/{Person.unscoped.get().pk}").status_code == 200


WRONG_URLS = [
    "https://key:secret@host/bucket",
    "s3://host/bucket",
    "s3://key@host/bucket",
    "s3://key:secret@host",
    "s3://key:secret@host/a/b",
    "s3://key:secret@host/Bucket!",
    "s3://key:secret@host:99999/bucket",
    "s3://key:secret@host/bucket?acl=public",
    "s3://key:secret@host/bucket?scheme=ftp",
    "s3://key:secret@192.0.2.7/bucket?scheme=http",
]


@pytest.mark.parametrize("url", WRONG_URLS)
def test_wrong_setting_stops_the_start_with_one_line(url: str) -> None:
    with pytest.raises(WrongSettingError) as refusal:
        read_settings({"PHOTO_STORAGE": url})
    text = str(refusal.value)
    assert text.startswith("PHOTO_STORAGE=")
    assert "secret" not in text.replace("s3://key:secret@host:port", "")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("url", "networks", "scheme", "host"),
    [
        ("s3://k:s@s3.example.org/bucket?region=eu-west-1", "", "https", "s3.example.org"),
        ("s3://k:s@10.0.0.5:9000/bucket", "", "https", "10.0.0.5:9000"),
        ("s3://k:s@10.0.0.5:9000/bucket", "10.0.0.0/8", "http", "10.0.0.5:9000"),
        ("s3://k:s@10.0.0.5:9000/bucket?scheme=https", "10.0.0.0/8", "https", "10.0.0.5:9000"),
        ("s3://k:s@minio:9000/bucket?scheme=http", "10.0.0.0/8", "http", "minio:9000"),
    ],
)
def test_plain_http_is_allowed_only_in_internal_networks(url: str, networks: str, scheme: str, host: str) -> None:
    store = read_settings({"PHOTO_STORAGE": url, "OUTBOUND_ALLOWED_NETWORKS": networks})["PHOTO_STORAGE"]
    assert (store["scheme"], store["host"], store["secret_key"]) == (scheme, host, "s")
