"""The hub: publish/subscribe by meaning inside one process, for threads and for asyncio.

>>> hub = Hub()
>>> sub = hub.subscribe("price < 500")
>>> hub.publish({"price": 300}).matched, sub.get()["price"].value
(1, 300)
"""

from conceptpubsub.hub.batch import Batch
from conceptpubsub.hub.catch_up import Shortest
from conceptpubsub.hub.durable import DurableSubscription
from conceptpubsub.hub.hub import Hub
from conceptpubsub.hub.letters import DeadLetter, DeadLetters, Retry
from conceptpubsub.hub.receipt import Receipt
from conceptpubsub.hub.subscription import Subscription

__all__ = [
    "Batch",
    "DeadLetter",
    "DeadLetters",
    "DurableSubscription",
    "Hub",
    "Receipt",
    "Retry",
    "Shortest",
    "Subscription",
]
