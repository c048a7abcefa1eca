"""That a picture is refused: what is known of pictures without Pillow."""

#: The exit status of a process that says on stderr why it refuses one.
REFUSED = 3


class PictureRefusedError(ValueError):
    """Not a picture that is taken here; the text says why, for people."""
