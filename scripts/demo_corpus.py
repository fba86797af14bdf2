"""Write the Wikipedia articles that come with gensim as a corpus, one lower-case line each."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gensim.corpora import WikiCorpus
from gensim.test.utils import datapath

DUMP = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"


def main(output: Path) -> None:
    """Extract the articles to `output`, which is written atomically."""
    articles = tokens = 0
    partial = output.with_name(output.name + ".partial")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        # An empty dictionary keeps gensim from counting every word first.
        for words in WikiCorpus(datapath(DUMP), dictionary={}, processes=1).get_texts():
            file.write(" ".join(words) + "\n")
            articles, tokens = articles + 1, tokens + len(words)
    os.replace(partial, output)
    print(f"{output}: {articles} articles of English Wikipedia, {tokens:,} words")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
