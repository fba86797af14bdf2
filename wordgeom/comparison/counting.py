"""The counts of a comparison: those that were given, or those that its candidates need of a text.

A text is counted into the directory of the trained vectors. The seconds of a candidate do not
include the counting, which all candidates of a kind share.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordgeom import methods
from wordgeom.checkpoint.state import state_folder
from wordgeom.core.errors import OptionError, StoppedError
from wordgeom.corpus.inputs.readers import is_stream
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.matrices.cooccurrence import COOC, DTM
from wordgeom.matrices.kinds import noun
from wordgeom.matrices.opening import COMMANDS, open_any
from wordgeom.methods.inputs import inputs_of
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages import corpus_inputs
from wordgeom.stages.build_cooc import BuildCooc
from wordgeom.stages.build_dtm import BuildDtm
from wordgeom.stages.counting import CountStage
from wordgeom.stages.stage import run_stage

_log = logging.getLogger("wordgeom")
COUNTED = (COOC, DTM)
_NAMES = {COOC: "cooc", DTM: "dtm"}


@dataclass(frozen=True)
class TextRequest:
    """A text to count: names as of `build-cooc`, how it is read, and the window of the pairs."""

    names: tuple[str, ...]
    corpus: CorpusOptions = field(default_factory=CorpusOptions)
    window: WindowOptions = field(default_factory=WindowOptions)


@dataclass(frozen=True)
class Counts:
    """Matrices by kind, the seconds of those that were counted by name, and notes."""

    matrices: Mapping[str, Path]
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, paths: Sequence[str]) -> Counts:
        """Return given matrices; raises OptionError for two that serve the same methods.

        Raises what `open_any` raises, for stores that are not matrices as well.
        """
        found: dict[str, Path] = {}
        for path in paths:
            kind = DTM if open_any(path).store.kind == DTM else COOC
            if kind in found:
                do = "compare methods on one matrix of each kind, or vectors files"
                raise OptionError("compare takes one matrix of each kind",
                                  found=f"{found[kind]} and {path}", do=do)  # fmt: skip
            found[kind] = Path(path)
        return cls(found)

    def of_method(self, name: str) -> Path | None:
        """Return the matrix that a method reads, or else any; None if it reads no matrix."""
        kinds = inputs_of(methods.load(name))[0].store_kinds
        fitting = [path for kind, path in self.matrices.items() if kind in kinds]
        return (*fitting, *self.matrices.values())[0] if kinds else None


def needed(names: Sequence[str], *, peers: bool) -> list[str]:
    """Return the kinds of counts that methods and peers need.

    Raises OptionError for a method that needs a matrix of another kind.
    """
    kinds = {COOC} if peers else set()
    for name in names:
        readable = inputs_of(methods.load(name))[0].store_kinds
        counted = [kind for kind in COUNTED if kind in readable]
        if readable and not counted:
            what = f"{name} needs {' or '.join(noun(kind) for kind in readable)}"
            do = f"run wordgeom {COMMANDS[readable[0]]}, and compare on what it makes"
            raise OptionError(f"{what}, which compare does not make", do=do)
        kinds.update(counted[:1])
    return [kind for kind in COUNTED if kind in kinds]


def check_text(text: TextRequest) -> None:
    """Raise OptionError for a pipe, and what `corpus_inputs.find` raises for missing files."""
    for name in text.names:
        if is_stream(name):
            do = "write the text to a file; compare reads it more than once"
            raise OptionError("compare needs files", found=name, do=do)
    corpus_inputs.find(text.names, text.corpus)


def count(
    text: TextRequest, kinds: Sequence[str], directory: Path, run: RunOptions, *, show: bool
) -> Counts:
    """Count a text into stores of the kinds in a directory; raises what the stages raise."""
    matrices, seconds, notes = {}, {}, []
    for kind in kinds:
        name = _NAMES[kind]
        out, clock = directory / name, Clock()
        _log.info("counting %s …", name)
        outcome = _run(_STAGES[kind](text, out, run), out, show)
        matrices[kind], seconds[name] = out, round(clock.seconds(), 3)
        made = outcome.summary.removeprefix(f"{out}: ").partition(";")[0]
        notes.append(f"{name}: {made}; counted in {seconds[name]:,.1f} s, which no row includes")
        notes += outcome.notes
    return Counts(matrices, seconds, tuple(dict.fromkeys(notes)))


def _run(stage: CountStage, out: Path, show: bool) -> Any:
    try:
        return run_stage(stage, show=show)
    except StoppedError:  # compare cannot resume it
        shutil.rmtree(state_folder(out), ignore_errors=True)
        raise KeyboardInterrupt from None


def _cooc(text: TextRequest, out: Path, run: RunOptions) -> CountStage:
    return BuildCooc(text.names, out, text.corpus, run, window=text.window)


def _dtm(text: TextRequest, out: Path, run: RunOptions) -> CountStage:
    return BuildDtm(text.names, out, text.corpus, run)


_STAGES: dict[str, Callable[[TextRequest, Path, RunOptions], CountStage]] = {
    COOC: _cooc,
    DTM: _dtm,
}
