"""Stream the folder of ``test_streaming`` to its end, slowly enough to be killed on the way."""

import sys
from pathlib import Path

from conceptpubsub.archive.cluster import session
from conceptpubsub.archive.streaming import stream


def main() -> None:
    """Run until all that is there is processed."""
    folder = Path(sys.argv[1])
    spark = session("local[1]", spark_driver_memory="1g")
    asked = {"all": "", "few": "x > 30"}
    stream(spark, folder / "in", asked, folder / "out", files_per_batch=1).awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
