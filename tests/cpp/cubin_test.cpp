// How many parameters a kernel has, as its binary says it.
#include "backends/cuda/cubin.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/nvrtc.h"
#include "core/error.h"
#include "runtime/backend.h"

namespace bc::cuda {
namespace {

/// A record of an information section: format 4 has a length and as many bytes, the others two bytes in the head.
std::string record(unsigned char format, unsigned char attribute, uint16_t bytes) {
  std::string out{static_cast<char>(format), static_cast<char>(attribute)};
  out.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  if (format == 4) out.append(bytes, '\x17');
  return out;
}

/// An ELF file of named sections, as cubins are.
std::vector<char> elf(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string names(1, '\0'), bodies;
  std::vector<Elf64_Shdr> heads(1);
  const auto add = [&](const std::string& name, const std::string& body) {
    Elf64_Shdr head{};
    head.sh_name = static_cast<Elf64_Word>(names.size());
    head.sh_type = SHT_PROGBITS;
    head.sh_offset = sizeof(Elf64_Ehdr) + bodies.size();
    head.sh_size = body.size();
    heads.push_back(head);
    names += name + '\0';
    bodies += body;
  };
  for (const auto& [name, body] : sections) add(name, body);
  const size_t at = names.size();
  names += std::string(".shstrtab") + '\0';
  Elf64_Shdr strings{};
  strings.sh_name = static_cast<Elf64_Word>(at);
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = sizeof(Elf64_Ehdr) + bodies.size();
  strings.sh_size = names.size();
  heads.push_back(strings);
  bodies += names;
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_shoff = sizeof head + bodies.size();
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = static_cast<Elf64_Half>(heads.size());
  head.e_shstrndx = static_cast<Elf64_Half>(heads.size() - 1);
  std::vector<char> out(reinterpret_cast<const char*>(&head), reinterpret_cast<const char*>(&head + 1));
  out.insert(out.end(), bodies.begin(), bodies.end());
  const char* table = reinterpret_cast<const char*>(heads.data());
  out.insert(out.end(), table, table + heads.size() * sizeof(Elf64_Shdr));
  return out;
}

TEST(Cubin, CountsTheParametersOfEachKernel) {
  const std::string parameter = record(4, 0x17, 12), wide = record(4, 0x45, 16),
                    other = record(4, 0x0a, 8) + record(3, 0x19, 24) + record(1, 0x17, 0);
  const std::vector<char> file = elf({{".nv.info", parameter + parameter + parameter},
                                      {".text.two", "code"},
                                      {".nv.info.two", other + parameter + other + parameter},
                                      {".nv.info.none", other},
                                      {".nv.info.wide", wide}});
  EXPECT_EQ(parameter_counts(file), (ParameterCounts{{"two", 2}, {"none", 0}, {"wide", 1}}));
}

TEST(Cubin, WhatCannotBeReadCountsNothing) {
  std::vector<char> file = elf({{".nv.info.k", record(4, 0x17, 12)}});
  for (size_t length = 0; length < file.size(); ++length)
    parameter_counts(std::span<const char>(file.data(), length));  // ASan sees overruns
  for (size_t at = 0; at < file.size(); ++at) {
    file[at] ^= 0x5a;
    parameter_counts(file);
    file[at] ^= 0x5a;
  }
  EXPECT_EQ(parameter_counts({}), std::nullopt);
  EXPECT_EQ(parameter_counts(elf({{".nv.info.k", record(4, 0x17, 12).substr(0, 9)}})), std::nullopt);
}

TEST(Cubin, CountsTheParametersOfPtx) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.visible .entry two(\n\t.param .u64 two_param_0,\n\t.param .align 8 .b8 two_param_1[16]\n)\n"
      "{ .reg .b32 %r<3>; ld.param.u64 %rd1, [two_param_0]; ret; }\n.visible .entry none()\n{ ret; }\n";
  EXPECT_EQ(parameter_counts(text), (ParameterCounts{{"two", 2}, {"none", 0}}));
}

TEST(Cubin, CountsTheParametersOfTheCubinsInAFatBinary) {
  const std::string parameter = record(4, 0x17, 12);
  // The magic number, the version and the bytes of the head; then entries with heads of their own.
  std::vector<char> file(16);
  std::memcpy(file.data(), "\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  EXPECT_EQ(parameter_counts(file), std::nullopt);
  const auto add = [&](const std::vector<char>& entry) {
    file.resize((file.size() + 64 + 7) & ~size_t{7});
    file.insert(file.end(), entry.begin(), entry.end());
  };
  add({'a', ' ', 'c', 'o', 'm', 'p', 'r', 'e', 's', 's', 'e', 'd', ' ', 'o', 'n', 'e'});
  EXPECT_EQ(parameter_counts(file), std::nullopt);
  add(elf({{".nv.info.two", parameter + parameter}}));
  add(elf({{".nv.info.two", parameter + parameter}, {".nv.info.none", ""}}));
  EXPECT_EQ(parameter_counts(file), (ParameterCounts{{"two", 2}, {"none", 0}}));
  for (size_t length = 0; length < file.size(); ++length) parameter_counts(std::span<const char>(file.data(), length));
}

TEST(Cubin, AgreesWithNvrtc) {
  KernelSource source;
  source.text =
      "struct P { long long w[40]; };\nextern \"C\" __global__ void one(const __grid_constant__ P p) { *(long long*)p.w[0] = p.w[39]; }\n"
      "extern \"C\" __global__ void four(float* a, int n, char c, double d) { a[n] = c + d; }\n";
  source.entries = {"one", "four"};
  for (const char* arch : {"sm_80", "sm_90"}) {
    std::vector<char> binary;
    try {
      binary = compile_for(source, arch);
    } catch (const Error& error) {
      GTEST_SKIP() << "no NVRTC: " << error.what();
    }
    EXPECT_EQ(parameter_counts(binary), (ParameterCounts{{"one", 1}, {"four", 4}})) << arch;
  }
}

}  // namespace
}  // namespace bc::cuda
