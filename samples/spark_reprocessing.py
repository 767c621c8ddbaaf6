"""Past events against new subscriptions, on this machine and on Spark: the same answers, row for row.

Run it: ``python samples/spark_reprocessing.py`` (the Spark part needs pyspark and Java 17 or newer)
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import conceptpubsub as cps
from conceptpubsub.archive import Subscription, reprocess

onto = cps.Ontology.bundled("vehicles")
SUBSCRIPTIONS = [
    Subscription("hot", "InTemperature > 25 degC", cps.Context(unit="degC")),
    Subscription("far", "Odometer > 100000 km", cps.Context(unit="km")),
]


def archive(folder: Path, rows: int = 1000) -> Path:
    """An archive as it was left: °F and miles, in one Parquet file."""
    schema = pa.schema(
        [
            ("@concept", pa.string()),
            ("@id", pa.string()),
            pa.field("InTemperature", pa.float64(), metadata={"unit": "degF"}),
            pa.field("Odometer", pa.int64(), metadata={"unit": "mile"}),
        ]
    )
    columns = [
        ["VehicleStatus"] * rows,
        [str(n) for n in range(rows)],
        [50.0 + 15 * (n % 3) for n in range(rows)],
        [100 * n for n in range(rows)],
    ]
    file = folder / "events.parquet"
    pq.write_table(pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema), file)
    return file


def show(title: str, out: Path, **engine: object) -> None:
    """Reprocess, and print what each subscriber got."""
    found = reprocess(archive(out.parent), SUBSCRIPTIONS, out, ontology=onto, **engine)  # type: ignore[arg-type]
    print(f"{title}: {found.events} events")
    for name, count in sorted(found.counts.by_subscription.items()):
        print(f"  {name}: {count} deliveries")


def main() -> int:
    """Locally, then on Spark if it is there."""
    with tempfile.TemporaryDirectory() as folder:
        show("on this machine", Path(folder) / "local", engine="local", processes=1)
        if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
            print("no Java here, so no Spark", file=sys.stderr)
            return 3
        try:
            from conceptpubsub.archive.cluster import session

            spark = session("local[2]")
        except (cps.ConceptPubSubError, RuntimeError) as error:
            print(f"no Spark here: {error}", file=sys.stderr)
            return 3
        show("on Spark", Path(folder) / "spark", engine="spark", spark=spark)
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
