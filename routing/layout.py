"""Where to draw brokers: the tree around its middle, each broker's subtree in a sector of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping

from conceptpubsub.routing.network import Network


def middle(network: Network) -> str:
    """The broker from which the farthest one is nearest.

    >>> middle(Network.line(5))
    'B3'
    """
    first = _farthest(network, network.brokers[0])
    path = network.path(first, _farthest(network, first))
    return path[len(path) // 2]


def radial(network: Network) -> Mapping[str, tuple[float, float]]:
    """Coordinates from -1 to 1 for each broker; no two links cross.

    >>> radial(Network.star(3))["B1"]
    (0.0, 0.0)
    """
    root = middle(network)
    order, parent, depth = [root], {root: ""}, {root: 0}
    for broker in order:
        for other in network.neighbours(broker):
            if other != parent[broker]:
                parent[other], depth[other] = broker, depth[broker] + 1
                order.append(other)
    leaves = dict.fromkeys(order, 0)
    for broker in reversed(order):
        leaves[broker] = leaves[broker] or 1
        if parent[broker]:
            leaves[parent[broker]] += leaves[broker]
    start = {root: 0.0}
    places: dict[str, tuple[float, float]] = {}
    deepest = max(depth.values()) or 1
    for broker in order:
        sector = start[broker]
        width = leaves[broker] / leaves[root]
        angle, radius = 2 * math.pi * (sector + width / 2), depth[broker] / deepest
        places[broker] = (round(radius * math.cos(angle), 4) + 0.0, round(radius * math.sin(angle), 4) + 0.0)
        for other in network.neighbours(broker):
            if other != parent[broker]:
                start[other] = sector
                sector += leaves[other] / leaves[root]
    return places


def _farthest(network: Network, start: str) -> str:
    order, before = [start], {start: ""}
    for broker in order:
        for other in network.neighbours(broker):
            if other != before[broker]:
                before[other] = broker
                order.append(other)
    return order[-1]
