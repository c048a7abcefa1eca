"""The socket that web processes listen on."""

import socket


class CannotListenError(Exception):
    """Something else has the address, or it is not one of this machine. The text names the way out."""


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket bound to the address; `shared`: other processes may bind to it as well. Raises CannotListenError."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise CannotListenError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Choose another: PORT=8001 make run"
        ) from None
    return listener
