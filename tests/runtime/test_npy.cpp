// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// .npy files: round trips, files as numpy writes them, hostile files.
#include <fcntl.h>

#include <cstdlib>
#include <fstream>

#include "pld/npy.h"
#include "support/catch.h"

using Catch::Contains;

namespace {

struct TemporaryDirectory {
  std::string path;
  TemporaryDirectory() {
    char name[] = "/tmp/pldnpyXXXXXX";
    path = mkdtemp(name);
  }
  ~TemporaryDirectory() { std::system(("rm -rf " + path).c_str()) == 0 ? void() : void(); }
  std::string file(const std::string& name) const { return path + "/" + name; }
};

std::string string(const pld::Text& t) { return std::string(t.c_str(), t.size()); }

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// A version 1 file with the given dictionary and data.
std::string npy(const std::string& dict, const std::string& data) {
  std::string s("\x93NUMPY\x01\x00", 8);
  s += static_cast<char>(dict.size() & 0xff);
  s += static_cast<char>(dict.size() >> 8);
  return s + dict + data;
}

std::string error_of(const std::string& path) {
  try {
    pld::npy::read(path);
  } catch (const pld::Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("what is written is read back") {
  TemporaryDirectory dir;
  const std::string path = dir.file("a.npy");
  const pld::DType types[] = {pld::f32, pld::f16, pld::bf16, pld::i64, pld::i32, pld::i16,    pld::i8,
                              pld::u64, pld::u32, pld::u16,  pld::u8,  pld::b8,  pld::fp8e4m3};
  const std::vector<std::vector<int64_t>> shapes = {{},        {7},       {0},
                                                    {2, 3, 4}, {5, 0, 2}, {1, 1, 1, 1, 1, 1, 1, 2}};
  for (pld::DType type : types) {
    for (const auto& shape : shapes) {
      int64_t n = pld::size_of(type);
      for (int64_t e : shape) n *= e;
      std::vector<unsigned char> data(static_cast<size_t>(n));
      for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7 + 1);
      pld::npy::write(path, type, shape, data.data(), n);
      const pld::npy::Values a = pld::npy::read(path);
      CHECK(a.shape == shape);
      CHECK(a.data == data);
      CHECK(pld::npy::fits(a.descr, type));
      CHECK(pld::npy::fits(a.descr, pld::i32) == (type == pld::i32));
    }
  }
}

TEST_CASE("the bytes are those of numpy") {
  const float x[2] = {1.0f, 2.0f};
  const std::string s = string(pld::npy::encode(pld::f32, {2}, x, 8));
  CHECK(s.size() == 128 + 8);
  CHECK(s.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(s.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") == 10);
  CHECK(s[127] == '\n');
  const int8_t y = 5;
  CHECK(pld::npy::encode(pld::i8, {1, 1}, &y, 1)
            .has(10, "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1), }"));
}

TEST_CASE("variants of the header") {
  TemporaryDirectory dir;
  const std::string path = dir.file("a.npy");
  put(path, npy("{\"shape\": (1,2), \"descr\": \"<i2\", \"fortran_order\": False}\n", std::string(4, 'x')));
  CHECK(pld::npy::read(path).shape == std::vector<int64_t>{1, 2});
  put(path, npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 1), }\n", std::string(12, 'x')));
  CHECK(pld::npy::read(path).shape == std::vector<int64_t>{3, 1});  // one long axis: the orders are the same
  put(path, npy("{'descr': '<V2', 'fortran_order': False, 'shape': (), }\n", "ab"));
  CHECK(pld::npy::fits(pld::npy::read(path).descr, pld::bf16));
  std::string two = npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3L,), }\n", "");
  two[6] = 2;
  two.insert(10, std::string(2, '\0'));
  put(path, two + "abc");
  CHECK(pld::npy::read(path).data.size() == 3);
}

TEST_CASE("standard streams are read and written through what is open already") {
  TemporaryDirectory dir;
  const int32_t x[2] = {1, 2};
  const std::string one = string(pld::npy::encode(pld::i32, {2}, x, 8));
  const std::string two = string(pld::npy::encode(pld::i32, {1}, x, 4));
  const std::string path = dir.file("stdin");
  put(path, one + two);
  const int before = dup(0);
  REQUIRE(std::freopen(path.c_str(), "rb", stdin) != nullptr);
  CHECK(pld::npy::read("-").shape == std::vector<int64_t>{2});
  CHECK(pld::npy::read("-").shape == std::vector<int64_t>{1});
  CHECK_THAT(error_of("-"), Contains("<stdin>: is not a .npy file"));
  dup2(before, 0);
  close(before);

  // As /dev/stdout, of which the file was replaced by another program.
  const std::string log = dir.file("log");
  put(log, "before\n");
  const int fd = open(log.c_str(), O_WRONLY | O_APPEND);
  const std::string link = dir.file("link");
  REQUIRE(symlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), link.c_str()) == 0);
  pld::npy::write_file(link.c_str(), "after\n");
  std::ifstream in(log);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "before\nafter\n");
  REQUIRE(unlink(log.c_str()) == 0);
  pld::npy::write_file(link.c_str(), "lost\n");
  struct stat info {};
  CHECK((lstat(link.c_str(), &info) == 0 && S_ISLNK(info.st_mode)));
  close(fd);
}

TEST_CASE("hostile and foreign files") {
  TemporaryDirectory dir;
  const std::string path = dir.file("a.npy");
  const auto check = [&](const std::string& content, const std::string& wanted) {
    put(path, content);
    CHECK_THAT(error_of(path), Contains(path) && Contains(wanted));
  };
  CHECK_THAT(error_of(dir.file("none.npy")), Contains("cannot be read: No such file"));
  CHECK_THAT(error_of(dir.path), Contains("directory"));
  check("", "does not begin with");
  check("PK\x03\x04 zipped archive", "does not begin with");
  check(std::string("\x93NUMPY\x03\x00\x00\x00", 10), "version 3.0; 1.0 or 2.0 is wanted");
  check(std::string("\x93NUMPY\x01\x00\xff\x00{'descr'", 18), "ends inside of its header");
  check(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "has a header of 4294967295 bytes");
  check(std::string("\x93NUMPY\x02\x00\x01", 9), "does not begin with");
  check(npy("", ""), "its header has no '{'");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,", ""), "header has no extent");
  check(npy("{'descr': '<f4', 'shape': (2,)}", ""), "lacks one of");
  check(npy("{'descr': '<f4', 'descr': '<f4', 'shape': (2,)}", ""), "has the key 'descr' twice");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", ""), "unknown key 'x'");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", ""), "has no extent");
  check(npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", ""), "neither True nor False");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} extra", ""),
        "goes on after the dictionary");
  check(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", ""), "structured array");
  check(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", std::string(8, 'x')), "big endian");
  check(npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", std::string(8, 'x')), "unknown dtype");
  check(npy("{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}", std::string(8, 'x')),
        "unknown dtype");
  check(npy("{'descr': '\x01\x02\x7f', 'fortran_order': False, 'shape': (2,)}", ""),
        "unknown dtype (dtype '\?\?\?')");
  check(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", std::string(24, 'x')),
        "Fortran order");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", std::string(23, 'x')),
        "has 23 bytes of data; its shape takes 24");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", std::string(25, 'x')),
        "has 25 bytes of data; its shape takes 24");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", ""), "too large");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}", ""),
        "too large");
  check(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", ""),
        "has 0 bytes of data; its shape takes 4000000000000");
  std::string many = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 40; ++i) many += "1, ";
  check(npy(many + ")}", std::string(4, 'x')), "more than 32 axes");
}

TEST_CASE("every truncation and every changed byte of a file is an error or a readable file") {
  TemporaryDirectory dir;
  const std::string path = dir.file("a.npy");
  const float x[6] = {1, 2, 3, 4, 5, 6};
  const std::string good = string(pld::npy::encode(pld::f32, {2, 3}, x, 24));
  for (size_t n = 0; n < good.size(); ++n) {
    put(path, good.substr(0, n));
    CHECK(error_of(path) != "no error");
  }
  for (size_t at = 0; at < 100; ++at) {
    for (char c : {'\0', '9', '(', '\'', '\xff'}) {
      std::string changed = good;
      changed[at] = c;
      put(path, changed);
      error_of(path);
    }
  }
}

TEST_CASE("writing") {
  TemporaryDirectory dir;
  const float x = 3;
  const std::string path = dir.file("a.npy");
  pld::npy::write(path, pld::f32, {}, &x, 4);
  CHECK_THROWS_WITH(pld::npy::write(path + "/b.npy", pld::f32, {}, &x, 4), Contains("a.npy"));
  struct stat before {
  }, after{};
  REQUIRE(stat(path.c_str(), &before) == 0);
  pld::npy::write(path, pld::f32, {}, &x, 4);  // the same bytes: the file stays
  REQUIRE(stat(path.c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  const float y = 4;
  pld::npy::write(path, pld::f32, {}, &y, 4);
  REQUIRE(stat(path.c_str(), &after) == 0);
  CHECK(before.st_ino != after.st_ino);
  REQUIRE(symlink(path.c_str(), dir.file("link.npy").c_str()) == 0);
  pld::npy::write(dir.file("link.npy"), pld::f32, {}, &x, 4);
  REQUIRE(lstat(dir.file("link.npy").c_str(), &after) == 0);
  CHECK(S_ISLNK(after.st_mode));
  CHECK(pld::npy::read(path).data[2] == 0x40);
  CHECK_NOTHROW(pld::npy::write("/dev/null", pld::f32, {}, &x, 4));
  CHECK(std::system(("test $(ls " + dir.path + " | wc -l) = 2").c_str()) == 0);  // no temporary file is left
}
