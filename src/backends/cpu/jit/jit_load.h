#pragma once
#include <llvm/ADT/StringMap.h>

#include <memory>
#include <string>

namespace bc::jit {

class Slab;

/// An object file in memory, ready to be called.
class Object {
 public:
  ~Object();
  /// Names that the file does not define are looked up in `support` (if not nullptr) and then in the process. On failure returns nullptr
  /// and adds the reason to `log`.
  static std::unique_ptr<Object> load(llvm::StringRef bytes, const Object* support, std::string& log);
  void* symbol(llvm::StringRef name) const;
  /// Finds a name in this object or in the objects that it was loaded with.
  void* find(llvm::StringRef name) const;

 private:
  Object();
  const Object* support_ = nullptr;
  std::unique_ptr<Slab> memory_;
  llvm::StringMap<void*> symbols_;
};

}  // namespace bc::jit
