"""The stage behind `compare`: make vectors side by side, judge them by the same sets and words."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wordgeom import methods, peers
from wordgeom.comparison import entries
from wordgeom.comparison.entries import Contender, Training
from wordgeom.comparison.result import Comparison
from wordgeom.comparison.scoring import answered, common_words, scored_against
from wordgeom.core.errors import InputError, OptionError, OutputExistsError
from wordgeom.core.options import flag, specs, suggestion
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.linalg.device import open_context
from wordgeom.matrices.opening import open_any
from wordgeom.methods.contract import VECTORS
from wordgeom.methods.inputs import reading_options
from wordgeom.methods.inputs.stores import open_store
from wordgeom.peers.counted import Counted, counted
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.evaluate import numbered
from wordgeom.vectors.keyed import read_vectors


@dataclass(frozen=True)
class Entry:
    """Who takes part: vectors files; methods and peers, which need a matrix; how to train them.

    corpus: the text for peers, where the matrix's card does not tell; keep: a folder for the
    vectors that are made; against: whom differences are taken from, None for the first.
    """

    files: tuple[str, ...] = ()
    matrix: str | None = None
    methods: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    corpus: tuple[str, ...] = ()
    dim: int = 100
    weighting: Mapping[str, Any] = field(default_factory=dict)  # options that were given
    space: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)  # of methods, by setting
    keep: str | None = None
    against: str | None = None

    def names(self) -> list[str]:
        """Return the names of all, in the order of their rows."""
        files = [Path(path).name for path in self.files]
        return numbered([*files, *self.methods, *self.peers])


def compare(
    entry: Entry,
    tasks: Sequence[Task],
    options: EvalOptions,
    run: RunOptions,
    *,
    show: bool = False,
) -> Comparison:
    """Train what is to be trained and judge all; one that fails does not stop the others.

    Raises OptionError for names that are not known; MissingInputError and FormatError for files;
    InputError where nobody has vectors, no word is common, or no set can be answered.
    """
    names = entry.names()
    text = _checked(entry, names)
    with _folder(entry, run) as folder, open_context(run, show=show) as context:
        made = _entrants(entry, run, folder, text)
        named = [replace(one, name=name) for one, name in zip(made, names, strict=True)]
        common = common_words(_with_vectors(named))
        judged, notes = answered(named, common, tasks, context)
    scored, first = scored_against(judged, entry.against, options.resamples, run.seed)
    if entry.against not in (None, first):
        notes.append(f"{entry.against} has no scores: differences are from {first}")
    every = numbered([task.name for task in tasks])
    sets = tuple(name for name in every if any(name in one.scores for one in scored))
    return Comparison(scored, sets, len(common), first, options, run.seed, tuple(notes))


def _checked(entry: Entry, names: Sequence[str]) -> Counted | None:
    """Refuse what can be refused before anything is trained; return the peers' text."""
    if not names:
        raise OptionError("there is nothing to compare", do="name a matrix or vectors files")
    if entry.against is not None and entry.against not in names:
        do = suggestion(entry.against, names)
        raise OptionError("--against names nobody", found=repr(entry.against), do=do)
    for name in entry.methods:
        methods.load(name)
    for name in entry.peers:
        peers.load(name)
    if entry.matrix is None:
        return None
    for path in entry.files:  # all of each: a broken one is not to be found after the training
        read_vectors(path)
    open_any(entry.matrix)
    for name in entry.methods:
        _check_method(name, entry)
    return counted(entry.matrix, entry.corpus) if entry.peers else None


def _check_method(name: str, entry: Entry) -> None:
    """Raise OptionError or InputError for a method that cannot be trained on what is given."""
    assert entry.matrix is not None
    method, first = methods.load(name), entries.first_input(name)
    if VECTORS not in method.MAKES:
        raise OptionError(f"{name} makes no vectors", do="choose others with --methods")
    for kind in entries.missing_inputs(name, entry.inputs):
        raise kind.missing(name)
    if first.store_kinds:
        open_store(Path(entry.matrix), first.store_kinds)
    elif not entry.files:
        raise OptionError(f"{name} needs vectors", do="name a vectors file")
    known = [field.name for cls in reading_options(method) for field, _ in specs(cls)]
    for option in entry.weighting:
        if option not in known and first.store_kinds:
            do = "leave it out, or choose the methods with --methods"
            raise OptionError(f"{flag(option)} is no option of {name}", do=do)


@contextlib.contextmanager
def _folder(entry: Entry, run: RunOptions) -> Iterator[Path]:
    """Yield where vectors are made: a folder to keep, or one that goes."""
    if entry.keep is None:
        with tempfile.TemporaryDirectory(prefix="wordgeom-", dir=run.tmp_dir) as folder:
            yield Path(folder)
        return
    kept = Path(entry.keep)
    if kept.exists() and not run.force and (not kept.is_dir() or any(kept.iterdir())):
        do = "pass --force to write into it, or name another with --keep"
        raise OutputExistsError("exists and is not an empty folder", where=kept, do=do)
    kept.mkdir(parents=True, exist_ok=True)
    yield kept


def _entrants(entry: Entry, run: RunOptions, folder: Path, text: Counted | None) -> list[Contender]:
    found = entries.from_files(entry.files)
    if entry.matrix is None:
        return found
    vectors = entry.files[0] if entry.files else None
    how = Training(
        entry.matrix, entry.dim, entry.weighting, run, folder, entry.space, vectors, entry.inputs
    )
    found += entries.from_methods(entry.methods, how)
    return found if text is None else [*found, *entries.from_peers(entry.peers, how, text)]


def _with_vectors(named: Sequence[Contender]) -> list[Path]:
    """Return the files to judge; raises InputError where there is none."""
    paths = [one.path for one in named if one.path is not None]
    if not paths:
        found = "; ".join(f"{one.name}: {one.error}" for one in named)
        raise InputError("nothing could be trained", found=found)
    return paths
