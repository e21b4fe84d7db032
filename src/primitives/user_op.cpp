#include "primitives/user_op.h"

#include <cctype>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace bc {

void destroy(UserOp* op) { delete op; }

std::string UserOp::definition() const {
  return "namespace bc { namespace user { namespace u" + to_string(id).substr(0, 16) + " { namespace {\n" + text + "\n} } } }\n";
}

std::string first_lines(std::string_view log) {
  constexpr int kLines = 12;
  size_t begin = log.find('\n'), end = begin;
  if (begin == std::string_view::npos) return std::string(log);
  for (int k = 0; k < kLines && end != std::string_view::npos; ++k) end = log.find('\n', end + 1);
  return std::string(log.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1));
}

Error refused_text(const Error& error, std::string_view name) {
  return {ErrorKind::Compile, fmt::format("{}: the C++ does not compile:\n{}", name, first_lines(error.what()))};
}

Error refused_print(const Error& error, std::string_view place) {
  std::string message = fmt::format("this cannot be compiled yet: the C++ that broadcloth printed for it was refused\n{}", place);
  message += "  this is a fault of broadcloth: please report it with the function and the types of its arguments";
  if (std::getenv("BROADCLOTH_COMPILER_LOG"))
    message += fmt::format("\n{}", error.what());
  else
    message += " (BROADCLOTH_COMPILER_LOG=1 adds what the compiler said)";
  return {ErrorKind::Typing, message};
}

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(0, "k_");
  return out;
}

Ref<UserOp> make_user_op(UserOpSpec spec) {
  Hasher h(uint64_t{spec.identity} | uint64_t{spec.contract} << 1 | uint64_t{spec.simple} << 2 | uint64_t{spec.printed} << 3 |
           static_cast<uint64_t>(spec.cost) << 8);
  h.add(spec.name).add(spec.entry);
  const Hash128 text = digest(spec.text.data(), spec.text.size());
  h.add(text.lo).add(text.hi);
  for (const std::vector<DType>* list : {&spec.in, &spec.out}) {
    h.add(uint64_t{list->size()});
    for (DType t : *list) h.add(t);
  }
  const Hash128 id = h.finish();
  struct Known {
    std::mutex mutex;
    std::unordered_map<Hash128, Ref<UserOp>> ops;
  };
  static auto& known = *new Known;
  const std::lock_guard lock(known.mutex);
  Ref<UserOp>& place = known.ops[id];
  if (!place) {
    place = Ref<UserOp>(new UserOp);
    place->name = identifier(spec.name);
    place->entry = std::move(spec.entry);
    place->text = std::move(spec.text);
    place->in = std::move(spec.in);
    place->out = std::move(spec.out);
    place->identity = spec.identity;
    place->simple = spec.simple;
    place->contract = spec.contract;
    place->printed = spec.printed;
    place->cost = spec.cost;
    place->id = id;
  }
  return place;
}

}  // namespace bc
