#include "backends/cuda/cubin.h"

#include <elf.h>

#include <cstring>
#include <limits>

#include "backends/cuda/cuda_libraries.h"

namespace bc::cuda {

namespace {

constexpr std::string_view kInfoSection = ".nv.info.";
// A record of these sections has a format, an attribute and a value. Depending on the format the value is in the two bytes of the header,
// or a length followed by as many bytes.
constexpr unsigned kFormatSized = 4;
constexpr uint32_t kFatMagic = 0xba55ed50;
constexpr size_t kFatHead = 16, kFatAlignment = 8;
constexpr unsigned kParameter = 0x17, kParameterV2 = 0x45;  // one record for each parameter

template <class T>
bool read_at(std::span<const char> bytes, uint64_t at, T* out) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
  std::memcpy(out, bytes.data() + at, sizeof(T));
  return true;
}

std::optional<size_t> count_parameters(std::span<const char> section) {
  size_t count = 0;
  for (uint64_t at = 0; at < section.size();) {
    unsigned char format = 0, attribute = 0;
    uint16_t bytes = 0;
    if (!read_at(section, at, &format) || !read_at(section, at + 1, &attribute) || !read_at(section, at + 2, &bytes)) return std::nullopt;
    at += 4;
    if (format != kFormatSized) continue;
    if (section.size() - at < bytes) return std::nullopt;
    at += bytes;
    count += attribute == kParameter || attribute == kParameterV2;
  }
  return count;
}

/// Of ".entry name(.param .u64 a, .param .align 8 .b8 b[16]) {...}".
ParameterCounts ptx_parameter_counts(std::string_view text) {
  constexpr std::string_view kEntry = ".entry", kBlank = " \t\r\n", kParam = ".param";
  ParameterCounts counts;
  for (size_t at = text.find(kEntry); at != text.npos; at = text.find(kEntry, at)) {
    at = text.find_first_not_of(kBlank, at + kEntry.size());
    const size_t name_end = at == text.npos ? at : text.find_first_of(" \t\r\n({", at);
    const size_t open = name_end == text.npos ? name_end : text.find_first_not_of(kBlank, name_end);
    if (open == text.npos) break;
    size_t& count = counts[std::string(text.substr(at, name_end - at))];
    at = open;
    if (text[open] != '(') continue;
    const std::string_view list = text.substr(open, text.find(')', open) - open);
    for (size_t k = list.find(kParam); k != list.npos; k = list.find(kParam, k + kParam.size())) ++count;
  }
  return counts;
}

std::optional<ParameterCounts> cubin_parameter_counts(std::span<const char> binary) {
  Elf64_Ehdr head;
  if (!read_at(binary, 0, &head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
    return std::nullopt;
  const auto section = [&](uint64_t number, Elf64_Shdr* out) {
    return head.e_shentsize == sizeof(Elf64_Shdr) && number < head.e_shnum &&
           read_at(binary, head.e_shoff + number * sizeof(Elf64_Shdr), out) && out->sh_offset <= binary.size() &&
           (out->sh_type == SHT_NOBITS || out->sh_size <= binary.size() - out->sh_offset);
  };
  Elf64_Shdr names;
  if (!section(head.e_shstrndx, &names) || names.sh_type == SHT_NOBITS) return std::nullopt;
  ParameterCounts counts;
  for (uint64_t i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr info;
    if (!section(i, &info) || info.sh_name >= names.sh_size) return std::nullopt;
    const std::string_view rest(binary.data() + names.sh_offset + info.sh_name, names.sh_size - info.sh_name);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (!name.starts_with(kInfoSection) || info.sh_type == SHT_NOBITS) continue;
    const std::optional<size_t> count = count_parameters(binary.subspan(info.sh_offset, info.sh_size));
    if (!count) return std::nullopt;
    counts.emplace(name.substr(kInfoSection.size()), *count);
  }
  return counts;
}

/// A fat binary holds cubins and PTX for several devices, each possibly compressed. A kernel has the same parameters in all of them.
std::optional<ParameterCounts> fat_parameter_counts(std::span<const char> binary) {
  ParameterCounts counts;
  for (size_t at = kFatHead; at + EI_NIDENT < binary.size(); at += kFatAlignment) {
    if (std::memcmp(binary.data() + at, ELFMAG, SELFMAG) != 0) continue;
    if (const auto found = cubin_parameter_counts(binary.subspan(at))) counts.insert(found->begin(), found->end());
  }
  if (counts.empty()) return std::nullopt;
  return counts;
}

std::optional<size_t> parameter_count(CUfunction function, std::string_view symbol, const std::optional<ParameterCounts>& counts) {
  if (counts)
    if (const auto known = counts->find(symbol); known != counts->end()) return known->second;
  size_t count = 0;
  if (driver().cuFuncGetParamCount && driver().cuFuncGetParamCount(function, &count) == kSuccess) return count;
  return std::nullopt;
}

}  // namespace

std::optional<ParameterCounts> parameter_counts(std::span<const char> binary) {
  uint32_t magic = 0;
  if (read_at(binary, 0, &magic) && magic == kFatMagic) return fat_parameter_counts(binary);
  const std::string_view text(binary.data(), binary.size());
  if (text.find(".version") < text.find(".entry") && text.find(".entry") != text.npos && !text.starts_with(ELFMAG))
    return ptx_parameter_counts(text);
  return cubin_parameter_counts(binary);
}

std::optional<std::vector<uint32_t>> parameter_sizes(CUfunction function, std::string_view symbol,
                                                     const std::optional<ParameterCounts>& counts) {
  if (!driver().cuFuncGetParamInfo) return std::nullopt;
  const size_t count = parameter_count(function, symbol, counts).value_or(std::numeric_limits<size_t>::max());
  std::vector<uint32_t> sizes;
  size_t offset = 0, bytes = 0;
  while (sizes.size() < count && driver().cuFuncGetParamInfo(function, sizes.size(), &offset, &bytes) == kSuccess)
    sizes.push_back(static_cast<uint32_t>(bytes));
  return sizes;
}

}  // namespace bc::cuda
