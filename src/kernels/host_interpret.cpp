// `with objmode(…)`: a block of a compiled function that the interpreter runs.
#include "kernels/compiler.h"

namespace bc::kernels {

int Unit::interpret(InterpretedBlock b) {
  for (size_t i = 0; i < interpreted_.size(); ++i)
    if (interpreted_[i].callable == b.callable && interpreted_[i].inputs == b.inputs) return static_cast<int>(i);
  interpreted_.push_back(std::move(b));
  return static_cast<int>(interpreted_.size()) - 1;
}

void FunctionCompiler::with_statement(const Node* n) {
  const Node* context = n->list.size() == 1 ? n->list[0] : nullptr;
  const Value callee = context && context->kind == NodeKind::call ? expression(context->a) : Value{};
  if (callee.type && callee.is(Kind::builtin) && callee.type->name == "numba.parallel_chunksize") {
    arguments(context);  // how the turns are dealt out is decided here
    return block(n->body);
  }
  if (!callee.type || !callee.is(Kind::builtin) || callee.type->name != "numba.objmode")
    fail(n, "'with' takes objmode(…) in compiled functions", {}, "open files and the like before the call, or inside `with objmode():`");
  if (!host()) fail(n, "objmode: only functions under jit and njit can run the interpreter");
  std::vector<std::string> names = syntax_.locals;
  names.insert(names.end(), spec_.captured.begin(), spec_.captured.end());
  Interpreted block;
  try {
    block = function_.interpreted(n, names);
  } catch (const Error& e) {
    fail(n, e.what());
  }
  std::vector<Value> inputs;
  std::vector<Type> types;
  for (const std::string& name : block.inputs) {
    if (const int index = syntax_.local_index(name); index >= 0 && !env_.locals[static_cast<size_t>(index)]) {
      // Bound by the block on some of its ways only, and not before it.
      types.push_back(none_type());
      inputs.push_back(Value::known(none_type()));
      continue;
    }
    Node* named = new Node(*context->a);  // kept for what refers to it
    named->kind = NodeKind::name;
    named->text = name;
    named->a = nullptr;
    Value v = this->name(named);
    if (!v.type) return;  // not known yet
    if (v.is(Kind::string)) v = converted(v, text_type(), n);
    if (v.is(Kind::literal)) v = converted(v, int64_type(), n);
    if (v.type->is(Kind::generator) || (!v.type->has_value() && !v.is_none()))
      fail(n, fmt::format("objmode: '{}' is {}, which the interpreter cannot have", name, v.type->spelling));
    types.push_back(v.type);
    inputs.push_back(std::move(v));
  }
  const Type in = tuple_type(types);
  types.clear();
  for (const auto& [name, t] : block.outputs) types.push_back(t);
  const Type out = tuple_type(types);
  InterpretedBlock b{block.callable, in, out, {}};
  for (const auto& [name, t] : block.outputs) b.names.push_back(name);
  comment(n);
  const std::string from = temporary("inputs"), to = temporary("outputs"), run = temporary("run");
  linef("alignas(16) char {}[{}], {}[{}];", from, std::max<size_t>(in->bytes, 16), to, std::max<size_t>(out->bytes, 16));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].type->has_value()) line(unit_.host_store(inputs[i].type, from, in->offsets[i], inputs[i].text.text()));
  linef("const py::Interpreted {}({}, {}, {});", run, emitting_ ? unit_.interpret(std::move(b)) : 0, from, to);
  for (const std::string& name : block.lost)
    if (const int index = syntax_.local_index(name); index >= 0) {
      env_.locals[static_cast<size_t>(index)].reset();
      note_bound(index, false);
    }
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const auto& [name, t] = block.outputs[i];
    if (!t->has_value()) {
      assign_name(name, Value::known(t), n);
      continue;
    }
    Value v = Value::called(t, unit_.host_load(t, to, out->offsets[i], run));
    v.note(kActs);
    assign_name(name, v, n);
  }
}

}  // namespace bc::kernels
