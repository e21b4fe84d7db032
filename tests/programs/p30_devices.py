"""Arrays moved between devices."""

import numpy as np

import broadcloth as cp

with cp.cuda.Device(0):
    a = cp.arange(1000) * 2
count = cp.cuda.runtime.getDeviceCount()
if count > 1:
    with cp.cuda.Device(1):
        b = cp.asarray(a)
        assert b.device.id == 1
        c = b + 1
    np.testing.assert_array_equal(cp.asnumpy(c), np.arange(1000) * 2 + 1)
np.testing.assert_array_equal(cp.asnumpy(a), np.arange(1000) * 2)
