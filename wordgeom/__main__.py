"""`python -m wordgeom`, and the program `wordgeom`."""

# Nothing is imported before run(): an interrupt during imports is reported like any other.


def run() -> None:
    """Be the program; exit with one line and its status if the imports are interrupted."""
    said, status = "interrupted; existing output is unchanged", 130
    try:
        import sys

        from wordgeom.core.interruption import interrupted

        said, status = interrupted("".join(sys.argv[1:2]))
        from wordgeom.cli import run as program
    except KeyboardInterrupt:
        import os

        os.write(2, f"wordgeom: {said}\n".encode())
        os._exit(status)
    program()


if __name__ == "__main__":
    run()
