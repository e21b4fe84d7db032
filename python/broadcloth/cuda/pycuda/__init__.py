"""PyCUDA's kernels from one line of C++, on every device: `elementwise`, `reduction` and `scan`.

A program changes ``from pycuda.elementwise import ElementwiseKernel`` to ``from broadcloth.cuda.pycuda.elementwise import ElementwiseKernel``.
"""

from . import elementwise, reduction, scan

__all__ = ["elementwise", "reduction", "scan"]
