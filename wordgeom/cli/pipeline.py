"""The steps of a configuration file: its tables, in order, and what one takes from another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wordgeom.cli import flags, frame, invocation
from wordgeom.core.errors import MissingInputError, OptionError, OutputExistsError, WordgeomError

# Inputs that a table need not name, with the default of each command's own. The output of the
# table whose default output that is takes its place.
_INPUTS: dict[str, dict[str, str | None]] = {
    "merge": {"matrices": "cooc"},
    "build-pmi": {"counts": "cooc"},
    "extend": {"vectors": "vectors.bin", "counts": "cooc"},
    "impute": {"vectors": "vectors.bin"},
    "embed": {"vectors": "vectors.bin", "counts": None},
    "transform": {"vectors": "vectors.bin"},
    "subwords": {"vectors": "vectors.bin"},
    "compress": {"vectors": "vectors.bin"},
    "convert": {"source": "vectors.bin"},
    "eval": {"vectors": "vectors.bin"},
    "compare": {"vectors": "vectors.bin", "matrix": "cooc"},
    "drift": {"model": "model"},
    "plot angles": {"vectors": "vectors.bin"},
    "plot spectrum": {"vectors": "vectors.bin"},
    "plot loss": {"vectors": "vectors.bin"},
    "plot imputation": {"vectors": "vectors.imputed.bin"},
    "plot map": {"vectors": "vectors.bin"},
    "plot drift": {"source": "model"},
}
_OUTPUTS = {
    "build-cooc": "cooc", "build-dtm": "dtm", "merge": "cooc", "build-pmi": "pmi",
    "extend": "vectors.extended.bin", "impute": "vectors.imputed.bin", "embed": "texts.npy",
    "transform": "vectors.transformed.bin", "subwords": "vectors.ngrams.bin",
    "compress": "vectors.compressed.npz",
}  # fmt: skip
_CHANGED = ("extend", "impute", "transform", "subwords", "compress")  # vectors from vectors
_SEVERAL = (
    ("merge", "matrices"), ("plot spectrum", "vectors"), ("plot loss", "vectors"),
    ("compare", "vectors"),
)  # fmt: skip
_OTHERS = (
    "read_vocab", "stop_words", "keep_words", "domain", "corpus", "sets", "categories", "classify",
    "regress", "only", "name_map", "colour_by", "metadata", "reference", "fit", "align",
    "power_pairs", "report", "morphs",
)  # fmt: skip
_BESIDE = ("documents", "save_vocab", "table", "keep")  # outputs besides the first


@dataclass(frozen=True)
class Step:
    """A table: its command, with the kind of a plot, how messages name it, and its settings.

    note: on vectors that it could read instead, empty where there are none.
    """

    name: str
    place: str
    table: frame.Settings
    note: str = ""

    def prepare(self, **more: bool) -> frame.Stage | invocation.Invocation:
        """Return what runs it; more: settings of the whole run. Raises WordgeomError."""
        table, own = {**self.table, **more}, self.name.partition(" ")[0]
        made = frame.prepare if own in frame.STAGES else invocation.prepare
        return made(own, table, self.place)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Name the table in the errors of the block."""
        try:
            yield
        except WordgeomError as error:
            raise error.within(self.place) from None

    @property
    def default(self) -> str:
        """The default of its output, empty where no other table takes that."""
        if self.table.get("vocab_only"):
            return ""
        if self.name != "train":
            return _OUTPUTS.get(self.name, "")
        from wordgeom import methods
        from wordgeom.methods.contract import MODEL

        return "model" if methods.load(self.table["method"]).MAKES == (MODEL,) else "vectors.bin"

    @property
    def inputs(self) -> dict[str, str | None]:
        """Its inputs that are files or directories, with their defaults."""
        if self.name != "train" or not isinstance(self.table.get("method"), str):
            return {**_INPUTS.get(self.name, {}), **dict.fromkeys(_OTHERS)}
        from wordgeom import methods
        from wordgeom.methods.inputs import settings_of

        kinds = settings_of(methods.load(self.table["method"]))
        found = {setting: kind.default for setting, kind in kinds.items()}
        return {**found, **dict.fromkeys(name for name in _OTHERS if name not in found)}

    def paths(self, names: Sequence[str]) -> Iterator[str]:
        """Yield the paths that these settings name."""
        for name in names:
            value = self.table.get(name, [])
            yield from (v for v in (value if isinstance(value, list) else [value]) if _text(v))


@dataclass(frozen=True)
class _Made:
    """An output: its path, the table that makes it, and the default that it replaces."""

    path: str
    place: str
    default: str = ""


def read_steps(config: str) -> list[Step]:
    """Return the steps of a configuration file, checked as far as files allow that exist.

    Raises MissingInputError, FormatError, OptionError and what the stages find.
    """
    tables = flags.read_tables(config, frame.TABLES)
    given = [
        Step(_named(name, table), flags.place(config, name, k, len(tables[name])), table)
        for name in frame.TABLES for k, table in enumerate(tables.get(name, []))
    ]  # fmt: skip
    if not given:
        do = f"add one of {', '.join(f'[{name}]' for name in frame.TABLES)}"
        raise OptionError("has no table", where=config, do=do)
    steps: list[Step] = []
    made: list[_Made] = []
    for one in given:
        with one.errors():
            new = _connected(one, made)
            steps += new
            for step in new:
                made += _outputs(step, made)
        if one.name == "merge":  # its sum stands for the counts that it adds up
            parts = set(new[0].paths(["matrices"]))
            made = [replace(o, default="") if o.path in parts else o for o in made]
    for step in steps:
        with step.errors():
            _check_inputs(step, steps, made)
    return steps


def _named(name: str, table: frame.Settings) -> str:
    return f"{name} {table['kind']}" if name == "plot" and _text(table.get("kind")) else name


def _connected(step: Step, made: Sequence[_Made]) -> list[Step]:
    """Return the step with outputs of earlier tables in place of the defaults of its inputs.

    `eval` becomes a step for each of several vectors. Raises OptionError where several could be
    meant.
    """
    table, note = dict(step.table), ""
    for name, default in step.inputs.items():
        found = [one.path for one in made if one.default == default]
        if name in table or default is None or not _wanted(step, name):
            continue
        documents = _documents(step, name, made)
        if documents and len(found) < 2:
            present = [default] if os.path.isdir(default) else []
            table[name] = [*(found or present), documents]
            continue
        if not found:
            continue
        note = note or _other_vectors(step, name, default, found, made)
        if (step.name, name) in _SEVERAL:
            table[name] = found
        elif len(found) == 1:
            table[name] = found[0]
        elif step.name == "eval":
            each = [replace(step, table={**step.table, name: path}) for path in found]
            return [replace(each[0], note=note), *each[1:]]
        else:
            do = f"name one of them: {name} = {found[0]!r}".replace("'", '"')
            what = f"could take {name} from several tables ({', '.join(found)})"
            raise OptionError(what, do=do)
    return [replace(step, table=table, note=note)]


def _other_vectors(
    step: Step, name: str, default: str, found: Sequence[str], made: Sequence[_Made]
) -> str:
    """Return a note where an earlier table changed the vectors that an input takes."""
    if default != "vectors.bin":
        return ""
    changed = {_OUTPUTS[command] for command in _CHANGED}
    last = next((one for one in reversed(made) if one.default in changed), None)
    if last is None:
        return ""
    return (f"{step.place} reads {', '.join(found)}; to read the output of {last.place}, name "
            f'{name} = "{last.path}"')  # fmt: skip


def _documents(step: Step, name: str, made: Sequence[_Made]) -> str:
    """Return the document-term matrix that `compare` takes beside the counts, "" if none."""
    found = [one.path for one in made if one.default == _OUTPUTS["build-dtm"]]
    return found[0] if (step.name, name) == ("compare", "matrix") and len(found) == 1 else ""


def _wanted(step: Step, name: str) -> bool:
    """Return whether an input of `compare` is to be compared: counts only to train on them."""
    trains = "methods" in step.table or "peers" in step.table
    if step.name != "compare":
        return True
    return trains and "methods" in step.table if name == "matrix" else "matrix" not in step.table


def _outputs(step: Step, made: Sequence[_Made]) -> list[_Made]:
    """Return the outputs of a step. Raises OptionError for one that another table writes."""
    out = step.prepare().out
    found = [] if out is None else [_Made(os.fspath(out), step.place, step.default)]
    found += [_Made(path, step.place) for path in step.paths(_BESIDE)]
    for folder in {Path(one.path).absolute().parent for one in found}:
        if not folder.is_dir():
            do = "create it, or choose another output"
            raise MissingInputError("no such directory", where=folder, do=do)
    for k, one in enumerate(found):
        other = next((o for o in (*made, *found[:k]) if _same(o.path, one.path)), None)
        if other is not None:
            how = " twice" if other.place == one.place else f", as {other.place} does"
            do = "give each output a name of its own"
            raise OptionError(f"writes {one.path}{how}", do=do)
    return found


def _check_inputs(step: Step, steps: Sequence[Step], made: Sequence[_Made]) -> None:
    """Raise the errors that can be found before the first step runs."""
    order = [one.place for one in steps]
    follows = False
    for path in step.paths(list(step.inputs)):
        maker = next((one for one in made if _same(one.path, path)), None)
        if maker is not None and order.index(maker.place) > order.index(step.place):
            do = "name another file, or run the later table in a configuration file of its own"
            what = f"reads {path}, which {maker.place} writes after it"
            raise OptionError(what, do=do)
        follows |= maker is not None
        if maker is None and path not in step.paths(["corpus"]) and not os.path.exists(path):
            raise MissingInputError("no such file or directory", where=path, do="check the path")
    if not follows:
        with contextlib.suppress(OutputExistsError):  # which is decided when it runs
            step.prepare().check()


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value
