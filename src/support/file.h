// Files. Output is written under a temporary name and renamed, so nobody ever sees half a file, and a file
// that would not change is left alone, so make and ninja do not rebuild what depends on it.
#pragma once

#include <string>
#include <string_view>

namespace pldc {

// Reads a whole file. On failure `error` is a fragment such as "cannot be read: No such file or directory".
bool read_file(const std::string& path, std::string& text, std::string& error);

enum class WriteResult { Failed, Unchanged, Written };
// Makes the folders above `path` if needed. A path that is no regular file (/dev/null, a pipe) is written
// directly, and one that stands for a descriptor of this process (/dev/stdout) through that descriptor.
WriteResult write_if_changed(const std::string& path, std::string_view text, std::string& error);

// mkdir -p.
bool make_dirs(const std::string& path, std::string& error);

bool file_exists(const std::string& path);
bool is_directory(const std::string& path);

// "dir/foo.pld" -> "foo"; "-" -> "stdin". Only the last extension goes.
std::string path_stem(std::string_view path);
// "a/b.pld" -> "b.pld"
std::string path_last(std::string_view path);
// "a" and "b" -> "a/b"; an absolute second part stands alone, and "" or "." as first part adds nothing.
std::string path_join(std::string_view dir, std::string_view name);
// "a/b/c" -> "a/b"; "c" -> ".".
std::string path_parent(std::string_view path);

}  // namespace pldc
