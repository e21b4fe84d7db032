#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "bind/convert.h"
#include "graph/tape.h"
#include "kernels/kernel_signature.h"
#include "runtime/program.h"

/// How kernels are launched from Python: arguments become parameter bytes on the stack, without Python code and, for arrays and plain
/// numbers, without an allocation.
namespace bc::bind {

/// The parameters of one launch while they are gathered: their bytes, and the arrays whose addresses are put among them when the launch
/// is made.
class LaunchArguments {
 public:
  LaunchArguments() = default;
  LaunchArguments(const LaunchArguments&) = delete;
  LaunchArguments& operator=(const LaunchArguments&) = delete;

  int count() const { return count_; }
  /// Room for the next parameter.
  void* add(size_t bytes, size_t alignment = 8);
  /// The next parameter is a pointer to the array's first element. `a` must live until the launch.
  void add_array(const Array& a, bool write) { note_array(a, write, static_cast<void**>(add(sizeof(void*)))); }
  /// `place`, inside a parameter, gets the address of the array's first element.
  void note_array(const Array& a, bool write, void** place);
  /// Keeps an array of another library, or a copy, until the launch has been made; gives it back as it must be noted.
  const Array& hold(Array a);
  /// Keeps memory of another library until the stream has done what the launch queues.
  const Array& hold_foreign(Array a);

  /// Makes the launch (`times` over, for measurements). Called with the interpreter's lock, which is let go meanwhile.
  void launch(ProgramKernel& kernel, const KernelLaunch& shape, Tape& tape, int64_t times = 1);

 private:
  static constexpr int kInline = 48;
  static constexpr size_t kRoom = 2048;

  struct Noted {
    const Array* array;
    void** place;
    bool write;
  };
  template <class T>
  struct Few {
    T inside[kInline];
    std::vector<T> more;
    int n = 0;
    void push(T value) {
      if (n < kInline) {
        inside[n++] = value;
        return;
      }
      if (more.empty()) more.assign(inside, inside + n);
      more.push_back(value);
      ++n;
    }
    T* data() { return more.empty() ? inside : more.data(); }
  };

  int count_ = 0;
  Few<void*> pointers_;
  Few<Noted> arrays_;
  std::vector<std::unique_ptr<Array>> held_;
  std::vector<Array> foreign_;
  std::vector<std::unique_ptr<char[]>> more_room_;
  size_t used_ = 0, room_bytes_ = kRoom;
  char* room_ = inside_;
  alignas(16) char inside_[kRoom];
};

/// Arrays of other libraries in one call, imported once.
class ForeignArrays {
 public:
  /// The array over `o`'s memory; nullptr for objects that show none.
  const Array* find(PyObject* o) {
    for (const auto& [object, array] : arrays_)
      if (object == o) return array.get();
    auto made = import_foreign(o);
    if (!made) return nullptr;
    arrays_.emplace_back(o, std::make_unique<Array>(std::move(*made)));
    return arrays_.back().second.get();
  }
  bool empty() const { return arrays_.empty(); }
  std::vector<Array> all() const {
    std::vector<Array> list;
    for (const auto& [object, array] : arrays_) list.push_back(*array);
    return list;
  }

 private:
  std::vector<std::pair<PyObject*, std::unique_ptr<Array>>> arrays_;
};

/// What is known of a raw kernel's parameter: from the kernel's text, and from the device that has compiled it.
struct RawParameter {
  KernelParameter::Kind kind = KernelParameter::Kind::unknown;
  DType dtype = DType::i64;
  bool write = true;
  bool described = false;  ///< the text was read: of unknown kind is a struct
  uint32_t bytes = 0;      ///< 0: not known
};

/// Adds an argument of a raw kernel: an array's address, a number, a struct by value. Throws TypeError naming the parameter.
void add_raw_argument(LaunchArguments* to, ForeignArrays* foreign, PyObject* argument, const RawParameter& parameter, const char* kernel,
                      int index, Device device);

/// The device that an object's `device` names: one of ours, or broadcloth.cuda.Device. nullopt for other objects.
std::optional<Device> device_attribute(PyObject* o);

/// The device that an argument lies on; nullopt where it does not say.
std::optional<Device> launch_device(PyObject* argument, ForeignArrays* foreign);

/// A grid or block: an int or up to three of them.
void read_dims(PyObject* o, unsigned dims[3], const char* kernel, const char* what);

}  // namespace bc::bind
