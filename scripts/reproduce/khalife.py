"""Khalife, Gonçalves and Liberti (2022), "Distance Geometry for Word Representations": Tables 1-7.

    scripts/reproduce/khalife [--tables 1,2,3,4,5,6,7] [--counts COOC] [--vectors NAME=FILE …]
        [--qvec ORACLE] [--proteins FILE …] [--tasks FILE …] [--webkb FILE]
        [--subjectivity PLOT QUOTE] [--amazon FILE] [--out DIR] [--dims 100,200,300] [--full]

Tables 1 and 2 need no data. Tables 3 and 7 need --counts, co-occurrence counts of a corpus; Table 5
also needs --qvec, and Table 6 at least one of --webkb, --subjectivity and --amazon. Table 4 needs
--proteins, sequences without a target (FASTA, or CSV with a column sequence), and --tasks, tables
with the columns sequence, target and is_train. Without --tables, every table runs whose data are
given. --vectors adds rows such as glove=glove-100.bin to Tables 5, 6 and 7 (repeatable). Vectors
trained on --counts are stored in --out and used again. The default setting is reduced: 3 runs per
cell of Tables 1 and 2, 10 epochs of doc2vec, at most 3,000 documents of 100 words per data set for
the convolutional network at K = 100. --full uses 10 runs, 25 epochs, all documents of 400 words and
all --dims.

The criteria, fixed before the first run. "Published" is the algorithm as printed, on PMI:

Table 1  exact    With exact data, Algorithm 1 has a lower mean score and takes less time than Adam,
                  at both rates, in every cell.
         noise    With noise, Algorithm 1 fails (is not finite) in some run at K = 200 and both n,
                  never at K = 3; Adam never fails.
Table 2  rate     With m = ⌈1.5 K⌉ and noise, Algorithm 1 never fails and has a lower mean score and
                  less time than Adam in every cell: once for rate 1e-3, once for rate 1e-1.
Table 3  growth   From V/8 words to V, the exponent of n in the CPU time of published gbu is at most
                  1.15; from the smallest K to the largest, its exponent of K is at most 3, and that
                  of pmi-eigs too.
         order    At every n and K, published gbu takes less than published pmi-eigs.
Table 4  scores   For both tasks and windows, published gbu has a higher R² and a lower mean absolute
                  error than doc2vec.
         time     It takes at most a tenth of doc2vec's training time, for both windows.
Table 5  order    QVEC: random < published gbu < published dc < published pmi-eigs at every K.
         peers    GloVe and fastText score above published dc and below published pmi-eigs.
Table 6  random   F1 of the network: random vectors score at least 3 points below every other row on
                  Subjectivity and Amazon, and at most 3 points below on WebKB.
         close    Published gbu is within 2 points of the best of GloVe, fastText and skip-gram.
Table 7  order    CPU time at every K: published gbu < published dc < published pmi-eigs < peers.
         half     Published gbu takes at most half the time of published pmi-eigs at every K.

A criterion that needs a missing row is not tested.
"""
