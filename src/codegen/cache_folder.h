#pragma once
#include <sys/stat.h>

#include <string>

namespace bc {

// Compiled kernels are native code: a user who can write their files can run code as the user of this process. So a folder or file is used
// only when it belongs to this user or to root (who can do everything anyway) and no other user may write it. Each file is checked after it
// was opened, by its file descriptor, so that renames of the folders above it do not matter.

/// The folder for compiled kernels from the environment: BROADCLOTH_CACHE_DIR (empty: nothing is kept on disk), else
/// XDG_CACHE_HOME/broadcloth, else HOME/.cache/broadcloth; empty when no variable is set, and in programs that run with more rights than
/// their caller (setuid).
std::string cache_folder_of_environment();

/// Creates a folder and its missing parent folders with access for this user only. On failure returns false and sets errno.
bool make_private_folder(const std::string& path);

/// The reason why native code is not loaded from a folder or file with this status; empty when it may be loaded.
std::string why_not_trusted(const std::string& path, const struct stat& status);
/// The reason why a folder is not used, with the command that repairs it; empty when it may be used or does not exist.
std::string why_refused(const std::string& folder);

/// Writes a line to the standard error.
void warn(const std::string& text);

}  // namespace bc
