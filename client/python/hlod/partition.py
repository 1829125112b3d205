"""`python3 -m hlod.partition`: the worker that partitions programs for other processes (see hlod.partitioning)."""

import sys

from hlod.partitioning.worker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
