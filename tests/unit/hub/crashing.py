"""The process that the crash test kills: publishes, reads, and writes down what was promised to whom.

Lines of the diary: ``P n`` n was published and acknowledged to the publisher; ``R n`` the subscriber received n;
``A n`` the subscriber's acknowledgment of n returned. Event n stands at offset n.
"""

import os
import random
import sys

import conceptpubsub as cps


def main(store: str, diary: str, until: int, seed: int) -> None:
    """Publish until there are so many events in the store; read everything."""
    out = os.open(diary, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    r = random.Random(seed)

    def write(letter: str, numbers: list[int]) -> None:
        os.write(out, "".join(f"{letter} {n}\n" for n in numbers).encode())

    hub = cps.Hub(store=store, sync="normal")

    def read(batch: cps.hub.Batch) -> None:
        numbers = [event["n"].value for event in batch]
        assert numbers == batch.offsets
        write("R", numbers)
        if r.random() < 0.7 or numbers[-1] == until - 1:
            hub.acknowledge("reader", numbers[-1])
            write("A", numbers)

    hub.subscribe("n >= 0", read, durable="reader", batch=True, ack="manual")
    while (offset := hub.log.store.end) < until:
        events = [{"n": offset + i} for i in range(min(r.choice([1, 1, 1, 2, 50]), until - offset))]
        receipt = hub.publish(events[0]) if len(events) == 1 else hub.publish_batch(events)
        assert receipt.offset == offset
        write("P", list(range(offset, offset + len(events))))
    hub.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
