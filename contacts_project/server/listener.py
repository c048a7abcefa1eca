"""The listening socket of the web processes."""

import socket


class CannotListenError(Exception):
    """The address is in use, or does not belong to this machine. The message suggests another port."""


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a socket bound to the address; with `shared` (SO_REUSEPORT) other processes may bind to it as well.

    Raises CannotListenError.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Else a restart fails for a minute while connections of the previous process are in TIME_WAIT.
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
