"""Files in an S3-compatible store, with django-storages. Imported only if PHOTO_STORAGE is set, as boto3 needs memory.

If the store is unreachable, StorageUnavailableError is raised. As with a full disk, the API responds with 503
`unavailable`, and nothing is stored.
"""

import errno
import ipaddress
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files.base import ContentFile, File
from storages.backends.s3 import S3Storage

from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound.policy import IPAddress, Policy
from contacts_project.kernel.outbound.sockets import system_resolve
from contacts_project.kernel.storage import StorageUnavailableError

CONNECT_SECONDS, READ_SECONDS = 5, 10
#: After a failure, all requests fail at once for this long instead of each waiting for a timeout.
PAUSE_SECONDS = 5
MAX_FILE_BYTES = 16 * 1024 * 1024


class ObjectStorage(S3Storage):  # type: ignore[misc]  # django-storages has no types
    """One bucket at one host. Names are paths, as on a disk. The store writes objects atomically."""

    def __init__(self, **options: Any) -> None:
        self.scheme: str = options.pop("scheme")
        self.host: str = options.pop("host")
        super().__init__(**options, file_overwrite=True)
        self._connection: Any = None
        self._lock = threading.Lock()
        self._unavailable_until = 0.0

    @property
    def connection(self) -> Any:
        """The boto3 resource, shared by all threads: only its client is used, which is thread-safe."""
        with self._lock:
            if self._connection is None:
                self._connection = self._connect()
            return self._connection

    def _connect(self) -> Any:
        session = boto3.session.Session(self.access_key, self.secret_key, region_name=self.region_name)
        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": 1},
            proxies={},
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            request_checksum_calculation="when_required",  # other stores than AWS do not support the newer ones
            response_checksum_validation="when_required",
            max_pool_connections=32,
        )
        verify = settings.OUTBOUND_CA_FILE or None
        resource = session.resource("s3", endpoint_url=f"{self.scheme}://{self.host}", config=config, verify=verify)
        resource.meta.client.meta.events.register("before-send.s3", self._check_request)
        return resource

    def _check_request(self, request: Any, **kwargs: Any) -> None:
        """Block requests to other hosts, e.g. after a redirect, and plain http except to the allowed networks."""
        if not request.url.startswith(f"{self.scheme}://{self.host}/"):
            raise StorageUnavailableError(errno.EIO, "The store of photos sends us to another host.")
        if self.scheme == "http":
            policy = Policy.parse(settings.OUTBOUND_ALLOWED_NETWORKS)
            host, _, port = self.host.rpartition(":") if ":" in self.host.rpartition("]")[2] else (self.host, "", "80")
            host = host.strip("[]")
            try:
                addresses: list[IPAddress] = [ipaddress.ip_address(host)]
            except ValueError:
                addresses = system_resolve(host, int(port))
            for address in addresses:
                if not policy.allows_network(address):
                    raise StorageUnavailableError(errno.EIO, f"PHOTO_STORAGE: {address} is in no allowed network.")

    @contextmanager
    def _map_errors(self) -> Iterator[None]:
        """Wraps each request. Raises StorageUnavailableError, or FileNotFoundError for a missing object."""
        if time.monotonic() < self._unavailable_until:
            raise StorageUnavailableError(errno.EIO, "The store of photos is away.")
        try:
            with external_wait(is_own_server=True):
                yield
        except ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            code = error.response.get("Error", {}).get("Code")
            if status == 404 and code != "NoSuchBucket":
                raise FileNotFoundError(errno.ENOENT, "There is no such object.") from None
            raise StorageUnavailableError(errno.EIO, f"The store of photos refuses: {code}.") from None
        except (BotoCoreError, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            self._unavailable_until = time.monotonic() + PAUSE_SECONDS
            raise StorageUnavailableError(errno.EIO, f"The store of photos is away ({type(error).__name__}).") from None

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        with self._map_errors():
            found = self.connection.meta.client.get_object(Bucket=self.bucket_name, Key=name)
            content = found["Body"].read(MAX_FILE_BYTES + 1)
        return ContentFile(content, name=name)

    def _save(self, name: str, content: "File[bytes]") -> str:
        body = b"".join(content.chunks())
        kind = "image/jpeg" if name.endswith(".jpg") else "application/octet-stream"
        with self._map_errors():
            self.connection.meta.client.put_object(Bucket=self.bucket_name, Key=name, Body=body, ContentType=kind)
        return name

    def exists(self, name: str) -> bool:
        try:
            with self._map_errors():
                self.connection.meta.client.head_object(Bucket=self.bucket_name, Key=name)
        except FileNotFoundError:
            return False
        return True

    def delete(self, name: str) -> None:
        with self._map_errors():
            self.connection.meta.client.delete_object(Bucket=self.bucket_name, Key=name)

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with self._map_errors():
            found: tuple[list[str], list[str]] = super().listdir(name)
            return found

    def size(self, name: str) -> int:
        with self._map_errors():
            return int(super().size(name))

    def get_modified_time(self, name: str) -> Any:
        with self._map_errors():
            return super().get_modified_time(name)

    def check(self) -> None:
        """Raise StorageUnavailableError unless the bucket exists and the credentials give access to it."""
        try:
            with self._map_errors():
                self.connection.meta.client.head_bucket(Bucket=self.bucket_name)
        except FileNotFoundError:
            raise StorageUnavailableError(errno.EIO, "The store of photos has no such bucket.") from None
