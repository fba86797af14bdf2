"""`python -m wordgeom`, and the program `wordgeom`."""

# Nothing is imported before run(): an interrupt during imports is reported like any other.


def run() -> None:
    """Be the program; exit with 130 and one line if the imports are interrupted."""
    try:
        from wordgeom.cli import run as program
    except KeyboardInterrupt:
        import os

        os.write(2, b"wordgeom: interrupted; existing output is unchanged\n")
        os._exit(130)
    program()


if __name__ == "__main__":
    run()
