"""Methods of strings."""

from __future__ import annotations

from ._table import stands_for


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
def rsplit(s, sep, maxsplit=-1):
    parts = s.split(sep)
    if maxsplit < 0 or len(parts) <= maxsplit + 1:
        return parts
    keep = len(parts) - maxsplit
    return [sep.join(parts[:keep])] + parts[keep:]


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
        if c.isupper():
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
