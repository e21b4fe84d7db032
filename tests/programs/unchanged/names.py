"""Names as arrays of text: NumPy's own work, which falls back to the host."""

import warnings

import numpy as np

warnings.simplefilter("ignore")
names = np.array(["ada", "grace", "alan", "barbara", "edsger", "donald", "ada"])
print(np.char.upper(names))
print(np.char.str_len(names).max(), np.char.count(names, "a").sum())
unique, counts = np.unique(names, return_counts=True)
print(dict(zip(unique.tolist(), counts.tolist())))
print(np.sort(names))
ages = np.array([36, 85, 41, 68, 72, 86, 36])
print(names[ages > 50], ages[names == "ada"])
print(np.where(ages > 50, "old", "young"))
padded = np.char.center(names, 9, "*")
print("|".join(padded.tolist()))
print(ages.astype(str), ages.astype("U4").dtype)
days = np.arange("2024-02-26", "2024-03-03", dtype="datetime64[D]")
print(days, (days[-1] - days[0]).astype(int))
table = np.array(list(zip(names.tolist(), ages.tolist())), dtype=[("name", "U10"), ("age", "i4")])
print(table["name"][table["age"].argmax()], table["age"].mean())
