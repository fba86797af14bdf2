"""`python -m wordgeom.peers JSON OUT`: train a peer, write its vectors, print facts as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from wordgeom import peers
from wordgeom.core.errors import WordgeomError
from wordgeom.corpus.options import CorpusOptions
from wordgeom.linalg.device import open_context
from wordgeom.peers.sentences import Text, opened
from wordgeom.runtime import provenance
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import write_vectors

_MEMORY = 0.3  # GB, the least: the text waits on the disk, and the memory is the peer's own


def main(request: str, out: str) -> int:
    """Do what a request of cache.py asks for; returns the exit status."""
    asked = json.loads(request)
    options = peers.PeerOptions(**asked["options"])
    text = Text(tuple(asked["text"]["names"]), CorpusOptions(**asked["text"]["options"]))
    run = RunOptions(threads=options.threads, seed=options.seed, memory=_MEMORY)
    try:
        with open_context(run) as context:
            with opened(text, context) as sentences:
                made = peers.load(asked["peer"])(sentences, options)
            write_vectors(Path(out), made.vectors.words, made.vectors.matrix)
    except WordgeomError as error:
        sys.stderr.write(f"wordgeom: {error}\n")
        return error.exit_code
    facts = {"tokens": made.tokens, "notes": [*made.notes, text.note]}
    facts["peak_bytes"] = provenance.peak_memory()
    json.dump(facts, sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
