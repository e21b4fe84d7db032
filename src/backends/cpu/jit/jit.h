/// The CPU compiler's C interface: clang and LLVM in a shared library of their own (libbroadcloth_jit.so), opened at first use.
///
/// No exception passes through it and it contains no C++ type, so the library may be built with another compiler and other flags than its
/// user. Every function may be called from several threads at once; compiles run in parallel.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define BC_JIT_ABI 6
#define BC_JIT_EXPORT __attribute__((visibility("default")))

/// Bytes that the library allocated; `bc_jit_free` frees them. An empty buffer has data == NULL.
typedef struct bc_jit_buffer {
  char* data;
  size_t size;
} bc_jit_buffer;

/// The options that change the generated code. A precompiled header is valid only for the flags with which it was built.
typedef struct bc_jit_flags {
  int32_t opt_level;   ///< 0 to 3
  int32_t contract;    ///< 1: a * b + c may become a fused multiply-add
  int32_t fast_math;   ///< 1: reassociation, no NaN, no infinities, as -ffast-math; 2: as CUDA's, which keeps NaN and infinities
  int32_t program;     ///< 1: CUDA C++ (bc_jit_program), whose language has a few more keywords
  int32_t exceptions;  ///< 1: supports C++ exceptions that pass through the code and run its destructors
} bc_jit_flags;

/// CUDA C++ text with its headers. Pointers refer to zero-terminated texts unless a size is given.
typedef struct bc_jit_program_source {
  const char* text;
  size_t text_size;
  const char* name;            ///< in messages
  const char* const* options;  ///< "-DN=4", "-UN", "-I/path"; others are ignored
  size_t option_count;
  const char* const* headers;  ///< name and text alternately
  size_t header_count;         ///< pairs
  const char* const* names;    ///< name expressions
  size_t name_count;
} bc_jit_program_source;

#define BC_JIT_GRID 1u
#define BC_JIT_CLUSTER 2u
#define BC_JIT_WAITS_FOR_GRID 4u
#define BC_JIT_WAITS_FOR_CLUSTER 8u
#define BC_JIT_SPINS 16u  ///< a kernel whose threads wait for others in loops; or a block that was left at one

/// Facts about a kernel from bc_jit_specialise.
typedef struct bc_jit_kernel {
  uint32_t shared_bytes;   ///< static shared memory with room for shuffles; the dynamic part follows it
  uint32_t user_shared;    ///< the part of shared_bytes that the user's source declares
  uint32_t local_bytes;    ///< a thread's arrays
  uint32_t grid_barriers;  ///< BC_JIT_GRID: the grid synchronises, so that blocks stop on their way; BC_JIT_CLUSTER: clusters do, or
                           ///< their blocks reach into each other's shared memory
  uint32_t prints;         ///< 1: writes to stdout
  uint64_t context_bytes;  ///< memory of one block for values that threads keep across barriers; 0: on the stack
} bc_jit_kernel;

/// The argument of a specialised kernel's entry: `int64_t bc_entry(const bc_jit_frame*, int64_t first, int64_t last, char* shared, char*
/// context)` runs the blocks [first, last) and returns how many of them wait at a barrier of the grid or of their cluster; the first 32
/// bits of a waiting block's context tell for which (BC_JIT_WAITS_FOR_GRID …). Each block has its own memory, at multiples of
/// `shared_stride` and `context_stride` bytes (0: the blocks use the same memory one after the other). The first 64 bytes of a block's
/// context must be zero when the block begins.
typedef struct bc_jit_frame {
  void** arguments;
  uint32_t grid[3];
  uint32_t dynamic_shared;
  uint64_t shared_stride;
  uint64_t context_stride;
  void* launch;                    ///< the caller's own
  uint32_t cluster[3];             ///< blocks of a cluster in each dimension, at least 1
  const uint32_t* tick;            ///< loops compare it with its last value, and call `asked` when it has changed
  int32_t (*asked)(void* launch);  ///< not 0: the entry returns at once, with unfinished blocks
} bc_jit_frame;

/// A loaded object file.
typedef struct bc_jit_object bc_jit_object;

/// BC_JIT_ABI of the library.
BC_JIT_EXPORT int bc_jit_abi(void);
/// The compiler's name and version: "clang-19.1.7".
BC_JIT_EXPORT const char* bc_jit_version(void);
/// Sets the CPU to generate code for, by LLVM's name ("x86-64-v3"), instead of this machine's. Must be called before every other function
/// except bc_jit_abi.
BC_JIT_EXPORT void bc_jit_set_cpu(const char* cpu);
/// The CPU for which code is generated: LLVM's name of this machine's CPU, or "x86-64" where LLVM does not know it.
BC_JIT_EXPORT const char* bc_jit_cpu(void);
/// The features of that CPU that its name does not imply, as LLVM's feature list: "+avx2,-avx512f,…".
BC_JIT_EXPORT const char* bc_jit_features(void);
/// The command line of the compiler for these flags, without input and output; a part of cache keys.
BC_JIT_EXPORT int bc_jit_command_line(const bc_jit_flags* flags, bc_jit_buffer* out);

/// Precompiles a header. Returns 0, or 1 with the errors in `log`.
BC_JIT_EXPORT int bc_jit_precompile(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, bc_jit_buffer* out,
                                    bc_jit_buffer* log);

/// Compiles one C++ text to a relocatable object. `pch` is the output of bc_jit_precompile for the same flags, or NULL; a zero byte must
/// follow its `pch_size` bytes, and it must stay valid until the call returns. Returns 0, or 1 with the errors in `log`.
BC_JIT_EXPORT int bc_jit_compile(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, const char* pch,
                                 size_t pch_size, bc_jit_buffer* object, bc_jit_buffer* log);

/// The optimised code of a text as LLVM IR (stage "ir") or assembly ("asm"), for a reader.
BC_JIT_EXPORT int bc_jit_inspect(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, const char* pch,
                                 size_t pch_size, const char* stage, bc_jit_buffer* out, bc_jit_buffer* log);

/// Parses a program. `bitcode` is what bc_jit_specialise takes. `data` is an object with the program's variables, empty without any.
/// `manifest` has a line for each name, its fields parted by tabs:
///   kernel SYMBOL NAME BYTES,BYTES,…    (a parameter's bytes each)
///   variable SYMBOL NAME BYTES
///   name NUMBER SYMBOL                  (a name expression by its number)
/// Returns 0, or 1 with the errors in `log`.
BC_JIT_EXPORT int bc_jit_program(const bc_jit_program_source* source, const bc_jit_flags* flags, const char* pch, size_t pch_size,
                                 bc_jit_buffer* bitcode, bc_jit_buffer* data, bc_jit_buffer* manifest, bc_jit_buffer* log);

/// The object of one kernel of a program for blocks of one shape; its function is `bc_entry`. Stage "ir" or "asm" returns a text instead;
/// NULL returns the object.
BC_JIT_EXPORT int bc_jit_specialise(const char* bitcode, size_t bitcode_size, const char* symbol, const uint32_t block[3],
                                    const bc_jit_flags* flags, const char* stage, bc_jit_buffer* object, bc_jit_kernel* kernel,
                                    bc_jit_buffer* log);

/// Loads an object file into memory. Names it does not define come from `support`, a loaded object that must live longer (or NULL), and
/// then from the process. NULL with the reason in `log` on failure.
BC_JIT_EXPORT bc_jit_object* bc_jit_load(const char* object, size_t object_size, const bc_jit_object* support, bc_jit_buffer* log);
/// The address of a function that the object defines, or NULL.
BC_JIT_EXPORT void* bc_jit_symbol(const bc_jit_object* object, const char* name);
BC_JIT_EXPORT void bc_jit_unload(bc_jit_object* object);

BC_JIT_EXPORT void bc_jit_free(bc_jit_buffer* buffer);

/// Must be called around a fork: before it (phase 0: waits for running compiles and blocks new ones), and after it in the parent (1) and in
/// the child (2).
BC_JIT_EXPORT void bc_jit_fork(int phase);

#if defined(__cplusplus)
}
#endif
