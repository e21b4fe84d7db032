// Checked mode: accesses and results go through src/device/python/check.h, each with the place in the program that it comes from.
#include "kernels/compiler.h"

namespace bc::kernels {

int Unit::site(CheckSite s) {
  for (size_t i = 0; i < sites_.size(); ++i)
    if (sites_[i] == s) return static_cast<int>(i);
  sites_.push_back(std::move(s));
  return static_cast<int>(sites_.size()) - 1;
}

int FunctionCompiler::site(const Node* n, std::string what) {
  const int line = n ? n->line : syntax_.line;
  std::string_view text = syntax_.source_line(line);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return unit_.site({syntax_.file, line, syntax_.name, std::string(text), std::move(what)});
}

Code FunctionCompiler::place(const Value& array, const Code& indices, Access access, const Node* n) {
  const Code a = paren(array);
  if (!unit_.options.check) return code("{}({})", a, indices);
  unit_.need("check");
  // A record's fields may belong to different threads: only its place is checked.
  if (!array.type->element->is_scalar() || array.type->space == Space::constant) access = Access::bounds;
  const int where = array.type->space == Space::shared ? 1 : array.type->space == Space::local ? 2 : 0;
  const std::string what = n && n->a && (n->kind == NodeKind::subscript || n->kind == NodeKind::attribute) ? source_of(n->a)
                           : n && n->kind == NodeKind::call && !n->list.empty()                            ? source_of(n->list[0])
                                                                                                           : array.text.text();
  return code("py::at<{}, {}>(bc_checker, {}, {}{}{})", static_cast<int>(access), where, site(n, what), a, indices.empty() ? "" : ", ",
              indices);
}

Value FunctionCompiler::field_checked(const Value& field, const Value& reference, Access access, const Node* n) {
  if (!unit_.options.check || !field.is_scalar() || !is_natural_record(reference.type->element)) return field;
  unit_.need("check");
  const int where = reference.type->space == Space::shared ? 1 : reference.type->space == Space::local ? 2 : 0;
  Value r = field;
  r.text = code("py::field_at<{}, {}>(bc_checker, {}, {})", static_cast<int>(access), where, site(n, n ? source_of(n) : ""), field.text);
  r.simple = false;
  return r;
}

Value FunctionCompiler::nan_checked(const Value& r, const std::vector<Value>& operands, const Node* n) {
  if (!unit_.options.check || !r.is_scalar() || !is_inexact(r.type->dtype) || r.constant || r.lazy) return r;
  unit_.need("check");
  const Value made = spill(r, "r");
  Code list;
  for (const Value& v : operands)
    if (v.is_scalar()) list += ", " + v.text;
  linef("py::nan_made(bc_checker, {}, {}{});", site(n, n ? source_of(n) : ""), made.text, list);
  return made;
}

std::vector<Value> FunctionCompiler::evaluated(const std::vector<Value>& operands) {
  if (!unit_.options.check) return operands;
  std::vector<Value> all;
  for (const Value& v : operands) all.push_back(v.is_scalar() ? spill(v, "v") : v);
  return all;
}

void FunctionCompiler::check_barrier(const std::string& row, const Node* n) {
  if (!unit_.options.check) return;
  if (row.starts_with("cuda.threadfence") || row.starts_with("cuda.cg.")) unit_.orders_blocks = true;
  unit_.need("check");
  if (row.starts_with("cuda.syncthreads")) linef("py::meet(bc_checker, {});", site(n, ""));
  if (row.starts_with("cuda.syncthreads") || row.starts_with("cuda.cg."))
    line("++bc_checker.epoch;");
  else if (row == "cuda.syncwarp" || row.ends_with("_sync"))
    line("++bc_checker.warp_epoch;");
}

}  // namespace bc::kernels
