"""Reprocess the archive of ``test_engines_agree`` on executors that are processes of their own."""

import sys
from pathlib import Path

from conceptpubsub.archive import reprocess
from conceptpubsub.archive.cluster import session
from tests.spark.test_engines_agree import archive


def main() -> None:
    """Run on ``local-cluster`` and print the number of deliveries."""
    folder = Path(sys.argv[1])
    ontology, asked, conv = archive(folder / "again")
    root = Path(__file__).resolve().parent.parent.parent  # executors start elsewhere, and must import this tree
    home = {"spark.executorEnv.PYTHONPATH": str(root)}
    spark = session("local-cluster[2,1,1024]", spark_executor_memory="512m", **home)
    found = reprocess(
        folder / "in", asked, folder / "cluster", ontology=ontology, converters=conv, engine="spark", spark=spark
    )
    spark.stop()
    print(found.deliveries)


if __name__ == "__main__":
    main()
