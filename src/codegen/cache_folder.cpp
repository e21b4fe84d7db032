#include "codegen/cache_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace bc {

std::string cache_folder_of_environment() {
  if (const char* folder = secure_getenv("BROADCLOTH_CACHE_DIR")) return folder;
  if (const char* cache = secure_getenv("XDG_CACHE_HOME"); cache && *cache == '/') return std::string(cache) + "/broadcloth";
  if (const char* home = secure_getenv("HOME"); home && *home) return std::string(home) + "/.cache/broadcloth";
  return {};
}

bool make_private_folder(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode) || (errno = ENOTDIR, false);
  const size_t slash = path.find_last_of('/');
  if (slash != std::string::npos && slash > 0 && !make_private_folder(path.substr(0, slash))) return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

std::string why_not_trusted(const std::string& path, const struct stat& status) {
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return fmt::format("{} belongs to user {}, and this process runs as user {}", path, status.st_uid, geteuid());
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("{} can be written by other users (mode {:o})", path, status.st_mode & 07777);
  return {};
}

std::string why_refused(const std::string& folder) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) return {};
  const std::string reason = why_not_trusted(folder, status);
  if (reason.empty()) return {};
  const bool foreign = status.st_uid != geteuid() && status.st_uid != 0;
  return fmt::format("kernel cache: {}: no code is loaded from there or kept there. To mend it: {}", reason,
                     foreign ? "export BROADCLOTH_CACHE_DIR=FOLDER, with a folder of that user" : fmt::format("chmod go-w '{}'", folder));
}

void warn(const std::string& text) { std::fprintf(stderr, "broadcloth: %s\n", text.c_str()); }

}  // namespace bc
