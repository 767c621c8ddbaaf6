"""Plain filters without an ontology: JMS selectors as they are, three-valued logic and all.

Run it: ``python samples/plain_filters.py``
"""

import conceptpubsub as cps

MESSAGES = [
    {"JMSType": "car", "color": "blue", "weight": 2600},
    {"JMSType": "car", "color": "red", "weight": 2600},
    {"JMSType": "car", "weight": 2600},  # no colour: unknown, so it does not match, and neither does its opposite
    {"JMSType": "bike", "color": "blue", "weight": 12, "note": "50%_off"},
]
SELECTORS = [
    "JMSType = 'car' AND color = 'blue' AND weight > 2500",
    "JMSType = 'car' AND NOT color = 'blue'",
    "color IS NULL",
    "weight BETWEEN 10 AND 20 OR note LIKE '50\\%%' ESCAPE '\\'",
    "color IN ('red', 'green') AND weight / 2 >= 1.3E3",
]


def main() -> None:
    """Match every message with every selector at once, then ask how selectors stand to each other."""
    matcher = cps.Matcher()
    for text in SELECTORS:
        matcher.add(text, cps.Filter.parse(text))
    for message in MESSAGES:
        print(message)
        for text in matcher.match(message):
            print("   ", text)
    blue, other = cps.Filter.parse(SELECTORS[0]), cps.Filter.parse("weight >= 2500.5 AND color = 'blue'")
    print(f"({blue}) overlaps ({other}): {blue.overlaps(other)}; covers it: {blue.covers(other)}")
    print(cps.Filter.parse("color = 'blue' AND weight > 3000").explain(MESSAGES[2]))


if __name__ == "__main__":
    main()
