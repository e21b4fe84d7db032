// Loads an object file into memory and makes it callable.
#include "backends/cpu/jit/jit_load.h"

#include <dlfcn.h>
#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/Object/ObjectFile.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "backends/cpu/jit/jit_internal.h"

namespace bc::jit {
namespace {

using llvm::JITEvaluatedSymbol;
using llvm::JITSymbolFlags;

size_t page_size() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

class Resolver : public llvm::JITSymbolResolver {
 public:
  explicit Resolver(const Object* support) : support_(support) {}
  void lookup(const LookupSet& names, OnResolvedFunction done) override {
    LookupResult found;
    std::string missing;
    for (const llvm::StringRef name : names) {
      void* address = support_ == nullptr ? nullptr : support_->find(name);
      if (address == nullptr) address = find_external(name.str().c_str());
      if (address == nullptr) missing += (missing.empty() ? "'" : ", '") + name.str() + "'";
      found[name] = JITEvaluatedSymbol(reinterpret_cast<uint64_t>(address), JITSymbolFlags::Exported);
    }
    if (missing.empty()) {
      done(std::move(found));
    } else {
      done(llvm::createStringError(llvm::inconvertibleErrorCode(), "no function or variable named " + missing + " in this process"));
    }
  }
  llvm::Expected<LookupSet> getResponsibilitySet(const LookupSet& names) override { return names; }

 private:
  const Object* support_;
};

}  // namespace

// One memory mapping for each object, so that code reaches its constants by 32-bit offsets and loading takes few system calls.
class Slab : public llvm::RuntimeDyld::MemoryManager {
 public:
  /// Reserves room for the table of addresses of external functions, which the announced sizes do not include.
  void expect_externals(size_t count) { externals_ = count * 16; }
  ~Slab() override {
    for (uint8_t* frames : frames_) tell_unwinder("__deregister_frame", frames);
    if (base_ != nullptr) munmap(base_, size_);
  }
  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code, llvm::Align, uintptr_t constants, llvm::Align, uintptr_t variables, llvm::Align) override {
    const size_t sizes[3] = {code, constants, variables};
    for (int i = 0; i < 3; ++i) {
      parts_[i].begin = size_;
      parts_[i].used = size_;
      // The alignment of sections and the stubs can need a little more than the announced sum.
      if (i == 2 || sizes[i] != 0) size_ += round_up(sizes[i] + 512 + (i == 2 ? externals_ : 0), page_size());
      parts_[i].end = size_;
    }
    if (size_ == 0) return;
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
  }
  uint8_t* allocateCodeSection(uintptr_t size, unsigned alignment, unsigned, llvm::StringRef) override {
    return take(parts_[0], size, alignment);
  }
  uint8_t* allocateDataSection(uintptr_t size, unsigned alignment, unsigned, llvm::StringRef, bool read_only) override {
    return take(parts_[read_only ? 1 : 2], size, alignment);
  }
  bool finalizeMemory(std::string* error) override {
    if (protect(parts_[0], PROT_READ | PROT_EXEC) && protect(parts_[1], PROT_READ)) return false;
    if (error != nullptr) *error = std::string("mprotect: ") + std::strerror(errno);
    return true;
  }
  /// Called for code with unwind tables; the loader has added the zero that terminates them.
  void registerEHFrames(uint8_t* at, uint64_t, size_t) override {
    tell_unwinder("__register_frame", at);
    frames_.push_back(at);
  }
  void deregisterEHFrames() override {}
  bool contains(const void* address) const {
    const auto* at = static_cast<const uint8_t*>(address);
    return at >= base_ && at < base_ + size_;
  }

 private:
  struct Part {
    size_t begin = 0, used = 0, end = 0;
  };
  static void tell_unwinder(const char* what, uint8_t* frames) {
    if (void* found = find_external(what)) reinterpret_cast<void (*)(void*)>(found)(frames);
  }
  uint8_t* take(Part& part, size_t size, unsigned alignment) {
    const size_t at = round_up(part.used, alignment == 0 ? 1 : alignment);
    if (base_ == nullptr || at + size > part.end) return nullptr;
    part.used = at + size;
    return base_ + at;
  }
  bool protect(const Part& part, int access) const {
    return part.begin == part.end || mprotect(base_ + part.begin, part.end - part.begin, access) == 0;
  }
  uint8_t* base_ = nullptr;
  size_t size_ = 0;
  size_t externals_ = 0;
  Part parts_[3];
  std::vector<uint8_t*> frames_;
};

Object::Object() : memory_(std::make_unique<Slab>()) {}
Object::~Object() = default;

std::unique_ptr<Object> Object::load(llvm::StringRef bytes, const Object* support, std::string& log) {
  // LLVM's ELF reader may assume an alignment that the bytes of a cache file do not have.
  std::unique_ptr<llvm::MemoryBuffer> aligned;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 16 != 0) {
    aligned = llvm::MemoryBuffer::getMemBufferCopy(bytes, "kernel");
    bytes = aligned->getBuffer();
  }
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
  if (!file) {
    log += "error: not an object file: " + llvm::toString(file.takeError()) + "\n";
    return nullptr;
  }
  auto object = std::unique_ptr<Object>(new Object);
  object->support_ = support;
  size_t externals = 0;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) {
      log += "error: not an object file: " + llvm::toString(flags.takeError()) + "\n";
      return nullptr;
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0) ++externals;
  }
  object->memory_->expect_externals(externals);
  Resolver resolver(support);
  llvm::RuntimeDyld loader(*object->memory_, resolver);
  loader.loadObject(**file);
  if (!loader.hasError()) loader.resolveRelocations();
  std::string error;
  if (loader.hasError()) {
    log += "error: " + loader.getErrorString().str() + "\n";
    return nullptr;
  }
  if (object->memory_->finalizeMemory(&error)) {
    log += "error: " + error + "\n";
    return nullptr;
  }
  loader.registerEHFrames();
  for (const auto& [name, symbol] : loader.getSymbolTable()) {
    auto* address = reinterpret_cast<void*>(symbol.getAddress());
    if (object->memory_->contains(address)) object->symbols_[name] = address;
  }
  return object;
}

void* Object::find(llvm::StringRef name) const {
  for (const Object* at = this; at != nullptr; at = at->support_) {
    if (void* found = at->symbol(name)) return found;
  }
  return nullptr;
}

void* Object::symbol(llvm::StringRef name) const {
  const auto at = symbols_.find(name);
  return at == symbols_.end() ? nullptr : at->second;
}

}  // namespace bc::jit
