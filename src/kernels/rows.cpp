#include "kernels/rows.h"

#include <algorithm>
#include <unordered_map>

namespace bc::kernels {

const std::vector<Row>& all_rows() {
  // The text of the file is a table, which takes less code than a statement for each row.
  struct Text {
    const char *name, *signature, *text;
    unsigned flags;
    const char* header;
  };
  static constexpr Text texts[] = {
#define BC_ROW(name, signature, text, flags, header) {#name, signature, text, flags, header},
#include "kernels/intrinsics.def"
  };
  static const auto& rows = *new std::vector<Row>([] {
    std::vector<Row> made;
    for (const Text& t : texts) made.push_back({t.name, parse_signature(t.signature), t.text, t.flags, t.header});
    return made;
  }());
  return rows;
}

const std::vector<const Row*>& rows_of(std::string_view name) {
  static const auto& by_name = *new std::unordered_map<std::string_view, std::vector<const Row*>>([] {
    std::unordered_map<std::string_view, std::vector<const Row*>> made;
    for (const Row& r : all_rows()) made[r.name].push_back(&r);
    return made;
  }());
  static const auto& none = *new std::vector<const Row*>;
  const auto it = by_name.find(name);
  return it == by_name.end() ? none : it->second;
}

namespace {

/// What a conversion costs in the choice of a row; negative: it is not made.
int cost(Type from, Type to) {
  if (from == to) return 0;
  if (from->is(Kind::literal)) return cost(int64_type(), to);
  if (from->is(Kind::optional)) return cost(from->element, to);
  if (!from->is_scalar() || !to->is_scalar()) return converts(from, to) ? 1 : -1;
  const DType a = from->dtype, b = to->dtype;
  const int width = std::abs(itemsize(b) - itemsize(a));
  const bool whole_a = !is_inexact(a), whole_b = !is_inexact(b);
  // Integers of any width become doubles, though narrow ones fit into single precision.
  if (whole_a && is_real_float(b)) return 30 + (b == DType::f64 ? 0 : 10);
  if (promote(a, b) == b) return 1 + width;
  if (whole_a && whole_b) return itemsize(a) == itemsize(b) ? 20 : 40 + width;  // the sign, or the width
  if (whole_a) return 30 + (b == DType::f64 ? 0 : 10);
  if (is_complex(a) && !is_complex(b)) return -1;
  if (whole_b) return 200 + width;
  return 100 + width;
}

}  // namespace

const Row* choose_row(std::string_view name, const std::vector<Type>& arguments) {
  const Row* best = nullptr;
  int least = 1 << 30;
  for (const Row* r : rows_of(name)) {
    if (r->signature.arguments.size() != arguments.size()) continue;
    int total = 0;
    for (size_t i = 0; i < arguments.size() && total >= 0; ++i) {
      const int c = cost(arguments[i], r->signature.arguments[i]);
      total = c < 0 ? -1 : total + c;
    }
    if (total >= 0 && total < least) least = total, best = r;
  }
  return best;
}

}  // namespace bc::kernels
