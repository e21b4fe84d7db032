"""What the device is."""

import broadcloth as cp
from broadcloth import cuda

device = cp.cuda.Device(0)
free, total = device.mem_info
assert 0 < free <= total
print(cuda.get_current_device().name)
if cp.cuda.runtime.getDeviceCount() and cuda.is_available():
    properties = cp.cuda.runtime.getDeviceProperties(0)
    assert properties["multiProcessorCount"] > 0 and properties["totalGlobalMem"] == total
    assert len(device.compute_capability) >= 2
    assert device.attributes["WarpSize"] == 32
    print(properties["name"], device.compute_capability)
