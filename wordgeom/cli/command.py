"""A command that notices an option without its value."""

from __future__ import annotations

from itertools import pairwise

import click


class Command(click.Command):
    """A command whose options do not take the name of another one as their value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Raises BadOptionUsage where a value is missing before an option."""
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        valued = {name for option in options if not option.is_flag for name in option.opts}
        known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        plain = args.index("--") if "--" in args else len(args)
        for arg, after in pairwise(args[:plain]):
            if arg in valued and after in known and not ctx.resilient_parsing:
                what = f"Option {arg!r} requires an argument."  # as click itself says at the end
                raise click.BadOptionUsage(arg, what, ctx=ctx)
        return super().parse_args(ctx, args)
