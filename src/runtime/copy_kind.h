#pragma once

#include "runtime/backend.h"

namespace bc {

/// The kind of a copy from one device's memory to another's; memory of a device that is not asynchronous is host memory.
constexpr CopyKind copy_kind(Device to, Device from) {
  const bool up = traits(to).asynchronous, down = traits(from).asynchronous;
  return up && down ? CopyKind::DeviceToDevice : up ? CopyKind::HostToDevice : down ? CopyKind::DeviceToHost : CopyKind::HostToHost;
}

/// The device that stands for the host in copy_kind.
inline constexpr Device kHost{DeviceType::cpu, 0};

}  // namespace bc
