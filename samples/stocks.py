"""The stock flow of the Gryphon paper: two exchanges, two vocabularies, two currencies, two time zones.

NYSE reports price and volume in dollars and New York time, the Frankfurt branch of NASDAQ price and capital in euros
and its own time. A mobile client that was away is brought up to date with as few events as possible.

Run it: ``python samples/stocks.py``
"""

import conceptpubsub as cps
from conceptpubsub.flow import FlowGraph

conv = cps.Converters.default().register("currency", {"2026-11-17": {"USD": 1.25}}, pivot="EUR")
MAX_CUR = [
    {"when": "price > maxP", "set": {"maxP": "price", "curP": "price"}},
    {"when": "price <= maxP", "set": {"curP": "price"}},
]
AVG_DROP = {"p1": "price", "p2": "p1", "avg": "MEAN(price, p1, p2)", "drop": "DROP(price, p1, p2)"}


def graph() -> FlowGraph:
    """NYSE, NASDAQ -> Combined -> LargeTrades, MaxCur, Alarms."""
    g = FlowGraph(conv)
    g.source("NYSE", {"issue": "text", "price": "real USD", "volume": "int", "when": "instant"})
    g.source("NASDAQ", {"issue": "text", "price": "real EUR", "capital": "real EUR", "when": "instant"})
    shared = {"price": "price / 1 USD", "when": "when"}
    nyse = {"name": "NYS(issue)", "volume": "volume", "worth": "price * volume", **shared}
    nasdaq = {"name": "NAS(issue)", "volume": "capital / price", "worth": "capital", **shared}
    g.transform("NYSE", "Combined", nyse, functions={"NYS": {"IBM": "IBM", "XON": "Exxon"}})
    g.transform("NASDAQ", "Combined", nasdaq, functions={"NAS": {"MSFT": "Microsoft", "IBMX": "IBM"}})
    g.select("Combined", "LargeTrades", "worth >= 1000000 USD")
    g.collapse("Combined", "MaxCur", key="name", rules=MAX_CUR)
    g.expand("MaxCur", "MaxCurEv")
    start = {"p1": None, "p2": None, "avg": None, "drop": 0}
    g.collapse("Combined", "AvgDrop", key="name", initial=start, rules=[{"set": AVG_DROP}])
    g.expand("AvgDrop", "AvgDropEv", {"name": "name", "avg": "avg", "drop": "drop"})
    g.select("AvgDropEv", "Alarms", "drop > 20")
    return g


def trade(issue: str, price: float, time: str, zone: str, **more: float) -> dict[str, object]:
    """A trade as its exchange reports it, in local time."""
    when = cps.SemanticObject("when", time, cps.Context(timezone=zone))
    return {"issue": issue, "price": price, "when": when, "@time": cps.Instant.parse(time, zone), **more}


def main() -> None:
    """Rewrite the graph, prove it, run it, lose a client and bring it back."""
    flow = graph().rewrite()
    for proof in flow.proofs:
        print(proof)
    run = flow.run()
    large, alarms = run.subscribe("LargeTrades"), run.subscribe("Alarms")
    mobile = run.session("MaxCurEv")
    york, frankfurt = "America/New_York", "Europe/Berlin"
    run.publish("NYSE", trade("IBM", 150, "2026-11-17 10:00", york, volume=100))
    run.publish("NASDAQ", trade("IBMX", 128, "2026-11-17 16:05", frankfurt, capital=1_280_000))
    mobile.disconnect()
    for minute, price in enumerate((200, 180, 150, 170, 120)):
        run.publish("NYSE", trade("IBM", price, f"2026-11-17 10:{10 + minute}", york, volume=1000))
    run.publish("NYSE", trade("ACME", 1, "2026-11-17 10:20", york, volume=1))
    print("large trades:", [(e["name"].value, e["volume"].value, str(e["when"].value)) for e in large])
    print("alarms:", [(e["name"].value, e["drop"].value) for e in alarms])
    print("missed 5 events, caught up with", mobile.reconnect(), "->", [e["price"].value for e in mobile.received])
    print("dead letters:", [letter.reason for letter in run.dead_letters])


if __name__ == "__main__":
    main()
