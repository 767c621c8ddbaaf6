"""Brokers and the network simulator: REBECA routing by meaning.

>>> from conceptpubsub.model import Context, SemanticObject
>>> sim = Simulation(Network.tree(brokers=50, seed=1), strategy="covering")
>>> subscriber, publisher = sim.client("B7"), sim.client("B3")
>>> name = subscriber.subscribe("t > 25 degC"); steps = sim.run()
>>> number = publisher.publish({"t": SemanticObject("t", 86, Context(unit="degF"))}); steps = sim.run()
>>> len(subscriber.received)
1
"""

from conceptpubsub.routing.network import Link, Network
from conceptpubsub.routing.simulation import Simulation

__all__ = ["Link", "Network", "Simulation"]
