"""The handover protocol of `conceptpubsub.routing.sessions` at one broker: its sessions, and what passes through.

Rule 1  A broker on the path of a Handover remembers it until the last Replay has passed, and sends it again over a link
        that comes back: whatever was lost, every session ends by an answer.
Rule 2  Asking twice does no harm: an answer that nobody waits for is dropped, and a session answers once.
"""

from __future__ import annotations

from collections.abc import Callable

from conceptpubsub.routing.delivering import delivery
from conceptpubsub.routing.messages import Attached, Handover, Left, Publish, Replay
from conceptpubsub.routing.sessions import Session, replays
from conceptpubsub.routing.tables import Outputs, Tables


class Sessions:
    """The sessions of one broker, and the handovers that pass through it."""

    def __init__(self, broker: str, tables: Tables, route: Callable[[str], str]) -> None:
        self.broker = broker
        self.tables = tables
        self.route = route
        self.all: dict[tuple[str, int], Session] = {}
        self.present: dict[str, Session] = {}
        self.total: dict[tuple[str, int], Session] = {}
        self.passing: dict[tuple[str, int, str], Handover] = {}

    # ------------------------------------------------------------------ sessions

    def add(self, session: Session) -> None:
        """A client arrives."""
        self.all[session.interface] = self.present[session.client] = session
        self.watch(session)

    def watch(self, session: Session) -> None:
        """Note whether a session has subscriptions that must report what they cannot judge."""
        if session.total:
            self.total[session.interface] = session
        else:
            self.total.pop(session.interface, None)

    def close(self, session: Session) -> Outputs:
        """A session ends here: forget it, and withdraw what it holds."""
        self.all.pop(session.interface, None)
        self.total.pop(session.interface, None)
        if self.present.get(session.client) is session:
            del self.present[session.client]
        return self.tables.forget(session.interface)

    def hand(self, session: Session, event: Publish) -> Outputs:
        """Deliver an event that a session wants, or keep it until the client is there."""
        if not session.open:
            session.held.append(event)
            return []
        made = delivery(session, event, self.tables.forwarding)
        return [] if made is None else [(session.client, made)]

    # ------------------------------------------------------------------ asking

    def ask(self, session: Session) -> Outputs:
        """Ask the last broker on a client's trail for what it holds; with no trail left, the session is complete."""
        if not session.trail:
            return self.complete(session)
        at, epoch = session.waiting = session.trail.pop()
        return self.handover(Handover(session.client, epoch, at, self.broker))

    def complete(self, session: Session) -> Outputs:
        """Nothing of a client is left elsewhere: deliver what was kept and let it publish."""
        session.waiting = None
        if session.leaving:
            return [*self.close(session), (session.client, Left(session.client))]
        outputs: Outputs = []
        backlog = session.backlog()
        if session.attached:
            for event in backlog:
                outputs += self.hand(session, event)
            outputs.append((session.client, Attached(session.client, session.epoch)))
        else:
            session.held = backlog
        return outputs if session.asked_by is None else outputs + self.give(session, session.asked_by)

    # ------------------------------------------------------------------ answering

    def handover(self, message: Handover) -> Outputs:
        """A Handover arrives: here, or on its way."""
        if message.at != self.broker:
            self.passing[message.client, message.epoch, message.to] = message
            step = self.route(message.at)
            return [(step, message)] if step in self.tables.told else []
        session = self.all.get((message.client, message.epoch))
        if session is None:
            return self.replay(Replay(message.client, message.epoch, message.to, known=False))
        session.asked_by = message
        return self.give(session, message) if session.waiting is None else []

    def give(self, session: Session, asked: Handover) -> Outputs:
        """Answer the broker that asked, and close the session."""
        outputs: Outputs = []
        for part in replays(asked, session.backlog()):
            outputs += self.replay(part)
        return outputs + self.close(session)

    def replay(self, message: Replay) -> Outputs:
        """A Replay arrives: here, or on its way back."""
        if message.to != self.broker:
            if message.last:
                self.passing.pop((message.client, message.epoch, message.to), None)
            step = self.route(message.to)
            return [(step, message)] if step in self.tables.told else []
        asked = (message.client, message.epoch)
        session = next((s for s in self.all.values() if s.waiting and (s.client, s.waiting[1]) == asked), None)
        if message.last:
            self.passing.pop((message.client, message.epoch, message.to), None)
        if session is None:
            return []
        session.replayed += message.events
        if not message.last:
            return []
        if message.known:
            session.trail.clear()
        return self.ask(session)

    def again(self, neighbour: str) -> Outputs:
        """The link to a neighbour is new: what was asked that way and not answered is asked again."""
        return [(neighbour, asked) for asked in self.passing.values() if self.route(asked.at) == neighbour]
