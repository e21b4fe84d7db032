"""Graphs: a stream's captured work, to be queued again by one call."""

from __future__ import annotations

from .._broadcloth import Graph

__all__ = ["Graph"]
