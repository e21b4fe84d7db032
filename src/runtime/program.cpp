#include "runtime/program.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <unordered_map>

#include "core/error.h"

namespace bc {
namespace {

/// The loaded programs by device and digest. Never destroyed, since kernels may be launched until the process ends.
struct Programs {
  std::mutex mutex;
  std::unordered_map<Hash128, std::weak_ptr<Program>> loaded;
};

Programs& programs() {
  static auto* all = new Programs;
  return *all;
}

}  // namespace

namespace {

/// The files that a program includes from its "-I" folders; they are a part of its digest, so that editing one recompiles the program.
/// Follows every #include, also those that the preprocessor would skip.
class IncludedFiles {
 public:
  explicit IncludedFiles(const ProgramSource& source) {
    const std::vector<std::string>& options = source.options;
    std::vector<std::string> first;
    for (size_t i = 0; i < options.size(); ++i) {
      std::string_view o = options[i];
      const auto value = [&](std::string_view prefix, std::vector<std::string>& list) {
        if (!o.starts_with(prefix)) return false;
        o.remove_prefix(prefix.size());
        if (o.starts_with('=') || o.starts_with(' ')) o.remove_prefix(1);
        if (!o.empty())
          list.emplace_back(o);
        else if (i + 1 < options.size())
          list.push_back(options[++i]);
        return true;
      };
      if (value("--include-path", folders_) || value("--pre-include", first) || value("-include", first) || value("-I", folders_)) continue;
    }
    if (folders_.empty() && first.empty()) return;
    for (const std::string& name : first) follow(name, "");
    scan(source.text, "");
    for (const auto& [name, text] : source.headers) scan(text, "");
  }

  /// Path and content of each file, in the order of reading.
  const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }

 private:
  void scan(std::string_view text, const std::filesystem::path& folder) {
    for (size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1)) {
      size_t i = text.find_first_not_of(" \t", at + 1);
      if (i == text.npos || !text.substr(i).starts_with("include")) continue;
      i = text.find_first_not_of(" \t", i + 7);
      if (i == text.npos || (text[i] != '<' && text[i] != '"')) continue;
      const size_t end = text.find(text[i] == '<' ? '>' : '"', i + 1);
      if (end != text.npos) follow(std::string(text.substr(i + 1, end - i - 1)), folder);
    }
  }

  void follow(const std::string& name, const std::filesystem::path& folder) {
    if (name.find('\n') != name.npos) return;
    if (!folder.empty() && read(folder / name)) return;
    for (const std::string& root : folders_)
      if (read(std::filesystem::path(root) / name)) return;
    if (folder.empty()) read(name);  // "-include file"
  }

  bool read(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;
    const std::string real = std::filesystem::weakly_canonical(path, error).string();
    for (const auto& [known, text] : files_)
      if (known == real) return true;
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    files_.emplace_back(real, text);
    scan(text, path.parent_path());
    return true;
  }

  std::vector<std::string> folders_;
  std::vector<std::pair<std::string, std::string>> files_;
};

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
  put(nvcc ? "nvcc" : "");
  const IncludedFiles included(*this);
  for (const auto& [path, content] : included.files()) {
    put(path);
    put(content);
  }
  put({binary.data(), binary.size()});
  put(foreign_text ? "foreign" : "");
  for (const LinkedCode& code : linked) {
    put(code.kind);
    put(code.name);
    put(code.bytes);
  }
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
  // Without the lock, so that different programs compile in parallel. If two threads compile the same program, both get the one that was
  // stored first.
  std::shared_ptr<Program> made = backend(device).open_program(source);
  std::lock_guard lock(all.mutex);
  std::weak_ptr<Program>& place = all.loaded[key];
  if (auto other = place.lock()) return other;
  place = made;
  return made;
}

}  // namespace bc
