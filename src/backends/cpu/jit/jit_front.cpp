// The front end: C++ text to LLVM IR, and headers to precompiled ones. All files are in memory; nothing touches the disk.
#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/FileManager.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Serialization/ASTWriter.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <functional>
#include <map>
#include <mutex>
#include <tuple>

#include "backends/cpu/jit/jit_internal.h"

namespace bc::jit {
namespace {

constexpr const char* kPchPath = "/broadcloth/device.pch";
const std::string kIncludeFolder = "/broadcloth/include/";
using Finish = std::function<void(clang::CompilerInstance&, clang::CodeGenerator&)>;

/// Compiles a text to a module, which the action owns.
class ModuleAction : public clang::ASTFrontendAction {
 public:
  /// `finish` is called with the module while the syntax tree still exists.
  ModuleAction(llvm::LLVMContext& context, const Finish& finish) : context_(context), finish_(finish) {}
  std::unique_ptr<llvm::Module> take() { return std::move(module_); }

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& ci, llvm::StringRef file) override {
    generator_ = clang::CreateLLVMCodeGen(ci.getDiagnostics(), file, &ci.getVirtualFileSystem(), ci.getHeaderSearchOpts(),
                                          ci.getPreprocessorOpts(), ci.getCodeGenOpts(), context_);
    return std::unique_ptr<clang::ASTConsumer>(generator_);
  }
  void EndSourceFileAction() override {
    // The consumer is destroyed right after this call.
    const bool good = !getCompilerInstance().getDiagnostics().hasErrorOccurred();
    if (generator_ != nullptr && good && finish_) finish_(getCompilerInstance(), *generator_);
    if (generator_ != nullptr) module_.reset(generator_->ReleaseModule());
    generator_ = nullptr;
  }

 private:
  llvm::LLVMContext& context_;
  const Finish& finish_;
  clang::CodeGenerator* generator_ = nullptr;
  std::unique_ptr<llvm::Module> module_;
};

/// Writes the precompiled form of a header into memory.
class HeaderAction : public clang::ASTFrontendAction {
 public:
  std::shared_ptr<clang::PCHBuffer> buffer = std::make_shared<clang::PCHBuffer>();

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& ci, llvm::StringRef) override {
    return std::make_unique<clang::PCHGenerator>(ci.getPreprocessor(), ci.getModuleCache(), kPchPath, "", buffer,
                                                 ci.getFrontendOpts().ModuleFileExtensions, /*AllowASTWithErrors=*/false,
                                                 /*IncludeTimestamps=*/false);
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }
  bool BeginSourceFileAction(clang::CompilerInstance& ci) override {
    ci.getLangOpts().CompilingPCH = true;
    return true;
  }
};

/// The parsed command line of a set of flags, cached because parsing takes longer than copying.
const clang::CompilerInvocation& invocation(const bc_jit_flags& flags) {
  static std::mutex mutex;
  static auto& made = *new std::map<std::tuple<int, int, int, int>, std::unique_ptr<clang::CompilerInvocation>>;
  const std::lock_guard lock(mutex);
  auto& slot = made[{flags.opt_level, flags.contract, flags.fast_math, flags.program * 2 + flags.exceptions}];
  if (slot == nullptr) {
    const std::vector<std::string> options = command_line(flags);
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());
    slot = std::make_unique<clang::CompilerInvocation>();
    clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, new clang::DiagnosticOptions, new clang::IgnoringDiagConsumer);
    clang::CompilerInvocation::CreateFromArgs(*slot, arguments, diagnostics);
  }
  return *slot;
}

bool run(clang::FrontendAction& action, const Source& source, bool header, const bc_jit_flags& flags, std::string& log) {
  auto options = std::make_shared<clang::CompilerInvocation>(invocation(flags));
  const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(source.text, source.name);
  const clang::InputKind kind(clang::Language::CXX, clang::InputKind::Source, false, clang::InputKind::HeaderUnit_None, header);
  options->getFrontendOpts().Inputs.clear();
  options->getFrontendOpts().Inputs.emplace_back(buffer->getMemBufferRef(), kind);

  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> view = files;
  if (source.includes != nullptr) {
    clang::HeaderSearchOptions& search = options->getHeaderSearchOpts();
    for (const auto& [header, text] : source.includes->headers) {
      files->addFile(kIncludeFolder + header, 0, llvm::MemoryBuffer::getMemBufferCopy(text, header));
    }
    search.AddPath(kIncludeFolder, clang::frontend::Angled, false, true);
    if (!source.includes->folders.empty()) {
      auto both = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
      both->pushOverlay(files);
      view = both;
    }
    for (const std::string& folder : source.includes->folders) search.AddPath(folder, clang::frontend::Angled, false, true);
  }
  if (!source.pch.empty()) {
    files->addFileNoOwn(kPchPath, 0, llvm::MemoryBufferRef(source.pch, kPchPath));
    clang::PreprocessorOptions& preprocessor = options->getPreprocessorOpts();
    preprocessor.ImplicitPCHInclude = kPchPath;
    // The caller guarantees that the header fits: its cache name contains a digest of text, target and flags.
    preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::PCH;
  }

  llvm::raw_string_ostream stream(log);
  clang::TextDiagnosticPrinter printer(stream, &options->getDiagnosticOpts());
  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(options));
  compiler.setVerboseOutputStream(stream);
  compiler.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  compiler.createFileManager(view);
  const bool ok = compiler.ExecuteAction(action) && !compiler.getDiagnostics().hasErrorOccurred();
  if (!ok && log.empty()) log = "the compiler gave no reason\n";
  return ok;
}

/// Reports code that the loader does not support, which would otherwise give wrong results.
bool loadable(const llvm::Module& module, std::string& log) {
  for (const char* name : {"llvm.global_ctors", "llvm.global_dtors"}) {
    if (module.getNamedGlobal(name) != nullptr) {
      log += "error: a global object needs code to run before or after the kernel; kernels may only hold constant globals\n";
      return false;
    }
  }
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (global.isThreadLocal()) {
      log += "error: '" + global.getName().str() + "' is thread_local; kernels may only hold constant globals\n";
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> command_line(const bc_jit_flags& flags) {
  const Host& machine = host();
  std::vector<std::string> options = {"-triple", machine.triple, "-target-cpu", machine.cpu, "-tune-cpu", machine.tune};
  for (const std::string& feature : machine.feature_list) {
    options.emplace_back("-target-feature");
    options.push_back(feature);
  }
  // A gather is a load with a stride, or at indices: separate loads are up to four times faster.
  if (flags.program == 0)
    for (const char* option : {"-target-feature", "+prefer-no-gather", "-target-feature", "+prefer-no-scatter"})
      options.emplace_back(option);
  options.push_back("-O" + std::to_string(flags.opt_level));
  if (flags.opt_level >= 2) {
    options.emplace_back("-vectorize-loops");
    options.emplace_back("-vectorize-slp");
  }
  if (machine.wide_vectors) options.emplace_back("-mprefer-vector-width=512");
  // Honours the pragmas by which CUDA's correctly rounded functions (__dadd_rn) are never fused.
  options.emplace_back(flags.contract != 0 || flags.fast_math != 0 ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off");
  if (flags.fast_math == 1) {
    for (const char* option : {"-ffast-math", "-menable-no-infs", "-menable-no-nans", "-ffinite-math-only"}) options.emplace_back(option);
  }
  if (flags.fast_math != 0) {
    for (const char* option : {"-funsafe-math-optimizations", "-fno-signed-zeros", "-mreassociate", "-freciprocal-math", "-fapprox-func"})
      options.emplace_back(option);
  }
  if (flags.exceptions != 0)
    for (const char* option : {"-fexceptions", "-fcxx-exceptions", "-funwind-tables=2"}) options.emplace_back(option);
  // AMD's processors take memory at rbp for the stack's and forward stores to it early. Where rbp is an array's address, a loop that counts
  // into another array was five to ten times slower. So rbp is the frame's in users' loops; in the kernels of array expressions, which
  // need more addresses at once, it is not.
  options.emplace_back(flags.exceptions != 0 ? "-mframe-pointer=all" : "-mframe-pointer=none");
  if (flags.program != 0) options.emplace_back("-fdeclspec");  // threadIdx.x is a property
  // No -ffreestanding: it would stop LLVM from making memcpy and memset of loops that copy and fill.
  for (const char* option :
       {"-std=gnu++20", "-nostdsysteminc", "-nobuiltininc", "-nostdinc++", "-fdeprecated-macro", "-fno-rtti", "-fgnuc-version=4.2.1",
        "-fno-threadsafe-statics", "-fvisibility=hidden", "-mrelocation-model", "pic", "-pic-level", "2",
        // A kernel may access one storage through views of two dtypes.
        "-relaxed-aliasing",
        // Otherwise every compile instantiates the templates that the device library's functions use again (8 ms).
        "-fpch-instantiate-templates",
        // Endless loops must stay: Python functions and users' kernels may wait in them for another thread.
        "-fno-finite-loops",
        // Generated expressions are nested more deeply than hand-written ones.
        "-fbracket-depth=4096", "-ferror-limit", "20", "-w"}) {
    options.emplace_back(option);
  }
  return options;
}

Unit parse(const Source& source, const bc_jit_flags& flags, std::string& log, const Finish& finish) {
  Unit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.context->setDiscardValueNames(true);
  ModuleAction action(*unit.context, finish);
  if (run(action, source, /*header=*/false, flags, log)) unit.module = action.take();
  if (unit.module != nullptr && !loadable(*unit.module, log)) unit.module.reset();
  return unit;
}

bool precompile(llvm::StringRef text, llvm::StringRef name, const bc_jit_flags& flags, llvm::SmallVectorImpl<char>& out, std::string& log) {
  HeaderAction action;
  if (!run(action, {text, name, {}}, /*header=*/true, flags, log)) return false;
  if (!action.buffer->IsComplete) {
    log += "error: the precompiled header could not be written\n";
    return false;
  }
  out.assign(action.buffer->Data.begin(), action.buffer->Data.end());
  return true;
}

}  // namespace bc::jit
