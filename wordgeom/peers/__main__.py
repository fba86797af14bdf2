"""`python -m wordgeom.peers JSON OUT`: train a peer, write vectors, print statistics as JSON.

Each line before the statistics is a number: the percentage of the work that is done.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from wordgeom import peers
from wordgeom.core.errors import WordgeomError
from wordgeom.corpus.options import CorpusOptions
from wordgeom.linalg.device import open_context
from wordgeom.peers.sentences import Text, open_sentences
from wordgeom.runtime import provenance
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import write_vectors

_INTERRUPTED = 130
_MEMORY = 0.3  # GB, the minimum: text is spooled to disk and the memory left to the peer


def main(request: str, out: str) -> int:
    """Train the peer of a request from cache.py; returns the exit status."""
    fields = json.loads(request)
    options = peers.PeerOptions(**fields["options"])
    text = Text(**{**fields["text"], "options": CorpusOptions(**fields["text"]["options"])})
    run = RunOptions(threads=options.threads, seed=options.seed, memory=_MEMORY)
    peer = peers.load(fields["peer"])
    try:
        with open_context(run) as context:
            with open_sentences(text, context, _Percent(peer.passes(options))) as sentences:
                model = peer.train(sentences, options)
            write_vectors(Path(out), model.vectors.words, model.vectors.matrix)
    except WordgeomError as error:
        sys.stderr.write(f"wordgeom: error: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    facts = {"tokens": model.tokens, "notes": model.notes}
    facts["peak_bytes"] = provenance.peak_memory()
    json.dump(facts, sys.stdout, ensure_ascii=False)
    return 0


class _Percent:
    """Prints the percentage of the work each time that another one is done."""

    def __init__(self, passes: int) -> None:
        self._passes, self._done, self._printed = passes, 0, 0

    def __call__(self, read: int, length: int) -> None:
        self._done += read
        percent = min(100 * self._done // (self._passes * length), 100)
        if percent > self._printed:
            self._printed = percent
            print(percent, flush=True)  # noqa: T201 - the protocol of this process


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # scratch files are removed
    sys.exit(main(*sys.argv[1:]))
