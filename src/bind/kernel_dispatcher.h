#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "bind/py.h"
#include "kernels/compile.h"
#include "runtime/program.h"

/// Kernels written in Python, from the call to the launch: `kernel[grid, block, stream, shared](*arguments)`.
///
/// `_broadcloth.KernelDispatcher(compile, names=(), defaults=())` is the base of what cuda.jit gives. It tells the types of a call's
/// arguments apart in C and keeps one KernelForm for each device and set of types; what it has not seen it asks for by
/// `compile(arguments: tuple, device)`, which returns a form (wrap_form) or raises. A call that was seen before runs no Python code.
namespace bc::bind {

/// A kernel compiled for one device and one set of argument types.
struct KernelForm {
  Device device;
  std::shared_ptr<Program> program;  ///< stays loaded with the form
  ProgramKernel* kernel = nullptr;
  /// The type of each argument as the kernel takes it; None, functions and the like are among them and take no parameter. Numbers are
  /// converted to it. Values lie in memory as kernels::TypeInfo says.
  std::vector<kernels::Type> arguments;
  std::vector<bool> writes;  ///< which arguments' memory the kernel may write; empty: all of it
  /// Arrays on a device that the kernel names, which are parameters behind the arguments.
  std::vector<kernels::CapturedArray> captured;
  unsigned most_threads = ~0u;  ///< of a block, as the kernel's launch bounds say; only GPUs know that themselves
  bool cooperative = false;     ///< launched so that the grid may synchronise
  bool checked = false;         ///< arrays that nothing was written to are filled with the pattern of checked mode before the launch
  /// Gives the address that follows the arguments as a last parameter (a status that the kernel reports to); null: there is none.
  std::function<void*(Stream)> status;
  /// Called when the launch has been queued, without the interpreter's lock; may throw what the kernel reported.
  std::function<void(Stream)> launched;
};

PyRef wrap_form(std::shared_ptr<const KernelForm> form);
/// Throws TypeError for other objects.
const std::shared_ptr<const KernelForm>& form_of(PyObject* o);

}  // namespace bc::bind
