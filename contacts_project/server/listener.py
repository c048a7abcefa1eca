"""The socket that web processes listen on."""

import socket


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket bound to the address; `shared`: other processes may bind to it as well. Raises OSError."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((host, port))
    return listener
