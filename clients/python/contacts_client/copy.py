"""A copy of the account that can be read and edited offline, and synced when online (docs/clients.md)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

import httpx

from contacts_client.connection import JSON, Connection, body_of, require_success
from contacts_client.ids import new_id
from contacts_client.kinds import DERIVED_FIELDS, HANGING_TYPES, KINDS, hangs_on, to_feed_record
from contacts_client.merge import is_same, merge, with_known_ids
from contacts_client.store import Action, Conflict, Edit, Record, State, Store, apply_edits, pick_fields

PAGE_SIZE = 500
# Of so many edits that were executed the copy remembers which version of the record they made.
OWN_VERSIONS_KEPT = 200


@dataclass
class SyncReport:
    """The counts of a sync: changes applied from the feed, edits sent, conflicts and refusals that occurred."""

    pulled: int = 0
    pushed: int = 0
    conflicts: int = 0
    refused: int = 0


class AnotherAccountError(Exception):
    """The store contains another account than the one of the connection."""


class Copy:
    """Reads and edits use the store; `sync` exchanges changes with the service, and may be interrupted at any point."""

    def __init__(self, store: Store, connection: Connection | None = None) -> None:
        self.store = store
        self.connection = connection
        self._verified_connection: Connection | None = None  # the one whose account was compared with the store's
        self._report = SyncReport()

    # Reading.

    def get(self, type_: str, id_: str) -> JSON | None:
        """Return a record with its unsent edits; None if there is none."""
        found = self.store.record(type_, id_)
        return apply_edits(found.record if found else None, self.store.edits(type_, id_))

    def all(self, type_: str) -> Iterator[JSON]:
        """Return all records of a type, by id, then those that were created here and not sent yet."""
        edits: dict[str, list[Edit]] = {}
        for edit in self.store.edits(type_):
            edits.setdefault(edit.id, []).append(edit)
        for record in self.store.records(type_):
            if (found := apply_edits(record, edits.pop(record["id"], ()))) is not None:
                yield found
        for left in edits.values():
            if (found := apply_edits(None, left)) is not None:
                yield found

    # Editing. Nothing is sent before the next sync.

    def create(self, type_: str, body: JSON) -> str:
        """Create a record and return its id, which is final."""
        id_ = str(body.get("id") or new_id())
        with self.store.transaction():
            self._add_edit(type_, id_, Action.CREATE, body={**body, "id": id_})
        return id_

    def update(self, type_: str, id_: str, changes: JSON) -> None:
        """Change fields of a record; a list replaces the whole list. Raises KeyError if there is no such record."""
        with self.store.transaction():
            record = self._existing(type_, id_)
            # Changes in a row become one request. Only the last edit may grow: others may depend on the order.
            last = self.store.last_edit()
            if (
                last
                and (last.type, last.id, last.state) == (type_, id_, State.WAITING)
                and last.action in _EXTENSIBLE_ACTIONS
            ):
                base = {**pick_fields(record, changes), **last.base}
                self.store.change_edit(last.number, base=base, body={**last.body, **changes})
            else:
                self._add_edit(type_, id_, Action.UPDATE, base=pick_fields(record, changes), body=changes)

    def delete(self, type_: str, id_: str) -> None:
        """Move a record to the trash. Raises KeyError if there is no such record."""
        with self.store.transaction():
            record, known = self._existing(type_, id_), self.store.record(type_, id_)
            etag, seen = known.etag if known else None, int(self.store.fact("revision") or 0)
            self._add_edit(type_, id_, Action.DELETE, base=record, etag=etag, seen=seen)

    def conflicts(self) -> list[Conflict]:
        """Return the conflicts, which have to be shown to the user."""
        return self.store.conflicts()

    def refused(self) -> list[Edit]:
        """Return the edits that the service refused; `problem` is its response."""
        return [edit for edit in self.store.edits() if edit.state is State.REFUSED]

    def resolve(self, conflict: Conflict, keep: Literal["mine", "theirs"]) -> None:
        """Remove a conflict: keep the service's value, or make a new edit with the user's."""
        with self.store.transaction():
            # Read again: the caller's may be old. Its record may have got another id, or the conflict may be resolved.
            current = [stored for stored in self.store.conflicts() if stored.number == conflict.number]
            self.store.remove_conflict(conflict.number)
            if keep == "theirs" or not current:
                return
            (conflict,) = current
            if conflict.action is Action.DELETE:
                if self.get(conflict.type, conflict.id) is not None:
                    self.delete(conflict.type, conflict.id)
            elif self.get(conflict.type, conflict.id) is not None:
                mine = conflict.mine if conflict.field is None else {conflict.field: conflict.mine}
                self.update(conflict.type, conflict.id, mine)
            else:  # the record was deleted elsewhere
                mine = conflict.mine if conflict.field is None else {conflict.field: conflict.mine}
                known = self.store.record(conflict.type, conflict.id)  # there is one if it was also deleted here
                base = conflict.base if conflict.field is None else known.record if known else {}
                self._add_edit(conflict.type, conflict.id, Action.RESTORE, base=base, body=mine)

    def discard(self, edit: Edit) -> None:
        """Remove a refused edit; for a creation also the later edits of its record."""
        with self.store.transaction():
            self.store.remove_edit(edit.number)
            if edit.action is Action.CREATE:
                for later in self.store.edits(edit.type, edit.id):
                    self.store.remove_edit(later.number)

    def amend(self, edit: Edit, changes: JSON) -> None:
        """Change fields of a refused edit and send it again with the next sync. Raises ValueError for another id."""
        if changes.get("id", edit.id) != edit.id:
            raise ValueError("an edit keeps its id: discard it and create the record anew")
        body = {**edit.body, **changes}
        # A new key: the service refuses a key that was used for another body.
        self.store.change_edit(edit.number, body=body, key=str(uuid4()), state=State.WAITING, problem=None)

    def _existing(self, type_: str, id_: str) -> JSON:
        record = self.get(type_, id_)
        if record is None:
            raise KeyError((type_, id_))
        return record

    def _add_edit(
        self, type_: str, id_: str, action: Action, *, base: JSON | None = None, body: JSON | None = None,
        etag: str | None = None, seen: int | None = None,
    ) -> None:  # fmt: skip
        if type_ not in KINDS:
            raise ValueError(f"a copy does not edit records of type {type_}")
        self.store.add_edit(str(uuid4()), type_, id_, action, base=base or {}, body=body or {}, etag=etag, seen=seen)

    # Syncing.

    def sync(self) -> SyncReport:
        """Read changes from the service, send the edits, and read the changes that they caused.

        Raises RefusedError (401: sign in again), httpx.TransportError, AnotherAccountError. Steps that were completed
        before are kept.
        """
        self._report = SyncReport()
        self.pull()
        if self.push():
            self.pull()
        return self._report

    def pull(self) -> None:
        """Read the change feed to its end. Each page and its cursor are stored in one transaction."""
        while True:
            cursor = self.store.fact("cursor")
            if cursor is None:  # a cursor belongs to an account; without one the service cannot refuse another account
                self._check_account()
            response = self._online.request("GET", "/api/changes", cursor=cursor, limit=PAGE_SIZE)
            if response.status_code == 410 and cursor is not None:  # expired: read all records again
                self._check_account()
                with self.store.transaction():
                    self.store.set_fact("cursor", None)
                    self.store.set_fact("reading", str(self._reading_number + 1))
                    self.store.set_fact("begins anew", "yes")
                continue
            page = require_success(response)
            self._verified_connection = self._online
            self._apply_page(page)
            if not page["hasMore"]:
                return

    def _check_account(self) -> None:
        """Raise AnotherAccountError if the connection is of another account: it must not get this copy's edits."""
        connection = self._online
        account_id = connection.ask("GET", "/api/user/profile")["user"]["id"]
        with self.store.transaction():
            # Stores of older versions lack the fact, but have the record of the account's settings.
            owner = self.store.fact("account") or next((r["id"] for r in self.store.records("settings")), account_id)
            if owner != account_id:
                raise AnotherAccountError("This copy is of another account: take a store of its own for each.")
            self.store.set_fact("account", account_id)
        self._verified_connection = connection

    def push(self) -> int:
        """Send the edits in order, and return how many were sent."""
        sent = number = 0
        if self._verified_connection is not self._online and self.store.last_edit():
            self._check_account()
        while edit := self.store.next_edit(number):
            number = edit.number
            if edit.state is not State.REFUSED and not self._is_blocked(edit):
                sent += self._send(number)
        self._report.pushed += sent
        return sent

    @property
    def _online(self) -> Connection:
        if self.connection is None:
            raise RuntimeError("This copy has no connection.")
        return self.connection

    @property
    def _reading_number(self) -> int:
        return int(self.store.fact("reading") or 0)

    def _apply_page(self, page: JSON) -> None:
        with self.store.transaction():
            changes = page["changes"]
            kept = ((c["type"], c["id"], c["etag"], c["record"], c["revision"]) for c in changes if not c["deleted"])
            self.store.put_records(kept, self._reading_number)
            for change in changes:
                if change["deleted"]:
                    self._apply_deletion(change["type"], change["id"])
            newest = max((c["revision"] for c in changes), default=0)
            self.store.set_fact("revision", str(max(newest, int(self.store.fact("revision") or 0))))
            self.store.set_fact("cursor", page["cursor"])
            if not page["hasMore"] and self.store.fact("begins anew"):
                for type_, id_ in self.store.not_read_since(self._reading_number):
                    self._apply_deletion(type_, id_)
                self.store.set_fact("begins anew", None)
            self._report.pulled += len(changes)

    def _apply_deletion(self, type_: str, id_: str) -> None:
        """Remove a record that was deleted elsewhere; updates that were made here become conflicts.

        Except those after an edit that restores it: their user knew of the deletion.
        """
        known = self.store.record(type_, id_)
        edits = self.store.edits(type_, id_)
        restored_at = min((edit.number for edit in edits if edit.action is Action.RESTORE), default=None)
        edits = [edit for edit in edits if restored_at is None or edit.number < restored_at]
        if any(edit.action is Action.CREATE and edit.state is not State.SENDING for edit in edits):
            return  # it was not created yet, so it cannot have been deleted
        self._remove_record(type_, id_)
        base = known.record if known else {}
        for edit in edits:
            self.store.remove_edit(edit.number)
            if edit.action is Action.CREATE:
                base = {**edit.body, **base}
            if edit.action is Action.UPDATE:
                self._add_conflict(edit, field=None, base={**base, **edit.base}, mine=edit.body, theirs=None)

    def _remove_record(self, type_: str, id_: str) -> None:
        """Remove a record. A conflict about a field, which nobody could resolve now, becomes one about the record."""
        known = self.store.record(type_, id_)
        self.store.remove_record(type_, id_)
        for old in self.store.conflicts() if known else ():
            if (old.type, old.id) == (type_, id_) and known and old.field is not None:
                mine = {old.field: old.mine}
                self.store.remove_conflict(old.number)
                self.store.add_conflict(type_, id_, old.action, field=None, base=known.record, mine=mine, theirs=None)

    def _add_conflict(self, edit: Edit, *, field: str | None, base: Any, mine: Any, theirs: Any) -> None:
        self.store.add_conflict(edit.type, edit.id, edit.action, field=field, base=base, mine=mine, theirs=theirs)
        self._report.conflicts += 1

    def _is_blocked(self, edit: Edit) -> bool:
        """Whether an earlier edit that creates or restores the record was refused."""
        earlier = self.store.edits(edit.type, edit.id)
        return any(
            e.action in _CREATING_ACTIONS and e.state is State.REFUSED for e in earlier if e.number < edit.number
        )

    def _send(self, number: int) -> bool:
        """Send an edit. Returns whether it still existed."""
        # Read in the transaction that sets the state: until then another program may extend the edit.
        with self.store.transaction():
            self.store.change_edit(number, state=State.SENDING)
            edit = self.store.edit(number)
        if edit is not None:
            self._SENDERS[edit.action](self, edit)
        return edit is not None

    def _send_create(self, edit: Edit) -> None:
        path = KINDS[edit.type].list_path(edit.body)
        response = self._online.request("POST", path, edit.body, headers={"Idempotency-Key": edit.key})
        is_earlier = response.headers.get("Idempotent-Replayed") == "true" or _error_code(response) == "id_taken"
        # It was created by an earlier attempt. The response shows it as it was then, so ask for the current record.
        if is_earlier:
            current = self._online.request("GET", KINDS[edit.type].record_path(edit.body))
            if _is_missing(current) and response.is_success:
                with self.store.transaction():
                    self._apply_deletion(edit.type, edit.id)
                return
            response = current if current.is_success else response
        self._complete(edit, response, sent=edit.body, is_whole=True, is_earlier=is_earlier)

    def _send_update(self, edit: Edit) -> None:
        while (known := self.store.record(edit.type, edit.id)) is not None:
            edit = self._rebase(edit, known)
            if not edit.body:
                self.store.remove_edit(edit.number)
                return
            path = KINDS[edit.type].record_path(known.record)
            # The PUT of a date replaces the whole record; others change the fields that they contain.
            body = {**known.record, **edit.body} if edit.type == "importantDate" else edit.body
            response = self._online.request("PUT", path, body, headers={"If-Match": known.etag})
            if not self._refresh_if_stale(edit, response):
                break
        else:
            with self.store.transaction():
                self._apply_deletion(edit.type, edit.id)
            return
        self._complete(edit, response, sent=edit.body, before=known)

    def _send_delete(self, edit: Edit) -> None:
        known = self.store.record(edit.type, edit.id)  # a merge of people changes the path of their dates
        path = KINDS[edit.type].record_path(known.record if known else {**edit.base, "id": edit.id})
        response = self._online.request("DELETE", path, headers={"If-Match": edit.etag} if edit.etag else None)
        if _current_record(response) is not None and self._has_only_own_changes(edit, response):
            response = self._online.request("DELETE", path, headers={"If-Match": response.headers["ETag"]})
        with self.store.transaction():
            if response.is_success or _is_missing(response):
                self.store.remove_edit(edit.number)
                self._remove_record(edit.type, edit.id)
            elif self._refresh_if_stale(edit, response):
                self.store.remove_edit(edit.number)
                known = self.store.record(edit.type, edit.id)
                theirs = known.record if known else None
                self._add_conflict(edit, field=None, base=edit.base, mine=None, theirs=theirs)
            else:
                self._refuse(edit, response)

    def _has_only_own_changes(self, edit: Edit, response: httpx.Response) -> bool:
        """Whether a record that is to be deleted differs from what its user saw only by edits of this device.

        The record is the same but for what the service derives, and the dates, interactions and relationships that are
        new or were changed since then are the device's own.
        """
        current = to_feed_record(edit.type, _current_record(response) or {})
        fields = [name for name in edit.base if name in current and name not in DERIVED_FIELDS]
        if not all(is_same(edit.base[name], current[name]) for name in fields):
            return False
        self.pull()
        # Both records of a relationship are changed by one edit: they have its revision, and different ETags.
        own_revisions = set()
        for key, etag in self._own_versions().items():
            record = self.store.record(*key.split("/"))
            if record is not None and record.etag == etag:
                own_revisions.add(record.revision)
        hanging = [
            row
            for type_ in HANGING_TYPES
            for row in self.store.mentioning(type_, edit.id)
            if hangs_on(row.record, edit.id)
        ]
        return all((row.revision or 0) <= (edit.seen or 0) or row.revision in own_revisions for row in hanging)

    def _own_versions(self) -> dict[str, str]:
        """The ETag of the version of each record that an edit of this device has made last."""
        found: dict[str, str] = json.loads(self.store.fact("own versions") or "{}")
        return found

    def _note_own_version(self, type_: str, id_: str, etag: str) -> None:
        versions = self._own_versions()
        versions.pop(f"{type_}/{id_}", None)
        kept = [*versions.items(), (f"{type_}/{id_}", etag)][-OWN_VERSIONS_KEPT:]
        self.store.set_fact("own versions", json.dumps(dict(kept)))

    def _send_restore(self, edit: Edit) -> None:
        """Restore a record that was deleted elsewhere, then update it. If it was purged, create a new one."""
        path = KINDS[edit.type].record_path({**edit.base, **edit.body, "id": edit.id})
        response = self._online.request("POST", f"{path}/restore", headers={"Idempotency-Key": edit.key})
        if _error_code(response) == "not_deleted":
            response = self._online.request("GET", path)
        if _is_missing(response) and edit.base:
            self._recreate(edit)
        elif not self._complete(edit, response, sent={}) or not edit.body:
            return
        self._send(edit.number)

    def _recreate(self, edit: Edit) -> None:
        """Turn the edit into a creation, and assign later edits and the conflicts of the old record to the new one."""
        id_ = new_id()
        body = {**edit.base, **edit.body, "id": id_}
        with self.store.transaction():
            self.store.move_conflicts(edit.type, edit.id, id_)
            for each in self.store.edits(edit.type, edit.id):
                self.store.change_edit(each.number, id=id_)
            self.store.change_edit(
                edit.number, action=Action.CREATE, key=str(uuid4()), base={}, body=body, state=State.WAITING
            )

    _SENDERS = {
        Action.CREATE: _send_create,
        Action.UPDATE: _send_update,
        Action.DELETE: _send_delete,
        Action.RESTORE: _send_restore,
    }

    def _rebase(self, edit: Edit, known: Record) -> Edit:
        """Merge the edit with the current record. Fields that both sides changed become conflicts."""
        merged = merge(edit.base, edit.body, known.record)
        with self.store.transaction():
            for clash in merged.clashes:
                self._add_conflict(edit, field=clash.field, base=clash.base, mine=clash.mine, theirs=clash.theirs)
            self.store.change_edit(edit.number, base=pick_fields(known.record, merged.body), body=merged.body)
        return replace(edit, base=pick_fields(known.record, merged.body), body=merged.body)

    def _refresh_if_stale(self, edit: Edit, response: httpx.Response) -> bool:
        """Return whether the record was changed or deleted elsewhere. In that case the store is updated."""
        with self.store.transaction():
            current = body_of(response).get("current")
            if response.status_code == 412 and isinstance(current, dict):  # otherwise it is from a proxy
                self._store_record(edit, response, current)
                return True
            if _is_missing(response):
                self._apply_deletion(edit.type, edit.id)
                return True
        return False

    def _store_record(self, edit: Edit, response: httpx.Response, record: JSON) -> Record:
        kept = Record(response.headers["ETag"], to_feed_record(edit.type, record))
        self.store.put_records([(edit.type, edit.id, kept.etag, kept.record, None)], self._reading_number)
        return kept

    def _complete(
        self, edit: Edit, response: httpx.Response, *, sent: JSON, before: Record | None = None, is_whole: bool = False,
        is_earlier: bool = False,
    ) -> bool:  # fmt: skip
        """Store the response to an edit, and use it as the new base of the later edits of the record.

        Returns False if the edit was refused. An edit that restored a record becomes an update.

        `is_whole`: the whole record comes from this edit. `is_earlier`: it was executed by an earlier attempt, and
        others may have changed the record since. The user has not seen their changes, so that the base of later edits
        stays, except that its entries get the ids that the service gave them.
        """
        with self.store.transaction():
            if not response.is_success:
                self._refuse(edit, response)
                return False
            kept = self._store_record(edit, response, response.json()[KINDS[edit.type].name])
            self._note_own_version(edit.type, edit.id, kept.etag)
            if edit.action is Action.RESTORE and edit.body:
                # The base is what the user saw. The current record may have been changed by others before its deletion.
                base = pick_fields(edit.base, edit.body)
                self.store.change_edit(edit.number, action=Action.UPDATE, base=base, state=State.WAITING)
            else:
                self.store.remove_edit(edit.number)
            for later in self.store.edits(edit.type, edit.id):
                if later.number == edit.number:
                    continue
                # Fields whose base is what this edit has written: the service may have normalized them or added ids.
                written = {f for f, v in later.base.items() if (is_same(v, sent[f]) if f in sent else is_whole)}
                new_base = pick_fields(kept.record, written)
                if is_earlier:
                    new_base = {f: _with_ids(later.base[f], now) for f, now in new_base.items()}
                etag = kept.etag if later.etag == (before.etag if before else None) else later.etag
                self.store.change_edit(later.number, base={**later.base, **new_base}, etag=etag)
        return True

    def _refuse(self, edit: Edit, response: httpx.Response) -> None:
        """Store a permanent refusal with the edit. A temporary one, such as 401, ends the sync: raises RefusedError."""
        problem = body_of(response)
        is_from_proxy = response.status_code == 404 and "error" not in problem
        if response.status_code in _TEMPORARY_STATUSES or response.status_code >= 500 or is_from_proxy:
            require_success(response)
        if problem.get("code") in {"in_progress", "read_only_token"}:
            require_success(response)
        self.store.change_edit(edit.number, state=State.REFUSED, problem=problem)
        self._report.refused += 1


_TEMPORARY_STATUSES = {401, 408, 429}
_EXTENSIBLE_ACTIONS = {Action.CREATE, Action.UPDATE}
_CREATING_ACTIONS = {Action.CREATE, Action.RESTORE}


def _with_ids(before: Any, now: Any) -> Any:
    return with_known_ids(before, now) if isinstance(before, list) and isinstance(now, list) else before


def _current_record(response: httpx.Response) -> JSON | None:
    """The current record in a 412 response. A 412 without it is from a proxy."""
    current = body_of(response).get("current") if response.status_code == 412 else None
    return current if isinstance(current, dict) else None


def _error_code(response: httpx.Response) -> Any:
    return body_of(response).get("code") if response.is_error else None


def _is_missing(response: httpx.Response) -> bool:
    """Whether the service answered 404. A proxy may do so too while the service is down; its body has no `error`."""
    return response.status_code == 404 and "error" in body_of(response)
