"""A file that moves a progress bar while it is read."""

from typing import BinaryIO, NoReturn

from tqdm import tqdm


class ProgressFile:
    """Wraps a binary file. The progress bar, of tqdm, shows the position in it, also after a seek."""

    def __init__(self, file: BinaryIO, bar: "tqdm[NoReturn]") -> None:
        self.file, self.bar = file, bar

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.bar.update(self.file.tell() - self.bar.n)
        return data

    def seek(self, position: int) -> int:
        return self.file.seek(position)
