// Gives any bytes as a file to the readers of logs, dumps, settings and arrays: the answer is a value or an
// error. Seeds are written first, because most formats have no example in the repository.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "client/analysis/check/budget.h"
#include "client/analysis/module/chips/chips.h"
#include "client/analysis/preflight/command_log.h"
#include "client/analysis/preflight/preflight.h"
#include "client/analysis/torch_xla/torch_xla_report.h"
#include "common/hlo/elements/npy.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "server/config.h"

namespace {

using namespace hlod;
namespace fs = std::filesystem;

void ReadAll(const std::string& path) {
  for (const bool incomplete : {false, true}) {
    const auto log = analysis::ReadCommandLog(path, incomplete);
    if (log.ok()) (void)analysis::ProgramsOf(*log);
  }
  if (const auto log = analysis::ReadPreflightLog(path); log.ok()) {
    const auto report = analysis::FollowRun({*log}, std::nullopt, {}, std::nullopt);
    if (report.ok()) (void)analysis::ToText(*report);
  }
  (void)analysis::ReadBudget(path);
  (void)analysis::KnownChips(path);
  Config config;
  (void)ReadConfigFile(path, config);
  analysis::torch_xla::Dump dump;
  if (analysis::torch_xla::ReadDump(path, dump).ok())
    (void)analysis::torch_xla::ToText(analysis::torch_xla::ReportOf(std::move(dump)));
  for (const hlo::PrimitiveType type : {hlo::kPred, hlo::kS4, hlo::kBF16, hlo::kF32})
    (void)hlo::ReadNpy(path, hlo::Shape::Array(type, {2, 3}));
}

void Put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string Sized(const google::protobuf::Message& message, bool varint) {
  const std::string bytes = message.SerializeAsString();
  std::string size;
  if (varint) {
    for (size_t rest = bytes.size();; rest >>= 7) {
      size += static_cast<char>(rest < 128 ? rest : (rest & 127) | 128);
      if (rest < 128) return size + bytes;
    }
  }
  for (int i = 0; i < 4; ++i) size += static_cast<char>(bytes.size() >> (8 * i));
  return size + bytes;
}

std::string Program() {
  const auto module = hlo::ParseModule(
      "HloModule add\nENTRY main {\n  x = f32[2,3] parameter(0)\n  ROOT y = f32[2,3] add(x, x)\n}\n");
  return module.ok() ? hlo::Serialize(**module) : "";
}

std::string CommandLogSeed() {
  v1::CommandLogEntry header, compile, execute, end;
  header.mutable_header()->add_devices()->set_kind("cpu");
  compile.mutable_command()->set_id(1);
  compile.mutable_command()->mutable_compile()->set_module(Program());
  execute.mutable_command()->set_id(2);
  execute.mutable_command()->mutable_execute()->set_executable(1);
  end.mutable_end()->set_commands(2);
  std::string log = "hlod command log 1\n";
  for (const v1::CommandLogEntry* const entry : {&header, &compile, &execute, &end})
    log += Sized(*entry, /*varint=*/true);
  return log;
}

std::string PreflightLogSeed() {
  std::vector<v1::PreflightEvent> events(6);
  events[0].mutable_begin()->set_version(1);
  events[1].mutable_program()->set_digest("d");
  events[1].mutable_program()->set_module(Program());
  v1::PreflightBuffer& buffer = *events[2].mutable_buffer();
  buffer.set_handle(7);
  *buffer.mutable_shape() = hlo::ToProto(hlo::Shape::Array(hlo::kF32, {2, 3}));
  buffer.set_bytes(24);
  buffer.set_cause(1);
  v1::PreflightExecute& execute = *events[3].mutable_execute();
  execute.set_digest("d");
  execute.add_arguments(7);
  execute.add_results(8);
  execute.add_donated(0);
  events[4].mutable_label()->set_handle(8);
  events[4].mutable_label()->set_role("weight");
  events[5].mutable_end()->set_reason("closed");
  std::string log;
  for (const v1::PreflightEvent& event : events) log += Sized(event, /*varint=*/false);
  return log;
}

constexpr std::string_view kDump =
    "[ScheduleSyncTensorsGraph]\nTensorsGraphInfo:\n  step (/repo/train.py:48)\n\nRoot Hashes: (1a2b)\n\n"
    "## BEGIN_GRAPH\nIR {\n  %0 = f32[5,1]{1,0} xla::device_data(), xla_shape=f32[5,1]{1,0}\n}\n"
    "Graph Hash: 1a2b\n\n## END_GRAPH\n\n"
    "Compilation Analysis: ========\nCompilation Analysis: Compilation Cause\n"
    "Compilation Analysis:   user torch_xla.sync\nCompilation Analysis: Graph Info: \n"
    "Compilation Analysis:   Graph Hash: 1a2b\nCompilation Analysis:   Number of Graph Inputs: 2\n"
    "Compilation Analysis: Python Frame Triggered Execution: \n"
    "Compilation Analysis:   step (/repo/train.py:48)\nCompilation Analysis: ========\n"
    "Metric: CompileTime\n  TotalSamples: 202\n  Accumulator: 06m09s401ms746.001us\n"
    "  Percentiles: 1%=001ms32.778us; 50%=2ms\nCounter: CachedCompile\n  Value: 200\n";

void WriteSeeds(const fs::path& folder) {
  Put(folder / "seed_npy.file", hlo::FormatNpy(hlo::Literal(hlo::Shape::Array(hlo::kF32, {2, 3}))));
  Put(folder / "seed_command_log.file", CommandLogSeed());
  Put(folder / "seed_preflight_log.file", PreflightLogSeed());
  Put(folder / "seed_budget.file", "# Limits\npeak_bytes = \"80GiB\"\nflops = 1e12\ncompiles = 3\n");
  Put(folder / "seed_config.file",
      "listen = [\"tcp:127.0.0.1:7700\"]\ndevices = 2\ndevice_memory = \"4GiB\"\nsessions_max = 5\n");
  Put(folder / "seed_chips.file",
      "[chips.mine]\nmemory_bytes = 64e9\nbandwidth = 1e12\nflops = 2e14\ntiled = false\n");
  Put(folder / "seed_dump.file", kDump);
}

}  // namespace

// Writes the seeds into the last folder of the arguments.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  WriteSeeds((*argv)[*argc - 1]);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string path = fs::temp_directory_path() / ("hlod_files_fuzz." + std::to_string(getpid()));
  Put(path, {reinterpret_cast<const char*>(data), size});
  ReadAll(path);
  fs::remove(path);
  return 0;
}
