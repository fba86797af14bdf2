"""The memory of `transform` does not grow with the vectors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wordgeom.vectors.keyed import write_vectors

STATUS = Path("/proc/self/status")
_PROGRAM = """
import sys, threading, time
from pathlib import Path
from wordgeom.cli import main

def private():
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(l.split()[1]) for l in lines if l.startswith(("RssAnon", "RssShmem")))

def run(name):
    line = f"transform {name}.bin -o {name}.out.bin --normalise --remove-top 2 --power 0.5"
    assert main([*line.split(), "--align", "small.bin", "--threads", "1", "--quiet"]) == 0

run("small")
before, peak, done = private(), [0], threading.Event()
def watch():
    while not done.is_set():
        peak[0] = max(peak[0], private())
        time.sleep(0.002)
thread = threading.Thread(target=watch)
thread.start()
run("large")
done.set()
thread.join()
print(peak[0] - before)
"""


@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc")
def test_vectors_are_not_held_in_private_memory(tmp_path):
    rng = np.random.default_rng(0)
    for name, n in (("small", 20_000), ("large", 200_000)):
        matrix = rng.standard_normal((n, 200)).astype(np.float32)
        write_vectors(tmp_path / f"{name}.bin", [f"w{k}" for k in range(n)], matrix)
    done = subprocess.run([sys.executable, "-c", _PROGRAM], cwd=tmp_path, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    grown = 1024 * int(re.findall(r"\d+", done.stdout)[-1])
    assert grown < 110e6  # words and blocks; the vectors are 160 MB
