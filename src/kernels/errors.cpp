// Errors of typing: the line, a caret, what was inferred, one suggestion. At most 15 lines.
#include <algorithm>

#include "core/spelling.h"
#include "kernels/compiler.h"

namespace bc::kernels {

std::string FunctionCompiler::nearest(const std::string& name, const std::vector<std::string>& among) const {
  const std::string best = nearest_name(name, among);
  return best.empty() ? "" : fmt::format("did you mean '{}'?", best);
}

std::string FunctionCompiler::source_of(const Node* n) const {
  if (!n) return "value";
  std::string_view line = syntax_.source_line(n->line);
  const size_t end = n->end_line == n->line ? static_cast<size_t>(n->end_column) : line.size();
  if (static_cast<size_t>(n->column) >= line.size()) return "value";
  std::string text(line.substr(static_cast<size_t>(n->column), std::min(end, line.size()) - static_cast<size_t>(n->column)));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r')) text.pop_back();
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

void FunctionCompiler::fail(const Node* n, std::string message, std::vector<std::pair<std::string, Type>> types,
                            std::string suggestion) const {
  const int line_number = n ? n->line : syntax_.line;
  if (const size_t end = message.find('\n'); end != message.npos) message.resize(end);  // of another part's message, what it says first
  std::string text = fmt::format("{}\n", message);
  text += fmt::format("  {}:{}, in {}\n", syntax_.file, line_number, syntax_.name);
  std::string line(syntax_.source_line(line_number));
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ' || line.back() == '\r')) line.pop_back();
  if (!line.empty() && n) {
    size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string::npos) indent = 0;
    const size_t column = std::max(static_cast<size_t>(n->column), indent);
    const size_t end = n->end_line == n->line ? std::min(static_cast<size_t>(n->end_column), line.size()) : line.size();
    // A caret per character, not per byte.
    const auto width = [&](size_t from, size_t to) {
      size_t w = 0;
      for (size_t i = from; i < to && i < line.size(); ++i) w += (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;
      return w;
    };
    const size_t carets = std::max<size_t>(1, width(column, end));
    // Of a long line, what is around the caret.
    constexpr size_t kShown = 120;
    size_t from = indent, to = line.size();
    if (to - from > kShown + 20) {
      const auto inside = [&](size_t i) { return (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80; };
      from = column > indent + 40 ? column - 40 : indent;
      while (from > indent && inside(from)) --from;
      to = std::min(line.size(), from + kShown);
      while (to < line.size() && inside(to)) ++to;
    }
    const std::string before = from > indent ? "… " : "";
    text += fmt::format("    {}{}{}\n", before, line.substr(from, to - from), to < line.size() ? " …" : "");
    text += "    " + std::string(width(from, column) + (before.empty() ? 0 : 2), ' ') +
            std::string(std::max<size_t>(1, std::min(carets, width(column, std::min(end, to)))), '^') + "\n";
  }
  int shown = 0;
  for (const auto& [what, type] : types) {
    if (!type || ++shown > 4) continue;
    text += fmt::format("  {}: {}\n", what, type->spelling);
  }
  if (!suggestion.empty()) text += "  " + suggestion + "\n";
  // The calls that led here, the innermost last.
  const size_t n_calls = unit_.trail.size();
  for (size_t i = n_calls > 3 ? n_calls - 3 : 0; i < n_calls; ++i) text += "  called at " + unit_.trail[i] + "\n";
  text.pop_back();
  throw Error(ErrorKind::Typing, text);
}

}  // namespace bc::kernels
