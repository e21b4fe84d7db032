/// The steps of a compile as separate functions, so that other passes over the IR can run between them.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/jit/jit.h"

namespace clang {
class CodeGenerator;
class CompilerInstance;
}  // namespace clang

namespace bc::jit {

/// A module with the context that owns its types.
struct Unit {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// The machine for which code is generated, determined once: this machine, or the CPU set by set_cpu().
struct Host {
  std::string triple;
  std::string cpu;
  std::string tune;                       ///< the CPU whose timings choose the instructions: the machine's, or generic for a level
  std::string features;                   ///< "+sse2,+avx,…", sorted
  std::vector<std::string> feature_list;  ///< the same, one at a time
  bool wide_vectors = false;              ///< AVX-512 is available
};
const Host& host();
void set_cpu(const char* cpu);

/// The headers that a text may include.
struct Includes {
  std::vector<std::pair<std::string, std::string>> headers;  ///< name and text
  std::vector<std::string> folders;                          ///< on disk
};

struct Source {
  llvm::StringRef text;
  llvm::StringRef name;
  llvm::StringRef pch;  ///< empty: none
  const Includes* includes = nullptr;
};

/// clang's options (cc1) for a set of flags.
std::vector<std::string> command_line(const bc_jit_flags& flags);

// Each returns false (or an empty unit) with the reason added to `log`.

/// C++ text to unoptimised LLVM IR. `finish` is called with the module while the syntax tree still exists.
Unit parse(const Source& source, const bc_jit_flags& flags, std::string& log,
           const std::function<void(clang::CompilerInstance&, clang::CodeGenerator&)>& finish = {});
/// A header to the bytes of a precompiled header.
bool precompile(llvm::StringRef text, llvm::StringRef name, const bc_jit_flags& flags, llvm::SmallVectorImpl<char>& out, std::string& log);
/// Runs LLVM's pipeline for the level over the module.
bool optimise(Unit& unit, const bc_jit_flags& flags, std::string& log);
/// IR to a relocatable object or to assembly text.
bool emit(llvm::Module& module, const bc_jit_flags& flags, bool assembly, llvm::SmallVectorImpl<char>& out, std::string& log);

/// The address of a name that kernels may call but do not define: compiler support routines, then the process.
void* find_external(const char* name);

/// Copies bytes for the caller, which frees them by bc_jit_free.
void give(bc_jit_buffer* buffer, const char* data, size_t size);

/// Blocks fork() while a compile or a load runs: LLVM's locks and tables must be consistent in the child.
class Gate {
 public:
  Gate();
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
};

}  // namespace bc::jit
