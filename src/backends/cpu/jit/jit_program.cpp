// Users' CUDA C++: parsed once to bitcode, then compiled for each kernel and block shape.
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/CodeGen/CGFunctionInfo.h>
#include <clang/CodeGen/CodeGenABITypes.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <cstdlib>
#include <cstring>

#include "backends/cpu/jit/jit_blocks.h"
#include "backends/cpu/jit/jit_internal.h"
#include "backends/cpu/jit/jit_launches.h"
#include "backends/cpu/jit/jit_passes.h"
#include "backends/cpu/jit/jit_words.h"

namespace bc::jit {
namespace {

using llvm::Function;
using llvm::GlobalVariable;

constexpr const char* kKernelNote = "bc.kernel";
constexpr const char* kSharedNote = "bc.shared";
constexpr const char* kClusterNote = "bc.cluster";
const std::string kNamePrefix = "__bc_name_";
const std::string kWrapperPrefix = "__bc_kernel.";

/// The text of an __attribute__((annotate)).
llvm::StringRef note_text(const llvm::Value* value) {
  const auto* global = llvm::dyn_cast<GlobalVariable>(value->stripPointerCasts());
  if (global == nullptr || !global->hasInitializer()) return {};
  const auto* data = llvm::dyn_cast<llvm::ConstantDataArray>(global->getInitializer());
  return data != nullptr && data->isCString() ? data->getAsCString() : llvm::StringRef();
}

/// Turns the local variables that are annotated as shared into module variables.
void lift_shared(llvm::Module& module) {
  for (Function& function : module) {
    std::vector<llvm::IntrinsicInst*> notes;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (intrinsic != nullptr && intrinsic->getIntrinsicID() == llvm::Intrinsic::var_annotation) notes.push_back(intrinsic);
    }
    for (llvm::IntrinsicInst* note : notes) {
      auto* local = llvm::dyn_cast<llvm::AllocaInst>(note->getArgOperand(0)->stripPointerCasts());
      const bool shared = local != nullptr && note_text(note->getArgOperand(1)) == kSharedNote;
      note->eraseFromParent();
      if (!shared) continue;
      for (llvm::User* user : llvm::make_early_inc_range(local->users())) {
        auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(user);
        if (intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd()) intrinsic->eraseFromParent();
      }
      llvm::Type* type = local->getAllocatedType();
      auto* global = new GlobalVariable(module, type, false, GlobalVariable::InternalLinkage, llvm::UndefValue::get(type), "shared");
      global->setAlignment(local->getAlign());
      global->setSection(kSharedSection);
      local->replaceAllUsesWith(global);
      local->eraseFromParent();
    }
  }
}

std::string names_of(const clang::NamedDecl& decl) { return decl.getQualifiedNameAsString(); }

// The offset of a parameter that is passed by address.
constexpr uint64_t kWhole = ~uint64_t{0};

/// A call of a kernel in device code is a launch. Writes the function `launch`, which takes the kernel's parameters and stores their bytes
/// where a table points.
void write_launch(Function& launch, llvm::StringRef symbol, llvm::ArrayRef<std::pair<uint64_t, uint64_t>> parts,
                  llvm::ArrayRef<uint64_t> parameters) {
  llvm::Module& module = *launch.getParent();
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* byte = llvm::Type::getInt8Ty(context);
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(context, "", &launch));
  std::vector<llvm::Value*> places;
  for (const uint64_t bytes : parameters) {
    llvm::AllocaInst* place = at.CreateAlloca(llvm::ArrayType::get(byte, std::max<uint64_t>(bytes, 1)));
    place->setAlignment(llvm::Align(16));
    places.push_back(place);
  }
  llvm::AllocaInst* table = at.CreateAlloca(llvm::ArrayType::get(pointer, std::max<size_t>(places.size(), 1)));
  for (size_t i = 0; i < places.size(); ++i) at.CreateStore(places[i], at.CreateConstInBoundsGEP1_64(pointer, table, i));
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto [parameter, offset] = parts[i];
    llvm::Value* place = at.CreateConstInBoundsGEP1_64(byte, places[parameter], offset == kWhole ? 0 : offset);
    llvm::Argument* value = launch.getArg(static_cast<unsigned>(i));
    if (offset == kWhole) {
      at.CreateMemCpy(place, llvm::Align(16), value, llvm::Align(1), parameters[parameter]);
    } else if (value->getType()->isIntegerTy(1)) {
      at.CreateStore(at.CreateZExt(value, byte), place);
    } else {
      at.CreateAlignedStore(value, place, llvm::Align(1));
    }
  }
  llvm::Constant* name = at.CreateGlobalString(symbol, "kernel_name", 0, &module);
  // Calls the third function of the launch state (see LaunchState in program.cpp).
  llvm::Value* state = at.CreateCall(module.getOrInsertFunction("__bc_launch", llvm::FunctionType::get(pointer, false)));
  llvm::Value* queue = at.CreateLoad(pointer, at.CreateConstInBoundsGEP1_64(pointer, state, 2));
  at.CreateCall(llvm::FunctionType::get(at.getVoidTy(), {pointer, pointer, pointer}, false), queue, {state, name, table});
  at.CreateRetVoid();
}

/// Writes a function `void (ptr)` that loads the kernel's parameters from the addresses in a table, as the ABI passes them, and calls the
/// kernel.
bool wrap_kernel(Function& kernel, const clang::FunctionDecl& decl, clang::CodeGen::CodeGenModule& codegen, const std::string& cluster,
                 std::string& manifest, std::string& log) {
  clang::ASTContext& ast = decl.getASTContext();
  llvm::Module& module = *kernel.getParent();
  llvm::LLVMContext& context = module.getContext();
  const auto fail = [&](const std::string& reason) {
    log += "error: kernel '" + names_of(decl) + "': " + reason + "\n";
    return false;
  };
  if (!decl.getReturnType()->isVoidType()) return fail("expected void to be returned, got " + decl.getReturnType().getAsString());
  if (decl.isVariadic()) return fail("takes a variable number of arguments");
  const auto type = ast.getCanonicalType(decl.getType())->getAs<clang::FunctionProtoType>();
  if (type == nullptr) return fail("has no prototype");
  const clang::CodeGen::CGFunctionInfo& info =
      clang::CodeGen::arrangeFreeFunctionType(codegen, clang::CanQual<clang::FunctionProtoType>::CreateUnsafe(clang::QualType(type, 0)));
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* byte = llvm::Type::getInt8Ty(context);
  Function* wrapper = Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false), Function::ExternalLinkage,
                                       kWrapperPrefix + kernel.getName().str(), module);
  wrapper->addFnAttrs(llvm::AttrBuilder(context, kernel.getAttributes().getFnAttrs()));
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(context, "", wrapper));
  std::vector<llvm::Value*> arguments;
  std::string sizes;
  std::vector<uint64_t> parameters;                  // size of each parameter
  std::vector<std::pair<uint64_t, uint64_t>> parts;  // for each argument: the parameter and the offset in it
  unsigned index = 0;
  for (const clang::CodeGen::CGFunctionInfoArgInfo& argument : info.arguments()) {
    const uint64_t bytes = static_cast<uint64_t>(ast.getTypeSizeInChars(argument.type).getQuantity());
    sizes += (index == 0 ? "" : ",") + std::to_string(bytes);
    llvm::Value* place = at.CreateAlignedLoad(pointer, at.CreateConstInBoundsGEP1_64(pointer, wrapper->getArg(0), index), llvm::Align(8));
    parameters.push_back(bytes);
    ++index;
    const clang::CodeGen::ABIArgInfo& how = argument.info;
    const unsigned first = static_cast<unsigned>(arguments.size());
    const auto offset = [&](uint64_t by) { return by == 0 ? place : at.CreateConstInBoundsGEP1_64(byte, place, by); };
    switch (how.getKind()) {
      case clang::CodeGen::ABIArgInfo::Ignore: break;
      case clang::CodeGen::ABIArgInfo::Indirect:
      case clang::CodeGen::ABIArgInfo::IndirectAliased: {
        // The kernel may write to its parameter, so it gets a copy.
        const auto align = llvm::Align(static_cast<uint64_t>(ast.getTypeAlignInChars(argument.type).getQuantity()));
        llvm::AllocaInst* copy = at.CreateAlloca(llvm::ArrayType::get(byte, bytes));
        copy->setAlignment(llvm::Align(std::max<uint64_t>(align.value(), 16)));
        at.CreateMemCpy(copy, copy->getAlign(), place, llvm::Align(1), bytes);
        arguments.push_back(copy);
        parts.emplace_back(index - 1, kWhole);
        break;
      }
      case clang::CodeGen::ABIArgInfo::Direct:
      case clang::CodeGen::ABIArgInfo::Extend: {
        llvm::Type* given = how.getCoerceToType();
        auto* fields = llvm::dyn_cast<llvm::StructType>(given);
        if (fields != nullptr && how.getCanBeFlattened() && fields->getNumElements() > 0) {
          const llvm::StructLayout* layout = module.getDataLayout().getStructLayout(fields);
          for (unsigned i = 0; i < fields->getNumElements(); ++i) {
            const uint64_t where = how.getDirectOffset() + layout->getElementOffset(i);
            arguments.push_back(at.CreateAlignedLoad(fields->getElementType(i), offset(where), llvm::Align(1)));
            parts.emplace_back(index - 1, where);
          }
        } else if (given->isIntegerTy(1)) {
          llvm::Value* whole = at.CreateAlignedLoad(byte, place, llvm::Align(1));
          arguments.push_back(at.CreateICmpNE(whole, llvm::ConstantInt::get(byte, 0)));
          parts.emplace_back(index - 1, 0);
        } else {
          arguments.push_back(at.CreateAlignedLoad(given, offset(how.getDirectOffset()), llvm::Align(1)));
          parts.emplace_back(index - 1, how.getDirectOffset());
        }
        break;
      }
      default: return fail("parameter " + std::to_string(index) + " has a type that cannot be passed");
    }
    if (arguments.size() > kernel.arg_size() ||
        (arguments.size() > first && arguments[first]->getType() != kernel.getArg(first)->getType()))
      return fail("parameter " + std::to_string(index) + " has a type that cannot be passed");
  }
  if (arguments.size() != kernel.arg_size()) return fail("its parameters cannot be passed");
  llvm::CallInst* call = at.CreateCall(&kernel, arguments);
  call->setAttributes(kernel.getAttributes());
  at.CreateRetVoid();
  kernel.setLinkage(Function::InternalLinkage);
  Function* launch = nullptr;
  for (llvm::User* user : llvm::make_early_inc_range(kernel.users())) {
    auto* direct = llvm::dyn_cast<llvm::CallInst>(user);
    if (direct == nullptr || direct == call || direct->getCalledOperand() != &kernel) continue;
    if (launch == nullptr) {
      launch = Function::Create(kernel.getFunctionType(), Function::InternalLinkage, "__bc_launch_of." + kernel.getName().str(), module);
      launch->setAttributes(kernel.getAttributes());
      write_launch(*launch, kernel.getName(), parts, parameters);
    }
    direct->setCalledFunction(launch);
  }
  manifest += "kernel\t" + kernel.getName().str() + "\t" + names_of(decl) + "\t" + sizes + "\t" + cluster + "\n";
  return true;
}

/// Reads the module's functions and variables from its annotations, tables and names.
bool read_module(clang::CodeGenerator& generator, size_t names, std::string& manifest, std::string& log) {
  llvm::Module& module = *generator.GetModule();
  std::vector<Function*> kernels;
  llvm::DenseMap<Function*, std::string> clusters;
  if (GlobalVariable* notes = module.getGlobalVariable("llvm.global.annotations")) {
    for (const llvm::Use& entry : llvm::cast<llvm::ConstantArray>(notes->getInitializer())->operands()) {
      const auto* fields = llvm::cast<llvm::ConstantStruct>(entry.get());
      llvm::Value* object = fields->getOperand(0)->stripPointerCasts();
      const llvm::StringRef note = note_text(fields->getOperand(1));
      if (note == kKernelNote) {
        if (auto* function = llvm::dyn_cast<Function>(object); function != nullptr && !function->isDeclaration())
          kernels.push_back(function);
      } else if (note == kClusterNote) {
        auto* function = llvm::dyn_cast<Function>(object);
        const auto* given = llvm::dyn_cast<GlobalVariable>(fields->getOperand(4)->stripPointerCasts());
        if (function == nullptr || given == nullptr || !given->hasInitializer()) continue;
        std::string& dims = clusters[function];
        for (const llvm::Use& value : llvm::cast<llvm::ConstantStruct>(given->getInitializer())->operands()) {
          const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value.get());
          dims += (dims.empty() ? "" : ",") + std::to_string(number == nullptr ? 1 : number->getZExtValue());
        }
      } else if (note == kSharedNote) {
        if (auto* global = llvm::dyn_cast<GlobalVariable>(object)) {
          global->setSection(kSharedSection);
          global->setInitializer(llvm::UndefValue::get(global->getValueType()));
          global->setLinkage(GlobalVariable::InternalLinkage);
          global->setComdat(nullptr);
        }
      }
    }
    notes->eraseFromParent();
  }
  lift_shared(module);
  for (Function* kernel : kernels) {
    const auto* decl = llvm::dyn_cast_or_null<clang::FunctionDecl>(generator.GetDeclForMangledName(kernel->getName()));
    if (decl == nullptr) {
      log += "error: kernel '" + kernel->getName().str() + "' has no declaration\n";
      return false;
    }
    if (!wrap_kernel(*kernel, *decl, generator.CGM(), clusters.lookup(kernel), manifest, log)) return false;
  }
  const auto table_of = [&](size_t i) {
    const std::string name = kNamePrefix + std::to_string(i);
    return module.getGlobalVariable("_ZL" + std::to_string(name.size()) + name, true);
  };
  for (size_t i = 0; i < names; ++i) {
    GlobalVariable* table = table_of(i);
    const llvm::Value* object = table == nullptr || !table->hasInitializer() ? nullptr : table->getInitializer()->stripPointerCasts();
    if (object == nullptr || !llvm::isa<llvm::GlobalValue>(object)) {
      log += "error: name expression " + std::to_string(i) + " names no kernel and no variable\n";
      return false;
    }
    manifest += "name\t" + std::to_string(i) + "\t" + object->getName().str() + "\n";
  }
  for (const char* table : {"llvm.used", "llvm.compiler.used"}) {
    if (GlobalVariable* used = module.getGlobalVariable(table)) used->eraseFromParent();
  }
  for (size_t i = 0; i < names; ++i) {
    if (GlobalVariable* table = table_of(i)) table->eraseFromParent();
  }
  // Variables: one storage for all kernels of the program.
  for (GlobalVariable& global : module.globals()) {
    if (global.isDeclaration() || global.isConstant() || global.getSection() == kSharedSection || global.getName().starts_with("llvm."))
      continue;
    const auto* decl = llvm::dyn_cast_or_null<clang::NamedDecl>(generator.GetDeclForMangledName(global.getName()));
    const uint64_t bytes = module.getDataLayout().getTypeAllocSize(global.getValueType());
    manifest += "variable\t" + global.getName().str() + "\t" + (decl == nullptr ? global.getName().str() : names_of(*decl)) + "\t" +
                std::to_string(bytes) + "\n";
  }
  return true;
}

bool is_variable(const GlobalVariable& global) {
  return !global.isConstant() && global.getSection() != kSharedSection && !global.getName().starts_with("llvm.");
}

void drop_unreachable(llvm::Module& module) {
  PassAnalyses known;
  llvm::GlobalDCEPass().run(module, known.modules);
}

/// Moves the program's variables to a separate object; the module keeps declarations of them.
bool split_data(Unit& unit, const bc_jit_flags& flags, llvm::SmallVectorImpl<char>& data, std::string& log) {
  bool any = false;
  for (GlobalVariable& global : unit.module->globals()) {
    if (global.isDeclaration() || !is_variable(global)) continue;
    any = true;
    global.setLinkage(GlobalVariable::ExternalLinkage);
    global.setVisibility(GlobalVariable::DefaultVisibility);
    global.setComdat(nullptr);
    global.setDSOLocal(false);
  }
  if (!any) return true;
  Unit part;
  part.module = llvm::CloneModule(*unit.module);
  for (Function& function : *part.module) {
    if (!function.isDeclaration()) {
      function.setLinkage(Function::InternalLinkage);
      function.setComdat(nullptr);
    }
  }
  for (GlobalVariable& global : part.module->globals()) {
    if (!global.isDeclaration() && !is_variable(global)) {
      global.setLinkage(GlobalVariable::InternalLinkage);
      global.setComdat(nullptr);
    }
  }
  drop_unreachable(*part.module);
  // The new module shares the unit's context.
  bool ok = emit(*part.module, flags, false, data, log);
  for (GlobalVariable& global : unit.module->globals()) {
    if (!global.isDeclaration() && is_variable(global)) global.setInitializer(nullptr);
  }
  return ok;
}

bool parse_program(const bc_jit_program_source& from, const bc_jit_flags& flags, llvm::StringRef pch, llvm::SmallVectorImpl<char>& bitcode,
                   llvm::SmallVectorImpl<char>& data, std::string& manifest, std::string& log) {
  Includes includes;
  std::string text;
  const auto value_of = [&](llvm::StringRef option, size_t& i) -> std::string {
    if (option.size() > 2) return option.drop_front(2).str();
    return i + 1 < from.option_count ? from.options[++i] : "";
  };
  for (size_t i = 0; i < from.option_count; ++i) {
    llvm::StringRef option = from.options[i];
    const auto long_form = [&](llvm::StringRef name, std::string& value) {
      if (option == name && i + 1 < from.option_count) {
        value = from.options[++i];
        return true;
      }
      if (!option.starts_with((name + "=").str())) return false;
      value = option.drop_front(name.size() + 1).str();
      return true;
    };
    std::string value;
    if (long_form("--define-macro", value) || option.starts_with("-D")) {
      if (value.empty()) value = value_of(option, i);
      const size_t equals = value.find('=');
      text += "#define " + value.substr(0, equals) + " " + (equals == std::string::npos ? "1" : value.substr(equals + 1)) + "\n";
    } else if (long_form("--undefine-macro", value) || option.starts_with("-U")) {
      if (value.empty()) value = value_of(option, i);
      text += "#undef " + value + "\n";
    } else if (long_form("--include-path", value) || option.starts_with("-I")) {
      if (value.empty()) value = value_of(option, i);
      includes.folders.push_back(value);
    } else if (long_form("--pre-include", value) || long_form("-include", value)) {
      text += "#include \"" + value + "\"\n";
    }
  }
  for (size_t i = 0; i < from.header_count; ++i)
    includes.headers.emplace_back(from.headers[2 * i], replace_launches(from.headers[2 * i + 1]));
  const std::string name = from.name == nullptr || *from.name == 0 ? "kernel.cu" : from.name;
  std::string quoted;
  for (const char c : name) quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  text += "#line 1 \"" + quoted + "\"\n";
  text += replace_launches({from.text, from.text_size});
  for (size_t i = 0; i < from.name_count; ++i) {
    llvm::StringRef expression = llvm::StringRef(from.names[i]).trim();
    expression.consume_front("&");
    text += "\n#line 1 \"name expression\"\n__attribute__((used)) static auto* const " + (kNamePrefix + std::to_string(i)) + " = &" +
            expression.str() + ";";
  }
  text += "\n";

  bool read = true;
  std::string messages;
  Unit unit = parse(Source{text, name, pch, &includes}, flags, messages, [&](clang::CompilerInstance&, clang::CodeGenerator& generator) {
    read = read_module(generator, from.name_count, manifest, messages);
  });
  log += messages;
  if (unit.module == nullptr || !read) return false;
  if (!split_data(unit, flags, data, log)) return false;
  drop_unreachable(*unit.module);
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*unit.module, stream);
  return true;
}

/// Keeps loops around a block barrier rolled: each iteration of an unrolled loop would become a separate loop over the block's threads.
/// Loops that index a thread's array are unrolled, so that its elements become values.
struct KeepBarrierLoops : llvm::PassInfoMixin<KeepBarrierLoops> {
  static llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults&, llvm::LPMUpdater&) {
    const auto stops = [](const BasicBlock* code) { return stops_block(*code); };
    const auto indexes_own = [](const Instruction& instruction) {
      const Value* address = llvm::getLoadStorePointerOperand(&instruction);
      return address != nullptr && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
    };
    const auto has_own = [&](const BasicBlock* code) { return llvm::any_of(*code, indexes_own); };
    if (llvm::any_of(loop.blocks(), stops) && llvm::none_of(loop.blocks(), has_own)) loop.setLoopAlreadyUnrolled();
    return llvm::PreservedAnalyses::all();
  }
};

/// Inlines the kernel into one function and simplifies it.
void simplify(llvm::Module& module) {
  PassAnalyses known;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  llvm::FunctionPassManager each;
  each.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  each.addPass(llvm::EarlyCSEPass(true));
  each.addPass(llvm::InstCombinePass());
  each.addPass(llvm::SimplifyCFGPass());
  // Unrolls loops with few iterations now, because the remaining arrays and loops decide how the loops over threads are built.
  llvm::LoopPassManager loops;
  loops.addPass(KeepBarrierLoops());
  loops.addPass(llvm::LoopFullUnrollPass(3));
  each.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  each.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  each.addPass(llvm::InstCombinePass());
  // Merges successive tests, so that loops have a single condition.
  each.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().bonusInstThreshold(12)));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
  passes.run(module, known.modules);
}

bool specialise(llvm::StringRef bitcode, llvm::StringRef symbol, const BlockShape& shape, const bc_jit_flags& flags, const char* stage,
                llvm::SmallVectorImpl<char>& out, bc_jit_kernel& facts, std::string& log) {
  Unit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "program"), *unit.context);
  if (!module) {
    log += "error: not a program: " + llvm::toString(module.takeError()) + "\n";
    return false;
  }
  unit.module = std::move(*module);
  const std::string wanted = kWrapperPrefix + symbol.str();
  Function* kernel = unit.module->getFunction(wanted);
  if (kernel == nullptr) {
    log += "error: no kernel '" + symbol.str() + "'\n";
    return false;
  }
  for (Function& function : *unit.module) {
    if (function.isDeclaration() || &function == kernel) continue;
    function.setLinkage(Function::InternalLinkage);
    function.setComdat(nullptr);
    // Everything is inlined into the kernel, so that all its barriers are visible; only recursive functions stay.
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  drop_unreachable(*unit.module);
  const bool raw = stage != nullptr && std::strcmp(stage, "raw") == 0;
  // Words that return the block's shape become constants before loops are analysed.
  const unsigned dims[3] = {shape.x, shape.y, shape.z};
  const char* const words[3] = {"__bc_dim_x", "__bc_dim_y", "__bc_dim_z"};
  for (int d = 0; d < 3; ++d) {
    Function* word = unit.module->getFunction(words[d]);
    if (word == nullptr) continue;
    for (llvm::User* user : llvm::make_early_inc_range(word->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (call == nullptr) continue;
      call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), dims[d]));
      call->eraseFromParent();
    }
  }
  simplify(*unit.module);
  const auto print = [&] {
    llvm::raw_svector_ostream stream(out);
    unit.module->print(stream, nullptr);
    return true;
  };
  if (raw) return print();
  for (const char* name : {"printf", "puts", "putchar"}) {
    const Function* writes = unit.module->getFunction(name);
    if (writes != nullptr && !writes->use_empty()) facts.prints = 1;
  }
  kernel = unit.module->getFunction(wanted);
  if (!make_blocks(*kernel, shape, flags, facts, log)) return false;
  kernel->deleteBody();
  kernel->eraseFromParent();
  if (stage != nullptr && std::strcmp(stage, "split") == 0) return print();
  {
    std::string broken;
    llvm::raw_string_ostream reasons(broken);
    if (std::getenv("BROADCLOTH_JIT_VERIFY") != nullptr && llvm::verifyModule(*unit.module, &reasons)) {
      log += "error: the kernel's code is not well formed: " + broken + "\n";
      return false;
    }
  }
  if (!optimise(unit, flags, log)) return false;
  if (Function* entry = unit.module->getFunction(kEntryName)) add_polls(*entry);
  if (stage != nullptr && std::strcmp(stage, "ir") == 0) return print();
  return emit(*unit.module, flags, stage != nullptr, out, log);
}

}  // namespace
}  // namespace bc::jit

using namespace bc::jit;  // NOLINT

extern "C" {

int bc_jit_program(const bc_jit_program_source* source, const bc_jit_flags* flags, const char* pch, size_t pch_size, bc_jit_buffer* bitcode,
                   bc_jit_buffer* data, bc_jit_buffer* manifest, bc_jit_buffer* log) {
  const Gate gate;
  host();
  llvm::SmallVector<char, 0> code, variables;
  std::string names, messages;
  const bool ok = parse_program(*source, *flags, {pch, pch_size}, code, variables, names, messages);
  give(bitcode, code.data(), ok ? code.size() : 0);
  give(data, variables.data(), ok ? variables.size() : 0);
  give(manifest, names.data(), ok ? names.size() : 0);
  give(log, messages.data(), messages.size());
  return ok ? 0 : 1;
}

int bc_jit_specialise(const char* bitcode, size_t bitcode_size, const char* symbol, const uint32_t block[3], const bc_jit_flags* flags,
                      const char* stage, bc_jit_buffer* object, bc_jit_kernel* kernel, bc_jit_buffer* log) {
  const Gate gate;
  host();
  llvm::SmallVector<char, 0> out;
  std::string messages;
  bc_jit_kernel facts{};
  const bool ok = specialise({bitcode, bitcode_size}, symbol, {block[0], block[1], block[2]}, *flags, stage, out, facts, messages);
  *kernel = facts;
  give(object, out.data(), ok ? out.size() : 0);
  give(log, messages.data(), messages.size());
  return ok ? 0 : 1;
}

}  // extern "C"
