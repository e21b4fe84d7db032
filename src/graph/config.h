#pragma once

namespace bc {

/// How ops are run. `lazy` false runs each op when it is recorded (plain execution); `jit` false uses only tier 0 on the CPU.
struct Config {
  bool lazy = true;
  bool jit = true;
  bool background_compile = true;  ///< tier 0 runs while the JIT compiles
};
Config& config();

}  // namespace bc
