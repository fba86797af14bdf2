"""Show that a change to the program changes no data.

    scripts/same_bytes DATA BEFORE [AFTER] [--expected PATTERN] …
    scripts/same_bytes digest DATA CHECKOUT [--outputs DIR] > before.json
    scripts/same_bytes compare before.json after.json [--expected PATTERN] …
    scripts/same_bytes open before.json [AFTER] [--expected PATTERN] …

BEFORE and AFTER are checkouts of wordgeom; AFTER is this one by default. Every command, with the
options that change its output, and every file of configs/ runs on the first 20 MB of English
Wikipedia, the first 1,000 speeches of the United Nations' general debates, tables of firms and of
drugs, and protein sequences. DATA is a directory that holds these.

The outputs of both programs are compared: data files by their bytes, figures by all marks except
text, run cards and reports value by value without times, versions, machine, status, paths and
messages. Every difference is listed with its size. Then AFTER runs on the files that BEFORE wrote:
each command must answer that its output is up to date, and must write the same files from them.

The exit status is 1 if a difference matches no --expected PATTERN. A pattern stands for files
('drift*.json'), for values in a run card or report ('*.bin.json:statistics.steps*'), or for
commands that fail ('failed after: eval *').

`digest` prints the digest of one checkout, so that BEFORE has to run only once. --outputs keeps the
files in a new directory; `open` and the sizes of differences need them. --jobs is the number of
commands that run side by side. PYTHON names an interpreter that has wordgeom's dependencies; the
default is that of .venv.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from same_bytes_compare import compare
from same_bytes_digest import digest, work_directory
from same_bytes_open import reopen
from same_bytes_runs import Program

_HERE = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run the mode that the command line names; return the exit status."""
    words = sys.argv[1:]
    if words and words[0] not in _MODES and not words[0].startswith("-"):
        words = ["both", *words]
    args = _parser().parse_args(words)
    try:
        return _MODES[args.mode](args)
    except OSError as error:
        raise SystemExit(f"same_bytes: {error}") from None


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    modes = parser.add_subparsers(dest="mode", required=True)
    both, one, two, again = (modes.add_parser(name) for name in _MODES)
    for mode in (both, one):
        mode.add_argument("data", type=Path)
    both.add_argument("before", type=Path)
    one.add_argument("checkout", type=Path)
    one.add_argument("--outputs", type=Path, help="new directory that keeps what was written")
    for mode in (two, again):
        mode.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    for mode in (both, again):
        mode.add_argument("after", type=Path, nargs="?", default=_HERE)
    for mode in (both, one, again):
        mode.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    for mode in (both, two, again):
        mode.add_argument("--expected", action="append", default=[], metavar="PATTERN")
    return parser


def _both(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="same_bytes.") as name:
        places = [Path(name) / label for label in ("before", "after")]
        found = []
        for place, checkout in zip(places, (args.before, args.after), strict=True):
            place.mkdir()
            found.append(digest(args.data, checkout, place, args.jobs))
        same = compare(found[0], found[1], args.expected)
        print()
        return int(not (_reopened(found[0], args, Path(name) / "again") and same))


def _digest(args: argparse.Namespace) -> int:
    with work_directory(args.outputs) as work:
        found = digest(args.data, args.checkout, work, args.jobs)
    print(json.dumps(found, ensure_ascii=False, indent=1))
    for line, message in found["failed"].items():
        print(f"failed: {line}: {message}", file=sys.stderr)
    return int(bool(found["failed"]))


def _compare(args: argparse.Namespace) -> int:
    return int(not compare(_read(args.before), _read(args.after), args.expected))


def _open(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="same_bytes.") as name:
        return int(not _reopened(_read(args.before), args, Path(name) / "again"))


def _reopened(before: dict[str, Any], args: argparse.Namespace, work: Path) -> bool:
    """Compare what `args.after` writes from another program's files with what that one wrote."""
    if not Path(before["outputs"]).is_dir():
        raise SystemExit(f"{before['outputs']} is gone: digest again with --outputs")
    work.mkdir()
    cache = work.with_name("after.cache")
    program = Program(args.after.resolve(), work, cache, args.jobs)
    return compare(before, reopen(before, program), args.expected)


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


_MODES = {"both": _both, "digest": _digest, "compare": _compare, "open": _open}

if __name__ == "__main__":
    sys.exit(main())
