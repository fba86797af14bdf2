"""`python -m wordgeom`."""

from wordgeom.cli import run

run()
