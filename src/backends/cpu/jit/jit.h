/// The CPU compiler's C interface: clang and LLVM in a shared library of their own (libbroadcloth_jit.so), opened at first use.
///
/// No exception crosses it and no C++ type is in it, so the library may be built by another compiler and with other flags than its user.
/// Every function may be called from several threads at once; compiles run side by side.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define BC_JIT_ABI 1
#define BC_JIT_EXPORT __attribute__((visibility("default")))

/// Bytes that the library allocated; `bc_jit_free` gives them back. An empty buffer has data == NULL.
typedef struct bc_jit_buffer {
  char* data;
  size_t size;
} bc_jit_buffer;

/// What changes the code that comes out. A precompiled header serves only the flags it was built with.
typedef struct bc_jit_flags {
  int32_t opt_level;  ///< 0 to 3
  int32_t contract;   ///< 1: a * b + c may become a fused multiply-add
  int32_t fast_math;  ///< 1: reassociation, no NaN, no infinities, as -ffast-math
} bc_jit_flags;

/// A loaded object file.
typedef struct bc_jit_object bc_jit_object;

/// BC_JIT_ABI of the library.
BC_JIT_EXPORT int bc_jit_abi(void);
/// The compiler's name and version: "clang-19.1.7".
BC_JIT_EXPORT const char* bc_jit_version(void);
/// The CPU that code is made for: LLVM's name of this machine's CPU, or "x86-64" where LLVM does not know it.
BC_JIT_EXPORT const char* bc_jit_cpu(void);
/// LLVM's feature list of this machine: "+avx2,-avx512f,…".
BC_JIT_EXPORT const char* bc_jit_features(void);
/// The command line of the compiler for these flags, without input and output: belongs in a cache key.
BC_JIT_EXPORT int bc_jit_command_line(const bc_jit_flags* flags, bc_jit_buffer* out);

/// Precompiles a header. Returns 0, or 1 with the errors in `log`.
BC_JIT_EXPORT int bc_jit_precompile(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, bc_jit_buffer* out,
                                    bc_jit_buffer* log);

/// Compiles one C++ text to a relocatable object. `pch` is what bc_jit_precompile gave for the same flags, or NULL; a zero byte must follow
/// its `pch_size` bytes, and it must stay until the call returns. Returns 0, or 1 with the errors in `log`.
BC_JIT_EXPORT int bc_jit_compile(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, const char* pch,
                                 size_t pch_size, bc_jit_buffer* object, bc_jit_buffer* log);

/// The optimised code of a text as LLVM IR (stage "ir") or assembly ("asm"), for people.
BC_JIT_EXPORT int bc_jit_inspect(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, const char* pch,
                                 size_t pch_size, const char* stage, bc_jit_buffer* out, bc_jit_buffer* log);

/// Loads an object file into memory. Names it does not define come from `support`, a loaded object that must live longer (or NULL), and
/// then from the process. NULL with the reason in `log` on failure.
BC_JIT_EXPORT bc_jit_object* bc_jit_load(const char* object, size_t object_size, const bc_jit_object* support, bc_jit_buffer* log);
/// The address of a function that the object defines, or NULL.
BC_JIT_EXPORT void* bc_jit_symbol(const bc_jit_object* object, const char* name);
BC_JIT_EXPORT void bc_jit_unload(bc_jit_object* object);

BC_JIT_EXPORT void bc_jit_free(bc_jit_buffer* buffer);

/// Around a fork: before it (phase 0: waits for the compiles that run and holds off others), after it in the parent (1), in the child (2).
BC_JIT_EXPORT void bc_jit_fork(int phase);

#if defined(__cplusplus)
}
#endif
