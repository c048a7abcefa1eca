"""The pictures of a server's cards."""

from carddav.sync.pictures import load_picture
from people.photos.images import PixelBudget
from people.vcard import Card
from tests.pictures import jpeg_of_scans, picture


def test_a_picture_of_too_many_scans_is_not_decoded_and_the_card_is_kept() -> None:
    refused = load_picture(Card(name="Ada", photo=jpeg_of_scans(201, (40, 30))), PixelBudget())
    assert (refused.remote is not None, refused.jpeg) == (True, None)
    assert load_picture(Card(name="Ada", photo=picture()), PixelBudget()).jpeg
