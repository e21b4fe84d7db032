// NVRTC for tests of order: a kernel's "binary" is its text, which is all that the driver of driver.cpp wants.
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

namespace {

struct Program {
  std::string text;
  std::vector<std::string> names;
};

Program& program(void* handle) { return *static_cast<Program*>(handle); }

}  // namespace

// Of no toolkit, so that no binary of a real one fits.
API int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 99, 0; }
API int nvrtcGetNumSupportedArchs(int* count) { return *count = 1, 0; }
API int nvrtcGetSupportedArchs(int* archs) { return *archs = 90, 0; }
API int nvrtcCreateProgram(void** handle, const char* text, const char*, int, const char* const*, const char* const*) {
  // The device library before the kernel's own lines declares no kernel and is left out.
  constexpr std::string_view kKernelLine = "#line 1 \"kernel.cu\"\n";
  const std::string_view all(text);
  const size_t at = all.rfind(kKernelLine);
  *handle = new Program{std::string(at == all.npos ? all : all.substr(at + kKernelLine.size())), {}};
  return 0;
}
API int nvrtcDestroyProgram(void** handle) {
  delete static_cast<Program*>(*handle);
  *handle = nullptr;
  return 0;
}
/// A text with this word takes its time.
API int nvrtcCompileProgram(void* handle, int, const char* const*) {
  if (program(handle).text.find("slow_to_compile") != std::string::npos) std::this_thread::sleep_for(std::chrono::seconds(3));
  return 0;
}
API int nvrtcGetPTXSize(void* handle, size_t* bytes) { return *bytes = program(handle).text.size() + 1, 0; }
API int nvrtcGetPTX(void* handle, char* out) { return std::memcpy(out, program(handle).text.c_str(), program(handle).text.size() + 1), 0; }
API int nvrtcGetCUBINSize(void* handle, size_t* bytes) { return nvrtcGetPTXSize(handle, bytes); }
API int nvrtcGetCUBIN(void* handle, char* out) { return nvrtcGetPTX(handle, out); }
API int nvrtcGetProgramLogSize(void*, size_t* bytes) { return *bytes = 1, 0; }
API int nvrtcGetProgramLog(void*, char* out) { return *out = 0, 0; }
API int nvrtcAddNameExpression(void* handle, const char* name) { return program(handle).names.emplace_back(name), 0; }
API int nvrtcGetLoweredName(void* handle, const char* name, const char** lowered) {
  for (const std::string& known : program(handle).names)
    if (known == name) return *lowered = known.c_str(), 0;
  return 1;
}
API const char* nvrtcGetErrorString(int) { return "an error of NVRTC for tests"; }
