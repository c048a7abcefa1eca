"""Runs inside Debian's Python, in a session bus of its own: commands for evolution-data-server as JSON lines.

`evolution.py` starts it. It imports only what Debian's packages have: gi with EBook, ECal and EDataServer.
"""

import json
import os
import sys
import threading
from typing import Any

import gi

for _name, _version in (("EDataServer", "1.2"), ("EBook", "1.2"), ("EBookContacts", "1.2"), ("ECal", "2.0")):
    gi.require_version(_name, _version)
from gi.repository import EBook, EBookContacts, ECal, EDataServer, GLib, ICalGLib  # noqa: E402 - the versions come first

EVERYTHING = '(contains "x-evolution-any-field" "")'
KINDS = {
    "book": (EDataServer.SOURCE_EXTENSION_ADDRESS_BOOK, "carddav", None),
    "tasks": (EDataServer.SOURCE_EXTENSION_TASK_LIST, "caldav", ECal.ClientSourceType.TASKS),
    "events": (EDataServer.SOURCE_EXTENSION_CALENDAR, "caldav", ECal.ClientSourceType.EVENTS),
}


class Evolution:
    """One account: its sources in the registry, and the clients of its collections."""

    def __init__(self, port: int, user: str, password: str) -> None:
        self.port, self.user = port, user
        self.credentials = EDataServer.NamedParameters.new()
        self.credentials.set(EDataServer.SOURCE_CREDENTIAL_USERNAME, user)
        self.credentials.set(EDataServer.SOURCE_CREDENTIAL_PASSWORD, password)
        self.registry = EDataServer.SourceRegistry.new_sync(None)
        self.registry.connect("credentials-required", self._answer)
        self.clients: dict[str, Any] = {}

    def _answer(self, registry: Any, source: Any, *reason: Any) -> None:
        source.invoke_authenticate(self.credentials, None, lambda *_: None)

    def _source(self, name: str, path: str) -> Any:
        source = EDataServer.Source.new(None, None)
        source.set_display_name(name)
        login = source.get_extension(EDataServer.SOURCE_EXTENSION_AUTHENTICATION)
        login.set_host("127.0.0.1")
        login.set_port(self.port)
        login.set_user(self.user)
        login.set_method("plain/password")
        address = GLib.Uri.parse(f"http://127.0.0.1:{self.port}{path}", GLib.UriFlags.NONE)
        source.get_extension(EDataServer.SOURCE_EXTENSION_WEBDAV_BACKEND).set_uri(address)
        return source

    def discover(self) -> list[str]:
        """The paths of the books and calendars that are found from the root of the server."""
        source, done = self._source("discovery", "/"), threading.Event()
        found: list[str] = []
        supports = EDataServer.WebDAVDiscoverSupports
        wanted = supports.CONTACTS | supports.EVENTS | supports.TASKS

        def collect(asked: Any, result: Any) -> None:
            try:
                answer = EDataServer.webdav_discover_sources_finish(asked, result)
                lists = [part for part in answer if isinstance(part, list)]
                found.extend(
                    f"{each.display_name} {each.href}" for part in lists for each in part if hasattr(each, "href")
                )
            except GLib.Error as error:
                found.append(f"error: {error.message}")
            done.set()

        url = f"http://127.0.0.1:{self.port}/"
        GLib.idle_add(
            lambda: EDataServer.webdav_discover_sources(source, url, wanted, self.credentials, None, collect) and False
        )
        done.wait(30)
        return found

    def open(self, kind: str, path: str) -> None:
        """Add a book or a calendar and connect to it."""
        extension, backend, component = KINDS[kind]
        source = self._source(kind, path)
        source.get_extension(extension).set_backend_name(backend)
        source.get_extension(EDataServer.SOURCE_EXTENSION_OFFLINE).set_stay_synchronized(True)
        self.registry.commit_source_sync(source, None)
        known = None
        while known is None:
            known = self.registry.ref_source(source.get_uid())
        if component is None:
            self.clients[kind] = EBook.BookClient.connect_sync(known, 30, None)
        else:
            self.clients[kind] = ECal.Client.connect_sync(known, component, 30, None)

    def is_read_only(self, kind: str) -> bool:
        return bool(self.clients[kind].is_readonly())

    def refresh(self, kind: str) -> None:
        self.clients[kind].refresh_sync(None)

    def cards(self) -> list[str]:
        contacts = self.clients["book"].get_contacts_sync(EVERYTHING, None)[1]
        return [contact.to_string(EBookContacts.VCardFormat(1)) for contact in contacts]

    def create(self, text: str) -> str:
        contact = EBookContacts.Contact.new_from_vcard(text)
        return str(self.clients["book"].add_contact_sync(contact, 0, None)[1])

    def edit(self, name: str, field: str, value: str) -> None:
        contact = self._contact(name)
        contact.set_property(field, value)
        self.clients["book"].modify_contact_sync(contact, 0, None)

    def delete(self, name: str) -> None:
        self.clients["book"].remove_contact_sync(self._contact(name), 0, None)

    def _contact(self, name: str) -> Any:
        contacts = self.clients["book"].get_contacts_sync(EVERYTHING, None)[1]
        return next(contact for contact in contacts if name in contact.get_property("full-name"))

    def objects(self, kind: str) -> list[str]:
        return [component.as_ical_string() for component in self.clients[kind].get_object_list_sync("#t", None)[1]]

    def tick(self, uid: str) -> None:
        """Mark a task complete as the program's own list of tasks does."""
        component = self.clients["tasks"].get_object_sync(uid, None, None)[1]
        ECal.util_mark_task_complete_sync(component, -1, self.clients["tasks"], None)
        self.clients["tasks"].modify_object_sync(component, ECal.ObjModType.ALL, 0, None)

    def create_task(self, text: str) -> None:
        component = ICalGLib.Component.new_from_string(text)
        self.clients["tasks"].create_object_sync(component, 0, None)


def serve(evolution: Evolution) -> None:
    """Answer each line of the input, a list of a method and its arguments, by a line with its value or its error."""
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        try:
            answer = {"value": getattr(evolution, method)(*arguments)}
        except GLib.Error as error:
            answer = {"error": error.message}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    os._exit(0)


def main() -> None:
    port, user, password = sys.argv[1:]
    evolution = Evolution(int(port), user, password)
    threading.Thread(target=serve, args=(evolution,), daemon=True).start()
    GLib.MainLoop().run()


main()
