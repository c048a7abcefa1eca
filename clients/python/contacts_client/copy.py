"""A copy of the account that is read and edited without the network, and synced when there is one (docs/clients.md)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

import httpx

from contacts_client.connection import JSON, Connection, body_of, success
from contacts_client.ids import new_id
from contacts_client.kinds import KINDS, as_in_feed
from contacts_client.merge import identified, is_same, merge
from contacts_client.store import Action, Conflict, Edit, Record, State, Store, seen, shown

PAGE = 500


@dataclass
class SyncReport:
    """What a sync did: changes taken over from the feed, edits that were sent, the conflicts and refusals it met."""

    pulled: int = 0
    pushed: int = 0
    conflicts: int = 0
    refused: int = 0


class AnotherAccountError(Exception):
    """The store was filled by another account than the connection's."""


class Copy:
    """Reads and edits go to the store; `sync` brings both sides together. It may be broken off at any point."""

    def __init__(self, store: Store, connection: Connection | None = None) -> None:
        self.store = store
        self.connection = connection
        self._checked: Connection | None = None  # is of the copy's account
        self._report = SyncReport()

    # What the user sees.

    def get(self, type_: str, id_: str) -> JSON | None:
        """A record with the edits that wait; None where there is none."""
        found = self.store.record(type_, id_)
        return shown(found.record if found else None, self.store.edits(type_, id_))

    def all(self, type_: str) -> Iterator[JSON]:
        """All records of a type, by id, then those that wait to be made."""
        edits: dict[str, list[Edit]] = {}
        for edit in self.store.edits(type_):
            edits.setdefault(edit.id, []).append(edit)
        for record in self.store.records(type_):
            if (found := shown(record, edits.pop(record["id"], ()))) is not None:
                yield found
        for left in edits.values():
            if (found := shown(None, left)) is not None:
                yield found

    # What the user does.

    def create(self, type_: str, body: JSON) -> str:
        """Make a record, whose id is known at once."""
        id_ = str(body.get("id") or new_id())
        with self.store.transaction():
            self._add(type_, id_, Action.CREATE, body={**body, "id": id_})
        return id_

    def update(self, type_: str, id_: str, changes: JSON) -> None:
        """Change fields of a record; a list replaces the list. Raises KeyError where there is none."""
        with self.store.transaction():
            record = self._seen(type_, id_)
            last = self.store.last_edit()
            if last and (last.type, last.id, last.state) == (type_, id_, State.WAITING) and last.action in _GROWING:
                base = {**seen(record, changes), **last.base}
                self.store.change_edit(last.number, base=base, body={**last.body, **changes})
            else:
                self._add(type_, id_, Action.UPDATE, base=seen(record, changes), body=changes)

    def delete(self, type_: str, id_: str) -> None:
        """Move a record to the trash. Raises KeyError where there is none."""
        with self.store.transaction():
            record, known = self._seen(type_, id_), self.store.record(type_, id_)
            self._add(type_, id_, Action.DELETE, base=record, etag=known.etag if known else None)

    def conflicts(self) -> list[Conflict]:
        """What has to be shown to the user."""
        return self.store.conflicts()

    def refused(self) -> list[Edit]:
        """Edits that the service refused, with its answer in `problem`."""
        return [edit for edit in self.store.edits() if edit.state is State.REFUSED]

    def resolve(self, conflict: Conflict, keep: Literal["mine", "theirs"]) -> None:
        """End a conflict: with the service's value, or by a new edit that brings the user's."""
        with self.store.transaction():
            # As it is by now: its record may have been made anew under another id. One that has ended stays so.
            found = [stored for stored in self.store.conflicts() if stored.number == conflict.number]
            self.store.remove_conflict(conflict.number)
            if keep == "theirs" or not found:
                return
            (conflict,) = found
            if conflict.action is Action.DELETE:
                if self.get(conflict.type, conflict.id) is not None:
                    self.delete(conflict.type, conflict.id)
            elif self.get(conflict.type, conflict.id) is not None:
                mine = conflict.mine if conflict.field is None else {conflict.field: conflict.mine}
                self.update(conflict.type, conflict.id, mine)
            else:  # deleted elsewhere
                mine = conflict.mine if conflict.field is None else {conflict.field: conflict.mine}
                known = self.store.record(conflict.type, conflict.id)  # where its deletion waits here
                was = conflict.base if conflict.field is None else known.record if known else {}
                self._add(conflict.type, conflict.id, Action.RESTORE, base=was, body=mine)

    def discard(self, edit: Edit) -> None:
        """Give up an edit that was refused; with a create goes what was done to its record since."""
        with self.store.transaction():
            self.store.remove_edit(edit.number)
            if edit.action is Action.CREATE:
                for later in self.store.edits(edit.type, edit.id):
                    self.store.remove_edit(later.number)

    def amend(self, edit: Edit, changes: JSON) -> None:
        """Have an edit that was refused sent again, with these fields changed. Raises ValueError for another id."""
        if changes.get("id", edit.id) != edit.id:
            raise ValueError("an edit keeps its id: discard it and create the record anew")
        body = {**edit.body, **changes}
        self.store.change_edit(edit.number, body=body, key=str(uuid4()), state=State.WAITING, problem=None)

    def _seen(self, type_: str, id_: str) -> JSON:
        record = self.get(type_, id_)
        if record is None:
            raise KeyError((type_, id_))
        return record

    def _add(
        self, type_: str, id_: str, action: Action, *, base: JSON | None = None, body: JSON | None = None,
        etag: str | None = None,
    ) -> None:  # fmt: skip
        if type_ not in KINDS:
            raise ValueError(f"a copy does not edit records of type {type_}")
        self.store.add_edit(str(uuid4()), type_, id_, action, base=base or {}, body=body or {}, etag=etag)

    # Both sides together.

    def sync(self) -> SyncReport:
        """Read what has changed, send what waits, and read what became of it.

        Raises RefusedError (401: sign in again), httpx.TransportError and AnotherAccountError; what was done until then
        stays done.
        """
        self._report = SyncReport()
        self.pull()
        if self.push():
            self.pull()
        return self._report

    def pull(self) -> None:
        """Follow the feed to its end, each page in one transaction with its cursor."""
        while True:
            cursor = self.store.fact("cursor")
            if cursor is None:  # nothing tells the service whose copy this is
                self._check_account()
            answer = self._online.request("GET", "/api/changes", cursor=cursor, limit=PAGE)
            if answer.status_code == 410 and cursor is not None:
                self._check_account()
                with self.store.transaction():
                    self.store.set_fact("cursor", None)
                    self.store.set_fact("reading", str(self._reading + 1))
                    self.store.set_fact("begins anew", "yes")
                continue
            page = success(answer)
            self._checked = self._online
            self._take_over(page)
            if not page["hasMore"]:
                return

    def _check_account(self) -> None:
        """Raises AnotherAccountError: its records are none of this copy's, and must not get the edits that wait."""
        connection = self._online
        asking = connection.ask("GET", "/api/user/profile")["user"]["id"]
        with self.store.transaction():
            # Stores of old have no such fact.
            owner = self.store.fact("account") or next((r["id"] for r in self.store.records("settings")), asking)
            if owner != asking:
                raise AnotherAccountError("This copy is of another account: take a store of its own for each.")
            self.store.set_fact("account", asking)
        self._checked = connection

    def push(self) -> int:
        """Send the edits that wait, in their order; how many were sent."""
        sent = number = 0
        if self._checked is not self._online and self.store.last_edit():
            self._check_account()
        while edit := self.store.next_edit(number):
            number = edit.number
            if edit.state is not State.REFUSED and not self._is_held_up(edit):
                sent += self._send(number)
        self._report.pushed += sent
        return sent

    @property
    def _online(self) -> Connection:
        if self.connection is None:
            raise RuntimeError("This copy has no connection.")
        return self.connection

    @property
    def _reading(self) -> int:
        return int(self.store.fact("reading") or 0)

    def _take_over(self, page: JSON) -> None:
        with self.store.transaction():
            changes = page["changes"]
            kept = ((c["type"], c["id"], c["etag"], c["record"]) for c in changes if not c["deleted"])
            self.store.put_records(kept, self._reading)
            for change in changes:
                if change["deleted"]:
                    self._forget(change["type"], change["id"])
            self.store.set_fact("cursor", page["cursor"])
            if not page["hasMore"] and self.store.fact("begins anew"):
                for type_, id_ in self.store.not_read_since(self._reading):
                    self._forget(type_, id_)
                self.store.set_fact("begins anew", None)
            self._report.pulled += len(changes)

    def _forget(self, type_: str, id_: str) -> None:
        """The record is deleted elsewhere: what was done to it here becomes a conflict.

        Not what follows an edit that brings it back: its user knows.
        """
        known = self.store.record(type_, id_)
        edits = self.store.edits(type_, id_)
        back = min((edit.number for edit in edits if edit.action is Action.RESTORE), default=None)
        edits = [edit for edit in edits if back is None or edit.number < back]
        if any(edit.action is Action.CREATE and edit.state is not State.SENDING for edit in edits):
            return  # it was never made, and nobody else can have deleted it
        self._remove(type_, id_)
        was = known.record if known else {}
        for edit in edits:
            self.store.remove_edit(edit.number)
            if edit.action is Action.CREATE:
                was = {**edit.body, **was}
            if edit.action is Action.UPDATE:
                base = {**was, **edit.base}
                self._conflict(edit, field=None, base=base, mine=edit.body, theirs=None)

    def _remove(self, type_: str, id_: str) -> None:
        """Without its record a conflict about a field could not be resolved: it becomes one about the record."""
        known = self.store.record(type_, id_)
        self.store.remove_record(type_, id_)
        for old in self.store.conflicts() if known else ():
            if (old.type, old.id) == (type_, id_) and known and old.field is not None:
                mine = {old.field: old.mine}
                self.store.remove_conflict(old.number)
                self.store.add_conflict(type_, id_, old.action, field=None, base=known.record, mine=mine, theirs=None)

    def _conflict(self, edit: Edit, *, field: str | None, base: Any, mine: Any, theirs: Any) -> None:
        self.store.add_conflict(edit.type, edit.id, edit.action, field=field, base=base, mine=mine, theirs=theirs)
        self._report.conflicts += 1

    def _is_held_up(self, edit: Edit) -> bool:
        """Whether the record was never made or brought back, since the service refused it."""
        earlier = self.store.edits(edit.type, edit.id)
        return any(e.action in _MAKING and e.state is State.REFUSED for e in earlier if e.number < edit.number)

    def _send(self, number: int) -> bool:
        """Whether there was something to send."""
        with self.store.transaction():  # another program may have added to it until here, and does so no more
            self.store.change_edit(number, state=State.SENDING)
            edit = self.store.edit(number)
        if edit is not None:
            self._SENDERS[edit.action](self, edit)
        return edit is not None

    def _send_create(self, edit: Edit) -> None:
        path = KINDS[edit.type].list_path(edit.body)
        answer = self._online.request("POST", path, edit.body, headers={"Idempotency-Key": edit.key})
        is_earlier = answer.headers.get("Idempotent-Replayed") == "true" or _code(answer) == "id_taken"
        if is_earlier:  # it came through; what has become of it since, the record itself says
            now = self._online.request("GET", KINDS[edit.type].record_path(edit.body))
            if _is_gone(now) and answer.is_success:
                with self.store.transaction():
                    self._forget(edit.type, edit.id)
                return
            answer = now if now.is_success else answer
        self._finish(edit, answer, sent=edit.body, is_whole=True, is_earlier=is_earlier)

    def _send_update(self, edit: Edit) -> None:
        while (known := self.store.record(edit.type, edit.id)) is not None:
            edit = self._merged(edit, known)
            if not edit.body:
                self.store.remove_edit(edit.number)
                return
            path = KINDS[edit.type].record_path(known.record)
            # The PUT of a date replaces all of it.
            body = {**known.record, **edit.body} if edit.type == "importantDate" else edit.body
            answer = self._online.request("PUT", path, body, headers={"If-Match": known.etag})
            if not self._is_stale(edit, answer):
                break
        else:
            with self.store.transaction():
                self._forget(edit.type, edit.id)
            return
        self._finish(edit, answer, sent=edit.body, before=known)

    def _send_delete(self, edit: Edit) -> None:
        known = self.store.record(edit.type, edit.id)  # a merge of people moves their dates to another path
        path = KINDS[edit.type].record_path(known.record if known else {**edit.base, "id": edit.id})
        answer = self._online.request("DELETE", path, headers={"If-Match": edit.etag} if edit.etag else None)
        with self.store.transaction():
            if answer.is_success or _is_gone(answer):
                self.store.remove_edit(edit.number)
                self._remove(edit.type, edit.id)
            elif self._is_stale(edit, answer):
                self.store.remove_edit(edit.number)
                known = self.store.record(edit.type, edit.id)
                theirs = known.record if known else None
                self._conflict(edit, field=None, base=edit.base, mine=None, theirs=theirs)
            else:
                self._refuse(edit, answer)

    def _send_restore(self, edit: Edit) -> None:
        """Bring back what was deleted elsewhere, with the user's fields; as a new record where it was removed."""
        path = KINDS[edit.type].record_path({**edit.base, **edit.body, "id": edit.id})
        answer = self._online.request("POST", f"{path}/restore", headers={"Idempotency-Key": edit.key})
        if _code(answer) == "not_deleted":
            answer = self._online.request("GET", path)
        if _is_gone(answer) and edit.base:
            self._make_anew(edit)
        elif not self._finish(edit, answer, sent={}) or not edit.body:
            return
        self._send(edit.number)

    def _make_anew(self, edit: Edit) -> None:
        """The same edit makes a new record, which what was done to the old one since goes to, and its conflicts."""
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

    def _merged(self, edit: Edit, known: Record) -> Edit:
        """The edit as it may be written over what is known now; what may not becomes conflicts."""
        merged = merge(edit.base, edit.body, known.record)
        with self.store.transaction():
            for clash in merged.clashes:
                self._conflict(edit, field=clash.field, base=clash.base, mine=clash.mine, theirs=clash.theirs)
            self.store.change_edit(edit.number, base=seen(known.record, merged.body), body=merged.body)
        return replace(edit, base=seen(known.record, merged.body), body=merged.body)

    def _is_stale(self, edit: Edit, answer: httpx.Response) -> bool:
        """Whether the record has changed or gone meanwhile; then the store knows what it is now."""
        with self.store.transaction():
            current = body_of(answer).get("current")
            if answer.status_code == 412 and isinstance(current, dict):  # else a proxy's, which is a refusal
                self._keep(edit, answer, current)
                return True
            if _is_gone(answer):
                self._forget(edit.type, edit.id)
                return True
        return False

    def _keep(self, edit: Edit, answer: httpx.Response, record: JSON) -> Record:
        kept = Record(answer.headers["ETag"], as_in_feed(edit.type, record))
        self.store.put_records([(edit.type, edit.id, kept.etag, kept.record)], self._reading)
        return kept

    def _finish(
        self, edit: Edit, answer: httpx.Response, *, sent: JSON, before: Record | None = None, is_whole: bool = False,
        is_earlier: bool = False,
    ) -> bool:  # fmt: skip
        """Take over what the service made of an edit, also as the base of what was done to the record since.

        What was restored is updated next, in the same row. `is_whole`: all of the record came of this edit.
        `is_earlier`: it was carried out some time ago, and others may have changed the record since. Their changes are
        nothing that the user has seen: of the base only the entries get their ids.
        """
        with self.store.transaction():
            if not answer.is_success:
                self._refuse(edit, answer)
                return False
            kept = self._keep(edit, answer, answer.json()[KINDS[edit.type].name])
            if edit.action is Action.RESTORE and edit.body:
                # Not what is there now: others may have changed it before it was deleted.
                base = seen(edit.base, edit.body)
                self.store.change_edit(edit.number, action=Action.UPDATE, base=base, state=State.WAITING)
            else:
                self.store.remove_edit(edit.number)
            for later in self.store.edits(edit.type, edit.id):
                if later.number == edit.number:
                    continue
                ours = {f for f, v in later.base.items() if (is_same(v, sent[f]) if f in sent else is_whole)}
                made = seen(kept.record, ours)
                if is_earlier:
                    made = {f: _with_ids(later.base[f], now) for f, now in made.items()}
                etag = kept.etag if later.etag == (before.etag if before else None) else later.etag
                self.store.change_edit(later.number, base={**later.base, **made}, etag=etag)
        return True

    def _refuse(self, edit: Edit, answer: httpx.Response) -> None:
        """A refusal that will not change is kept with the edit; what may, such as 401, ends the sync."""
        problem = body_of(answer)
        is_of_a_proxy = answer.status_code == 404 and "error" not in problem
        if answer.status_code in _FOR_LATER or answer.status_code >= 500 or is_of_a_proxy:
            success(answer)
        if problem.get("code") in {"in_progress", "read_only_token"}:
            success(answer)
        self.store.change_edit(edit.number, state=State.REFUSED, problem=problem)
        self._report.refused += 1


_FOR_LATER = {401, 408, 429}
_GROWING = {Action.CREATE, Action.UPDATE}
_MAKING = {Action.CREATE, Action.RESTORE}


def _with_ids(before: Any, now: Any) -> Any:
    return identified(before, now) if isinstance(before, list) and isinstance(now, list) else before


def _code(answer: httpx.Response) -> Any:
    return body_of(answer).get("code") if answer.is_error else None


def _is_gone(answer: httpx.Response) -> bool:
    """Whether the service says so: of a proxy whose service is away a 404 says nothing of a record."""
    return answer.status_code == 404 and "error" in body_of(answer)
