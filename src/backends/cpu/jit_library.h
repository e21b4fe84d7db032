#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/jit/jit.h"
#include "runtime/exit.h"

namespace bc::cpu {

/// libbroadcloth_jit.so, opened at the first call that needs it.
class JitLibrary {
 public:
  /// Throws ErrorKind::Runtime with instructions if the library cannot be opened; a later call tries again.
  static JitLibrary& get();
  /// Tells whether `get` would succeed, without throwing.
  static bool available() noexcept;

  /// The file that was opened.
  const std::string& path() const { return path_; }
  /// CPU, features, compiler and options for cache keys.
  std::string target(const bc_jit_flags& flags) const;
  /// Object bytes of a kernel text, with the device library before it.
  std::vector<char> compile(std::string_view text, std::string_view name, const bc_jit_flags& flags) {
    return compile(text, name, flags, {});
  }
  /// The same with `prelude` between library and text. The prelude is precompiled with the device library, so only few different ones
  /// should be used.
  std::vector<char> compile(std::string_view text, std::string_view name, const bc_jit_flags& flags, std::string_view prelude);
  /// The optimised code as "ir" or "asm".
  std::string inspect(std::string_view text, const bc_jit_flags& flags, const char* stage, std::string_view prelude = {});

  /// A user's program, parsed (see bc_jit_program).
  struct Parsed {
    std::vector<char> bitcode;
    std::vector<char> data;
    std::string manifest;
  };
  /// Throws ErrorKind::Compile with the compiler's log. `flags.program` is 1.
  Parsed parse(const bc_jit_program_source& source, const bc_jit_flags& flags);
  /// The object of a kernel for blocks of one shape. Throws ErrorKind::Compile.
  std::vector<char> specialise(std::span<const char> bitcode, const std::string& symbol, const uint32_t block[3], const bc_jit_flags& flags,
                               bc_jit_kernel& facts, const char* stage = nullptr);

  /// A loaded object file; unloaded with the last owner.
  using Object = std::unique_ptr<bc_jit_object, void (*)(bc_jit_object*)>;
  Object load(std::span<const char> bytes);
  /// The same, also with the names that `first` defines. `first` must live longer; it was loaded `with_support`.
  Object load(std::span<const char> bytes, const bc_jit_object* first, bool with_support = false);
  void* symbol(const Object& object, const std::string& name) const { return symbol_(object.get(), name.c_str()); }

  /// Writes the precompiled headers that ship with broadcloth, for kernels of array expressions and for CUDA C++.
  void write_headers(const std::string& folder);

  JitLibrary(const JitLibrary&) = delete;
  JitLibrary& operator=(const JitLibrary&) = delete;

 private:
  JitLibrary();
  struct Headers;
  /// The device library precompiled for these flags: from memory, from the cache folder, or built now.
  std::span<const char> header(const bc_jit_flags& flags, std::string_view prelude = {});
  /// The path of the shipped header for these flags and this processor; empty if there is none.
  std::string shipped_header(const bc_jit_flags& flags, std::string_view text) const;
  /// Like header(), but only if the header is in memory, shipped or in the cache folder. Otherwise returns nothing, and a thread builds it
  /// for later.
  std::span<const char> header_if_made(const bc_jit_flags& flags);
  /// The device library's rare functions, compiled once per machine and loaded once per process; kernels only call them.
  const bc_jit_object* support();
  std::string take(bc_jit_buffer& buffer) const;
  void forget_headers();

  std::string path_;
  LibraryFunction<decltype(bc_jit_abi)> abi_;
  LibraryFunction<decltype(bc_jit_set_cpu)> set_cpu_;
  LibraryFunction<decltype(bc_jit_version)> version_;
  LibraryFunction<decltype(bc_jit_cpu)> cpu_;
  LibraryFunction<decltype(bc_jit_features)> features_;
  LibraryFunction<decltype(bc_jit_command_line)> command_line_;
  LibraryFunction<decltype(bc_jit_precompile)> precompile_;
  LibraryFunction<decltype(bc_jit_compile)> compile_;
  LibraryFunction<decltype(bc_jit_inspect)> inspect_;
  LibraryFunction<decltype(bc_jit_program)> program_;
  LibraryFunction<decltype(bc_jit_specialise)> specialise_;
  LibraryFunction<decltype(bc_jit_load)> load_;
  LibraryFunction<decltype(bc_jit_symbol)> symbol_;
  LibraryFunction<decltype(bc_jit_unload)> unload_;
  LibraryFunction<decltype(bc_jit_free)> free_;
  LibraryFunction<decltype(bc_jit_fork)> fork_;
  std::unique_ptr<Headers> headers_;
};

}  // namespace bc::cpu
