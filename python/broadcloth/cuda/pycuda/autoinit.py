"""``import pycuda.autoinit``: the default device is ready without it; it offers `device` and `context`."""

from __future__ import annotations

from .driver import Context, Device

device: Device = Context.get_device()
context: Context = Context(device)
