"""`json.dumps` of results: a 0-d array is written as the number it holds."""

from __future__ import annotations

import json
from typing import Any

from ._broadcloth import ndarray

_default = json.JSONEncoder.default


def _number(self: json.JSONEncoder, o: Any) -> Any:
    if not isinstance(o, ndarray):
        return _default(self, o)
    if o.ndim:
        raise TypeError(f"json: expected numbers, lists and dictionaries, got an array of shape {o.shape}; x.tolist() makes a list of it")
    return o.item()


def install() -> None:
    """Lets the encoder's last resort, which raises for every type, know 0-d arrays; encoders with a `default` of their own come first."""
    json.JSONEncoder.default = _number  # type: ignore[method-assign]
