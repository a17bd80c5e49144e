#include "support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/temp_dir.h"

using namespace pldc;

namespace {

std::string content(const std::string& path) {
  std::string text, error;
  REQUIRE(read_file(path, text, error));
  return text;
}

}  // namespace

TEST_CASE("write_if_changed: writes, leaves alone, replaces") {
  const TempDir dir;
  const std::string path = dir.path("a/b/c.txt");
  std::string error;
  CHECK(write_if_changed(path, "one\n", error) == WriteResult::Written);
  CHECK(content(path) == "one\n");
  struct stat before {};
  REQUIRE(stat(path.c_str(), &before) == 0);
  CHECK(write_if_changed(path, "one\n", error) == WriteResult::Unchanged);
  struct stat after {};
  REQUIRE(stat(path.c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  CHECK(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
  CHECK(write_if_changed(path, "two\n", error) == WriteResult::Written);
  CHECK(content(path) == "two\n");
  CHECK(dir.list("a/b") == std::vector<std::string>{"c.txt"});
}

TEST_CASE("write_if_changed: keeps the mode and symbolic links") {
  const TempDir dir;
  std::string error;
  const std::string path = dir.path("real");
  REQUIRE(write_if_changed(path, "x", error) == WriteResult::Written);
  REQUIRE(chmod(path.c_str(), 0751) == 0);
  REQUIRE(symlink("real", dir.path("link").c_str()) == 0);
  CHECK(write_if_changed(dir.path("link"), "y", error) == WriteResult::Written);
  struct stat info {};
  REQUIRE(lstat(dir.path("link").c_str(), &info) == 0);
  CHECK(S_ISLNK(info.st_mode));
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0751);
  CHECK(content(path) == "y");
}

TEST_CASE(
    "write_if_changed: a path of an open descriptor is written through it, even if its file has no name") {
  const TempDir dir;
  std::string error;
  const std::string path = dir.write("log", "before\n");
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  REQUIRE(fd >= 0);
  const std::string own = "/proc/self/fd/" + std::to_string(fd);
  const std::string link = dir.path("link");  // as /dev/stdout is one
  REQUIRE(symlink(own.c_str(), link.c_str()) == 0);
  CHECK(write_if_changed(link, "one\n", error) == WriteResult::Written);
  CHECK(write_if_changed(own, "two\n", error) == WriteResult::Written);
  CHECK(write_if_changed("/dev/fd/" + std::to_string(fd), "two\n", error) == WriteResult::Written);
  CHECK(content(path) == "before\none\ntwo\ntwo\n");
  REQUIRE(unlink(path.c_str()) == 0);
  CHECK(write_if_changed(link, "lost\n", error) == WriteResult::Written);
  struct stat info {};
  REQUIRE(lstat(link.c_str(), &info) == 0);
  CHECK(S_ISLNK(info.st_mode));
  CHECK(dir.list("") == std::vector<std::string>{"link"});
  close(fd);
  CHECK(write_if_changed(own, "x", error) == WriteResult::Failed);
  CHECK(error == "cannot be written: Bad file descriptor");
}

TEST_CASE("write_if_changed: devices are written, never replaced") {
  std::string error;
  CHECK(write_if_changed("/dev/null", "x", error) == WriteResult::Written);
  struct stat info {};
  REQUIRE(stat("/dev/null", &info) == 0);
  CHECK(S_ISCHR(info.st_mode));
}

TEST_CASE("write_if_changed: failures say why and leave nothing") {
  const TempDir dir;
  std::string error;
  REQUIRE(write_if_changed(dir.path("file"), "x", error) == WriteResult::Written);
  CHECK(write_if_changed(dir.path("file/below"), "x", error) == WriteResult::Failed);
  CHECK(error.find("cannot be made") != std::string::npos);
  CHECK(write_if_changed(dir.path(""), "x", error) == WriteResult::Failed);
  CHECK(error == "is a directory");
  CHECK(dir.list("") == std::vector<std::string>{"file"});
}

TEST_CASE("read_file: a missing file, a folder") {
  const TempDir dir;
  std::string text, error;
  CHECK_FALSE(read_file(dir.path("none"), text, error));
  CHECK(error == "cannot be read: No such file or directory");
  CHECK_FALSE(read_file(dir.path(""), text, error));
}

TEST_CASE("paths") {
  CHECK(path_stem("dir.x/foo.bar.pld") == "foo.bar");
  CHECK(path_stem("foo") == "foo");
  CHECK(path_stem(".hidden") == ".hidden");
  CHECK(path_stem("-") == "stdin");
  CHECK(path_join("a", "b") == "a/b");
  CHECK(path_join("a/", "b") == "a/b");
  CHECK(path_join(".", "b") == "b");
  CHECK(path_join("a", "/b") == "/b");
  CHECK(path_parent("a/b/c") == "a/b");
  CHECK(path_parent("c") == ".");
  CHECK(path_parent("/c") == "/");
  CHECK(path_parent("a/b/") == "a");
}
