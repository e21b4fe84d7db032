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

#define BC_JIT_ABI 6
#define BC_JIT_EXPORT __attribute__((visibility("default")))

/// Bytes that the library allocated; `bc_jit_free` gives them back. An empty buffer has data == NULL.
typedef struct bc_jit_buffer {
  char* data;
  size_t size;
} bc_jit_buffer;

/// What changes the code that comes out. A precompiled header serves only the flags it was built with.
typedef struct bc_jit_flags {
  int32_t opt_level;   ///< 0 to 3
  int32_t contract;    ///< 1: a * b + c may become a fused multiply-add
  int32_t fast_math;   ///< 1: reassociation, no NaN, no infinities, as -ffast-math; 2: as CUDA's, which keeps NaN and infinities
  int32_t program;     ///< 1: CUDA C++ (bc_jit_program), whose language has a few words more
  int32_t exceptions;  ///< 1: C++ exceptions, which pass through the code and end what they leave
} bc_jit_flags;

/// CUDA C++ with what it may include. Pointers are to zero-ended texts unless a size is beside them.
typedef struct bc_jit_program_source {
  const char* text;
  size_t text_size;
  const char* name;            ///< in messages
  const char* const* options;  ///< "-DN=4", "-UN", "-I/path"; others are passed over
  size_t option_count;
  const char* const* headers;  ///< name and text in turn
  size_t header_count;         ///< pairs
  const char* const* names;    ///< name expressions
  size_t name_count;
} bc_jit_program_source;

#define BC_JIT_GRID 1u
#define BC_JIT_CLUSTER 2u
#define BC_JIT_WAITS_FOR_GRID 4u
#define BC_JIT_WAITS_FOR_CLUSTER 8u
#define BC_JIT_SPINS 16u  ///< a kernel whose threads wait for others in loops; or a block that was left at one

/// What bc_jit_specialise tells of a kernel.
typedef struct bc_jit_kernel {
  uint32_t shared_bytes;   ///< static shared memory with room for shuffles; the dynamic part follows it
  uint32_t user_shared;    ///< of these, what the user's source declares
  uint32_t local_bytes;    ///< a thread's arrays
  uint32_t grid_barriers;  ///< BC_JIT_GRID: the grid synchronises, so that blocks stop on their way; BC_JIT_CLUSTER: clusters do, or
                           ///< their blocks reach into each other's shared memory
  uint32_t prints;         ///< 1: writes to stdout
  uint64_t context_bytes;  ///< memory of one block for what threads keep across barriers; 0: on the stack
} bc_jit_kernel;

/// What the entry of a specialised kernel is called with:
/// `int64_t bc_entry(const bc_jit_frame*, int64_t first, int64_t last, char* shared, char* context)` runs the blocks [first, last) and
/// returns how many of them wait at a barrier of the grid or of their cluster; the first 32 bits of the context of one that waits tell
/// for which (BC_JIT_WAITS_FOR_GRID …). Each block has `shared_stride` and `context_stride` bytes of its own (0: they
/// follow each other in one place). A block that begins finds zeros in the first 64 bytes of its context.
typedef struct bc_jit_frame {
  void** arguments;
  uint32_t grid[3];
  uint32_t dynamic_shared;
  uint64_t shared_stride;
  uint64_t context_stride;
  void* launch;                    ///< the caller's own
  uint32_t cluster[3];             ///< blocks of a cluster in each dimension, 1 at least
  const uint32_t* tick;            ///< loops compare it with what they saw last, and ask where it has changed
  int32_t (*asked)(void* launch);  ///< not 0: the entry returns at once, in the middle of its blocks
} bc_jit_frame;

/// A loaded object file.
typedef struct bc_jit_object bc_jit_object;

/// BC_JIT_ABI of the library.
BC_JIT_EXPORT int bc_jit_abi(void);
/// The compiler's name and version: "clang-19.1.7".
BC_JIT_EXPORT const char* bc_jit_version(void);
/// Has code made for a CPU by LLVM's name ("x86-64-v3") in place of this machine's. Comes before every other call but bc_jit_abi.
BC_JIT_EXPORT void bc_jit_set_cpu(const char* cpu);
/// The CPU that code is made for: LLVM's name of this machine's CPU, or "x86-64" where LLVM does not know it.
BC_JIT_EXPORT const char* bc_jit_cpu(void);
/// What that CPU has beside what its name says, as LLVM's feature list: "+avx2,-avx512f,…".
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

/// Parses a program. `bitcode` is what bc_jit_specialise takes. `data` is an object with the program's variables, empty without any.
/// `manifest` has a line for each name, its fields parted by tabs:
///   kernel SYMBOL NAME BYTES,BYTES,…    (a parameter's bytes each)
///   variable SYMBOL NAME BYTES
///   name NUMBER SYMBOL                  (a name expression by its number)
/// Returns 0, or 1 with the errors in `log`.
BC_JIT_EXPORT int bc_jit_program(const bc_jit_program_source* source, const bc_jit_flags* flags, const char* pch, size_t pch_size,
                                 bc_jit_buffer* bitcode, bc_jit_buffer* data, bc_jit_buffer* manifest, bc_jit_buffer* log);

/// The object of one kernel of a program for blocks of one shape; its function is `bc_entry`. Stage "ir" or "asm" gives a text in its
/// place, NULL the object.
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

/// Around a fork: before it (phase 0: waits for the compiles that run and holds off others), after it in the parent (1), in the child (2).
BC_JIT_EXPORT void bc_jit_fork(int phase);

#if defined(__cplusplus)
}
#endif
