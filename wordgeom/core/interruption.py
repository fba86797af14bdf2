"""What an interrupted command says, and its status, by its name alone.

Nothing is imported here: the modules of the command may not be loaded yet.
"""

RESUMABLE = (
    "build-cooc", "build-dtm", "build-pmi", "train", "extend", "impute", "compress", "eval",
    "merge", "drift", "run",
)  # fmt: skip
WITHOUT_OUTPUT = ("similar", "analogy", "eval", "drift", "info", "plan", "jobs")
CONTINUE = "continue with --resume"
REPEAT = "no checkpoint was saved yet: repeat the command"
TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h: queues take it for "try again later"
_STOPPED = 130  # 128 + SIGINT, as of a shell


def interrupted(command: str) -> tuple[str, int]:
    """Return the line and the status of a command that has saved no checkpoint."""
    output = command not in WITHOUT_OUTPUT
    if command in RESUMABLE:
        return stopped(REPEAT, output), TRY_AGAIN
    return stopped("", output), _STOPPED


def stopped(do: str, output: bool) -> str:
    """Return the line of an interruption; do: how to go on; output: the command writes some."""
    return "; ".join(filter(None, ["interrupted", do, "existing output is unchanged" * output]))
