#include "runtime/program.h"

#include <mutex>
#include <unordered_map>

#include "core/error.h"

namespace bc {
namespace {

/// Programs that somebody holds, by device and digest. Never destroyed, as kernels may be launched until the process is gone.
struct Programs {
  std::mutex mutex;
  std::unordered_map<Hash128, std::weak_ptr<Program>> loaded;
};

Programs& programs() {
  static auto* all = new Programs;
  return *all;
}

}  // namespace

Hash128 ProgramSource::digest() const {
  std::string all;
  const auto put = [&](std::string_view part) {
    all += std::to_string(part.size());
    all += ':';
    all += part;
  };
  const auto put_list = [&](const std::vector<std::string>& list) {
    put(std::to_string(list.size()));
    for (const std::string& part : list) put(part);
  };
  put(text);
  put(name);
  put_list(options);
  put_list(name_expressions);
  put(std::to_string(headers.size()));
  for (const auto& [header, content] : headers) {
    put(header);
    put(content);
  }
  put(device_library ? "library" : "");
  put({binary.data(), binary.size()});
  return bc::digest(all.data(), all.size());
}

std::shared_ptr<Program> Backend::open_program(const ProgramSource&) {
  raise(ErrorKind::NotImplemented, "kernel: {} runs no kernels of users; use a CPU or CUDA device", to_string(device()));
}

std::shared_ptr<Program> load_program(Device device, const ProgramSource& source) {
  const Hash128 digest = source.digest();
  const Hash128 key = Hasher().add(digest).add(device.type).add(static_cast<uint64_t>(device.index)).finish();
  Programs& all = programs();
  {
    std::lock_guard lock(all.mutex);
    if (auto found = all.loaded[key].lock()) return found;
  }
  // Not under the lock: compiles of different programs run side by side. Of two threads that compile the same one, the later one's is kept
  // by its caller alone.
  std::shared_ptr<Program> made = backend(device).open_program(source);
  std::lock_guard lock(all.mutex);
  std::weak_ptr<Program>& place = all.loaded[key];
  if (auto other = place.lock()) return other;
  place = made;
  return made;
}

}  // namespace bc
