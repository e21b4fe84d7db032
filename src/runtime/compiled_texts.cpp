#include "runtime/compiled_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/compiled_functions.h"

namespace bc::host {

int64_t format_float(double value, int32_t single, char* to) {
  const auto put = [&](std::string_view s) {
    s.copy(to, s.size());
    return static_cast<int64_t>(s.size());
  };
  if (std::isnan(value)) return put("nan");
  if (std::isinf(value)) return put(value < 0 ? "-inf" : "inf");
  const double size = std::fabs(value);
  // Python writes an exponent below 1e-4 and from 1e16 on.
  const auto form = value != 0 && (size < 1e-4 || size >= 1e16) ? std::chars_format::scientific : std::chars_format::fixed;
  char* end = single ? std::to_chars(to, to + 32, static_cast<float>(value), form).ptr : std::to_chars(to, to + 32, value, form).ptr;
  if (form == std::chars_format::fixed && std::find(to, end, '.') == end) end = std::copy_n(".0", 2, end);
  return end - to;
}

namespace {

/// Whether a byte of UTF-8 goes on with the character before it.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The parts of a format: [[fill]align][sign][z][#][0][width][grouping][.precision][type].
struct Spec {
  std::string fill = " ";
  char align = 0, sign = 0, group = 0, type = 0;
  bool no_minus_zero = false, alternate = false;
  size_t width = 0;
  int precision = -1;
};
[[noreturn]] void bad_format(const std::string& text) { raise(Raised::value, text); }
void refuse(bool what, const char* words) {
  if (what) bad_format(words);
}
Spec read_spec(std::string_view s, bool of_text) {
  Spec r;
  const auto take = [&](std::string_view of) -> char {
    if (s.empty() || of.find(s[0]) == of.npos) return 0;
    const char c = s[0];
    s.remove_prefix(1);
    return c;
  };
  const auto number = [&] {
    size_t n = 0;
    while (const char c = take("0123456789")) n = std::min<size_t>(n * 10 + static_cast<size_t>(c - '0'), 1 << 20);
    return n;
  };
  size_t first = 1;
  while (first < s.size() && continues(s[first])) ++first;
  const bool filled = s.size() > first && std::strchr("<>^=", s[first]) != nullptr;
  if (filled) r.fill = s.substr(0, first), s.remove_prefix(first);
  r.align = take("<>^=");
  r.sign = take("+- ");
  r.no_minus_zero = take("z") != 0;
  r.alternate = take("#") != 0;
  if (!filled && take("0")) {
    r.fill = "0";
    if (r.align == 0 && !of_text) r.align = '=';
  }
  r.width = number();
  r.group = take(",_");
  if (r.group && take(",_")) bad_format("Cannot specify both ',' and '_'.");
  if (take(".")) {
    if (s.empty() || s[0] < '0' || s[0] > '9') bad_format("Format specifier missing precision");
    r.precision = static_cast<int>(number());
  }
  if (!s.empty()) r.type = s[0], s.remove_prefix(1);
  if (!s.empty()) bad_format("Invalid format specifier");
  if (r.group && r.type && std::strchr(r.group == ',' ? "defgEG%F" : "defgEG%Fboxx", r.type == 'X' ? 'x' : r.type) == nullptr)
    bad_format(fmt::format("Cannot specify '{}' with '{}'.", r.group, r.type));
  return r;
}

std::string digits_of(const char* how, int precision, double v) {
  std::string r(static_cast<size_t>(std::snprintf(nullptr, 0, how, precision, v)) + 1, '\0');
  std::snprintf(r.data(), r.size(), how, precision, v);
  r.pop_back();
  return r;
}
/// A number that is not negative, as a format of floats has it.
std::string float_body(double v, const Spec& spec) {
  const char type = spec.type == 'n' ? 'g' : spec.type;
  if (type && std::strchr("feEFgG%", type) == nullptr) bad_format(fmt::format("Unknown format code '{}' for object of type 'float'", type));
  std::string r;
  if (!std::isfinite(v)) {
    r = std::isnan(v) ? "nan" : "inf";
    if (type && std::strchr("EFG", type)) std::transform(r.begin(), r.end(), r.begin(), [](char c) { return static_cast<char>(c - 32); });
  } else if (type) {
    const char how[] = {'%', spec.alternate ? '#' : '-', '.', '*', type == '%' ? 'f' : type, '\0'};
    r = digits_of(how, spec.precision < 0 ? 6 : spec.precision, type == '%' ? v * 100 : v);
  } else if (spec.precision < 0) {
    char text[32];
    r.assign(text, static_cast<size_t>(format_float(v, 0, text)));
    if (const size_t e = r.find('e'); spec.alternate && e != r.npos && r.find('.') == r.npos) r.insert(e, 1, '.');
  } else {
    // As 'g', with an exponent where no digit would follow the point.
    const int precision = std::max(spec.precision, 1);
    const std::string e = digits_of(spec.alternate ? "%#.*e" : "%.*e", precision - 1, v);
    const int exponent = std::atoi(e.c_str() + e.find('e') + 1);
    const bool scientific = exponent < -4 || exponent >= precision - 1;
    r = scientific ? e : digits_of("%#.*f", precision - 1 - exponent, v);
    const size_t end = std::min(r.find('e'), r.size());
    size_t last = end;
    if (!spec.alternate && r.find('.') != r.npos) {
      while (r[last - 1] == '0') --last;
      if (r[last - 1] == '.') last += end == r.size() ? 1 : -1;
    }
    r.erase(last, end - last);
  }
  return type == '%' ? r + '%' : r;
}

/// The text that a format makes of a value, before it is filled up to the width.
struct Body {
  std::string sign, text;
  size_t grouped = 0;  ///< digits at the beginning, which may stand in groups
};

Body text_body(std::string_view text, const Spec& spec) {
  if (spec.type && spec.type != 's') bad_format(fmt::format("Unknown format code '{}' for object of type 'str'", spec.type));
  refuse(spec.sign, "Sign not allowed in string format specifier");
  refuse(spec.no_minus_zero, "Negative zero coercion (z) not allowed in string format specifier");
  refuse(spec.alternate, "Alternate form (#) not allowed in string format specifier");
  refuse(spec.align == '=', "'=' alignment not allowed in string format specifier");
  refuse(spec.group, "Cannot specify ',' with 's'.");
  size_t at = 0;
  for (int n = 0; at < text.size(); ++at)
    if (!continues(text[at]) && n++ == spec.precision) break;
  return {"", std::string(text.substr(0, at))};
}

/// A character in UTF-8.
std::string character(uint64_t c) {
  std::string r;
  const auto put = [&](uint64_t byte) { r += static_cast<char>(byte); };
  if (c < 0x80)
    put(c);
  else if (c < 0x800)
    put(0xc0 | c >> 6);
  else if (c < 0x10000)
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 63));
  else
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63));
  if (c >= 0x80) put(0x80 | (c & 63));
  return r;
}

/// An integer by its size and whether it is negative.
Body integer_body(uint64_t size, bool negative, const Spec& spec) {
  refuse(spec.precision >= 0, "Precision not allowed in integer format specifier");
  refuse(spec.no_minus_zero, "Negative zero coercion (z) not allowed in format specifier with integer");
  if (spec.type == 'c') {
    refuse(spec.sign, "Sign not allowed with integer format specifier 'c'");
    refuse(spec.alternate, "Alternate form (#) not allowed with integer format specifier 'c'");
    if (negative || size > 0x10ffff) raise(Raised::overflow, "%c arg not in range(0x110000)");
    return {"", character(size)};
  }
  const int base = spec.type == 'x' || spec.type == 'X' ? 16 : spec.type == 'o' ? 8 : spec.type == 'b' ? 2 : 10;
  char digits[72];
  Body body{"", std::string(digits, std::to_chars(digits, digits + sizeof digits, size, base).ptr)};
  if (spec.type == 'X')
    std::transform(body.text.begin(), body.text.end(), body.text.begin(), [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  if (spec.alternate && base != 10) body.sign = std::string("0") + spec.type;
  body.grouped = body.text.size();
  return body;
}

Body number_body(int32_t tag, uint64_t bits, const Spec& spec) {
  bool negative = tag == 3;
  Body body;
  if (tag != 4 && (spec.type == 0 || std::strchr("dxXobnc", spec.type) != nullptr)) {
    body = integer_body(bits, negative, spec);
  } else {
    double v = static_cast<double>(bits);
    if (tag == 4) std::memcpy(&v, &bits, sizeof v), negative = std::signbit(v) && !std::isnan(v);
    body.text = float_body(std::fabs(v), spec);
    if (spec.no_minus_zero && body.text.find_first_of("123456789in") == body.text.npos) negative = false;
    body.grouped = std::min(body.text.find_first_not_of("0123456789"), body.text.size());
  }
  body.sign.insert(0, negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "");
  return body;
}

/// Puts the digits into groups. `zeros` is the width that zeros fill up to: those in front stand in groups too, and no group is empty.
void group_digits(Body* body, size_t zeros, const Spec& spec) {
  const size_t size = spec.type && std::strchr("boxX", spec.type) ? 4 : 3;
  size_t groups = (body->grouped - 1) / size;
  while (body->grouped + groups < zeros) {
    if (body->grouped % size == 0) ++groups;
    body->text.insert(0, 1, '0'), ++body->grouped;
  }
  for (size_t i = body->grouped; i > size; i -= size) body->text.insert(i - size, 1, spec.group);
}

/// The text at its place in the format's width.
std::string aligned(const Body& body, char align, const Spec& spec) {
  size_t points = body.sign.size();
  for (char c : body.text) points += !continues(c);
  const size_t missing = spec.width > points ? spec.width - points : 0;
  const size_t left = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  const auto filled = [&](size_t n) {
    std::string r;
    for (; n > 0; --n) r += spec.fill;
    return r;
  };
  return filled(left) + body.sign + (align == '=' ? filled(missing) : "") + body.text +
         (std::strchr("<^", align) ? filled(missing - left) : "");
}

}  // namespace

int64_t format_spec(int32_t tag, uint64_t bits, const char* text, int64_t text_size, const char* given, int64_t given_size, char* to,
                    int64_t room) {
  const bool of_text = tag == 5;
  const Spec spec = read_spec({given, static_cast<size_t>(given_size)}, of_text);
  Body body = of_text ? text_body({text, static_cast<size_t>(text_size)}, spec) : number_body(tag, bits, spec);
  if (spec.group && body.grouped) {
    const size_t others = body.sign.size() + body.text.size() - body.grouped;
    group_digits(&body, spec.align == '=' && spec.fill == "0" ? spec.width - std::min(spec.width, others) : 0, spec);
  }
  const std::string all = aligned(body, spec.align ? spec.align : of_text ? '<' : '>', spec);
  if (all.size() > static_cast<size_t>(room)) bad_format("the formatted text is too long");
  std::memcpy(to, all.data(), all.size());
  return static_cast<int64_t>(all.size());
}

int32_t parse_float(const char* text, int64_t size, double* value) {
  std::string s(text, static_cast<size_t>(size));
  s.erase(std::remove(s.begin(), s.end(), '_'), s.end());
  if (s.empty() || s.find_first_of("xXpP") != std::string::npos) return 0;
  char* end = nullptr;
  *value = std::strtod(s.c_str(), &end);
  return end == s.c_str() + s.size() ? 1 : 0;
}

}  // namespace bc::host
