#include "backends/cpu/jit/jit_launches.h"

#include <cctype>
#include <utility>
#include <vector>

namespace bc::jit {
namespace {

constexpr size_t kNone = std::string::npos;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A copy of the text with blanks in place of comments and literals, so that all its brackets are code.
std::string bare(llvm::StringRef text) {
  std::string out = text.str();
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < std::min(to, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text.substr(i).starts_with("//")) {
      end = std::min(text.find('\n', i), text.size());
      blank(i, end);
    } else if (text.substr(i).starts_with("/*")) {
      const size_t close = text.find("*/", i + 2);
      end = close == llvm::StringRef::npos ? text.size() : close + 2;
      blank(i, end);
    } else if (text[i] == '"' && i > 0 && text[i - 1] == 'R') {
      const size_t open = text.find('(', i);
      if (open == llvm::StringRef::npos) break;
      const size_t close = text.find(")" + text.slice(i + 1, open).str() + "\"", open);
      end = close == llvm::StringRef::npos ? text.size() : close + (open - i) + 1;
      blank(i, end);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      ++end;
      blank(i, end);
    }
    i = end;
  }
  return out;
}

size_t back_over_space(const std::string& text, size_t at) {
  while (at > 0 && std::isspace(static_cast<unsigned char>(text[at - 1])) != 0) --at;
  return at;
}

/// The beginning of the kernel's name that ends at `end`: words, "::" and one list of template arguments.
size_t name_before(const std::string& text, size_t end) {
  size_t at = back_over_space(text, end);
  if (at > 0 && text[at - 1] == '>') {
    int depth = 0;
    while (at > 0) {
      const char c = text[--at];
      if (c == ')' || c == ']' || c == '>') ++depth;
      if (c == '(' || c == '[' || c == '<') --depth;
      if (depth == 0) break;
    }
    at = back_over_space(text, at);
  }
  size_t begin = at;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == ':')) --begin;
  return begin == at ? kNone : begin;
}

/// The position after `close` (")" or ">>>") that ends what begins at `at`.
size_t matching(const std::string& text, size_t at, llvm::StringRef close) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (depth == 0 && llvm::StringRef(text).substr(at).starts_with(close)) return at + close.size();
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ')' || text[at] == ']' || text[at] == '}') --depth;
    if (depth < 0) return kNone;
  }
  return kNone;
}

}  // namespace

std::string replace_launches(llvm::StringRef text) {
  if (!text.contains("<<<")) return text.str();
  const std::string code = bare(text);
  std::string out;
  size_t done = 0;
  for (size_t open = code.find("<<<"); open != kNone; open = code.find("<<<", open + 3)) {
    const size_t name = name_before(code, open), shape_end = matching(code, open + 3, ">>>");
    if (name == kNone || name < done || shape_end == kNone) continue;
    const size_t call = code.find_first_not_of(" \t\r\n", shape_end);
    if (call == kNone || code[call] != '(') continue;
    const size_t end = matching(code, call + 1, ")");
    if (end == kNone) continue;
    out += text.slice(done, name);
    out += "(::__bc_child_shape(" + text.slice(open + 3, shape_end - 3).str() + "), " + text.slice(name, open).str() +
           text.slice(shape_end, end).str() + ")";
    done = end;
    open = end - 3;
  }
  return out + text.substr(done).str();
}

}  // namespace bc::jit
