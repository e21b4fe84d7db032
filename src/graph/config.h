#pragma once

namespace bc {

/// How a flush runs. `lazy` false runs each op as it is recorded (plain execution); `jit` false keeps to tier 0 on the CPU.
struct Config {
  bool lazy = true;
  bool jit = true;
  bool background_compile = true;  ///< tier 0 runs while the JIT compiles
};
Config& config();

}  // namespace bc
