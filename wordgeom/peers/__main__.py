"""`python -m wordgeom.peers JSON OUT`: train a peer, write vectors, print statistics as JSON."""

from __future__ import annotations

import json
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

_MEMORY = 0.3  # GB, the minimum: text is spooled to disk and the memory left to the peer


def main(request: str, out: str) -> int:
    """Train the peer of a request from cache.py; returns the exit status."""
    fields = json.loads(request)
    options = peers.PeerOptions(**fields["options"])
    text = Text(tuple(fields["text"]["names"]), CorpusOptions(**fields["text"]["options"]))
    run = RunOptions(threads=options.threads, seed=options.seed, memory=_MEMORY)
    try:
        with open_context(run) as context:
            with open_sentences(text, context) as sentences:
                model = peers.load(fields["peer"])(sentences, options)
            write_vectors(Path(out), model.vectors.words, model.vectors.matrix)
    except WordgeomError as error:
        sys.stderr.write(f"wordgeom: {error}\n")
        return error.exit_code
    facts = {"tokens": model.tokens, "notes": [*model.notes, text.note]}
    facts["peak_bytes"] = provenance.peak_memory()
    json.dump(facts, sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
