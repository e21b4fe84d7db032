#pragma once
#include <sys/stat.h>

#include <string>

namespace bc {

// Compiled kernels are native code: whoever can write the files that they are loaded from can run code as the user of this process. So a
// folder or file counts only when it belongs to the user or to root (who can do everything anyway) and nobody else may write it. Each file
// is judged when it is opened, by what was opened: then it does not matter who may rename the folders above it.

/// The folder for compiled kernels that the environment names: BROADCLOTH_CACHE_DIR (empty: nothing is kept on disk), else
/// XDG_CACHE_HOME/broadcloth, else HOME/.cache/broadcloth; empty when nothing does. Programs that run with more rights than their caller
/// have none.
std::string cache_folder_of_environment();

/// Makes a folder and those above it that are missing, for this user alone. False, with errno set, when it cannot be made.
bool make_private_folder(const std::string& path);

/// Why native code is not loaded from a folder or file with this status; empty when it may be.
std::string why_not_trusted(const std::string& path, const struct stat& status);
/// Why a folder is not used, and the command that mends it; empty when it may be, or does not exist.
std::string why_refused(const std::string& folder);

/// Writes a line to the standard error.
void warn(const std::string& text);

}  // namespace bc
