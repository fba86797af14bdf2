"""Shell completion: commands, options and choices by click, names of methods, and files."""

from __future__ import annotations

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    shell_complete,
)

from wordgeom import methods

_METHOD, _METHODS = "--method", "--methods"  # one name, and several with commas between them


def complete(group: click.Group, variable: str, instruction: str) -> int:
    """Answer a shell, which set the environment's `variable` to `instruction`."""
    for cls in (_Bash, _Zsh, _Fish):
        add_completion_class(cls)
    return shell_complete(group, {}, "wordgeom", variable, instruction)


class _Completing(ShellComplete):
    """Completes method names and files, which click knows nothing of."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return what `incomplete` may become behind `args`."""
        found = super().get_completions(args, incomplete)
        if found or not args or incomplete.startswith("-"):
            return found
        if args[-1] in (_METHOD, _METHODS):
            return _methods(incomplete if args[-1] == _METHODS else "", incomplete)
        return [CompletionItem(incomplete, type="file")]


def _methods(listed: str, incomplete: str) -> list[CompletionItem]:
    """Return the methods that the last name of a list may become, the others before it."""
    before = listed[: listed.rfind(",") + 1]
    start = incomplete.removeprefix(before)
    return [CompletionItem(before + name) for name in methods.names() if name.startswith(start)]


class _Bash(_Completing, BashComplete):
    """Completion in bash."""


class _Zsh(_Completing, ZshComplete):
    """Completion in zsh."""


class _Fish(_Completing, FishComplete):
    """Completion in fish."""
