// The scheduler that a block's code calls when its threads may be in different regions.
#include <algorithm>

#include "backends/cpu/jit/jit_blocks.h"
#include "backends/cpu/jit/jit_places.h"

namespace bc::jit {

static Kind kind_of(uint16_t place) { return static_cast<Kind>(place >> kPlaceBits); }

extern "C" uint32_t bc_jit_schedule(uint16_t* places, const uint32_t* masks, uint32_t count, uint32_t release) {
  uint32_t ready = kEnded, warp = kEnded;
  bool block = false, grid = false, cluster = false, yield = false, spin = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (places[i] == kEnded) continue;
    const Kind kind = kind_of(places[i]);
    if ((release == kReleaseAll && stops_group(kind)) || (release == kReleaseYields && (kind == Kind::Yield || kind == Kind::Spin)))
      places[i] &= kPlaceMask;
    const uint32_t region = places[i] & kPlaceMask;
    switch (kind_of(places[i])) {
      case Kind::Start: ready = std::min(ready, region); break;
      case Kind::Warp: warp = std::min(warp, region); break;
      case Kind::Block: block = true; break;
      case Kind::Grid: grid = true; break;
      case Kind::Cluster: cluster = true; break;
      case Kind::Yield: yield = true; break;
      case Kind::Spin: spin = true; break;
    }
  }
  if (ready != kEnded) return ready;
  if (warp != kEnded) {
    // A warp barrier opens when all threads in its mask have reached it. If that never happens because the masks name other threads, the
    // threads that arrived first continue.
    uint32_t chosen = kEnded;
    for (uint32_t i = 0; i < count && chosen == kEnded; ++i) {
      if (places[i] == kEnded || kind_of(places[i]) != Kind::Warp) continue;
      uint32_t wanted = 0, there = 0;
      for (uint32_t j = 0; j < count; ++j) {
        if (places[j] == kEnded) there |= 1u << j;
        if (places[j] != places[i]) continue;
        wanted |= masks[j];
        there |= 1u << j;
      }
      const uint32_t lanes = count >= 32 ? 0xffffffffu : (1u << count) - 1;
      if ((wanted & lanes & ~there) == 0) chosen = places[i] & kPlaceMask;
    }
    if (chosen == kEnded) chosen = warp;
    const auto waiting = static_cast<uint16_t>(chosen | static_cast<uint32_t>(Kind::Warp) << kPlaceBits);
    for (uint32_t i = 0; i < count; ++i) {
      if (places[i] == waiting) places[i] = static_cast<uint16_t>(chosen);
    }
    return chosen;
  }
  return spin ? kWaitSpin : yield ? kWaitYield : block ? kWaitBlock : cluster ? kWaitCluster : grid ? kWaitGrid : kAllEnded;
}

extern "C" uint32_t bc_jit_lanes(const uint16_t* places, uint32_t count, uint32_t region) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < std::min(count, 32u); ++i) lanes |= places[i] == region ? 1u << i : 0u;
  return lanes;
}

}  // namespace bc::jit
