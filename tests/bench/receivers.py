"""A mail server and a webhook receiver on loopback that cost next to nothing: `python -m tests.bench.receivers`.

Prints both ports; when its input ends it prints how many deliveries came, how many of them different, over how many
connections, as JSON. tests.loopback's server and aiosmtpd would take as much of the machine as what is measured.
"""

import asyncio
import re
import sys
from collections import Counter

import orjson

_ID = re.compile(rb"^(?:webhook-id|message-id): *<?([^\r@]+)", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)


class Receiver(asyncio.Protocol):
    """What both have in common: the ids that came, over how many connections."""

    came: Counter[bytes] = Counter()
    connections: Counter[str] = Counter()
    transport: asyncio.Transport

    def __init__(self) -> None:
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.connections[type(self).__name__] += 1

    def note(self, text: bytes) -> None:
        found = _ID.search(text)
        assert found, text
        self.came[found[1]] += 1


class Webhook(Receiver):
    """HTTP/1.1 with connections that are kept; answers 204 to whatever comes."""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end]
            length = _LENGTH.search(head)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self.buffer) < whole:
                return
            self.note(head)
            self.buffer = self.buffer[whole:]
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


class Mail(Receiver):
    """As much of SMTP as smtplib speaks."""

    in_data = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.transport.write(b"220 bench\r\n")

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            ending = b"\r\n.\r\n" if self.in_data else b"\r\n"
            text, found, rest = self.buffer.partition(ending)
            if not found:
                return
            self.buffer = rest
            self.answer(text)

    def answer(self, text: bytes) -> None:
        command = text[:4].upper()
        if self.in_data:
            self.note(text)
            self.in_data = False
            self.transport.write(b"250 taken\r\n")
        elif command == b"DATA":
            self.in_data = True
            self.transport.write(b"354 go on\r\n")
        elif command == b"QUIT":
            self.transport.write(b"221 bye\r\n")
            self.transport.close()
        else:
            self.transport.write(b"250 bench\r\n")


async def main() -> None:
    loop = asyncio.get_running_loop()
    mail = await loop.create_server(Mail, "127.0.0.1", 0)
    webhook = await loop.create_server(Webhook, "0.0.0.0", 0)  # every 127.x.y.z is a host
    print(mail.sockets[0].getsockname()[1], webhook.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    came = Receiver.came
    answer = {"deliveries": came.total(), "different": len(came), "connections": Receiver.connections.total()}
    print(orjson.dumps(answer).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
