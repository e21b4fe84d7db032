#include "core/cpu_level.h"

#include <cstdlib>
#include <string_view>

#include "core/error.h"

namespace bc {
namespace {

struct Choice {
  CpuLevel level = CpuLevel::baseline;
  const char* requested = nullptr;
};

#if defined(__x86_64__)
CpuLevel processor_level() {
  const auto all = [](auto... there) { return (there && ...); };
  // A virtual machine may hide instruction sets of a level that no loop here uses, so only those in use are tested, one by one.
  if (!all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"), __builtin_cpu_supports("f16c"))) return CpuLevel::baseline;
  if (!all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"), __builtin_cpu_supports("avx512dq"),
           __builtin_cpu_supports("avx512vl")))
    return CpuLevel::v3;
  return CpuLevel::v4;
}
#else
CpuLevel processor_level() { return CpuLevel::baseline; }
#endif

Choice choose() {
  const char* text = std::getenv("BROADCLOTH_CPU");
  if (text == nullptr || *text == 0 || std::string_view(text) == "native") return {processor_level(), nullptr};
#if defined(__x86_64__)
  // When the user names a level, generated code may use all of it, so the processor must have all of it.
  struct Level {
    CpuLevel level;
    const char* name;
    bool there;
  };
  const Level levels[] = {{CpuLevel::baseline, "x86-64", true},
                          {CpuLevel::v3, "x86-64-v3", __builtin_cpu_supports("x86-64-v3") && processor_level() >= CpuLevel::v3},
                          {CpuLevel::v4, "x86-64-v4", __builtin_cpu_supports("x86-64-v4") && processor_level() >= CpuLevel::v4}};
  for (const Level& l : levels) {
    if (std::string_view(text) != l.name) continue;
    BC_CHECK(l.there, Value, "BROADCLOTH_CPU: expected a level that this processor has, got {}", text);
    return {l.level, l.name};
  }
#endif
  raise(ErrorKind::Value, "BROADCLOTH_CPU: expected native, x86-64, x86-64-v3 or x86-64-v4, got '{}'", text);
}

const Choice& choice() {
  static const Choice made = choose();
  return made;
}

}  // namespace

CpuLevel cpu_level() { return choice().level; }
const char* requested_cpu() { return choice().requested; }

}  // namespace bc
