"""A mail server and a webhook receiver on loopback with minimal CPU use: `python -m tests.bench.receivers`.

Prints both ports; when its input ends, prints the numbers of deliveries, of distinct deliveries and of connections as
JSON. The server of tests/loopback.py and aiosmtpd would use as much CPU time as what is measured.
"""

import asyncio
import re
import sys
from collections import Counter

import orjson

_ID = re.compile(rb"^(?:webhook-id|message-id): *<?([^\r@]+)", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)


class Receiver(asyncio.Protocol):
    """Counts the received ids and the connections of both protocols."""

    received_ids: Counter[bytes] = Counter()
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
        self.received_ids[found[1]] += 1


class Webhook(Receiver):
    """HTTP/1.1 with persistent connections; answers every request with 204."""

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
    """The part of SMTP that smtplib uses."""

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
    received_ids = Receiver.received_ids
    result = {
        "deliveries": received_ids.total(),
        "different": len(received_ids),
        "connections": Receiver.connections.total(),
    }
    print(orjson.dumps(result).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
