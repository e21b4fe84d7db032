// What a user reads where the C++ compiler refuses printed text.
#include <algorithm>
#include <cctype>

#include "kernels/compile.h"
#include "primitives/user_op.h"

namespace bc::kernels {
namespace {

/// The first line of the text that the messages name: "name:12:" as clang writes it, "name(12)" as NVRTC does. 0: none.
size_t first_line_named(std::string_view messages, std::string_view name) {
  for (size_t at = messages.find(name); at != messages.npos; at = messages.find(name, at + 1)) {
    size_t digit = at + name.size();
    if (digit >= messages.size() || (messages[digit] != ':' && messages[digit] != '(')) continue;
    size_t line = 0;
    for (++digit; digit < messages.size() && std::isdigit(static_cast<unsigned char>(messages[digit])); ++digit)
      line = 10 * line + static_cast<size_t>(messages[digit] - '0');
    if (line > 0) return line;
  }
  return 0;
}

std::string_view without_indent(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

}  // namespace

/// Errors of other kinds than Compile stay as they are.
Error refused_text(const Error& error, std::string_view text, std::string_view name, const std::map<std::string, SourcePlace>& places) {
  if (error.kind() != ErrorKind::Compile) return error;
  // The comment before the refused line is the line of Python that it was printed for.
  const SourcePlace* place = nullptr;
  std::string python;
  size_t left = first_line_named(error.what(), name);
  for (size_t begin = 0; left > 0 && begin < text.size(); --left) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = without_indent(text.substr(begin, end - begin));
    if (line.starts_with("// "))
      if (const auto it = places.find(std::string(line.substr(3))); it != places.end()) place = &it->second, python = it->first;
    begin = end + 1;
  }
  std::string lines;
  if (place) {
    lines = fmt::format("  {}:{}, in {}\n    {}\n", place->file, place->line, place->function, python);
    const size_t n = place->trail.size();
    for (size_t i = n > 3 ? n - 3 : 0; i < n; ++i) lines += fmt::format("  called at {}\n", place->trail[i]);
  }
  return refused_print(error, lines);
}

}  // namespace bc::kernels
