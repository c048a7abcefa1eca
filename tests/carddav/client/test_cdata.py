"""Cards in CDATA sections are read unchanged, however the response is split into chunks (Cyrus sends CDATA)."""

import pytest

from carddav.client.multistatus import CARD, Multistatus
from tests.carddav.conftest import card

TEXT = card("1", "Ada & Bob <b>", "item1.X-ABLabel:_$!<HomePage>!$_", "NOTE:&#8; &amp; &#13; <!-- ]] > ]>\x0b")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_markup_in_cdata_is_plain_text(size: int) -> None:
    first, second = TEXT[:40], TEXT[40:]
    body = (
        '<m:multistatus xmlns:m="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><m:response><m:href>/1.vcf</m:href>'
        f"<m:propstat><m:prop><C:address-data>\r\n<![CDATA[{first}]]><![CDATA[{second}]]></C:address-data></m:prop>"
        "<m:status>HTTP/1.1 200 OK</m:status></m:propstat></m:response><m:sync-token>7</m:sync-token></m:multistatus>"
    ).encode()
    multistatus = Multistatus(body[start : start + size] for start in range(0, len(body), size))
    [response] = multistatus
    assert response.text_of(f"{CARD}address-data") + "\r\n" == TEXT.replace("\x0b", "")
    assert multistatus.sync_token == "7"
