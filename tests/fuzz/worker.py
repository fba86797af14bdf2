"""A process that feeds readers inputs by number: `python -m fuzz.worker JOB`, JOB in JSON.

JOB holds readers, first and last (a number from first on, below last), and seconds an input may
take. On standard output each input is told before it is read, so that who started the process
knows at which one it died; a finding is told after it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
import warnings
import zlib
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from faults.workshop import RAM

from fuzz.culprits import CULPRITS
from fuzz.guard import Guard, confine
from fuzz.mutations import mutate
from fuzz.packing import Files
from fuzz.readers import Reader, reader
from fuzz.seeds import REFUSED
from wordgeom.core.errors import WordgeomError

LONGEST = 500  # characters of an error
_IN = Path("in")


def main(names: list[str], first: int, last: int, seconds: float) -> None:
    """Feed readers the inputs [first:last)."""
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        # As a user has it: commands run beside their files, and messages name them shortly.
        os.chdir(folder)
        guard = Guard(Path(folder), seconds)
        chosen = [reader(name) for name in names]
        for one in chosen:
            for seed in [] if one.name in CULPRITS else one.seeds():  # loads, and compiles
                _feed(one, -1, one.pack(seed), guard, watch=False)
        confine(alone=len(chosen) == 1)
        for one in chosen:
            for number in range(first, last):
                _feed(one, number, make(one, number), guard)


def make(chosen: Reader, number: int) -> Files:
    """Return input `number`: the same on every machine."""
    rng = np.random.default_rng([zlib.crc32(chosen.name.encode()), number])
    groups = chosen.seeds()
    files, other = (dict(groups[int(rng.integers(len(groups)))]) for _ in range(2))
    if rng.integers(2):
        return chosen.pack(_mutated(rng, files, other))
    return _mutated(rng, chosen.pack(files), chosen.pack(other))


def _mutated(rng: np.random.Generator, files: Files, other: Files) -> Files:
    """Change one of the files, now and then two."""
    names = [name for name in files if files[name]]
    for name in rng.choice(names, int(rng.integers(1, 3))):
        files = {**files, str(name): mutate(rng, files[name], other.get(name, files[name]))}
    return files


def _feed(chosen: Reader, number: int, files: Files, guard: Guard, *, watch: bool = True) -> None:
    """Let a reader read an input, and tell which it is and what came of it."""
    _tell(chosen.name, number)
    shutil.rmtree(_IN, ignore_errors=True)
    for name, data in files.items():
        path = _IN / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with guard.watching() if watch else nullcontext():
        finding = _read(chosen, number, _IN / next(iter(files)))
    for what in (finding, *guard.taken()):
        if what:
            _tell(chosen.name, number, what)


def _tell(*what: str | int) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201


def _read(chosen: Reader, number: int, path: Path) -> str:
    """Let a reader read, and return what it did that it must not do."""
    try:
        chosen.read(path)
    except WordgeomError as error:
        line = str(error)
        if number < 0 and not path.name.startswith(REFUSED):
            return f"refuses a valid file: {line}"
        if len(line) > LONGEST or len(line.splitlines()) != 1:
            return f"a message of {len(line)} characters: {line[:300]!r}"
    except BaseException:
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
    os._exit(0)  # a reader may have left a thread, which Python would wait for
