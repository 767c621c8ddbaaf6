"""The border: what clients may say to their broker.

Rule 1  A client speaks only for itself, and only while its session is here.
Rule 2  What cannot be done is a MessageError with a ``reason`` to count it under; the broker tells the client.
"""

from __future__ import annotations

from conceptpubsub.errors import ConceptPubSubError, MessageError
from conceptpubsub.routing import messages as m
from conceptpubsub.routing.handover import Sessions
from conceptpubsub.routing.sessions import Session
from conceptpubsub.routing.tables import Outputs, Tables

MAX_SUBSCRIPTIONS = 100_000


class Border:
    """The clients of one broker."""

    def __init__(self, tables: Tables, sessions: Sessions, advertising: bool) -> None:
        self.tables = tables
        self.sessions = sessions
        self.advertising = advertising

    def attach(self, message: m.Attach, from_: str) -> Outputs:
        """A client arrives with what it wants and offers; its last session is asked for what it holds."""
        if from_ != message.client:
            raise _refused("unknown sender", f"{from_!r:.80} cannot attach as {message.client!r:.80}")
        if from_ in self.sessions.present or (from_, message.epoch) in self.sessions.all:
            raise _refused("duplicate client", f"a client {from_!r:.80} is here already")
        session = Session(
            message.client,
            message.epoch,
            {subscription.key: subscription for subscription in message.subscriptions},
            {advertisement.key: advertisement for advertisement in message.advertisements},
            list(message.trail),
            dict(message.received),
            message.published,
        )
        self.sessions.add(session)
        outputs: Outputs = []
        if session.advertisements:
            ads = [(session.key(name), ad.filter) for name, ad in session.advertisements.items()]
            outputs += self.tables.advertise(session.interface, ads)
        if session.subscriptions:
            wanted = [(session.key(name), sub.filter) for name, sub in session.subscriptions.items()]
            outputs += self.tables.subscribe(session.interface, wanted)
        return outputs + self.sessions.ask(session)

    def subscribe(self, message: m.Subscribe, from_: str) -> Outputs:
        """A client wants more."""
        session = self.sessions.present[from_]
        if message.key in session.subscriptions:
            raise _refused("duplicate key", f"there is a subscription {message.key[:80]!r} already", message.key)
        if len(session.subscriptions) >= MAX_SUBSCRIPTIONS:
            raise _refused("too many subscriptions", f"more than {MAX_SUBSCRIPTIONS} subscriptions", message.key)
        session.subscriptions[message.key] = message
        self.sessions.watch(session)
        return self.tables.subscribe(session.interface, [(session.key(message.key), message.filter)])

    def unsubscribe(self, message: m.Unsubscribe, from_: str) -> Outputs:
        """A client wants less."""
        session = self.sessions.present[from_]
        if session.subscriptions.pop(message.key, None) is None:
            raise _refused("unknown key", f"there is no subscription {message.key[:80]!r}", message.key)
        self.sessions.watch(session)
        return self.tables.unsubscribe(session.interface, [session.key(message.key)])

    def advertise(self, message: m.Advertise, from_: str) -> Outputs:
        """A client offers more."""
        session = self.sessions.present[from_]
        if message.key in session.advertisements:
            raise _refused("duplicate key", f"there is an advertisement {message.key[:80]!r} already", message.key)
        session.advertisements[message.key] = message
        return self.tables.advertise(session.interface, [(session.key(message.key), message.filter)])

    def unadvertise(self, message: m.Unadvertise, from_: str) -> Outputs:
        """A client offers less."""
        session = self.sessions.present[from_]
        if session.advertisements.pop(message.key, None) is None:
            raise _refused("unknown key", f"there is no advertisement {message.key[:80]!r}", message.key)
        return self.tables.unadvertise(session.interface, [session.key(message.key)])

    def check(self, message: m.Publish, from_: str) -> None:
        """A client publishes: refuse what is not its own, comes twice, too early, or was not advertised."""
        session = self.sessions.present[from_]
        about = f"event {message.sequence}"
        if message.publisher != from_:
            raise _refused("unknown sender", f"{from_} publishes as {message.publisher!r:.80}", about)
        if session.waiting is not None:
            raise _refused("not attached yet", f"{about} was published before the handover was complete", about)
        if message.sequence <= session.published:
            raise _refused("duplicate event", f"{about} was published before", about)
        session.published = message.sequence
        if self.advertising and not self._advertised(session, message):
            raise _refused("not advertised", f"{about} matches none of the publisher's advertisements", about)

    def _advertised(self, session: Session, message: m.Publish) -> bool:
        for advertisement in session.advertisements.values():
            try:
                if advertisement.filter.matches(message.event):
                    return True
            except ConceptPubSubError:  # this one cannot be judged on the event; another may promise it
                continue
        return False

    def detach(self, message: m.Detach, from_: str) -> Outputs:
        """A client has gone elsewhere: keep its events."""
        self.sessions.present.pop(from_).attached = False
        return []

    def leave(self, message: m.Leave, from_: str) -> Outputs:
        """A client has gone for good; its older sessions are still asked for, so that they end."""
        session = self.sessions.present[from_]
        session.subscriptions, session.advertisements, session.leaving = {}, {}, True
        self.sessions.watch(session)
        outputs = self.tables.forget(session.interface)
        return outputs if session.waiting is not None else outputs + self.sessions.complete(session)


def _refused(reason: str, sentence: str, about: str = "") -> MessageError:
    return MessageError(sentence, reason=reason, about=about)
