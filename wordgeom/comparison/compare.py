"""The stage of `compare`: train vectors and evaluate all of them on the same sets and words."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wordgeom import methods, peers
from wordgeom.comparison import entries
from wordgeom.comparison.counting import Counts, check_text, count, needed
from wordgeom.comparison.entries import Candidate, CompareRequest, Training
from wordgeom.comparison.result import Comparison
from wordgeom.comparison.scoring import answer_tasks, check_tasks, common_words, score_against
from wordgeom.core.errors import InputError, OptionError, OutputExistsError
from wordgeom.core.formatting import listed
from wordgeom.core.options import flag, suggestion
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.linalg.device import open_context
from wordgeom.matrices.cooccurrence import COOC
from wordgeom.matrices.opening import open_any
from wordgeom.methods.contract import VECTORS
from wordgeom.methods.inputs.stores import open_store
from wordgeom.peers.counted import counted_text
from wordgeom.peers.sentences import SENTENCES
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.evaluate import numbered
from wordgeom.storage.input_protection import check_outputs


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
    given = _checked(request, names)
    with _directory(request, run) as directory, open_context(run, show=show) as context:
        counts = given or _count(request, directory, run, show)
        how = Training(request, run, directory, counts, context.progress)
        if (matrix := _used_matrix(request, counts)) is not None:
            check_tasks(tasks, open_any(matrix).vocabulary.words, context)
        trained = _candidates(how)
        named = [replace(one, name=name) for one, name in zip(trained, names, strict=True)]
        common = common_words(_with_vectors(named))
        answered, notes = answer_tasks(named, common, tasks, context)
    if request.peers:
        notes.append(SENTENCES)
    notes = [*counts.notes, *request.repeated_files(), *_partial_options(request), *notes]
    scored, first = score_against(answered, request.against, options.resamples, run.seed)
    if request.against not in (None, first):
        notes.append(f"{request.against} has no scores; differences are relative to {first}")
    every = numbered([task.name for task in tasks])
    sets = tuple(name for name in every if any(name in one.scores for one in scored))
    return Comparison(
        scored, sets, len(common), first, options, run.seed, tuple(notes), counts.seconds
    )


def _checked(request: CompareRequest, names: Sequence[str]) -> Counts | None:
    """Check everything that can be checked before training; return the given counts."""
    if not names:
        raise _nothing(request)
    if request.against is not None and request.against not in names:
        do = suggestion(request.against, names)
        raise OptionError("--against must name a row", found=repr(request.against), do=do)
    for name in request.methods:
        methods.load(name)
    for name in request.peers:
        peers.load(name)
    _check_kept(request)
    if not (request.methods or request.peers):
        return Counts({})
    for path in request.files:  # read completely, so that errors appear before the training
        read_any_vectors(Path(path))
    counts = None if request.text else Counts.of(request.matrices)
    for name in request.methods:
        _check_method(name, request, counts)
    _check_weighting(request)
    if request.text is not None:
        check_text(request.text)
    if counts is not None and request.peers:
        counted_text(_text_matrix(counts), request.corpus)
    return counts


def _check_kept(request: CompareRequest) -> None:
    """Raise OptionError where vectors to keep would replace an input."""
    if request.keep is not None:
        made = [f"{name}.bin" for name in (*request.methods, *request.peers)]
        read = [*request.files, *request.matrices, *request.inputs.values(), *request.corpus]
        check_outputs([Path(request.keep) / name for name in made], read)


def _nothing(request: CompareRequest) -> OptionError:
    """Return the error for a comparison of nothing."""
    what, do = "nothing to compare", "name a text, a matrix or vectors files"
    if request.text is not None or request.matrices:
        what += ": neither a method nor a peer is to be trained"
        do = "choose --methods or --peers, or name vectors files"
    return OptionError(what, do=do)


def _check_method(name: str, request: CompareRequest, counts: Counts | None) -> None:
    """Raise OptionError or InputError for a method that cannot be trained on the inputs."""
    first = entries.first_input(name)
    if VECTORS not in methods.load(name).MAKES:
        raise OptionError(f"{name} makes no vectors", do="choose others with --methods")
    for kind in entries.missing_inputs(name, request.inputs):
        raise kind.missing(name)
    if not first.store_kinds:
        if not request.files:
            raise OptionError(f"{name} needs vectors", do="name a vectors file")
    elif counts is not None:
        matrix = counts.of_method(name)
        assert matrix is not None
        open_store(matrix, first.store_kinds)


def _check_weighting(request: CompareRequest) -> None:
    """Raise OptionError for an option that no method takes."""
    trained = [name for name in request.methods if entries.first_input(name).store_kinds]
    for option in request.weighting:
        if trained and not any(entries.takes(name, option) for name in trained):
            do = "omit it, or choose the methods with --methods"
            what = f"{flag(option)} is not an option of {listed(trained, 'or')}"
            raise OptionError(what, do=do)


def _text_matrix(counts: Counts) -> Path:
    """Return the matrix whose text the peers are trained on."""
    return counts.matrices.get(COOC) or next(iter(counts.matrices.values()))


def _used_matrix(request: CompareRequest, counts: Counts) -> Path | None:
    """Return a matrix whose words include all common words, None without one."""
    if request.files or not counts.matrices:
        return None
    return counts.of_method(request.methods[0]) if request.methods else _text_matrix(counts)


def _count(request: CompareRequest, directory: Path, run: RunOptions, show: bool) -> Counts:
    assert request.text is not None
    kinds = needed(request.methods, peers=bool(request.peers))
    return count(request.text, kinds, directory, run, show=show)


@contextlib.contextmanager
def _directory(request: CompareRequest, run: RunOptions) -> Iterator[Path]:
    """Yield the directory for trained vectors, --keep or a temporary one."""
    if request.keep is None:
        with tempfile.TemporaryDirectory(prefix="wordgeom-", dir=run.tmp_dir) as name:
            yield Path(name)
        return
    keep = Path(request.keep)
    if os.path.lexists(keep) and not keep.is_dir():
        raise OptionError("is not a directory", where=keep, do="choose another with --keep")
    if keep.is_dir() and not run.force and any(keep.iterdir()):
        do = "pass --force to write into it, or choose another with --keep"
        raise OutputExistsError("exists and is not an empty directory", where=keep, do=do)
    keep.mkdir(parents=True, exist_ok=True)
    yield keep


def _candidates(how: Training) -> list[Candidate]:
    request = how.request
    found = [*entries.from_files(request.files), *entries.from_methods(how)]
    if not request.peers:
        return found
    text = counted_text(_text_matrix(how.counts), request.corpus)
    return [*found, *entries.from_peers(how, text)]


def _partial_options(request: CompareRequest) -> Iterator[str]:
    """Yield a note on each option that some methods do not have."""
    for option in request.weighting:
        taking = [name for name in request.methods if entries.takes(name, option)]
        if len(taking) < len(request.methods):
            yield f"{flag(option)} applies to {listed(taking)} only"


def _with_vectors(named: Sequence[Candidate]) -> list[Path]:
    """Return the vectors files; raises InputError if there is none."""
    paths = [one.path for one in named if one.path is not None]
    if not paths:
        errors = "; ".join(f"{one.name}: {one.error}" for one in named)
        raise InputError(f"all training runs failed: {errors}")
    return paths
