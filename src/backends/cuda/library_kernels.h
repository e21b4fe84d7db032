#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel_cache.h"
#include "graph/node.h"

/// Helpers with which the library bodies of this folder write and launch their kernels.
namespace bc::cuda {

inline constexpr int kThreads = 256;

/// The parameters of a kernel: 64-bit words, read in the text as p.w[k] or word_as<T*>(p.w + k).
class Words {
 public:
  int pointer(const void* p) { return integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(p))); }
  int integer(int64_t v) {
    words_.push_back(v);
    return static_cast<int>(words_.size()) - 1;
  }
  /// Adds the shape and then each stride list, as `offsets<N, K>` in the kernel's text reads them.
  int walk(const Dims& shape, std::initializer_list<const Dims*> strides) {
    const int at = static_cast<int>(words_.size());
    words_.insert(words_.end(), shape.begin(), shape.end());
    for (const Dims* s : strides) words_.insert(words_.end(), s->begin(), s->end());
    return at;
  }
  const std::vector<int64_t>& all() const { return words_; }

 private:
  std::vector<int64_t> words_;
};

/// A stream of a device, with the launch functions that the bodies use.
class Queue {
 public:
  Queue(Device device, Stream stream) : device_(device), stream_(stream) {}

  /// Launches blocks of kThreads threads. `body` is the text of the kernel's function; `head` goes before it. Both texts may depend only on
  /// `name` and `variant`, which form the kernel's key. `resident`: the number of blocks that must fit on a multiprocessor, which limits
  /// the registers; 0: no limit.
  void run(std::string_view name, std::string_view variant, const std::string& head, const std::string& body, int64_t blocks,
           const Words& words, int resident = 0);
  void run_for(std::string_view name, std::string_view variant, const std::string& head, const std::string& body, int64_t threads,
               const Words& words) {
    run(name, variant, head, body, (threads + kThreads - 1) / kThreads, words);
  }
  /// Calls `work`, whose launches wait for their kernels together: if one must be compiled, the launches from there on are kept until all
  /// are known, so that their kernels are compiled at the same time. `work` uses the stream only through this object.
  void together(const std::function<void()>& work);

  Ref<Buffer> scratch(int64_t bytes);
  Device device() const { return device_; }
  Stream stream() {
    launch_kept();
    return stream_;
  }

 private:
  struct Kept {
    Hash128 key;
    KernelSource source;
    int64_t blocks;
    Words words;
  };
  void launch(const Hash128& key, const SourcePrinter& print, int64_t blocks, const Words& words);
  void launch_kept();
  void release_scratch();
  bool quick() const;

  Device device_;
  Stream stream_;
  bool together_ = false;
  std::vector<Kept> kept_;
  std::vector<Ref<Buffer>> scratch_;  // a body may release it before the launches that use it are made
};

/// The address of a view's first element.
inline char* first(const View& v) { return static_cast<char*>(v.ptr) + v.layout.offset * itemsize(v.dtype); }

/// A type of the device library with the size of an element, for kernels that only move elements.
const char* carrier(DType t);

/// Copies a view to C-contiguous memory.
Ref<Buffer> packed(Queue& queue, const View& v);

/// data[i] = data[0] + … + data[i], int64, in place.
void inclusive_sum(Queue& queue, void* data, int64_t n);

}  // namespace bc::cuda
