"""The stage of `compare`: train vectors and evaluate all of them on the same sets and words."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wordgeom import methods, peers
from wordgeom.comparison import entries
from wordgeom.comparison.entries import Candidate, CompareRequest, Training
from wordgeom.comparison.result import Comparison
from wordgeom.comparison.scoring import answer_tasks, common_words, score_against
from wordgeom.core.errors import InputError, OptionError, OutputExistsError
from wordgeom.core.options import flag, specs, suggestion
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.linalg.device import open_context
from wordgeom.matrices.opening import open_any
from wordgeom.methods.contract import VECTORS
from wordgeom.methods.inputs import reading_options
from wordgeom.methods.inputs.stores import open_store
from wordgeom.peers.counted import CountedText, counted_text
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.evaluate import numbered
from wordgeom.vectors.keyed import read_vectors


def compare(
    request: CompareRequest,
    tasks: Sequence[Task],
    options: EvalOptions,
    run: RunOptions,
    *,
    show: bool = False,
) -> Comparison:
    """Train methods and peers and evaluate all candidates; a failed one does not stop the others.

    Raises OptionError for unknown names; MissingInputError and FormatError for files; InputError if
    there are no vectors, no common words, or no set can be scored.
    """
    names = request.names()
    text = _checked(request, names)
    with _directory(request, run) as directory, open_context(run, show=show) as context:
        trained = _candidates(request, run, directory, text)
        named = [replace(one, name=name) for one, name in zip(trained, names, strict=True)]
        common = common_words(_with_vectors(named))
        answered, notes = answer_tasks(named, common, tasks, context)
    scored, first = score_against(answered, request.against, options.resamples, run.seed)
    if request.against not in (None, first):
        notes.append(f"{request.against} has no scores; differences are relative to {first}")
    every = numbered([task.name for task in tasks])
    sets = tuple(name for name in every if any(name in one.scores for one in scored))
    return Comparison(scored, sets, len(common), first, options, run.seed, tuple(notes))


def _checked(request: CompareRequest, names: Sequence[str]) -> CountedText | None:
    """Check everything that can be checked before training; return the peers' text."""
    if not names:
        raise OptionError("nothing to compare", do="name a matrix or vectors files")
    if request.against is not None and request.against not in names:
        do = suggestion(request.against, names)
        raise OptionError("--against must name a row", found=repr(request.against), do=do)
    for name in request.methods:
        methods.load(name)
    for name in request.peers:
        peers.load(name)
    if request.matrix is None:
        return None
    for path in request.files:  # read completely, so that errors appear before the training
        read_vectors(path)
    open_any(request.matrix)
    for name in request.methods:
        _check_method(name, request)
    return counted_text(request.matrix, request.corpus) if request.peers else None


def _check_method(name: str, request: CompareRequest) -> None:
    """Raise OptionError or InputError for a method that cannot be trained on the inputs."""
    assert request.matrix is not None
    method, first = methods.load(name), entries.first_input(name)
    if VECTORS not in method.MAKES:
        raise OptionError(f"{name} makes no vectors", do="choose others with --methods")
    for kind in entries.missing_inputs(name, request.inputs):
        raise kind.missing(name)
    if first.store_kinds:
        open_store(Path(request.matrix), first.store_kinds)
    elif not request.files:
        raise OptionError(f"{name} needs vectors", do="name a vectors file")
    known = [field.name for cls in reading_options(method) for field, _ in specs(cls)]
    for option in request.weighting:
        if option not in known and first.store_kinds:
            do = "omit it, or choose the methods with --methods"
            raise OptionError(f"{flag(option)} is not an option of {name}", do=do)


@contextlib.contextmanager
def _directory(request: CompareRequest, run: RunOptions) -> Iterator[Path]:
    """Yield the directory for trained vectors, --keep or a temporary one."""
    if request.keep is None:
        with tempfile.TemporaryDirectory(prefix="wordgeom-", dir=run.tmp_dir) as name:
            yield Path(name)
        return
    keep = Path(request.keep)
    if keep.exists() and not run.force and (not keep.is_dir() or any(keep.iterdir())):
        do = "pass --force to write into it, or choose another with --keep"
        raise OutputExistsError("exists and is not an empty directory", where=keep, do=do)
    keep.mkdir(parents=True, exist_ok=True)
    yield keep


def _candidates(
    request: CompareRequest, run: RunOptions, directory: Path, text: CountedText | None
) -> list[Candidate]:
    how = Training(request, run, directory)
    found = [*entries.from_files(request.files), *entries.from_methods(how)]
    return found if text is None else [*found, *entries.from_peers(how, text)]


def _with_vectors(named: Sequence[Candidate]) -> list[Path]:
    """Return the vectors files; raises InputError if there is none."""
    paths = [one.path for one in named if one.path is not None]
    if not paths:
        errors = "; ".join(f"{one.name}: {one.error}" for one in named)
        raise InputError(f"all training runs failed: {errors}")
    return paths
