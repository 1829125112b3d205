// The tables of peaks.md: the peak that `hloctl check` estimates for a module, the peak that XLA's CPU
// backend plans, and the pages that a run in hlod's engine touched. The modules are programs of ordinary
// sizes (peaks/generate.py) and every JAX case, which are small (jax/judge.py).
//
//   peak_table                 prints the table
//   peak_table --of FILE...    prints the estimate of each serialized module, and the largest arrays at its
//   peak peak_table --check FILE    exits with 1 when FILE has other estimates; the pages depend on the
//   machine
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/analysis/check/module_check.h"
#include "common/base/system/file.h"
#include "common/hlo/proto/codec.h"
#include "server/engine/plan/plan.h"
#include "tests/conformance/case.h"
#include "tests/conformance/judged.h"
#include "tests/support/source_dir.h"

namespace hlod::testing {
namespace {

// Untouched memory, handed out in pieces aligned to 64 bytes, as devices do.
class FreshMemory {
 public:
  explicit FreshMemory(size_t bytes)
      : size_((bytes / page() + 1) * page()),
        data_(static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (data_ == MAP_FAILED) std::abort();
    madvise(data_, size_, MADV_NOHUGEPAGE);
  }
  ~FreshMemory() { munmap(data_, size_); }
  FreshMemory(const FreshMemory&) = delete;
  FreshMemory& operator=(const FreshMemory&) = delete;

  static size_t page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  static size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
  std::byte* Take(size_t bytes) {
    std::byte* const taken = data_ + used_;
    used_ += Aligned(bytes);
    return taken;
  }
  int64_t TouchedBytes() const {
    std::vector<unsigned char> resident(size_ / page());
    if (mincore(data_, size_, resident.data()) != 0) std::abort();
    return static_cast<int64_t>(page()) *
           std::ranges::count_if(resident, [](unsigned char flags) { return (flags & 1) != 0; });
  }

 private:
  const size_t size_;
  std::byte* const data_;
  size_t used_ = 0;
};

int64_t Bytes(const hlo::Shape& shape) { return hlo::ByteSize(shape).value(); }

// Returns the bytes that a run of `module` on zeros touches: arguments, results and temporaries side by side,
// as a device holds them. Returns -1 for a module that does not run by itself.
int64_t TouchedBytes(const std::string& proto) {
  const auto module = hlo::FromSerialized(proto, {.for_execution = true});
  if (!module.ok()) return -1;
  const auto plan = engine::Compile(**module, {.threads = 1});
  if (!plan.ok()) return -1;
  size_t bytes = FreshMemory::Aligned(static_cast<size_t>((*plan)->memory().temporary_bytes));
  for (const hlo::Shape& shape : (*plan)->arguments()) bytes += FreshMemory::Aligned(Bytes(shape));
  for (const hlo::Shape& shape : (*plan)->results()) bytes += FreshMemory::Aligned(Bytes(shape));
  FreshMemory memory(bytes);
  std::vector<std::byte*> given, results;
  for (const hlo::Shape& shape : (*plan)->arguments()) {
    given.push_back(memory.Take(Bytes(shape)));
    std::memset(given.back(), 0, Bytes(shape));
  }
  for (size_t i = 0; i < (*plan)->results().size(); ++i) {
    const int alias = (*plan)->aliases()[i];
    results.push_back(alias >= 0 ? given[static_cast<size_t>(alias)]
                                 : memory.Take(Bytes((*plan)->results()[i])));
  }
  std::byte* const temporary = memory.Take(static_cast<size_t>((*plan)->memory().temporary_bytes));
  const std::vector<const std::byte*> arguments(given.begin(), given.end());
  engine::RunContext context;
  if (!(*plan)->Run(arguments, results, temporary, context).ok()) return -1;
  return memory.TouchedBytes();
}

struct Row {
  std::string name;
  // touched is -1 for a module that does not run by itself or was left out.
  int64_t estimate = 0, xla = 0, touched = 0;

  static bool Within(int64_t got, int64_t want) {
    return std::abs(got - want) * 10 <= std::max<int64_t>(want, 10);
  }
  // Memory is observed in pages.
  static int64_t Pages(int64_t bytes) {
    const auto page = static_cast<int64_t>(FreshMemory::page());
    return (bytes + page - 1) / page * page;
  }
  bool near_xla() const { return Within(estimate, xla); }
  bool near_touched() const { return Within(Pages(estimate), touched); }
};

// The pages that the engine touches depend on the machine: they are measured for the table, and not compared.
enum class Touched { kMeasured, kLeftOut };

Row RowOf(const Judged& judged, const std::string& proto, Touched touched) {
  const analysis::ModuleReport report =
      analysis::CheckModule(*hlo::FromSerialized(proto).value(), {}, {}).value();
  return {judged.name, report.fused.total(), judged.peak(),
          touched == Touched::kMeasured ? TouchedBytes(proto) : -1};
}

std::vector<Row> SmallRows(Touched touched) {
  std::vector<Row> rows;
  for (const Judged& judged : ReadJudged("jax"))
    rows.push_back(RowOf(judged, LoadCase(judged.name)->module_proto, touched));
  return rows;
}

std::vector<Row> LargeRows(Touched touched) {
  std::vector<Row> rows;
  for (const Judged& judged : ReadJudged("peaks")) {
    const auto file = SourceDir() / "tests/conformance/peaks/modules" / (judged.name + ".pb");
    rows.push_back(RowOf(judged, ReadFile(file.string()).value(), touched));
  }
  return rows;
}

std::string CheckResult(bool near) { return near ? "" : "missed"; }

void AppendTable(const std::vector<Row>& rows, std::string& text) {
  int near_xla = 0, ran = 0, near_touched = 0;
  for (const Row& row : rows) {
    near_xla += row.near_xla();
    if (row.touched < 0) continue;
    ++ran;
    near_touched += row.near_touched();
  }
  absl::StrAppendFormat(&text,
                        "- XLA: %d of %d within 10%%.\n- Touched: %d of %d within 10%%.\n\n"
                        "| module | estimate | XLA | | touched | |\n|---|---:|---:|---|---:|---|\n",
                        near_xla, rows.size(), near_touched, ran);
  for (const Row& row : rows) {
    absl::StrAppendFormat(&text, "| %s | %d | %d | %s | %s | %s |\n", row.name, row.estimate, row.xla,
                          CheckResult(row.near_xla()), row.touched < 0 ? "-" : absl::StrCat(row.touched),
                          row.touched < 0 ? "" : CheckResult(row.near_touched()));
  }
}

std::string Text() {
  std::string text =
      "# Peak memory: estimates, XLA's plan, and what a run touches\n\n"
      "Written by `peak_table > tests/conformance/peaks.md`; `ctest -R conformance/peaks` checks the "
      "estimates. Bytes. `estimate` is what `hloctl check`\n"
      "says without a target: XLA's plan for the CPU. `XLA` is arguments, results and temporaries less "
      "aliases, as jaxlib's\n"
      "`memory_analysis()` has them for the CPU. `touched` is the pages that a run of one thread in hlod's "
      "engine touched (mincore),\n"
      "compared with estimates in whole pages, on one processor with AVX2 (Zen 3): others convert and "
      "pack otherwise. *Missed*: not\n"
      "within 10%.\n\n"
      "Programs over meshes are in [sharded/memory.md](sharded/memory.md), and steps as XLA's compiler for "
      "TPU plans them in\n"
      "[llama_405b.d/README.md](../../client/examples/llama_405b.d/README.md).\n\n"
      "## Programs of ordinary sizes\n\n";
  AppendTable(LargeRows(Touched::kMeasured), text);
  absl::StrAppend(&text,
                  "\n## The JAX corpus\n\n"
                  "Small modules: what misses XLA's plan is bf16 and f16, which its CPU backend computes in "
                  "f32, packed operands of convolutions and\n"
                  "products, and whole states of small loops. What misses the pages touched is the engine's "
                  "working memory, 10 to 50 KB a step\n"
                  "whatever the arrays' size (tiles of its interpreter, library scratch), which is not part "
                  "of an estimate.\n\n");
  AppendTable(SmallRows(Touched::kMeasured), text);
  return text;
}

// Returns the rows of a published text, by name, as cells.
std::map<std::string, std::vector<std::string>> PublishedRows(const std::string& text) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const auto& line : absl::StrSplit(text, '\n')) {
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
    if (cells.size() == 8) rows.emplace(cells[1], cells);
  }
  return rows;
}

bool Same(const Row& row, const std::vector<std::string>& cells) {
  return cells[2] == absl::StrCat(row.estimate) && cells[3] == absl::StrCat(row.xla);
}

int Check(const std::string& path) {
  const absl::StatusOr<std::string> published = ReadFile(path);
  if (!published.ok()) {
    std::fprintf(stderr, "peak_table: %s\n", published.status().ToString().c_str());
    return 1;
  }
  const std::map<std::string, std::vector<std::string>> known = PublishedRows(*published);
  int wrong = 0;
  for (const std::vector<Row>& rows : {LargeRows(Touched::kLeftOut), SmallRows(Touched::kLeftOut)}) {
    for (const Row& row : rows) {
      const auto found = known.find(row.name);
      if (found != known.end() && Same(row, found->second)) continue;
      ++wrong;
      std::fprintf(stderr, "peak_table: %s is %d, XLA %d; %s %s\n", row.name.c_str(),
                   static_cast<int>(row.estimate), static_cast<int>(row.xla), path.c_str(),
                   found == known.end() ? "does not have it" : "says otherwise: write it anew");
    }
  }
  return wrong == 0 ? 0 : 1;
}

// Prints the estimates of modules, and the arrays that a peak consists of.
int PrintEstimates(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const auto module = hlo::FromSerialized(ReadFile(file).value(), {});
    if (!module.ok()) {
      std::fprintf(stderr, "peak_table: %s: %s\n", file.c_str(), module.status().ToString().c_str());
      return 1;
    }
    const analysis::Peak peak = analysis::CheckModule(**module, {}, {}).value().fused;
    std::printf("%s %lld\n", file.c_str(), static_cast<long long>(peak.total()));
    for (const analysis::Contributor& array : peak.largest) {
      std::printf("    %12lld %-9s %s until %s\n", static_cast<long long>(array.bytes),
                  std::string(analysis::Name(array.kind)).c_str(), array.name.c_str(),
                  array.last_use.c_str());
    }
  }
  return 0;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1 && arguments[0] == "--of")
    return PrintEstimates({arguments.begin() + 1, arguments.end()});
  if (arguments.size() == 2 && arguments[0] == "--check") return Check(arguments[1]);
  if (!arguments.empty()) {
    std::fputs("peak_table: peak_table [--of FILE... | --check FILE]\n", stderr);
    return 2;
  }
  std::fputs(Text().c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace hlod::testing

int main(int argc, char** argv) {
  return hlod::testing::Main(std::vector<std::string>(argv + 1, argv + argc));
}
