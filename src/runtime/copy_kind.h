#pragma once

#include "runtime/backend.h"

namespace bc {

/// The kind of a copy from one device's memory to another's; the CPU's is the host's.
constexpr CopyKind copy_kind(Device to, Device from) {
  const bool up = to.type == DeviceType::cuda, down = from.type == DeviceType::cuda;
  return up && down ? CopyKind::DeviceToDevice : up ? CopyKind::HostToDevice : down ? CopyKind::DeviceToHost : CopyKind::HostToHost;
}

/// The device that stands for the host in copy_kind.
inline constexpr Device kHost{DeviceType::cpu, 0};

}  // namespace bc
