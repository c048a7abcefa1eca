"""The refusal of a picture, in a module that does not load Pillow."""

from contacts_project.kernel.texts import Text

#: The exit status of a process that refuses a picture; the reason is on its stderr, as `Text.to_stored`.
REFUSED_EXIT_STATUS = 3


class PictureRefusedError(ValueError):
    """The picture is not accepted."""

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.text = text
