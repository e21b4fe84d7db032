// The back end: LLVM's optimiser and its x86 code generator.
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>
#include <llvm/Transforms/Coroutines/CoroElide.h>
#if BC_JIT_THREAD_CHECKS
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#endif

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "backends/cpu/jit/jit_alone.h"
#include "backends/cpu/jit/jit_internal.h"
#include "backends/cpu/jit/jit_passes.h"
#include "backends/cpu/jit/jit_rare.h"
#include "backends/cpu/jit/jit_vectors.h"

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86AsmParser();
}

namespace bc::jit {
namespace {

using Machine = std::unique_ptr<llvm::TargetMachine>;
using FlagKey = std::tuple<int, int, int>;  // a machine does not depend on the language

Machine make_machine(const bc_jit_flags& flags, std::string& log) {
  const Host& machine = host();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, error);
  if (target == nullptr) {
    log += "error: " + error + "\n";
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // operations that may be fused are marked in the IR
  options.UnsafeFPMath = flags.fast_math != 0;
  options.NoInfsFPMath = flags.fast_math == 1;
  options.NoNaNsFPMath = flags.fast_math == 1;
  options.NoTrappingFPMath = true;
  constexpr llvm::CodeGenOptLevel kLevels[] = {llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less, llvm::CodeGenOptLevel::Default,
                                               llvm::CodeGenOptLevel::Aggressive};
  return Machine(target->createTargetMachine(machine.triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_,
                                             llvm::CodeModel::Small, kLevels[std::clamp(flags.opt_level, 0, 3)]));
}

/// A pool of unused target machines. They keep the tables of their subtargets, which take a millisecond to build.
class MachinePool {
 public:
  Machine take(const bc_jit_flags& flags, std::string& log) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<Machine>& free = free_[key(flags)];
      if (!free.empty()) {
        Machine machine = std::move(free.back());
        free.pop_back();
        return machine;
      }
    }
    return make_machine(flags, log);
  }
  void give(const bc_jit_flags& flags, Machine machine) {
    const std::lock_guard lock(mutex_);
    free_[key(flags)].push_back(std::move(machine));
  }

 private:
  static FlagKey key(const bc_jit_flags& flags) { return {flags.opt_level, flags.contract, flags.fast_math}; }
  std::mutex mutex_;
  std::map<FlagKey, std::vector<Machine>> free_;
};

MachinePool& machine_pool() {
  static MachinePool& pool = *new MachinePool;
  return pool;
}

/// Takes a target machine from the pool and returns it in its destructor.
struct Loan {
  Loan(const bc_jit_flags& flags, std::string& log) : flags(flags), machine(machine_pool().take(flags, log)) {}
  ~Loan() {
    if (machine != nullptr) machine_pool().give(flags, std::move(machine));
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  bc_jit_flags flags;
  Machine machine;
};

/// Collects what LLVM reports while it optimises or emits (inline assembly that does not assemble, registers that run out).
class LogHandler : public llvm::DiagnosticHandler {
 public:
  explicit LogHandler(std::string& log) : log_(log) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(log_);
    stream << "error: ";
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << "\n";
    HasErrors = true;
    return true;
  }

 private:
  std::string& log_;
};

}  // namespace

namespace {

std::string& requested_cpu() {
  static std::string& name = *new std::string;
  return name;
}

/// This machine's name and features. The list has only features that the CPU's name does not imply, because every subtarget of every
/// compile parses it. Additions come first: a feature implies the features that it is built on, and a virtual machine may have removed one
/// of them.
void find_machine(Host& host) {
  host.cpu = llvm::sys::getHostCPUName().str();
  if (host.cpu.empty() || host.cpu == "generic") host.cpu = "x86-64";
  llvm::StringMap<bool> known;
  llvm::SmallVector<llvm::StringRef, 64> named;
  llvm::X86::getFeaturesForCPU(host.cpu, named);
  for (const llvm::StringRef name : named) {
    known[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, known);
  }
  // A StringMap is unordered, but the list is a part of cache keys, so it is sorted.
  std::map<std::string, bool> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) features[feature.first().str()] = feature.second;
  for (const auto& [name, there] : features) {
    if (!there || known.lookup(name)) continue;
    host.feature_list.push_back("+" + name);
    known[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, known);
  }
  for (const auto& [name, there] : features) {
    if (!there && known.lookup(name)) host.feature_list.push_back("-" + name);
  }
  const auto wide = features.find("avx512vl");
  host.wide_vectors = wide != features.end() && wide->second;
}

}  // namespace

void set_cpu(const char* cpu) { requested_cpu() = cpu; }

const Host& host() {
  static const Host& machine = *[] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // inline assembly in users' kernels
    // LLVM 19 may assume a stride of 1 and then drop the check of it in a loop with many pointers.
    if (llvm::cl::Option* option = llvm::cl::getRegisteredOptions().lookup("enable-mem-access-versioning"))
      static_cast<llvm::cl::opt<bool>*>(option)->setValue(false);
    // Keeps the order of floating-point sums; the summands are still computed with vectors.
    if (llvm::cl::Option* option = llvm::cl::getRegisteredOptions().lookup("force-ordered-reductions"))
      option->addOccurrence(1, "force-ordered-reductions", "true");  // LLVM tests whether the option was given
    auto* made = new Host;
    made->triple = "x86_64-pc-linux-gnu";
    made->cpu = requested_cpu();
    if (made->cpu.empty())
      find_machine(*made);
    else
      made->wide_vectors = made->cpu == "x86-64-v4";
    made->tune = requested_cpu().empty() ? made->cpu : "generic";
    for (const std::string& feature : made->feature_list) made->features += (made->features.empty() ? "" : ",") + feature;
    return made;
  }();
  return machine;
}

#if BC_JIT_THREAD_CHECKS
/// Gives volatile accesses and atomic exchanges the order that x86 gives them. Locks of CUDA programs rely on it: they are taken by a
/// relaxed exchange and freed by a volatile store, which the thread sanitizer takes for a plain one.
void add_orders_of_x86(llvm::Module& module) {
  const auto is_word = [](const llvm::Type* type) {
    return type->isPointerTy() || type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(8) || type->isIntegerTy(16) ||
           type->isIntegerTy(32) || type->isIntegerTy(64);
  };
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        if (load->isVolatile() && is_word(load->getType())) load->setAtomic(llvm::AtomicOrdering::Acquire);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        if (store->isVolatile() && is_word(store->getValueOperand()->getType())) store->setAtomic(llvm::AtomicOrdering::Release);
      } else if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        change->setOrdering(llvm::AtomicOrdering::AcquireRelease);
      } else if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        swap->setSuccessOrdering(llvm::AtomicOrdering::AcquireRelease);
      }
    }
  }
}
#endif

bool optimise(Unit& unit, const bc_jit_flags& flags, std::string& log) {
  const Loan loan(flags, log);
  llvm::TargetMachine* machine = loan.machine.get();
  if (machine == nullptr) return false;
  unit.context->setDiagnosticHandler(std::make_unique<LogHandler>(log));
  mark_rare_calls(*unit.module);

  llvm::PipelineTuningOptions tuning;
  // The thread sanitizer does not look at vectors of 32 bytes and more.
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling =
      flags.opt_level >= 2 && !BC_JIT_THREAD_CHECKS;
  // In compiled Python functions (which have exceptions) it puts two chains of a scan together, as the least and the largest of an array,
  // and so makes each slower; what gains are kernels' short vectors.
  tuning.SLPVectorization = tuning.SLPVectorization && flags.exceptions == 0;
  PassAnalyses known(machine, tuning);
  // Before the loop passes: frames of generators that a loop's turns make are then still known by one name.
  known.builder.registerPeepholeEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) { passes.addPass(llvm::CoroElidePass()); });
  known.builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(SmallSwitchPass());
    passes.addPass(ScatteredSumPass());
    passes.addPass(AlonePass());
  });
  known.builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(TruncationPass()));
  });
#if BC_JIT_THREAD_CHECKS
  for (llvm::Function& function : *unit.module) {
    if (!function.isDeclaration()) function.addFnAttr(llvm::Attribute::SanitizeThread);
  }
  add_orders_of_x86(*unit.module);
  known.builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
  });
#endif
  constexpr const llvm::OptimizationLevel* kLevels[] = {&llvm::OptimizationLevel::O0, &llvm::OptimizationLevel::O1,
                                                        &llvm::OptimizationLevel::O2, &llvm::OptimizationLevel::O3};
  const llvm::OptimizationLevel level = *kLevels[std::clamp(flags.opt_level, 0, 3)];
  llvm::ModulePassManager passes =
      flags.opt_level <= 0 ? known.builder.buildO0DefaultPipeline(level) : known.builder.buildPerModuleDefaultPipeline(level);
  passes.run(*unit.module, known.modules);
  return !unit.context->getDiagHandlerPtr()->HasErrors;
}

bool emit(llvm::Module& module, const bc_jit_flags& flags, bool assembly, llvm::SmallVectorImpl<char>& out, std::string& log) {
  const Loan loan(flags, log);
  llvm::TargetMachine* machine = loan.machine.get();
  if (machine == nullptr) return false;
  module.getContext().setDiagnosticHandler(std::make_unique<LogHandler>(log));
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(llvm::TargetLibraryInfoImpl(machine->getTargetTriple())));
  const auto kind = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, kind)) {
    log += "error: this target cannot write object files\n";
    return false;
  }
  passes.run(module);
  return !module.getContext().getDiagHandlerPtr()->HasErrors;
}

}  // namespace bc::jit
