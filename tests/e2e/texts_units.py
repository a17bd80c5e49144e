"""Generated programs in one executable: equal parts once, many parts a translation unit."""
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys

# As the Makefile of a generated program has them, without what makes code fast: this code runs once.
FLAGS = ["-std=c++20", "-pthread", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-fno-math-errno",
         "-fno-trapping-math", "-w"]
OPTIMIZE = {"kernels": "-O0", "chips": "-O0", "host": "-O0"}
HEADER = {"kernels": '#include "pld/kernel.h"\n#include "pld/collectives.h"\nusing namespace pto;\n', "chips": '#include "pld/orch.h"\n',
          "host": '#include "pld/host.h"\n'}
SHARD = 150_000  # characters of a translation unit, at least

KEYWORDS = """alignas auto bool break case catch char class const constexpr continue decltype default delete do double else
enum extern false float for goto if inline int int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t long
namespace new nullptr operator private public return short signed sizeof static static_cast struct switch template this throw
true try typedef typename union unsigned using void volatile while std""".split()
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*|::|->|\S')

DRIVER = r"""
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <vector>
#include "pld/main.h"
#include "pld/program.h"
%(declarations)s
struct Row { const char* key; const pld::ProgramInfo& (*program)(); };
static const Row kRows[] = { %(rows)s };

// Reads lines `KEY\tARGUMENT...`; writes the output of line N to DIRECTORY/N and its exit code to standard output.
int main(int argc, char** argv) {
  const int jobs = argc > 2 ? std::atoi(argv[2]) : 1;
  std::map<std::string, const Row*> rows;
  for (const Row& row : kRows) rows[row.key] = &row;
  std::map<pid_t, int> running;
  std::string line;
  const auto reap = [&] {
    int status = 0;
    const pid_t pid = wait(&status);
    if (pid < 0) return;
    std::printf("%%d %%d\n", running[pid], WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    running.erase(pid);
  };
  for (int number = 0; std::getline(std::cin, line); ++number) {
    std::vector<std::string> words;
    for (size_t at = 0;;) {
      const size_t end = line.find('\t', at);
      words.push_back(line.substr(at, end == std::string::npos ? end : end - at));
      if (end == std::string::npos) break;
      at = end + 1;
    }
    while (static_cast<int>(running.size()) >= jobs) reap();
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
      const std::string path = std::string(argv[1]) + "/" + std::to_string(number);
      const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(fd, 1);
      dup2(fd, 2);
      alarm(120);
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      const Row* row = rows.at(words[0]);
      const int code = pld_main(static_cast<int>(arguments.size()), arguments.data(), row->program());
      std::fflush(nullptr);
      _exit(code);
    }
    running[pid] = number;
  }
  while (!running.empty()) reap();
  return 0;
}
"""


def digest(text):
    return "PART_" + hashlib.sha256(text.encode()).hexdigest()[:20]


class Units:
    def __init__(self, include, work, jobs):
        self.include, self.work, self.jobs = include, work, jobs
        self.texts = {"kernels": {}, "chips": {}, "host": {}}  # canonical hash -> text
        self.programs = 0
        self.broken = {}  # parts that do not compile: the first message
        self.cxx = shlex.split(os.environ.get("CXX") or "c++")
        self.vocabulary = set(KEYWORDS)
        for header in (include / "pld").glob("*.h"):
            self.vocabulary |= set(re.findall(r"[A-Za-z_]\w*", header.read_text()))
        self.binary = work / "texts"

    def canonical(self, text):
        """The text up to comments, places, flags (which do nothing here) and the names that it declares itself."""
        text = re.sub(r"//[^\n]*", "", text)
        text = re.sub(r"PLD_LOC\([^)]*\);|\b(set_flag|wait_flag|pipe_barrier)\([^)]*\);", "", text)
        names, out, previous = {}, [], ""
        for token in TOKEN.findall(text):
            named = token[0].isalpha() or token[0] == "_"
            if named and token not in self.vocabulary and previous not in (".", "->", "::") and not token.startswith("PART_"):
                token = names.setdefault(token, f"${len(names)}")
            out.append(token)
            previous = token
        return " ".join(out)

    def part(self, kind, text):
        key = digest(self.canonical(text))
        self.texts[kind].setdefault(key, text)
        return key

    def add(self, files):
        """The key of a program, given the text of its files by path."""
        self.programs += 1
        host = files["host/host_orch.cpp"]
        host = re.sub(r"//[^\n]*", "", host)
        for path, text in files.items():
            parts = pathlib.PurePath(path).with_suffix("").parts
            if parts[0] == "chips":
                key = self.part("chips", text)
                host = re.sub(rf"\bPLD_(DECLARE_)?CHIP\({parts[1]}\)", rf"PLD_\1CHIP({key})", host)
            elif parts[0] == "kernels":
                key = self.part("kernels", text)
                host = re.sub(rf"\bPLD_(DECLARE_)?KERNEL\({parts[1]}, {parts[2]}\)", rf"PLD_\1KERNEL(k, {key})", host)
        space = re.search(r"^namespace (\w+) \{", host, re.M).group(1)
        host = re.sub(rf"^namespace {space} \{{", "namespace PROGRAM {", host, flags=re.M)
        host = re.sub(rf"^void pld_host_orch\(.*$", "", host, flags=re.M)
        host = re.sub(r'kProgram = \{"[^"]*", "[^"]*"', 'kProgram = {"text", "text.pld"', host)
        # Places: of dispatches and checks, and in the tables.
        host = re.sub(r"^(.*\b(?:submit|require_at_most|sub_worker)\(.*, )\{\d+, \d+\}\);$", r"\1{});", host, flags=re.M)
        host = re.sub(r"^ *h\.at\(\d+(, .*)?\);$", "", host, flags=re.M)
        host = re.sub(r"\{\d+, \d+\}(?=\})", "{}", host)
        host = re.sub(r"^#include.*$", "", host, flags=re.M)
        return self.part("host", host)

    def unit(self, kind, key, text):
        body = re.sub(r"^#include.*$|^using namespace pto;$", "", text, flags=re.M)
        if kind == "kernels":
            return f"#define kernel_entry pldk_k_{key}\nnamespace n_{key} {{\n{body}\n}}\n#undef kernel_entry\n"
        if kind == "chips":
            return (f"#define aicpu_orchestration_config pldc_{key}_config\n#define aicpu_orchestration_entry pldc_{key}_entry\n"
                    f"{body}\n#undef aicpu_orchestration_config\n#undef aicpu_orchestration_entry\n")
        return body.replace("namespace PROGRAM", f"namespace p_{key}")

    def shards(self, kind):
        texts = {key: text for key, text in self.texts[kind].items() if key not in self.broken}
        size = max(SHARD, sum(map(len, texts.values())) // self.jobs // 4)
        shard, count = {}, 0
        for key, text in texts.items():
            shard[key] = text
            count += len(text)
            if count >= size:
                yield shard
                shard, count = {}, 0
        if shard:
            yield shard

    def build_shard(self, kind, number, shard):
        """Object file of the parts. Parts that do not compile are left out and go to self.broken, with the messages."""
        path = self.work / f"source/{kind}_{number}.cpp"
        while True:
            good = {key: text for key, text in shard.items() if key not in self.broken}
            path.write_text(HEADER[kind] + "".join(f'#line 1 "{key}"\n' + self.unit(kind, key, text)
                                                   for key, text in good.items()))
            target, message = self.build(path, OPTIMIZE[kind])
            if target:
                return target
            wrong = {key: line for key, line in reversed(re.findall(r"^(PART_\w+):(\d+:\d+: error:.*)", message, re.M))}
            if not wrong:
                sys.exit(f"{path}: what was generated does not compile\n{message[:6000]}\n0 passed, 1 failed")
            self.broken.update(wrong)

    def build(self, path, optimize):
        target = self.work / f"source/{path.stem}.o"
        command = self.cxx + FLAGS + [optimize, f"-I{self.include}", "-c", str(path), "-o", str(target)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return (str(target) if done.returncode == 0 else None), done.stdout

    def compile(self):
        (self.work / "source").mkdir(exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(self.build, self.include / f"pld/{name}.cpp", optimize)
                       for name, optimize in (("runtime", "-O1"), ("watch", "-O0"), ("launcher", "-O0"))]
            objects = []
            for kind in ("kernels", "chips", "host"):
                if kind == "host":  # what needs a broken part is broken
                    for key, text in self.texts[kind].items():
                        for part in re.findall(r"\bPART_\w+", text):
                            if part in self.broken:
                                self.broken[key] = self.broken[part]
                objects += pool.map(lambda job, kind=kind: self.build_shard(kind, *job), enumerate(self.shards(kind)))
            keys = [key for key in self.texts["host"] if key not in self.broken]
            path = self.work / "source/driver.cpp"
            path.write_text(DRIVER % {
                "declarations": "\n".join(f"namespace p_{k} {{ const pld::ProgramInfo& program(); }}" for k in keys),
                "rows": ", ".join(f'{{"{k}", &p_{k}::program}}' for k in keys)})
            for target, message in [self.build(path, "-O0")] + [w.result() for w in waiting]:
                if not target:
                    sys.exit(f"the runtime does not compile\n{message[:6000]}\n0 passed, 1 failed")
                objects.append(target)
        subprocess.run(self.cxx + ["-pthread", "-o", str(self.binary)] + objects, check=True)

    def run(self, runs):
        """The exit code and output of each (key, arguments)."""
        folder = self.work / "outputs"
        folder.mkdir(exist_ok=True)
        lines = "".join("\t".join([key] + arguments) + "\n" for key, arguments in runs)
        done = subprocess.run([str(self.binary), str(folder), str(self.jobs)], input=lines, stdout=subprocess.PIPE, text=True,
                              check=True)
        codes = dict(map(int, line.split()) for line in done.stdout.splitlines())
        return [(codes[n], (folder / str(n)).read_text(errors="replace")) for n in range(len(runs))]

    def counts(self):
        return ", ".join(f"{len(texts)} {kind}" for kind, texts in self.texts.items()) + f" (of {self.programs} programs)"
