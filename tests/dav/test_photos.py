"""The pictures of cards: what a device sent comes back, and a copy of it is no change."""

import base64
import datetime as dt
import io
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from PIL import Image, ImageDraw

from accounts.models import User
from dav.models import BookCard, Refusal
from people.models import Person, StoredPhoto
from people.photos.files import sweep_files
from tests.client import client_of
from tests.dav.devices import Device
from tests.pictures import picture, upload

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_suffices]

CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:u-1\r\nN:Lovelace;Ada;;;\r\nFN:Ada Lovelace\r\n{}END:VCARD\r\n"


def scene(size: tuple[int, int] = (900, 600), shade: int = 0) -> Image.Image:
    """A picture with a subject, as a photograph has one. `shade` changes what is on it."""
    image = Image.linear_gradient("L").resize(size).convert("RGB")
    draw = ImageDraw.Draw(image)
    width, height = size
    draw.ellipse((width // 3, height // 5, 2 * width // 3, 4 * height // 5), fill=(200, 120 + shade, 40))
    draw.rectangle((width // 2, height // 2, width - 1 - shade, height - 1), fill=(20, 90, 160))
    return image


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def photo_line(data: bytes, kind: str = "JPEG", **params: str) -> str:
    head = "".join(f";{name}={value}" for name, value in params.items())
    text = f"PHOTO{head};ENCODING=b;TYPE={kind}:{base64.b64encode(data).decode()}"
    return "\r\n ".join(text[i : i + 74] for i in range(0, len(text), 74)) + "\r\n"


def shown_picture(device: Device, name: str = "a.vcf") -> bytes | None:
    text = device.text(name).replace("\r\n ", "")
    line = next((line for line in text.split("\r\n") if line.startswith("PHOTO")), None)
    return base64.b64decode(line.rpartition(":")[2]) if line else None


def person_of(user: User) -> Any:
    (person,) = client_of(user).ok("GET", "/api/people")["people"]
    return person


@pytest.mark.both_databases
def test_a_picture_comes_back_to_the_byte_beside_its_small_form(alice: User) -> None:
    device, original = Device(alice), encoded(scene())
    made = device.put("a.vcf", CARD.format(photo_line(original, "PNG")))
    assert made.status_code == 201
    assert shown_picture(device) == original
    assert person_of(alice)["photo"]
    assert client_of(alice).get(f"/api/photos/{person_of(alice)['id']}").status_code == 200
    edited = CARD.replace("Lovelace", "King").format(photo_line(original, "PNG"))
    assert device.put("a.vcf", edited).status_code == 204
    assert shown_picture(Device(alice)) == original
    assert StoredPhoto.objects.filter(owner=alice).count() == 2


@pytest.mark.parametrize(
    ("size", "crop"),
    [((720, 480), None), ((900, 600), None), ((300, 300), (150, 0, 750, 600)), ((256, 256), (300, 0, 900, 600))],
)
def test_a_copy_of_the_picture_that_a_phone_was_given_is_no_change(
    alice: User, size: tuple[int, int], crop: tuple[int, int, int, int] | None
) -> None:
    device, phone, original = Device(alice), Device(alice), encoded(scene())
    device.put("a.vcf", CARD.format(photo_line(original, "PNG")))
    photo = person_of(alice)["photo"]
    text = phone.text("a.vcf")
    copy = encoded(scene().crop(crop or (0, 0, 900, 600)).resize(size), "JPEG", quality=75)
    sent = phone.put("a.vcf", CARD.replace("END", "TEL:+44 20 1234\r\nEND").format(photo_line(copy)))
    assert (sent.status_code, "ETag" in sent) == (204, False)
    assert person_of(alice)["photo"] == photo
    assert shown_picture(phone) == shown_picture(device) == original
    assert "TEL:+44 20 1234" in device.text("a.vcf")
    assert text != device.text("a.vcf")


def test_another_picture_replaces_it(alice: User) -> None:
    device, phone = Device(alice), Device(alice)
    device.put("a.vcf", CARD.format(photo_line(encoded(scene()), "PNG")))
    before = person_of(alice)["photo"]
    phone.text("a.vcf")
    larger, other = encoded(scene((1800, 1200)), "JPEG"), encoded(scene(shade=90), "JPEG")
    for new in (other, larger):
        assert phone.put("a.vcf", CARD.format(photo_line(new))).status_code == 204
        assert shown_picture(device) == new
    assert person_of(alice)["photo"] != before


def test_the_original_goes_when_the_photo_changes_elsewhere(alice: User) -> None:
    device, original = Device(alice), encoded(scene())
    device.put("a.vcf", CARD.format(photo_line(original, "PNG")))
    person = person_of(alice)
    assert upload(client_of(alice), f"/api/people/{person['id']}/photo", picture(color="green")).status_code == 200
    shown = shown_picture(device)
    assert shown is not None
    assert shown != original
    with Image.open(io.BytesIO(shown)) as image:
        assert image.size == (256, 256)
    client_of(alice).ok("DELETE", f"/api/people/{person['id']}/photo")
    assert shown_picture(device) is None


def test_a_picture_is_removed_only_by_who_knows_pictures(alice: User) -> None:
    device, simple = Device(alice), Device(alice)
    device.put("a.vcf", CARD.format(photo_line(encoded(scene()), "PNG")))
    simple.text("a.vcf")
    assert simple.put("a.vcf", CARD.format("TEL:+44 20 1\r\n")).status_code == 204
    assert shown_picture(device) is not None
    assert device.put("a.vcf", CARD.format("TEL:+44 20 1\r\n")).status_code == 204
    assert shown_picture(device) is None
    assert person_of(alice)["photo"] is None


@pytest.mark.both_databases
def test_a_picture_too_large_for_its_original_is_served_small(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dav.cards.put_body.MAX_IMAGE_BYTES", 1000)
    device, original = Device(alice), encoded(scene())
    made = device.put("a.vcf", CARD.format(photo_line(original, "PNG")))
    assert (made.status_code, "ETag" in made) == (201, False)
    shown = shown_picture(device)
    assert shown is not None
    with Image.open(io.BytesIO(shown)) as image:
        assert image.size == (256, 256)
    monkeypatch.setattr("dav.cards.put_body.MAX_IMAGE_BYTES", 10**7)
    monkeypatch.setattr("dav.cards.put_body.MAX_ORIGINAL_BYTES", 1000)
    device.put("b.vcf", CARD.replace("u-1", "u-2").replace("Ada", "Bob").format(photo_line(original, "PNG")))
    assert BookCard.objects.owned_by(alice).exclude(original="").count() == 0


def test_what_is_no_picture_is_left_out_and_the_card_is_kept(alice: User) -> None:
    device = Device(alice)
    made = device.put("a.vcf", CARD.format(photo_line(b"no picture at all" * 10)))
    assert (made.status_code, "ETag" in made) == (201, False)
    assert shown_picture(device) is None
    assert person_of(alice)["photo"] is None
    (refusal,) = Refusal.objects.owned_by(alice)
    assert (refusal.href, str(refusal.person_id)) == (f"{device.book}a.vcf", person_of(alice)["id"])
    assert refusal.reason["code"] == "dav_photo_left_out"
    good = encoded(scene())
    assert device.put("a.vcf", CARD.format(photo_line(good, "PNG"))).status_code == 204
    assert not Refusal.objects.owned_by(alice).exists()
    assert device.put("a.vcf", CARD.format(photo_line(b"broken" * 10))).status_code == 204
    assert shown_picture(device) == good


def test_files_of_originals_are_kept_while_somebody_refers_to_them(alice: User, media: Path) -> None:
    device = Device(alice)
    device.put("a.vcf", CARD.format(photo_line(encoded(scene()), "PNG")))
    names = set(StoredPhoto.objects.filter(owner=alice).values_list("name", flat=True))
    later = timezone.now() + dt.timedelta(days=3)
    assert sweep_files(now=later) == 0
    assert len(names) == 2
    client_of(alice).ok("DELETE", f"/api/people/{person_of(alice)['id']}")
    assert sweep_files(now=later) == 0
    assert Person.objects.owned_by(alice).count() == 1
