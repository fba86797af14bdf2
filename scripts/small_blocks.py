"""Run wordgeom with every block sent to the cluster, however small: for tests of `--scheduler`.

python scripts/small_blocks.py build-cooc text.txt --scheduler tcp://127.0.0.1:8786
"""

from __future__ import annotations

import sys

from wordgeom.cli import main
from wordgeom.corpus.encoding import cluster_reader, text_ranges
from wordgeom.counts import cluster_merge, cluster_rows
from wordgeom.linalg import cluster_tasks
from wordgeom.weighting import cluster_pmi

if __name__ == "__main__":
    for module in (cluster_reader, cluster_merge, cluster_rows, cluster_tasks, cluster_pmi):
        vars(module)["WORTH"] = 0
    text_ranges._RANGE = 1 << 20
    sys.exit(main(sys.argv[1:]))
