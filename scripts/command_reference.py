"""Write docs/reference/commands.md from the commands and their options; --check only compares."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from wordgeom import methods
from wordgeom.cli import COMMANDS, flags, group
from wordgeom.cli.train import COMMON, input_options
from wordgeom.core.options import flag, range_text, specs

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "commands.md"
_HEAD = """# Commands

`scripts/command_reference.py` generates this page from the help of the commands; do not edit it.
Every option is also a key in the command's table of a configuration file (`min-count = 10`) and a
keyword of the Python function (`min_count=10`). A flag overrides the file, and the file overrides
the default.
"""


def reference() -> str:
    """Return the text of docs/reference/commands.md."""
    context = click.Context(group, info_name="wordgeom")
    parts = [_HEAD]
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        parts += _command(name, command, context)
    return "\n".join(parts)


def _command(name: str, command: click.Command, parent: click.Context) -> list[str]:
    options = ["--help"] if name == "train" else []
    with command.make_context(name, options, parent, resilient_parsing=True) as context:
        usage = " ".join(["wordgeom", name, *command.collect_usage_pieces(context)])
        own = [p for p in command.params if isinstance(p, click.Option)]
    help_ = inspect.cleandoc(command.help or "").replace("\b\n", "")
    level = "#" * (1 + len(name.split()))
    parts = [f"{level} {name}\n", f"    {usage}\n", f"{_code_blocks(help_)}\n", *_table(own)]
    if isinstance(command, click.Group):
        for member in command.list_commands(context):
            found = command.get_command(context, member)
            assert found is not None
            parts += _command(f"{name} {member}", found, parent)
    if name == "train":
        common = {flag(field.name) for cls in COMMON for field, _ in specs(cls)}
        for method in methods.names():
            parts += [f"### train --method {method}\n", f"{methods.summary(method)}\n"]
            made = [*input_options(method), *flags.parameters(methods.load(method).Options)]
            parts += _table([p for p in made if p.opts[0] not in common])
    return parts


def _code_blocks(text: str) -> str:
    """Indent by four what a help text indents by two."""
    return re.sub(r"^  (?=\S)", "    ", text, flags=re.MULTILINE)


def _table(options: Iterable[click.Option]) -> list[str]:
    rows = [_row(option) for option in options]
    if not rows:
        return []
    return ["| option | values | default | meaning |\n|---|---|---|---|", *rows, ""]


def _row(option: click.Option) -> str:
    text, default = _help(option)
    names = " ".join(f"`{spelling}`" for spelling in (*option.opts, *option.secondary_opts))
    shown = f"`{default}`" if default else ""
    return "| " + " | ".join([names, _values(option), shown, text.replace("|", "\\|")]) + " |"


def _help(option: click.Option) -> tuple[str, str]:
    """Return the help of an option and its default, which stands in brackets at the end."""
    found = re.fullmatch(r"(.*?)(?:  \[([^\]]*)\])?", option.help or "")
    assert found is not None
    return found[1], found[2] or ""


def _values(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    text = option.metavar or "N"
    if not isinstance(option, flags.Declared):
        return text
    spec = option.spec
    limits = "" if (spec.low, spec.high) == (None, None) else f" {range_text(spec)}"
    return f"{text}{limits}" + "".join(f", `{word}`" for word in spec.words)


def main() -> int:
    """Write the page, or with --check compare it with what would be written."""
    text = reference()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.name} is out of date; run scripts/command_reference.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
