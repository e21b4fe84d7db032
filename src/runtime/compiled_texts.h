#pragma once
#include <cstdint>

/// Numbers as Python's texts and back, for compiled Python functions (compiled_functions.h).
namespace bc::host {

/// As Table::format.
int64_t format_float(double value, int32_t single, char* to);
/// As Table::format_spec. Raises what Python raises of a format that it does not take.
int64_t format_spec(int32_t tag, uint64_t bits, const char* text, int64_t text_size, const char* given, int64_t given_size, char* to,
                    int64_t room);
/// As Table::parse.
int32_t parse_float(const char* text, int64_t size, double* value);

}  // namespace bc::host
