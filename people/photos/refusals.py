"""The refusal of a picture, in a module that does not load Pillow."""

#: The exit status of a process that refuses a picture; the reason is on its stderr.
REFUSED_EXIT_STATUS = 3


class PictureRefusedError(ValueError):
    """The picture is not accepted. The message is shown to the user."""
