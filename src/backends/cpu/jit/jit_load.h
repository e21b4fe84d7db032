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
  /// Names that the file does not define come from `support` (or nullptr) and then from the process. nullptr with the reason added to `log`
  /// on failure.
  static std::unique_ptr<Object> load(llvm::StringRef bytes, const Object* support, std::string& log);
  void* symbol(llvm::StringRef name) const;
  /// In this object, or in those that it was loaded with.
  void* find(llvm::StringRef name) const;

 private:
  Object();
  const Object* support_ = nullptr;
  std::unique_ptr<Slab> memory_;
  llvm::StringMap<void*> symbols_;
};

}  // namespace bc::jit
