#include "backends/cpu/jit/jit_rare.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <string>
#include <vector>

namespace bc::jit {

// LLVM's loop vectoriser refuses a loop with a call unless the function has a vector form of some width. With a declared masked form for
// 128 lanes, a width that no loop here has, it treats the call as one that must not run for lanes whose condition is false. Since no form
// of the actual width exists, it keeps the scalar call behind a branch for each lane.
void mark_rare_calls(llvm::Module& module) {
  constexpr unsigned kLanes = 128;
  std::vector<llvm::Function*> rare;
  for (llvm::Function& f : module)
    if (f.isDeclaration() && f.getName().starts_with("bc_rare_") && f.arg_size() > 0 && !f.getReturnType()->isVoidTy()) rare.push_back(&f);
  for (llvm::Function* f : rare) {
    std::string lanes;
    std::vector<llvm::Type*> arguments;
    for (const llvm::Argument& a : f->args()) {
      lanes += "v";
      arguments.push_back(llvm::FixedVectorType::get(a.getType(), kLanes));
    }
    arguments.push_back(llvm::FixedVectorType::get(llvm::Type::getInt1Ty(module.getContext()), kLanes));
    const std::string name = f->getName().str(), vector = name + "_lanes";
    auto* type = llvm::FunctionType::get(llvm::FixedVectorType::get(f->getReturnType(), kLanes), arguments, false);
    llvm::Function* form = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, vector, module);
    llvm::appendToCompilerUsed(module, {form});
    const std::string mapping = "_ZGV_LLVM_M" + std::to_string(kLanes) + lanes + "_" + name + "(" + vector + ")";
    f->setDoesNotAccessMemory();
    f->setDoesNotThrow();
    f->setWillReturn();
    for (llvm::User* user : f->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user))
        call->addFnAttr(llvm::Attribute::get(module.getContext(), "vector-function-abi-variant", mapping));
  }
}

}  // namespace bc::jit
