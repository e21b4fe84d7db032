"""tf-idf, similarity, Zipf's law, bigrams and latent topics by SVD of a made-up corpus; naive Bayes."""

import re
import sys
from collections import Counter, defaultdict

import numpy as np

COPIES = int(sys.argv[1]) if len(sys.argv) > 1 else 8
TEXTS = [
    "the cat sat on the mat and the cat slept",
    "dogs and cats living together in one house",
    "stocks fell on monday as markets feared inflation",
    "the central bank raised rates and markets fell again",
    "a quiet garden with roses and a sleeping cat",
    "investors sold stocks and bought gold and bonds",
    "the dog barked at the cat in the garden",
    "bond yields rose while gold prices fell on monday",
]


def tokens(text):
    return re.findall(r"[a-z]+", text.lower())


def vocabulary(docs):
    words = sorted({w for d in docs for w in d})
    return {w: i for i, w in enumerate(words)}, words


def counts(docs, index):
    ids = np.array([index[w] for d in docs for w in d])
    rows = np.repeat(np.arange(len(docs)), [len(d) for d in docs])
    flat = np.bincount(rows * len(index) + ids, minlength=len(docs) * len(index))
    return flat.reshape(len(docs), len(index))


def tfidf(tf):
    df = (tf > 0).sum(axis=0)
    idf = np.log((1 + len(tf)) / (1 + df)) + 1
    x = tf * idf
    return x / np.linalg.norm(x, axis=1, keepdims=True), idf


def naive_bayes(x, y):
    classes, y = np.unique(y, return_inverse=True)
    counts = np.zeros((len(classes), x.shape[1]))
    np.add.at(counts, y, x)
    prior = np.bincount(y) / y.size
    likelihood = (counts + 1) / (counts + 1).sum(1, keepdims=True)
    return classes, np.log(prior), np.log(likelihood)


rng = np.random.default_rng(3)
docs = []
for k in range(COPIES):
    for t in TEXTS:
        words = np.array(tokens(t))
        keep = rng.random(len(words)) > 0.15 * (k > 0)
        docs.append(words[keep].tolist())
index, words = vocabulary(docs)
tf = counts(docs, index)
print("documents", tf.shape[0], "words", tf.shape[1], "tokens", tf.sum(), tf.dtype)
assert tf.sum() == sum(Counter(w for d in docs for w in d).values())
x, idf = tfidf(tf)
names = np.array(words)
for d in range(3):
    best = np.argsort(-x[d], kind="stable")[:4]
    print(d, ", ".join(f"{names[i]}:{x[d, i]:.3f}" for i in best))
rare = np.argsort(-idf, kind="stable")[:5]
print("rare words", names[rare].tolist(), idf[rare].round(3))
sim = x @ x.T
np.fill_diagonal(sim, -1)
i, j = np.unravel_index(np.argmax(sim[: len(TEXTS), : len(TEXTS)]), (len(TEXTS), len(TEXTS)))
print("most alike:", TEXTS[i], "|", TEXTS[j], f"{sim[i, j]:.4f}")
near = np.argpartition(-sim[0], 3)[:3]
print("neighbours of 0:", sorted((near % len(TEXTS)).tolist()), np.sort(sim[0, near])[::-1].round(4))
freq = np.sort(tf.sum(axis=0))[::-1]
rank = np.arange(1, freq.size + 1)
slope, intercept = np.polyfit(np.log(rank), np.log(freq), 1)
print(f"Zipf slope {slope:.4f} intercept {intercept:.4f}")
u, s, vt = np.linalg.svd(x, full_matrices=False)
print("singular values", s[:5].round(4), "explained %.4f" % ((s[:3] ** 2).sum() / (s**2).sum()))
for k in range(2):
    v = vt[k] * np.sign(vt[k][np.abs(vt[k]).argmax()])
    top = np.argsort(-v)[:5]
    print("topic", k, [str(names[t]) for t in top], v[top].round(3))
pairs = defaultdict(int)
for d in docs:
    for a, b in zip(d, d[1:]):
        pairs[index[a], index[b]] += 1
big = np.zeros((len(words),) * 2, dtype=np.int32)
big[tuple(np.array(list(pairs)).T)] = list(pairs.values())
pmi = np.log(np.where(big > 2, big, np.nan) * big.sum() / np.outer(big.sum(1), big.sum(0)).clip(1))
a, b = np.unravel_index(np.nanargmax(pmi), pmi.shape)
print("bigrams", int((big > 0).sum()), "strongest", words[a], words[b], f"{pmi[a, b]:.4f}")
labels = np.array(["pets", "pets", "money", "money", "pets", "money", "pets", "money"] * COPIES)
half = len(labels) // 2
classes, prior, like = naive_bayes(tf[:half], labels[:half])
guess = classes[np.argmax(prior + tf[half:] @ like.T, axis=1)]
print("classes", classes, "accuracy", np.mean(guess == labels[half:]))
odds = like[0] - like[1]
print("money words", names[np.argsort(odds, kind="stable")[-4:]], "pet words", names[np.argsort(odds, kind="stable")[:4]])
lengths = np.char.str_len(names)
print("longest", names[lengths.argmax()], "mean length %.3f" % lengths.mean(), np.bincount(lengths))
table = np.array(list(zip(words, tf.sum(0).tolist(), idf.tolist())), dtype=[("word", "U12"), ("n", "i8"), ("idf", "f8")])
table.sort(order=["n", "word"])
print(table[-3:], table["n"].max(), table[table["n"] == 1].size)
