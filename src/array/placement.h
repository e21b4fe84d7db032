#pragma once
#include <atomic>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "array/array.h"

/// Placement by size, for programs that name no devices: new arrays of few elements lie in host memory, those of many on an accelerator,
/// and an op over both computes on the accelerator. A kernel's launch and a wait cost more than the host needs for few elements.
namespace bc {

/// Arrays of so many elements and more belong on the accelerator by default. Float64 arithmetic on them takes one core about 100 us. A
/// launch and a wait for its value take 50 us on an H200, and the compile of a kernel that is not shipped 30 ms, so many ops must repay it.
inline constexpr int64_t kAcceleratedElements = int64_t{1} << 17;

/// To open an accelerator takes a process about so many nanoseconds. Work on large arrays that took the host less is not worth it.
inline constexpr int64_t kOpening = 300'000'000;

/// Sets the size, for all threads; 0 ends placement by size. The default device of each thread that set none is then the host. Without an
/// accelerator given, it is the first one. It is opened when ops over large arrays have taken the host `patience` nanoseconds, by an
/// estimate, and arrays that are large move there in the ops that follow; a machine that has none ends placement by size.
void set_placement(int64_t elements, std::optional<Device> accelerator = std::nullopt, int64_t patience = 0);
/// The size, or 0.
int64_t accelerated_elements();
/// The accelerator of large arrays, which is opened if an op that takes the host so many nanoseconds makes it worth it.
std::optional<Device> accelerator_for(int64_t nanoseconds);
/// The accelerator of large arrays; nullopt until it is opened, and without placement by size.
std::optional<Device> known_accelerator();

namespace detail {
extern std::atomic<int64_t> placed_elements;
[[noreturn]] void raise_two_devices(const char* op, const Array& a, const Array& b);
}  // namespace detail
inline bool placed_by_size() { return detail::placed_elements.load(std::memory_order_relaxed) != 0; }

/// Throws ErrorKind::Value unless two operands of an op lie on one device, or are placed by size, so that the op brings them together.
inline void check_one_place(const char* op, const Array& a, const Array& b) {
  if (!(a.device() == b.device()) && !placed_by_size()) [[unlikely]]
    detail::raise_two_devices(op, a, b);
}

/// Sets how placement asks whether no other thread is at work with arrays. Until it is set, arrays never move.
void set_alone(bool (*alone)());
/// Moves the elements of an array from an accelerator to host memory, and with it all arrays that share them. False for an array that
/// stays: one that is not placed by size, is visible outside, differentiated or part of a capture, or while other threads are at work.
bool move_to_host(const Array& a);
/// The same for an array whose whole storage is small; false for others.
bool move_small_to_host(const Array& a);
/// Counts that a program takes a part of `size` elements of an array that is placed by size and lies on an accelerator, as a loop over rows
/// or elements does. Moves the array to the host when such parts are many since an op last used all of it: for each, the host needs less
/// time than a launch takes.
void note_part(const Array& a, int64_t size);
/// Notes that an op uses all of an array. For a large one this ends the count of note_part(); if it was made before the accelerator was
/// opened, it moves there.
void note_whole(const Array& a);

/// The first device that computes beside the host; nullopt on a machine without one.
std::optional<Device> first_accelerator();

/// Where a new array of `size` elements belongs that would lie on `device`.
Device placed(Device device, int64_t size);
Device placed(Device device, const Dims& shape);

/// Where an op over arrays belongs if its result has `size` elements, or if it takes `operations`, which many are worth a copy of the
/// operands; nullopt where all arrays lie there, or where they are not placed by size. Null arrays are left out. What is large in host
/// memory, because it is shared with other code, stays there unless another operand is on the accelerator.
std::optional<Device> place_of_op(std::span<const Array* const> arrays, int64_t size, int64_t operations = 0);
inline std::optional<Device> place_of_op(std::initializer_list<const Array*> arrays, int64_t size, int64_t operations = 0) {
  return placed_by_size() ? place_of_op(std::span(arrays.begin(), arrays.size()), size, operations) : std::nullopt;
}
std::optional<Device> place_of_op(std::span<const Array> arrays, int64_t size, int64_t operations = 0);

/// The array on a device: itself, or a copy, of whose repeated elements (axes of stride 0) one is copied.
Array brought(const Array& a, Device device);
std::vector<Array> brought(std::span<const Array> arrays, Device device);
/// An index or a mask on an array's device. Of arrays that are placed by size, the gather or the store that it is for chooses the device.
Array beside(const Array& index, const Array& a);
/// The array's view of a copy of its whole storage on a device; the array itself if it lies there.
Array with_storage_at(const Array& a, Device device);

}  // namespace bc
