// The device library's types by their dtype numbers. Includes only the device library and no header of the engine.
#pragma once
#include "core/dtype_sets.h"
#include "device/device.h"

namespace bc::tier0 {

template <int D>
struct type_t;
#define BC_DTYPE(id, name, device_type, ...) \
  template <>                                \
  struct type_t<dtype_sets::number_##id> {   \
    using type = device_type;                \
  };
#include "core/dtypes.def"
#undef BC_DTYPE
template <int D>
using type_of = typename type_t<D>::type;

}  // namespace bc::tier0
