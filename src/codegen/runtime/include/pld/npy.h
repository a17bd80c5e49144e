// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of .npy files (numpy format, versions 1.0 and 2.0, little endian, C order).
//
//   FP32 <f4   FP16 <f2   INT8..INT64 |i1 <i2 <i4 <i8   UINT8..UINT64 |u1 <u2 <u4 <u8   BOOL |b1
//   BF16 <V2 (two opaque bytes, as ml_dtypes writes it), read from <u2, too; FP8 types |V1, read from |u1,
//   too
//
// Every error throws pld::Error and names the file, what was found and what is wanted.
#pragma once
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pld/array.h"
#include "pld/tensor.h"

namespace pld::npy {

struct Values {
  Text descr;  // as in the file, e.g. "<f4"
  Array<int64_t> shape;
  Array<unsigned char> data;
};

namespace impl {

struct File {
  FILE* f = nullptr;
  explicit File(FILE* file) : f(file) {}
  ~File() {
    if (f != nullptr) std::fclose(f);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

[[noreturn]] inline void bad(const Text& path, const Text& what) { throw Error(path + ": " + what); }

// The header: a Python dict literal with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(const Text& path, const Text& text) : path_(path), text_(text) {}

  void parse(Values& out) {
    bool have[3] = {};
    expect('{');
    while (!accept('}')) {
      const Text key = string();
      expect(':');
      int k = 0;
      if (key == "descr") {
        skip();
        if (at_ < text_.size() && text_[at_] == '[')
          bad(path_, "is a structured array; a plain one is wanted");
        out.descr = string();
      } else if (key == "fortran_order") {
        k = 1;
        fortran_ = boolean();
      } else if (key == "shape") {
        k = 2;
        out.shape = tuple();
      } else {
        fail("has the unknown key '" + printable(key) + "'");
      }
      if (have[k]) fail("has the key '" + key + "' twice");
      have[k] = true;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) fail("goes on after the dictionary");
    if (!have[0] || !have[1] || !have[2]) fail("lacks one of 'descr', 'fortran_order' and 'shape'");
    int long_axes = 0;
    for (int64_t e : out.shape) long_axes += e != 1 ? 1 : 0;
    if (fortran_ && long_axes > 1) {
      bad(path_, "is in Fortran order; C order is wanted (save numpy.ascontiguousarray(x))");
    }
  }

 private:
  [[noreturn]] void fail(const Text& what) { bad(path_, "is not a .npy file: its header " + what); }
  static Text printable(Text s) {
    for (char& c : s) c = c >= 32 && c < 127 ? c : '?';
    return s.size() > 40 ? s.substr(0, 40) + "..." : s;
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(text("has no '%c' at byte ", c) + decimal(at_));
  }
  Text string() {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      fail("has no string at byte " + decimal(at_));
    }
    const char quote = text_[at_++];
    Text s;
    while (at_ < text_.size() && text_[at_] != quote) s += text_[at_++];
    if (at_ >= text_.size()) fail("ends inside of a string");
    ++at_;
    return s;
  }
  bool boolean() {
    skip();
    if (text_.has(at_, "True")) {
      at_ += 4;
      return true;
    }
    if (text_.has(at_, "False")) {
      at_ += 5;
      return false;
    }
    fail("has neither True nor False for 'fortran_order'");
  }
  Array<int64_t> tuple() {
    Array<int64_t> v;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t n = 0;
      const size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        if (n > (INT64_MAX - 9) / 10) fail("has an extent that is too large");
        n = n * 10 + (text_[at_++] - '0');
      }
      if (at_ == first) fail("has no extent at byte " + decimal(at_));
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
      v.push_back(n);
      if (v.size() > 32) fail("has more than 32 axes");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return v;
  }

  const Text& path_;
  const Text& text_;
  size_t at_ = 0;
  bool fortran_ = false;
};

}  // namespace impl

// Bytes of one element of a descr that this reader knows, else 0.
inline int64_t element_bytes(const Text& descr) {
  static const char* const kKnown[] = {"<f4", "<f2", "<f8", "|i1", "<i1", "<i2", "<i4", "<i8", "|u1",
                                       "<u1", "<u2", "<u4", "<u8", "|b1", "<V2", "|V2", "|V1", "<V1"};
  for (const char* k : kKnown) {
    if (descr == k) return descr[2] - '0';
  }
  return 0;
}

// Whether an array with this descr can be a tensor of the dtype.
inline bool fits(const Text& descr, DType dtype) {
  const Text kind = descr.size() == 3 ? descr.substr(1) : descr;
  switch (dtype) {
    case f32:
      return kind == "f4";
    case f16:
      return kind == "f2";
    case bf16:
      return kind == "V2" || kind == "u2";
    case i64:
      return kind == "i8";
    case i32:
      return kind == "i4";
    case i16:
      return kind == "i2";
    case i8:
      return kind == "i1";
    case u64:
      return kind == "u8";
    case u32:
      return kind == "u4";
    case u16:
      return kind == "u2";
    case u8:
      return kind == "u1";
    case b8:
      return kind == "b1";
    default:
      return kind == "V1" || kind == "u1";
  }
}

inline const char* descr_of(DType dtype) {
  switch (dtype) {
    case f32:
      return "<f4";
    case f16:
      return "<f2";
    case bf16:
      return "<V2";
    case i64:
      return "<i8";
    case i32:
      return "<i4";
    case i16:
      return "<i2";
    case i8:
      return "|i1";
    case u64:
      return "<u8";
    case u32:
      return "<u4";
    case u16:
      return "<u2";
    case u8:
      return "|u1";
    case b8:
      return "|b1";
    default:
      return "|V1";
  }
}

// The IR's name for what a descr holds, for messages.
inline Text describe(const Text& descr) {
  static const DType kAll[] = {f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, b8};
  for (DType d : kAll) {
    if (fits(descr, d)) return name_of(d);
  }
  if (descr == "<f8") return "float64 (not a type of the IR; save x.astype(numpy.float32))";
  Text shown = descr.substr(0, 20);
  for (char& c : shown) c = c >= 32 && c < 127 ? c : '?';
  return "dtype '" + shown + "'";
}

// Reads a file, "-" is standard input, where several arrays may follow each other. The data has exactly the bytes that the
// header asks for.
inline Values read(const Text& file_name) {
  const bool standard = file_name == "-";
  const Text path = standard ? Text("<stdin>") : file_name;
  const impl::File opened(standard ? nullptr : std::fopen(path.c_str(), "rb"));
  FILE* const file = standard ? stdin : opened.f;
  if (file == nullptr) impl::bad(path, Text("cannot be read: ") + std::strerror(errno));
  struct stat info {};
  if (fstat(fileno(file), &info) != 0 || S_ISDIR(info.st_mode))
    impl::bad(path, "cannot be read: is a directory");
  const bool whole = S_ISREG(info.st_mode) && !standard;  // the size is known

  unsigned char head[12];
  if (std::fread(head, 1, 10, file) != 10 || std::memcmp(head, "\x93NUMPY", 6) != 0) {
    impl::bad(path, "is not a .npy file: it does not begin with \\x93NUMPY");
  }
  if ((head[6] != 1 && head[6] != 2) || head[7] != 0) {
    impl::bad(path,
              "has .npy version " + decimal(head[6]) + "." + decimal(head[7]) + "; 1.0 or 2.0 is wanted");
  }
  uint64_t length = static_cast<uint64_t>(head[8]) | static_cast<uint64_t>(head[9]) << 8;
  if (head[6] == 2) {
    if (std::fread(head + 10, 1, 2, file) != 2) impl::bad(path, "ends inside of its header");
    length |= static_cast<uint64_t>(head[10]) << 16 | static_cast<uint64_t>(head[11]) << 24;
  }
  if (length > (1u << 20))
    impl::bad(path, "has a header of " + decimal(length) + " bytes; at most 1048576 are read");
  Text header(length, '\0');
  if (std::fread(header.data(), 1, length, file) != length) impl::bad(path, "ends inside of its header");

  Values a;
  impl::HeaderParser(path, header).parse(a);
  const int64_t size = element_bytes(a.descr);
  if (size == 0) {
    impl::bad(path, (a.descr.size() > 1 && a.descr[0] == '>' ? "is big endian (" : "has an unknown dtype (") +
                        describe(a.descr) + "); a little-endian number type is wanted");
  }
  uint64_t bytes = static_cast<uint64_t>(size);
  bool empty = false;
  for (int64_t e : a.shape) empty = empty || e == 0;
  for (int64_t e : a.shape) {
    if (empty) break;
    if (bytes > static_cast<uint64_t>(INT64_MAX) / static_cast<uint64_t>(e))
      impl::bad(path, "has a shape that is too large");
    bytes *= static_cast<uint64_t>(e);
  }
  if (empty) bytes = 0;
  const uint64_t at = 10u + (head[6] == 2 ? 2u : 0u) + length;
  if (whole && static_cast<uint64_t>(info.st_size) != at + bytes) {
    impl::bad(path, "has " + decimal(static_cast<uint64_t>(info.st_size) - at) +
                        " bytes of data; its shape takes " + decimal(bytes));
  }
  // Grow with the data that is there, so that a false header of a pipe does not ask for terabytes.
  while (a.data.size() < bytes) {
    const size_t old = a.data.size();
    const size_t step = static_cast<size_t>(bytes - old < (16u << 20) || whole ? bytes - old : (16u << 20));
    try {
      a.data.resize(old + step);
    } catch (const std::bad_alloc&) {
      impl::bad(path, "there is no memory for its " + decimal(bytes) + " bytes of data");
    }
    if (std::fread(a.data.data() + old, 1, step, file) != step) {
      impl::bad(path, "ends early; its shape takes " + decimal(bytes) + " bytes of data");
    }
  }
  return a;
}

// The bytes of a .npy file with packed data.
inline Text encode(DType dtype, const Array<int64_t>& shape, const void* data, int64_t bytes) {
  Text dict = Text("{'descr': '") + descr_of(dtype) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i) dict += (i == 0 ? "" : ", ") + decimal(shape[i]);
  dict += shape.size() == 1 ? ",), }" : "), }";
  const size_t prefix = 10;
  const size_t total = (prefix + dict.size() + 1 + 63) / 64 * 64;
  dict += Text(total - prefix - dict.size() - 1, ' ');
  dict += '\n';
  Text out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  out += dict;
  out.append(static_cast<const char*>(data), static_cast<size_t>(bytes));
  return out;
}

// Whether two paths name one file that keeps what is written to it; what does not exist is told apart by its directory.
inline bool same_file(const Text& a, const Text& b) {
  struct stat x {
  }, y{};
  const bool has_x = stat(a.c_str(), &x) == 0, has_y = stat(b.c_str(), &y) == 0;
  if (has_x != has_y) return false;
  if (has_x) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  const auto split = [](const Text& path, Text& directory) {
    size_t name = 0;
    for (size_t at = path.find('/'); at != Text::npos; at = path.find('/', at + 1)) name = at + 1;
    directory = name == 0 ? Text(".") : path.substr(0, name);
    return path.substr(name);
  };
  Text in_x, in_y;
  if (!(split(a, in_x) == split(b, in_y))) return false;
  return stat(in_x.c_str(), &x) == 0 && stat(in_y.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

// The descriptor of this process that a path stands for, as /dev/stdout and /dev/fd/3 do; -1: none. Its file may have lost
// its name, or be open for appending: only what is open already is what the caller means.
inline int own_descriptor(const Text& file) {
  char own[PATH_MAX], parent[PATH_MAX], to[PATH_MAX];
  if (realpath("/proc/self/fd", own) == nullptr) return -1;
  Text path = file;
  for (int links = 0; links < 40; ++links) {
    size_t name = 0;
    for (size_t at = path.find('/'); at != Text::npos; at = path.find('/', at + 1)) name = at + 1;
    if (realpath(name == 0 ? "." : path.substr(0, name).c_str(), parent) == nullptr) return -1;
    if (std::strcmp(parent, own) == 0) {
      char* end = nullptr;
      const long n = std::strtol(path.c_str() + name, &end, 10);
      return name < path.size() && *end == 0 && n >= 0 && n < INT_MAX ? static_cast<int>(n) : -1;
    }
    const ssize_t size = readlink(path.c_str(), to, sizeof to);
    if (size <= 0 || size == static_cast<ssize_t>(sizeof to)) return -1;
    const Text next(to, static_cast<size_t>(size));
    path = to[0] == '/' ? next : Text(parent) + "/" + next;
  }
  return -1;
}

// Makes the folders that the path names and that are missing. Whether it could is for who opens the file to say.
inline void make_folders(const Text& path) {
  for (size_t i = 1; i < path.size(); ++i) {
    if (path[i] == '/') mkdir(path.substr(0, i).c_str(), 0777);
  }
}

// Writes text to a file, in a folder that may be missing: under another name first, then renamed. A file that has this text
// already is left alone; what is not a regular file (a pipe, /dev/null) is written directly.
inline void write_file(const Text& path, const Text& content) {
  if (const int open_already = own_descriptor(path); open_already >= 0) {
    std::fflush(nullptr);  // what was printed comes first
    for (size_t at = 0; at < content.size();) {
      const ssize_t put = ::write(open_already, content.data() + at, content.size() - at);
      if (put < 0 && errno != EINTR) impl::bad(path, Text("cannot be written: ") + std::strerror(errno));
      if (put > 0) at += static_cast<size_t>(put);
    }
    return;
  }
  Text target = path;
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    impl::File file(std::fopen(path.c_str(), "wb"));
    if (file.f == nullptr || std::fwrite(content.data(), 1, content.size(), file.f) != content.size() ||
        std::fflush(file.f) != 0) {
      impl::bad(path, Text("cannot be written: ") + std::strerror(errno));
    }
    return;
  }
  if (exists) {
    if (char* real = realpath(path.c_str(), nullptr); real != nullptr) {  // a link stays a link
      target = real;
      std::free(real);
    }
    if (static_cast<uint64_t>(info.st_size) == content.size()) {
      impl::File file(std::fopen(target.c_str(), "rb"));
      Text old(content.size(), '\0');
      if (file.f != nullptr && std::fread(old.data(), 1, old.size(), file.f) == old.size() && old == content)
        return;
    }
  }
  if (!exists) make_folders(path);
  const Text temporary = target + ".tmp" + decimal(getpid());
  {
    impl::File file(std::fopen(temporary.c_str(), "wb"));
    if (file.f == nullptr) impl::bad(path, Text("cannot be written: ") + std::strerror(errno));
    bool good = std::fwrite(content.data(), 1, content.size(), file.f) == content.size();
    good = std::fclose(file.f) == 0 && good;
    const int reason = errno;
    file.f = nullptr;
    if (!good) {
      std::remove(temporary.c_str());
      impl::bad(path, Text("cannot be written: ") + std::strerror(reason));
    }
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary.c_str());
    impl::bad(path, Text("cannot be written: ") + std::strerror(reason));
  }
}

inline void write(const Text& path, DType dtype, const Array<int64_t>& shape, const void* data,
                  int64_t bytes) {
  write_file(path, encode(dtype, shape, data, bytes));
}

}  // namespace pld::npy
