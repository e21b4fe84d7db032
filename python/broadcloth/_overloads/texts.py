"""Texts of arrays, and methods of strings."""

from __future__ import annotations

from .._jit import objmode
from ._table import stands_for


# NumPy writes the text of arrays: how wide a number is depends on all others and on np.set_printoptions.
@stands_for("builtins.str")
def _str(x):
    with objmode(s="unicode_type"):
        s = str(x)
    return s


@stands_for("builtins.repr")
def _repr(x):
    with objmode(s="unicode_type"):
        s = repr(x)
    return s


@stands_for("str.partition")
def partition(s, sep):
    at = s.find(sep)
    if at < 0:
        return s, "", ""
    return s[:at], sep, s[at + len(sep) :]


@stands_for("str.rpartition")
def rpartition(s, sep):
    at = s.rfind(sep)
    if at < 0:
        return "", "", s
    return s[:at], sep, s[at + len(sep) :]


@stands_for("str.removeprefix")
def removeprefix(s, prefix):
    return s[len(prefix) :] if s.startswith(prefix) else s


@stands_for("str.removesuffix")
def removesuffix(s, suffix):
    return s[: len(s) - len(suffix)] if len(suffix) > 0 and s.endswith(suffix) else s


@stands_for("str.rsplit")
def rsplit(s, sep=None, maxsplit=-1):
    if sep is None:
        return s.split() if maxsplit < 0 else _last_words(s, maxsplit)
    parts = s.split(sep)
    if maxsplit < 0 or len(parts) <= maxsplit + 1:
        return parts
    keep = len(parts) - maxsplit
    return [sep.join(parts[:keep])] + parts[keep:]


def _last_words(s, count):
    """What stands before the last words, and those, without the blanks around them."""
    words = [""][:0]
    end = len(s.rstrip())
    while end > 0 and len(words) < count:
        first = end
        while first > 0 and not s[first - 1].isspace():
            first -= 1
        words.append(s[first:end])
        end = len(s[:first].rstrip())
    if end > 0:
        words.append(s[:end])
    return words[::-1]


@stands_for("str.isascii")
def isascii(s):
    return all(ord(c) < 128 for c in s)


@stands_for("str.expandtabs")
def expandtabs(s, tabsize=8):
    out = ""
    column = 0
    for c in s:
        if c == "\t":
            if tabsize > 0:
                n = tabsize - column % tabsize
                out += " " * n
                column += n
        else:
            out += c
            column = 0 if c == "\n" or c == "\r" else column + 1
    return out


@stands_for("str.istitle")
def istitle(s):
    cased, found = False, False
    for c in s:
        if c.isupper() or (not c.islower() and c.lower() != c):
            if cased:
                return False
            cased = found = True
        elif c.islower():
            if not cased:
                return False
            cased = found = True
        else:
            cased = False
    return found


@stands_for("str.isidentifier")
def isidentifier(s):
    if len(s) == 0 or s[0].isdigit():
        return False
    return all(c.isalnum() or c == "_" for c in s)


def _bounds(n, start, end):
    """Where a part of n characters begins and ends."""
    last = n if end is None else (min(end, n) if end >= 0 else max(end + n, 0))
    return start if start >= 0 else max(start + n, 0), last


@stands_for("str.find")
def find(s, sub, start, end=None):
    first, last = _bounds(len(s), start, end)
    if first > last:
        return -1
    at = s[first:last].find(sub)
    return at if at < 0 else at + first


@stands_for("str.rfind")
def rfind(s, sub, start, end=None):
    first, last = _bounds(len(s), start, end)
    if first > last:
        return -1
    at = s[first:last].rfind(sub)
    return at if at < 0 else at + first


@stands_for("str.index")
def index(s, sub, start=0, end=None):
    at = find(s, sub, start, end)
    if at < 0:
        raise ValueError("substring not found")
    return at


@stands_for("str.rindex")
def rindex(s, sub, start=0, end=None):
    at = rfind(s, sub, start, end)
    if at < 0:
        raise ValueError("substring not found")
    return at


@stands_for("str.count")
def count(s, sub, start, end=None):
    first, last = _bounds(len(s), start, end)
    return s[first:last].count(sub) if first <= last else 0


@stands_for("str.startswith")
def startswith(s, prefix, start, end=None):
    first, last = _bounds(len(s), start, end)
    return first <= last and s[first:last].startswith(prefix)


@stands_for("str.endswith")
def endswith(s, suffix, start, end=None):
    first, last = _bounds(len(s), start, end)
    return first <= last and s[first:last].endswith(suffix)


@stands_for("str.replace")
def replace(s, old, new, count=-1):
    if count < 0:
        return s.replace(old, new)
    out = ""
    first = 0
    if len(old) == 0:
        for k in range(min(count, len(s) + 1)):
            out += new + s[k : k + 1]
        return out + s[min(count, len(s) + 1) :]
    for _ in range(count):
        at = s.find(old, first)
        if at < 0:
            break
        out += s[first:at] + new
        first = at + len(old)
    return out + s[first:]


@stands_for("array.argmax_of_texts")
def argmax_of_texts(a):
    return _first_extreme(a.ravel(), "argmax", lambda x, y: x > y)


@stands_for("array.argmin_of_texts")
def argmin_of_texts(a):
    return _first_extreme(a.ravel(), "argmin", lambda x, y: x < y)


def _first_extreme(flat, name, better):
    if flat.size == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    best = 0
    for i in range(1, flat.size):
        if better(flat[i], flat[best]):
            best = i
    return best
