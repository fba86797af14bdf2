"""Saul (2022), "A geometrical connection between sparse and low-rank matrices": its results.

    scripts/reproduce/saul [--vectors FILE] [--images IMAGES LABELS] [--out DIR]
        [--dims 4,8,16,32,64,128] [--words 8000] [--digits 10000] [--few 5000] [--threads 2]

--vectors: word vectors, the most frequent words first, which stand for fastText's. --images:
MNIST's images and labels (idx, also .gz). Without one of them, its half of the results is left out.
Words are the first --words of the file, the words of gensim's analogies, and the 15 nearest
neighbours of each of those, as in section 2.3 (the paper: 18,000 and 25,124 in all). --digits:
images, the first of the file (14,000). Figures 6 and 7 take all words of the file and the same
digits, and a fifth of either as landmarks. The sum constraint and Figures 9 and 11 take the first
--few words and digits, because Isomap's time grows with the cube of their number. Vectors, scores
and figures are stored in --out: an interrupted run continues where it was.

τ leaves 99 % of the pairs below it. One seed, 250 updates, momentum .9, no sum constraint.

The criteria, fixed before the first run of this script (docs/methods/tsm.md had results on 4,000
digits and on up to 25,000 words at d = 8 to 64 before). Δ is the mean angle error of similar pairs,
J the Jaccard index of similar pairs. "Every d" is each of --dims from 16 on.

Figure 2   near        At most 5 % of the items have no other at a cosine above τ.
Figure 3   Δ           TSM has a lower Δ than SVD at every d, on words and on digits.
Figure 4   J           TSM has a higher J than SVD at every d, on words and on digits.
Figure 5   semantic    At d = 32, TSM completes more semantic analogies than SVD, and the 95 %
                       interval of the difference, resampled by word pairs, is above 0.
           syntactic   The same for syntactic analogies.
           larger      The difference is larger for semantic than for syntactic analogies.
Table 1    examples    At d = 32, every category has a question that TSM completes and SVD does not.
Figure 6   Δ           TSM with landmarks has a lower Δ than SVD at d = 16, 32 and 64.
           smaller     Its lead over SVD is smaller than that of TSM in Figure 3 at the same d.
Figure 7   J           TSM with landmarks has a higher J than SVD at d = 16, 32 and 64.
Figure 8   descent     At d = 32, the objective ends below its start, on words and on digits.
           momentum    It ends lower with momentum than without.
           monotone    Without momentum, it does not rise after the first update.
Figure 9   low d       Isomap's J is above TSM's at the lowest d, on words and on digits.
           decline     Isomap's J at the highest d is below its best.
Figure 11  onset       The rank by magnitude of the first negative eigenvalue is at most the lowest d
                       at which Isomap's J is below that at the d before.
           frequency   More of the eigenvalues 101 to 200 by magnitude are negative than of 1 to 100.
Constraint default     No other sum constraint has both a lower Δ and a higher J than `off` in all
                       cells: words and digits at d = 16 and 32.

A criterion that needs a missing row is not tested.
"""
