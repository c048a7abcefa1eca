"""The service on loopback: vdirsyncer in both directions, and requests as others frame them."""

import base64
from pathlib import Path

from accounts.models import User
from people.models import Person
from tests.carddav import vdirsyncer
from tests.client import client_of
from tests.contacts_project.server.server_thread import RunningServer
from tests.dav.devices import Device, card


def _card(number: int, *lines: str) -> str:
    return card(*lines).replace("u-1", f"u-{number}").replace("Ada", f"P{number}")


def test_vdirsyncer_syncs_in_both_directions(server: RunningServer, alice: User, tmp_path: Path) -> None:
    device, api = Device(alice), client_of(alice)
    cards = tmp_path / "cards"
    cards.mkdir()
    for number in range(30):
        device.put(f"{number}.vcf", _card(number, "X-ODD;P=1:kept"))
    for number in range(30, 60):
        (cards / f"{number}.vcf").write_text(_card(number).replace("\r\n", "\n"))
    url = f"{server.base}{device.book}"
    vdirsyncer.configure(tmp_path, url=url, user=alice.email, password=device.token)
    vdirsyncer.run_in_process(tmp_path, "discover")
    vdirsyncer.run_in_process(tmp_path, "sync")
    assert len(list(cards.iterdir())) == Person.objects.owned_by(alice).active().count() == 60
    before = {path.name: path.read_bytes() for path in cards.iterdir()}
    vdirsyncer.run_in_process(tmp_path, "sync")
    assert {path.name: path.read_bytes() for path in cards.iterdir()} == before
    people = {person["name"]: person["id"] for person in api.ok("GET", "/api/people?limit=100")["people"]}
    files = {path.read_text().partition("FN:")[2].partition(" ")[0]: path for path in cards.iterdir()}
    api.ok("PUT", f"/api/people/{people['P1']}", {"nickname": "from the service"})
    api.ok("DELETE", f"/api/people/{people['P2']}")
    files["P3"].write_text(files["P3"].read_text().replace("END:VCARD", "TITLE:from the files\nEND:VCARD"))
    files["P4"].unlink()
    (cards / "new.vcf").write_text(_card(99, "NOTE:new").replace("\r\n", "\n"))
    vdirsyncer.run_in_process(tmp_path, "sync")
    vdirsyncer.run_in_process(tmp_path, "sync")
    assert "NICKNAME:from the service" in files["P1"].read_text()
    assert not files["P2"].exists()
    names = {person["name"]: person for person in api.ok("GET", "/api/people?limit=100")["people"]}
    assert names["P3"]["jobTitle"] == "from the files"
    assert "P4" not in names
    assert "P99" in names
    assert len(names) == len(list(cards.iterdir())) == 59
    assert "X-ODD;P=1:kept" in files["P3"].read_text()
    assert "X-ODD;P=1:kept\n" in device.text("3.vcf")


def test_bodies_that_come_in_chunks_and_after_100_continue(server: RunningServer, alice: User) -> None:
    device = Device(alice)
    login = base64.b64encode(f"{alice.email}:{device.token}".encode()).decode()
    body = card("NOTE:chunks").encode()
    head = (
        f"PUT {device.book}a.vcf HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic {login}\r\n"
        "Content-Type: text/vcard\r\nConnection: close\r\n"
    )
    pieces = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:50], body[50:]))
    connection = server.connect(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + pieces + b"0\r\n\r\n")
    assert connection.recv(100).startswith(b"HTTP/1.1 201 ")
    assert device.text("a.vcf") == body.decode()
    new = card("NOTE:expected").encode()
    connection = server.connect(f"{head}Expect: 100-continue\r\nContent-Length: {len(new)}\r\n\r\n".encode())
    assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
    connection.sendall(new)
    assert connection.recv(100).startswith(b"HTTP/1.1 204 ")
    assert device.text("a.vcf") == new.decode()
