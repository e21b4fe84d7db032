"""Letters, words and their lengths of a made-up text."""

import sys

import numpy as np

repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
base = "the quick brown fox jumps over the lazy dog while seventeen quiet zebras graze beside an old stone bridge "
text = base * repeats
codes = np.frombuffer(text.encode(), dtype=np.uint8)
letters = codes[codes != 32]
count = np.bincount(letters - 97, minlength=26)
order = np.argsort(-count, kind="stable")
print("most frequent:", " ".join(f"{chr(97 + i)}={count[i]}" for i in order[:6]))
p = count / count.sum()
print(f"entropy: {-(p * np.log2(p)).sum():.4f} bits")
spaces = np.flatnonzero(codes == 32)
lengths = np.diff(np.concatenate([[-1], spaces])) - 1
print("words:", len(lengths), "mean length", round(lengths.mean(), 4), "longest", lengths.max())
pairs = np.zeros((26, 26), dtype=int)
both = (codes[:-1] != 32) & (codes[1:] != 32)
np.add.at(pairs, (codes[:-1][both] - 97, codes[1:][both] - 97), 1)
i, j = np.unravel_index(pairs.argmax(), pairs.shape)
print("commonest pair:", chr(97 + i) + chr(97 + j), pairs[i, j])
shifted = np.where(codes == 32, 32, (codes - 97 + 13) % 26 + 97).astype(np.uint8)
print(shifted[:40].tobytes().decode())
