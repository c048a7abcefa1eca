"""vdirsyncer, the reference client, and the service agree about a synced address book."""

from pathlib import Path

import pytest

from accounts.models import User
from people.vcard import read_cards
from tests.carddav import vdirsyncer
from tests.carddav.conftest import USER, card
from tests.carddav.proxy import Proxy
from tests.carddav.servers import DavServer
from tests.carddav.sync.server_synced_account import ServerSyncedAccount

pytestmark = pytest.mark.one_database


def test_vdirsyncer_and_the_sync_agree(alice: User, server: DavServer, proxy: Proxy, tmp_path: Path) -> None:
    synced = ServerSyncedAccount(alice, server, proxy)
    synced.put("grace.vcf", card("grace", "Grace", "ORG:Navy", "X-CUSTOM;A=b:kept"))
    synced.create(name="Ada", surname="Lovelace", phoneNumbers=[{"type": "home", "number": "+44 1"}])
    synced.sync()
    synced.edit(synced.person("Grace"), nickname="Amazing")
    synced.sync()

    (tmp_path / "cards").mkdir()
    url = server.url.rstrip("/") + synced.path
    vdirsyncer.configure(tmp_path, url=url, user=USER)
    vdirsyncer.run_in_process(tmp_path, "discover")
    vdirsyncer.run_in_process(tmp_path, "sync")
    files = sorted((tmp_path / "cards").iterdir())
    found = {}
    for file in files:
        [result] = read_cards(file.read_bytes())
        assert result.card is not None
        found[result.card.name] = result.card
    assert sorted(found) == ["Ada", "Grace"]
    assert (found["Ada"].surname, found["Ada"].phone_numbers[0]["number"]) == ("Lovelace", "+44 1")
    assert (found["Grace"].nickname, found["Grace"].organization) == ("Amazing", "Navy")
    assert any("X-CUSTOM;A=b:kept" in file.read_text() for file in files)

    # The sync reads what vdirsyncer wrote, and afterwards neither has anything to do.
    ada = next(file for file in files if "FN:Ada" in file.read_text())
    ada.write_bytes(ada.read_bytes().replace(b"END:VCARD", b"NICKNAME:Countess\r\nEND:VCARD"))
    vdirsyncer.run_in_process(tmp_path, "sync")
    synced.sync()
    assert synced.person("Ada").nickname == "Countess"
    synced.assert_in_sync()
    before = {file.name: file.read_bytes() for file in files}
    vdirsyncer.run_in_process(tmp_path, "sync")
    assert {file.name: file.read_bytes() for file in sorted((tmp_path / "cards").iterdir())} == before
