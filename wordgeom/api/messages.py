"""Messages for Python: keywords in place of flags, functions in place of commands.

Stages compose their errors and notes for the command line: `pass --force`. Each public function
passes on `pass force=True`. The flags are those of its keywords, which the option classes declare.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from wordgeom.api.progress import is_shown
from wordgeom.core.errors import StoppedError, WordgeomError
from wordgeom.core.options import Options, flag, kind, off_flag, specs
from wordgeom.corpus.inputs.held_texts import HELD

if TYPE_CHECKING:
    from wordgeom.stages.stage import Outcome, Stage

_Function = TypeVar("_Function", bound=Callable[..., Any])
FUNCTIONS = {
    "build-cooc": "count", "build-dtm": "count_documents", "build-pmi": "pmi", "train": "train",
    "extend": "extend", "impute": "impute", "convert": "convert", "eval": "score",
    "drift": "measure_drift", "embed": "embed", "compress": "compress", "transform": "transform",
    "subwords": "add_subwords",
}  # fmt: skip
_RENAMED = {"-o": "out", "--from": "source_format", "--to": "target_format"}
_NAMES = dict(_RENAMED)  # the keyword of each flag
_FALSE: set[str] = set()  # flags that set their keyword to False
_SWITCHES: set[str] = set()  # keywords that are true or false
_CHOICES: dict[str, set[str]] = {}

_COMMAND = re.compile(
    rf"(?:\bwordgeom ({'|'.join(FUNCTIONS)})|(?<![\w:/-])(build-(?:cooc|dtm|pmi)))(?![\w/-])"
    r"((?: (?:-[\w-]+|[A-Z]{2,}|(?<=-o )[^\s;,]+|[^\s;,]*[/*][^\s;,]*|(?<=--method )\w+))*)"
)
_MADE_WITH = re.compile(r"\bmade with (--[a-z][a-z0-9-]*) (.*), not (.*)")
_FLAG = re.compile(
    r"(?<![\w'\"-])(?P<flag>-o\b|--[a-z][a-z0-9-]*)"
    r"(?: (?P<value>[A-Z]+\b(?!-)|-?\d[\d.]*(?:e-?\d+)?(?<!\.)(?![\w/])|\w[\w-]*))?"
    r"(?P<others>(?: or \w[\w-]*)*)"
)
_ALTERNATIVE = re.compile(r" or (\S+)")
_STANDARD_INPUT, _TEXTS = "or give - for standard input", "or pass text as texts=[text]"
_ADJACENT = re.compile(r"(=(?:\"[^\"]*\"|[\w.]+)) (?=[a-z_]+=)")


def declare(names: Iterable[str], classes: Iterable[type[Options]] = ()) -> None:
    """Record the keywords of a public function; classes: of the options among them."""
    _NAMES.update({flag(name): name for name in names} | _RENAMED)
    for field, spec in (declared for cls in classes for declared in specs(cls)):
        _CHOICES.setdefault(field.name, set()).update(spec.choices)
        if kind(field) == "bool":
            _SWITCHES.add(field.name)
            _NAMES[off_flag(field.name)] = field.name
            _FALSE.add(off_flag(field.name))


def in_keywords(text: str) -> str:
    """Return a message with keywords in place of flags."""
    text = in_memory(text).replace(_STANDARD_INPUT, _TEXTS)
    text = _MADE_WITH.sub(_settings, _COMMAND.sub(_call, text))
    return _ADJACENT.sub(r"\1, ", _FLAG.sub(_keyword, text))


def in_memory(text: str) -> str:
    """Return a message with numbers of documents in place of lines of no file."""
    return text.replace(f"{HELD} line ", "document ").replace(HELD, "the texts")


def public(function: _Function) -> _Function:
    """Let the errors of a function speak of keywords."""

    @functools.wraps(function)
    def speaking(*given: Any, **options: Any) -> Any:
        try:
            return function(*given, **options)
        except (WordgeomError, StoppedError) as error:
            if isinstance(error, WordgeomError):
                error.where = in_memory(error.where)
            error.reword(in_keywords)
            raise

    return speaking  # type: ignore[return-value]


def run(stage: Stage) -> Outcome:
    """Run a stage; its notes, and those of its report, speak of keywords."""
    from wordgeom.stages.stage import run_stage

    made = run_stage(stage, show=is_shown())
    made.notes, made.lines = reworded(made.notes), reworded(made.lines)
    value = made.value
    if is_dataclass(value) and hasattr(value, "notes"):  # a report
        made.value = replace(cast(Any, value), notes=reworded(value.notes))
    return made


def reworded(notes: Iterable[str]) -> list[str]:
    """Return notes that speak of keywords."""
    return [in_keywords(note) for note in notes]


def _call(found: re.Match[str]) -> str:
    """Return the call that does what a command line does."""
    given, name = [], f"wg.{FUNCTIONS[found[1] or found[2]]}"
    words = iter(found[3].split())
    for word in words:
        keyword = _NAMES.get(word)
        if keyword is None:
            given.append(_literal(word))
        elif keyword in _SWITCHES:
            given.append(f"{keyword}={word not in _FALSE}")
        else:
            given.append(f"{keyword}={_literal(next(words, '...'))}")
    return f"{name}({', '.join(given)})" if given else name


def _settings(found: re.Match[str]) -> str:
    name = _NAMES.get(found[1])
    return found[0] if name is None else f"made with {name}={found[2]}, not {found[3]}"


def _keyword(found: re.Match[str]) -> str:
    """Return a flag as a keyword, with the value behind it if that is one and not prose."""
    spelt, value = found["flag"], found["value"] or ""
    name = _NAMES.get(spelt)
    if name is None:
        return found[0]
    rest = found[0].removeprefix(spelt)
    before, behind = found.string[: found.start()], found.string[found.end("flag") :]
    if behind.startswith(" must be"):
        return name + rest
    if name in _SWITCHES:
        return f"{name}={spelt not in _FALSE}{rest}"
    chosen = _CHOICES.get(name, set())
    if value in chosen:
        return f"{name}={_literal(value)}" + _ALTERNATIVE.sub(
            lambda other: f' or "{other[1]}"' if other[1] in chosen else other[0], found["others"]
        )
    if value.isupper() or value.startswith(tuple("-0123456789")):
        return f"{name}={value}{found['others']}"
    if value == "_" or (value and before.endswith("pass ") and behind == f" {value}"):
        return f"{name}={_literal(value)}"
    return f"{name}={rest}"


def _literal(value: str) -> str:
    return value.lower() if value.isupper() or value == "..." else f'"{value}"'
