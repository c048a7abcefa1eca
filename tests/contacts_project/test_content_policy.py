"""The policy of pages allows images of one other origin: that of the map's tiles, if the operator has set it."""

import pytest

from contacts_project.content_policy import content_security_policy


@pytest.mark.parametrize(
    ("tiles_url", "images"),
    [
        ("", "'self' data: blob:"),
        ("https://tiles.example.org/{z}/{x}/{y}.png", "'self' data: blob: https://tiles.example.org"),
        ("http://10.0.0.7:8080/osm/{z}/{x}/{y}.png?key=1", "'self' data: blob: http://10.0.0.7:8080"),
    ],
)
def test_images_come_from_here_and_from_the_tiles(tiles_url: str, images: str) -> None:
    policy = content_security_policy(tiles_url)
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["img-src"] == images
    assert policy.replace(f"img-src {images}", "img-src") == content_security_policy("").replace(
        "img-src 'self' data: blob:", "img-src"
    )
