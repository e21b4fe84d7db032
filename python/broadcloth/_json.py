"""`json.dumps` of results: a 0-d array is written as the number it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _on_import
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from json import JSONEncoder


def _prepare() -> None:
    from json.encoder import JSONEncoder

    default = JSONEncoder.default

    def number(self: JSONEncoder, o: Any) -> Any:
        if not isinstance(o, ndarray):
            return default(self, o)
        if o.ndim:
            got = f"an array of shape {o.shape}; x.tolist() makes a list of it"
            raise TypeError(f"json: expected numbers, lists and dictionaries, got {got}")
        return o.item()

    JSONEncoder.default = number  # type: ignore[method-assign]


def install() -> None:
    """Lets the encoder's last resort, which raises for every type, know 0-d arrays; encoders with a `default` of their own come first. The
    module is not loaded for it: few programs write JSON."""
    _on_import.when_imported("json.encoder", _prepare)
