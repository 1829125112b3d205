// The architecture as a test: who may include whom, and what must never be written where. Each finding names
// the line, the rule, and what to do instead. No taste here: clang-format and clang-tidy have that.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/style/sources.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

namespace fs = std::filesystem;

// The folders that a room may include: the arrows of the design, which point down only. Tests may include
// everything. "folder/" is a folder and all below it, "folder/*" only its own files.
struct Room {
  std::string folder;
  std::vector<std::string> may_include;
};
using RoomList = std::vector<Room>;

RoomList CommonRooms() {
  return {
      {"common/base/", {"common/base/", "proto/"}},
      {"common/hlo/inference/",
       {"common/hlo/inference/", "common/hlo/collectives/", "common/hlo/dynamic/", "common/hlo/*",
        "common/base/"}},
      {"common/hlo/names/", {"common/hlo/names/", "common/hlo/*", "common/base/"}},
      {"common/hlo/proto/",
       {"common/hlo/proto/", "common/hlo/names/", "common/hlo/collectives/", "common/hlo/*", "common/base/",
        "proto/"}},
      {"common/hlo/text/",
       {"common/hlo/text/", "common/hlo/names/", "common/hlo/inference/", "common/hlo/proto/",
        "common/hlo/collectives/", "common/hlo/*", "common/base/", "proto/"}},
      {"common/hlo/analysis/", {"common/hlo/analysis/", "common/hlo/*", "common/base/"}},
      {"common/hlo/collectives/", {"common/hlo/collectives/", "common/hlo/*", "common/base/", "proto/"}},
      {"common/hlo/dynamic/", {"common/hlo/dynamic/", "common/hlo/*", "common/base/"}},
      {"common/hlo/elements/", {"common/hlo/elements/", "common/hlo/*", "common/base/"}},
      {"common/hlo/math/", {"common/hlo/math/", "common/hlo/*", "common/base/"}},
      {"common/hlo/",
       {"common/hlo/*", "common/hlo/elements/", "common/hlo/inference/", "common/base/", "proto/"}},
      {"common/lapack/", {"common/lapack/", "common/hlo/", "common/base/"}},
      {"common/evaluator/elements/",
       {"common/evaluator/elements/", "common/evaluator/*", "common/hlo/", "common/base/"}},
      {"common/evaluator/", {"common/evaluator/", "common/lapack/", "common/hlo/", "common/base/"}},
      {"common/network/", {"common/network/", "common/hlo/", "common/base/"}},
      {"common/passes/",
       {"common/passes/", "common/evaluator/", "common/lapack/", "common/hlo/", "common/base/"}},
      {"common/rpc/grpc/", {"common/rpc/", "common/base/", "proto/"}},
      {"common/rpc/", {"common/rpc/", "common/base/", "proto/"}},
  };
}

RoomList ClientRooms() {
  return {
      {"client/include/hlod/runtime/", {"hlod/runtime/", "common/hlo/", "common/base/"}},
      {"client/include/hlod/observe/", {"hlod/observe/", "hlod/runtime/", "hlod/tensor/", "common/base/"}},
      {"client/include/hlod/tensor/",
       {"hlod/tensor/", "hlod/observe/", "hlod/runtime/", "common/hlo/", "common/base/"}},
      {"client/include/hlod/ops/nn/", {"hlod/ops/", "hlod/tensor/"}},
      {"client/include/hlod/ops/", {"hlod/ops/", "hlod/tensor/", "hlod/runtime/"}},
      {"client/include/hlod/transform/",
       {"hlod/transform/", "hlod/ops/", "hlod/tensor/", "hlod/observe/", "hlod/runtime/", "common/hlo/"}},
      {"client/include/hlod/nn/", {"hlod/nn/", "hlod/ops/", "hlod/tensor/", "hlod/runtime/"}},
      {"client/include/hlod/optim/",
       {"hlod/optim/", "hlod/nn/", "hlod/transform/", "hlod/ops/", "hlod/tensor/", "hlod/runtime/"}},
      {"client/include/", {"hlod/", "common/hlo/", "common/base/"}},
      {"client/import/program/", {"client/import/program/", "common/hlo/", "common/base/"}},
      {"client/import/text/attributes/",
       {"client/import/text/attributes/", "client/import/text/*", "client/import/program/", "common/hlo/",
        "common/base/"}},
      {"client/import/text/",
       {"client/import/text/", "client/import/program/", "common/hlo/", "common/base/"}},
      {"client/import/", {"client/import/", "common/hlo/", "common/base/"}},
      {"client/runtime/connection/",
       {"client/runtime/connection/", "client/runtime/preflight/", "client/runtime/session/", "hlod/",
        "common/rpc/", "common/base/", "proto/"}},
      {"client/runtime/transfer/",
       {"client/runtime/transfer/", "client/runtime/session/", "client/runtime/connection/", "hlod/",
        "common/rpc/", "common/hlo/", "common/base/", "proto/"}},
      {"client/runtime/",
       {"client/runtime/", "client/partition/", "hlod/", "common/passes/", "common/rpc/", "common/hlo/",
        "common/base/", "proto/"}},
      {"client/analysis/module/chips/",
       {"client/analysis/module/chips/", "client/analysis/module/*", "common/hlo/", "common/base/",
        "proto/"}},
      {"client/analysis/module/",
       {"client/analysis/module/", "common/passes/", "common/hlo/", "common/base/", "proto/"}},
      {"client/analysis/check/",
       {"client/analysis/check/", "client/analysis/module/", "common/hlo/", "common/base/"}},
      {"client/analysis/torch_xla/",
       {"client/analysis/torch_xla/", "client/analysis/check/", "client/analysis/module/", "common/hlo/",
        "common/base/"}},
      {"client/analysis/mesh/",
       {"client/analysis/mesh/", "client/analysis/check/", "client/analysis/module/", "common/network/",
        "common/hlo/", "common/base/"}},
      {"client/analysis/", {"client/analysis/", "common/passes/", "common/hlo/", "common/base/", "proto/"}},
      {"client/partition/", {"client/partition/", "common/hlo/", "common/base/", "proto/"}},
      {"client/report/graphs/", {"client/report/graphs/", "hlod/", "common/hlo/", "common/base/"}},
      {"client/report/",
       {"client/report/", "client/analysis/module/", "hlod/", "common/hlo/", "common/base/"}},
  };
}

RoomList ProgramRooms() {
  return {
      {"client/cli/options/", {"client/cli/options/", "client/cli/print/", "client/cli/*", "common/base/"}},
      {"client/cli/print/",
       {"client/cli/print/", "client/analysis/check/", "client/report/graphs/", "hlod/", "common/hlo/",
        "common/base/"}},
      {"client/cli/doctor/",
       {"client/cli/doctor/", "client/cli/print/", "client/cli/*", "client/partition/", "hlod/",
        "common/base/"}},
      {"client/cli/daemon/",
       {"client/cli/daemon/", "client/cli/print/", "client/cli/*", "hlod/", "common/rpc/", "common/base/"}},
      {"client/cli/module/",
       {"client/cli/module/", "client/cli/print/", "client/cli/*", "client/import/", "client/analysis/",
        "client/partition/", "hlod/", "common/hlo/", "common/base/"}},
      {"client/cli/check/",
       {"client/cli/check/", "client/cli/module/", "client/cli/print/", "client/cli/*", "client/analysis/",
        "client/partition/", "hlod/", "common/hlo/", "common/base/"}},
      {"client/cli/run/",
       {"client/cli/run/", "client/cli/module/", "client/cli/print/", "client/cli/*", "client/analysis/",
        "client/partition/", "hlod/", "common/hlo/", "common/base/", "proto/"}},
      {"client/cli/report/",
       {"client/cli/report/", "client/cli/print/", "client/cli/*", "client/analysis/", "client/report/",
        "hlod/", "common/hlo/", "common/base/"}},
      {"client/cli/",
       {"client/cli/", "client/import/", "client/report/", "client/analysis/", "client/partition/", "hlod/",
        "common/rpc/", "common/hlo/", "common/base/", "proto/"}},
      {"client/pjrt/abi/", {"client/pjrt/abi/"}},
      {"client/pjrt/compile/",
       {"client/pjrt/compile/", "client/pjrt/buffers/", "client/pjrt/ffi/", "client/import/", "common/hlo/",
        "common/base/", "proto/"}},
      {"client/pjrt/division/",
       {"client/pjrt/division/", "client/pjrt/compile/", "client/pjrt/*", "client/partition/", "hlod/",
        "common/passes/", "common/hlo/", "common/base/"}},
      {"client/pjrt/programs/",
       {"client/pjrt/programs/", "client/pjrt/division/", "client/pjrt/compile/", "client/pjrt/buffers/",
        "client/pjrt/callbacks/", "client/pjrt/devices/", "client/pjrt/ffi/", "client/pjrt/abi/",
        "client/pjrt/*", "client/analysis/module/", "client/runtime/observe/", "hlod/", "common/hlo/",
        "common/base/"}},
      {"client/pjrt/",
       {"client/pjrt/", "client/import/", "client/analysis/module/", "client/runtime/preflight/",
        "client/runtime/observe/", "client/runtime/session/", "client/runtime/transfer/", "client/partition/",
        "hlod/", "common/passes/", "common/hlo/", "common/base/", "proto/"}},
  };
}

RoomList TensorRooms() {
  return {
      {"client/tensor/ops/",
       {"client/tensor/ops/", "client/tensor/dispatch/", "client/tensor/function/", "client/tensor/autograd/",
        "client/tensor/trace/", "client/tensor/value/", "hlod/", "common/evaluator/", "common/lapack/",
        "common/hlo/", "common/base/"}},
      {"client/tensor/",
       {"client/tensor/", "client/runtime/observe/", "client/runtime/session/", "client/runtime/preflight/",
        "client/runtime/mesh/", "client/runtime/handles/", "hlod/", "common/evaluator/", "common/passes/",
        "common/lapack/", "common/hlo/", "common/base/", "proto/"}},
      {"client/transform/rules/",
       {"client/transform/rules/", "client/transform/autodiff/", "client/transform/batch/",
        "client/transform/functions/", "client/tensor/", "hlod/", "common/lapack/", "common/hlo/",
        "common/base/"}},
      {"client/transform/optimizer/torch/",
       {"client/transform/optimizer/torch/", "client/transform/optimizer/*", "client/tensor/",
        "client/runtime/handles/", "hlod/", "common/base/"}},
      {"client/transform/optimizer/",
       {"client/transform/optimizer/*", "client/tensor/", "hlod/", "common/base/"}},
      {"client/transform/",
       {"client/transform/", "client/tensor/", "client/import/", "client/runtime/observe/",
        "client/runtime/session/", "hlod/", "common/passes/", "common/hlo/", "common/base/"}},
      {"client/nn/", {"client/nn/", "client/tensor/", "hlod/", "common/hlo/", "common/base/"}},
      {"client/data/",
       {"client/data/", "client/nn/", "client/tensor/value/", "hlod/", "common/hlo/", "common/base/"}},
      {"client/examples/", {"hlod/"}},
      {"client/libhlod.cc", {}},
  };
}

RoomList ServerRooms() {
  return {
      {"server/engine/run/", {"server/engine/run/", "common/evaluator/", "common/hlo/", "common/base/"}},
      {"server/engine/tile/", {"server/engine/tile/", "server/engine/run/", "common/hlo/", "common/base/"}},
      {"server/engine/reduce/",
       {"server/engine/reduce/", "server/engine/tile/", "server/engine/run/", "common/hlo/", "common/base/"}},
      {"server/engine/sort/",
       {"server/engine/sort/", "server/engine/tile/", "server/engine/run/", "common/hlo/", "common/base/"}},
      {"server/engine/movement/",
       {"server/engine/movement/", "server/engine/reduce/", "server/engine/tile/", "server/engine/run/",
        "common/hlo/", "common/base/"}},
      {"server/engine/assemble/",
       {"server/engine/assemble/", "server/engine/tile/", "server/engine/run/", "common/hlo/",
        "common/base/"}},
      {"server/engine/contraction/",
       {"server/engine/contraction/", "server/engine/movement/", "server/engine/run/", "common/hlo/",
        "common/base/"}},
      {"server/engine/fft/", {"server/engine/fft/", "server/engine/run/", "common/hlo/", "common/base/"}},
      {"server/engine/linalg/",
       {"server/engine/linalg/", "server/engine/run/", "common/lapack/", "common/hlo/", "common/base/"}},
      {"server/engine/native/",
       {"server/engine/native/", "server/engine/run/", "server/include/", "common/evaluator/", "common/hlo/",
        "common/base/"}},
      {"server/include/", {}},
      {"server/engine/plan/lowering/",
       {"server/engine/plan/lowering/", "server/engine/plan/*", "server/engine/contraction/",
        "server/engine/fft/", "server/engine/linalg/", "server/engine/movement/", "server/engine/native/",
        "server/engine/reduce/", "server/engine/sort/", "server/engine/tile/", "server/engine/run/",
        "common/evaluator/", "common/hlo/", "common/base/"}},
      {"server/engine/plan/assignment/",
       {"server/engine/plan/assignment/", "server/engine/plan/lowering/", "server/engine/run/",
        "common/passes/", "common/hlo/", "common/base/"}},
      {"server/engine/",
       {"server/engine/", "common/passes/", "common/evaluator/", "common/hlo/", "common/base/"}},
      {"server/device/",
       {"server/device/", "server/engine/", "common/network/", "common/hlo/", "common/base/"}},
      {"server/session/",
       {"server/session/", "server/device/", "server/engine/", "common/rpc/", "common/hlo/", "common/base/",
        "proto/"}},
      {"server/fabric/", {"server/fabric/", "common/rpc/", "common/base/", "proto/"}},
      {"server/grpc/handlers/",
       {"server/grpc/handlers/", "server/grpc/*", "server/session/", "server/fabric/", "common/rpc/",
        "common/base/", "proto/"}},
      {"server/grpc/",
       {"server/grpc/", "server/session/", "server/fabric/", "server/device/", "common/rpc/", "common/base/",
        "proto/"}},
      {"server/metrics/",
       {"server/metrics/", "server/session/", "server/device/", "common/rpc/", "common/base/", "proto/"}},
      {"server/log/", {"server/log/", "common/base/"}},
      {"server/launcher/", {"server/launcher/", "common/base/"}},
      {"server/confinement/", {"server/confinement/", "common/base/"}},
      {"server/", {"server/", "common/", "proto/"}},
      {"deploy/", {"hlod/"}},
  };
}

// The first row of a folder applies.
const RoomList& Rooms() {
  static const auto* const rooms = [] {
    auto* const all = new RoomList;
    for (const RoomList& part : {CommonRooms(), ClientRooms(), ProgramRooms(), TensorRooms(), ServerRooms()})
      all->insert(all->end(), part.begin(), part.end());
    return all;
  }();
  return *rooms;
}

bool MayInclude(const Room& room, const std::string& header) {
  return std::ranges::any_of(room.may_include, [&](const std::string& neighbour) {
    if (!neighbour.ends_with("/*")) return header.starts_with(neighbour);
    return header.substr(0, header.rfind('/') + 1) + "*" == neighbour;
  });
}

TEST(Tidy, RoomsIncludeOnlyTheirNeighbours) {
  static const std::regex include(
      R"re(^\s*#\s*include\s+["<]((?:client|common|server|proto|tests|hlod)/[^">]+)[">].*)re");
  for (const SourceFile& file : Sources()) {
    const auto room =
        std::ranges::find_if(Rooms(), [&](const Room& r) { return file.path.starts_with(r.folder); });
    if (!IsCpp(file) || room == Rooms().end()) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_match(file.lines[i], match, include)) continue;
      EXPECT_TRUE(MayInclude(*room, match[1].str()))
          << file.path << ":" << i + 1 << ": " << room->folder << " may not include " << match[1]
          << "; its neighbours are its CMake target's link line (and the table in tests/style/tidy_test.cc)";
    }
  }
}

struct NamespacesOfFolder {
  std::string folder, namespaces;
};

// Namespaces follow folders: which namespaces the files of a folder may open (the first row that matches is
// the file's). Public classes are in `hlod` itself, wherever their members are defined.
TEST(Tidy, NamespacesFollowFolders) {
  static const std::vector<NamespacesOfFolder> rows = {
      {"common/base/", "hlod|fields_internal"},
      {"common/hlo/text/", "hlod::hlo(::text)?|text"},
      {"common/hlo/proto/", "hlod::hlo(::codec)?|codec"},
      {"common/hlo/", "hlod::hlo(::codec)?"},
      {"common/lapack/", "hlod::lapack"},
      {"common/evaluator/elements/", "hlod::evaluator"},
      {"common/evaluator/rules/", "hlod::evaluator"},
      {"common/evaluator/", "hlod(::evaluator)?|evaluator|hlo"},
      {"common/passes/", "hlod::passes(::dynamic_rules)?|dynamic_rules"},
      {"common/rpc/", "hlod::rpc"},
      {"client/import/bytecode/", "hlod::stablehlo::bytecode"},
      {"client/import/exported/", "hlod::stablehlo(::exported)?"},
      {"client/import/text/", "hlod::stablehlo::text"},
      {"client/import/write/", "hlod::stablehlo::write"},
      {"client/import/", "hlod(::stablehlo)?|stablehlo"},
      {"client/runtime/", "hlod(::runtime|::testing)?|runtime"},
      {"client/analysis/torch_xla/", "hlod::analysis::torch_xla"},
      {"client/analysis/", "hlod::analysis"},
      {"client/partition/", "hlod::partition"},
      {"client/report/page/", "hlod::report"},
      {"client/report/", "hlod(::report)?"},
      {"client/cli/", "hlod::cli|torch_xla"},
      {"client/pjrt/", "hlod::pjrt(::(abi|ffi))?"},
      {"client/nn/", "hlod::nn(::init|::utils(::rnn)?)?"},
      {"client/data/", "hlod::data"},
      {"client/tensor/", "hlod(::lazy|::fft|::linalg|::random|::runtime)?|lazy|ops"},
      {"client/transform/optimizer/", "hlod(::optim)?"},
      {"client/transform/", "hlod(::lazy|::tree)?|lazy"},
      {"server/device/", "hlod(::device)?"},
      {"server/engine/fft/", "hlod::engine(::fft)?|HLOD_FFT_SET"},
      {"server/engine/tile/", "hlod::engine|HLOD_TILE_SET"},
      {"server/engine/reduce/", "hlod::engine|reducer_internal"},
      {"server/engine/assemble/", "hlod::engine(::assemble)?|assemble"},
      {"server/engine/", "hlod::engine|hlod|hlo|HLOD_PANEL_SET"},
      {"server/session/", "hlod::session"},
      {"server/fabric/", "hlod::fabric"},
      {"server/grpc/", "hlod::grpc_server|hlod::session"},
      {"server/metrics/", "hlod::metrics"},
      {"server/", "hlod"},
  };
  static const std::regex opens(R"(^namespace ([\w:]+) \{.*)");
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file)) continue;
    const auto row = std::ranges::find_if(
        rows, [&](const NamespacesOfFolder& r) { return file.path.starts_with(r.folder); });
    if (row == rows.end()) continue;
    const std::regex allowed(row->namespaces);
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_match(line, match, opens)) continue;
      EXPECT_TRUE(std::regex_match(match[1].str(), allowed))
          << file.path << " opens namespace " << match[1] << "; " << row->folder << " has "
          << row->namespaces;
    }
  }
}

// A pattern that lines of some files must not match, unless they say why: "// tidy: reason".
struct Rule {
  std::string name;
  // Searched in code, without comments and contents of strings, unless whole_line is set.
  std::string pattern;
  bool whole_line;  // True to search the line as it is.
  bool cpp_only;
  std::vector<std::string> folders;  // The folders where the rule applies; empty: everywhere.
  std::vector<std::string> except;   // Path prefixes where it does not apply.
  std::string instead;
};

std::vector<Rule> RulesOfPlaces() {
  return {
      {.name = "gRPC's headers stay at the wire",
       .pattern = R"re(#\s*include\s+[<"]grpc(pp|\+\+)?/|#\s*include\s+[<"].*\.grpc\.pb\.h[>"])re",
       .whole_line = true,
       .cpp_only = true,
       .folders = {"client/", "common/", "server/", "deploy/"},
       .except = {"client/runtime/", "common/rpc/grpc/", "server/grpc/"},
       .instead = "go through client/runtime, server/grpc or common/rpc/grpc"},
      {.name = "one place reads the environment",
       .pattern = R"re(\b(secure_)?getenv\s*\()re",
       .cpp_only = true,
       .folders = {"client/", "common/", "server/", "deploy/"},
       .except = {"client/runtime/connection/find_daemon.", "client/runtime/observe/profile_writer.",
                  "client/runtime/observe/debug_analysis.", "client/tensor/dispatch/environment.",
                  "client/partition/interpreter.", "server/config.", "common/base/system/switch."},
       .instead = "only find_daemon.cc, profile_writer.cc, debug_analysis.cc, "
                  "client/tensor/dispatch/environment.cc, client/partition/interpreter.cc and "
                  "server/config.cc do, and ReadSwitch() for what is on or off; pass the value on"},
      {.name = "one place asks the processor",
       .pattern = R"re(__builtin_cpu_(supports|is|init)|__get_cpuid|__cpuid|get_effective_cpu_isa)re",
       .cpp_only = true,
       .folders = {"client/", "common/", "server/"},
       .except = {"common/base/system/cpu.", "server/engine/contraction/onednn."},
       .instead =
           "only common/base/system/cpu.cc does (BestCpuLevel, UsesCpuExtension), and OneDnnHas for oneDNN: "
           "a limit holds for all"},
  };
}

std::vector<Rule> RulesOfTests() {
  return {
      {.name = "tests do not sleep",
       .pattern = R"re(\b(sleep_for|sleep_until|SleepFor|usleep|nanosleep)\b|\bsleep\s*\()re",
       .cpp_only = true,
       .folders = {"tests/"},
       .except = {"tests/style/", "tests/support/", "tests/bench/"},
       .instead = "wait for the event itself: Future::Await, absl::Notification, a poll with a deadline"},
      {.name = "every test has a time limit",
       .pattern = R"re(\badd_test\s*\()re",
       .whole_line = true,
       .folders = {"client/", "common/", "server/", "deploy/", "tests/"},
       .except = {"tests/CMakeLists.txt", "tests/style/"},
       .instead = "add it with hlod_test(NAME SECONDS n COMMAND ...) of tests/CMakeLists.txt"},
      {.name = "tests do not fork",
       .pattern = R"re(\bv?fork\s*\()re",
       .cpp_only = true,
       .folders = {"tests/"},
       .except = {"tests/style/", "tests/integration/support/crash_client.cc",
                  "tests/bench/wire/bare_peer.cc",
                  "tests/faults/allocations_test.cc"},  // It forks before it has a thread.
       .instead =
           "a forked child of a process with threads may hang: execute a program "
           "(tests/integration/support/process.h); what happens in a forked child is tried by crash_client"},
  };
}

std::vector<Rule> RulesOfText() {
  return {
      {.name = "plain words",
       .pattern = R"re(\b[Ww]hoever\b|\b(is|are) told\b|\b[Aa]ll the same\b|)re"
                  R"re((^|[^e]) is no (?!longer\b|more\b|less\b)[a-z])re",
       .whole_line = true,
       .folders = {"client/", "common/", "deploy/", "proto/", "server/", "tests/", "README.md",
                   "CONTRIBUTING.md"},
       .except = {"tests/style/"},
       .instead = "name who or what acts, and write \"is not a\""},
      {.name = "a test suite is named for what it tests",
       .pattern = R"re(^(TYPED_)?TEST(_F|_P)?\(\w+Test,)re",
       .cpp_only = true,
       .folders = {"tests/"},
       .instead = "leave the suffix Test out"},
      {.name = "errors are values",
       .pattern = R"re(\b(throw|CHECK|assert)\b\s*[(\w])re",
       .cpp_only = true,
       .folders = {"common/rpc/", "server/session/", "server/grpc/", "client/runtime/"},
       .instead = "return an absl::Status: no input from outside may reach an assertion"},
      {.name = "no path of one machine",
       .pattern = R"re((^|[^A-Za-z0-9_.])/(home|root|work|Users)/)re",
       .whole_line = true,
       .except = {"tests/style/"},
       .instead = "name it from the repository's root, or take it as a parameter"},
      {.name = "a format is a literal",
       .pattern = R"re(\bStr(Append)?Format\([^"]*\?|\bStr(Append)?Format\([^",)]+$)re",
       .cpp_only = true,
       .except = {"tests/style/"},
       .instead = "choose between two calls: clang, which compiles the fuzz targets, takes no format that a "
                  "condition chose"},
      {.name = "absl's log macros are not in Debian's Abseil",
       .pattern = R"re(#\s*include\s+[<"](absl/log/|format>|expected>))re",
       .whole_line = true,
       .cpp_only = true,
       .instead = "use spdlog, absl::StrFormat, absl::StatusOr"},
  };
}

// Searches lines with RE2, which is many times faster, and with std::regex for what RE2 does not have: a look
// ahead.
class Pattern {
 public:
  explicit Pattern(const std::string& pattern) : fast_(pattern, RE2::Quiet) {
    if (!fast_.ok()) slow_.emplace(pattern);
  }
  bool IsIn(const std::string& line) const {
    return slow_.has_value() ? std::regex_search(line, *slow_) : RE2::PartialMatch(line, fast_);
  }

 private:
  RE2 fast_;
  std::optional<std::regex> slow_;
};

void ExpectRule(const Rule& rule) {
  const Pattern pattern(rule.pattern);
  for (const SourceFile& file : Sources()) {
    if (rule.cpp_only && !IsCpp(file)) continue;
    if (!rule.folders.empty() && !StartsWithAny(file.path, rule.folders)) continue;
    if (StartsWithAny(file.path, rule.except)) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (file.lines[i].find("// tidy: ") != std::string::npos) continue;
      EXPECT_FALSE(pattern.IsIn(rule.whole_line ? file.lines[i] : CodeOf(file.lines[i])))
          << file.path << ":" << i + 1 << ": " << rule.name << "; " << rule.instead << "\n  "
          << file.lines[i];
    }
  }
}

TEST(Tidy, NothingIsWrittenWhereItDoesNotBelong) {
  for (const std::vector<Rule>& rules : {RulesOfPlaces(), RulesOfTests(), RulesOfText()}) {
    for (const Rule& rule : rules) ExpectRule(rule);
  }
}

// A module that a program recorded names the program's files.
TEST(Tidy, RecordedCasesNameNoMachine) {
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(SourceDir() / "tests/conformance")) {
    const fs::path& path = entry.path();
    if (path.extension() != ".pb" && path.extension() != ".tar" && path.extension() != ".mlir") continue;
    const std::string bytes = ReadAll(path);
    for (const char* folder : {"/home/", "/root/", "/work/", "/Users/"}) {
      const size_t at = bytes.find(folder);
      EXPECT_EQ(at, bytes.npos) << path.lexically_relative(SourceDir()) << " names "
                                << bytes.substr(std::min(at, bytes.size()), 60)
                                << "; tests/conformance/scrub.py removes it";
    }
  }
}

// clang-format splits a declaration at its "=" to make room for a trailing comment; a comment above the line
// leaves the declaration whole.
TEST(Tidy, NoCommentSplitsADeclaration) {
  static const std::regex ends_with_equals(R"re([^=!<>]=\s*$)re"), commented(R"re(\S.*;\s*//)re");
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file)) continue;
    for (size_t i = 0; i + 1 < file.lines.size(); ++i) {
      if (!std::regex_search(CodeOf(file.lines[i]), ends_with_equals)) continue;
      EXPECT_FALSE(std::regex_search(file.lines[i + 1], commented))
          << file.path << ":" << i + 2 << ": the comment splits its declaration; put it above the line";
    }
  }
}

struct Comment {
  std::string text;
  bool alone = false;  // True when the line has nothing but the comment, which the next line may continue.
};

// Returns the comment of a line of Python: after "# ", or the first line of a docstring.
std::optional<Comment> PythonCommentIn(const std::string& line) {
  static const std::regex docstring(R"re(^\s*"""(\w.*))re"), comment(R"re(^(.*\s\s)?\s*# (\S.*))re");
  std::smatch match;
  if (std::regex_match(line, match, docstring)) return Comment{match[1].str()};
  if (!std::regex_match(line, match, comment)) return std::nullopt;
  return Comment{match[2].str(), match[1].str().find_first_not_of(' ') == std::string::npos};
}

// Returns the comment of a line; nullopt when it has none.
std::optional<Comment> CommentIn(const SourceFile& file, const std::string& line) {
  if (file.path.ends_with(".py")) return PythonCommentIn(line);
  const size_t at = line.find("//");
  const size_t text = at == line.npos ? at : line.find_first_not_of("/ ", at);
  if (at == line.npos || text == line.npos) return std::nullopt;
  if (at > 0 && (line[at - 1] == ':' || line[at - 1] == '"')) return std::nullopt;
  return Comment{line.substr(text), line.find_first_not_of(' ') == at};
}

// A comment is read once, by someone who has read no other file: it is a sentence with a verb, or a noun
// phrase that could stand on a label. Half a sentence, whose other half is the declaration, is neither.
TEST(Tidy, CommentsAreWholeSentences) {
  static const std::regex half(
      R"re(^(\.\.\. )?(What|Of|Whether|Which|Whose|Where|Why|Its|How|Else|Those|Nothing (when|where|if|unless)|)re"
      R"re(As (many|much)|So (many|much)|(In|By|From|To|For|On|With) (which|what|whom)|In each|To be|Errors unless|)re"
      R"re(Likewise|Not to|And|Or|But)\b)re");
  static const std::regex unclear(
      R"re(\bso (many|much)\b|; nothing (when|where|if|after|once|for)\b|)re"
      R"re(\b(is|are|be) (asked for|looked at)\b|\b(there|here|where)(by|in|of|from|upon)\b|)re"
      R"re(\bnothing (when|where) (it|there|the)\b|\ban? \w+ each\b)re");
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file) && !file.path.ends_with(".proto") && !file.path.ends_with(".py")) continue;
    bool follows = false;  // The line before is a comment, which this one continues.
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const std::optional<Comment> found = CommentIn(file, line);
      const bool begins = found.has_value() && !(found->alone && follows);
      follows = found.has_value() && found->alone;
      if (!found.has_value()) continue;
      const std::string& comment = found->text;
      EXPECT_FALSE(begins && std::regex_search(comment, half))
          << file.path << ":" << i + 1 << ": begins with half a sentence; say what it returns, does or is\n  "
          << line;
      EXPECT_FALSE(std::regex_search(comment, unclear))
          << file.path << ":" << i + 1
          << ": write \"N\" for so many, \"per\" for an x each, nullopt, empty, null or false for nothing, "
             "and plain words for whereby, looked at, asked for\n  "
          << line;
    }
  }
}

// A folder is a room, and a room has one idea: one sentence says what belongs there.
TEST(Tidy, FoldersHaveAtMostThirtyFiles) {
  constexpr int kFilesMax = 30;
  std::map<std::string, int> files;
  for (const SourceFile& file : Sources()) {
    if (IsCpp(file)) ++files[fs::path(file.path).parent_path().string()];
  }
  for (const auto& [folder, count] : files) {
    EXPECT_LE(count, kFilesMax) << folder << " has " << count << " files; move those of one idea into a room "
                                << "of their own, with a row above and a sentence in CONTRIBUTING.md";
  }
}

// A session's secret is the right to its bytes; a token is the right to a session. Logs travel further than
// either may.
TEST(Tidy, SecretsAreNotLogged) {
  static const std::regex call(
      R"re((spdlog::(log|trace|debug|info|warn|error|critical)|SPDLOG_[A-Z]+)\s*\()re");
  static const std::regex secret(R"re(\b\w*(secret|token|password|private_key)\w*\b)re", std::regex::icase);
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file)) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (!std::regex_search(CodeOf(file.lines[i]), call)) continue;
      std::string statement;  // The statement up to its semicolon.
      for (size_t j = i; j < file.lines.size() && statement.find(';') == statement.npos; ++j)
        statement += CodeOf(file.lines[j]);
      EXPECT_FALSE(std::regex_search(statement, secret))
          << file.path << ":" << i + 1
          << ": a secret is an argument of a log call; log the session's id instead";
    }
  }
}

TEST(Tidy, EverySourceFileIsBuiltAndEveryHeaderIncluded) {
  const fs::path file_of_commands = HLOD_COMPILE_COMMANDS;
  std::string commands = ReadAll(file_of_commands);
  ASSERT_FALSE(commands.empty()) << file_of_commands << " is missing: configure with a preset";
  // Files that are compiled together are included by one that CMake writes.
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(file_of_commands.parent_path())) {
    if (entry.path().extension() == ".cxx") commands += ReadAll(entry.path());
  }
  // Built separately, by a user of an installed hlod, and in builds with ThreadSanitizer.
  const std::vector<std::string> elsewhere = {"tests/install/consumer/",
                                              "tests/support/thread_sanitizer_abseil.cc"};
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file) || StartsWithAny(file.path, elsewhere)) continue;
    if (file.path.ends_with(".cc")) {
      EXPECT_NE(commands.find("/" + file.path + "\""), commands.npos)
          << file.path << ": no CMake target builds it";
      continue;
    }
    const std::string name = fs::path(file.path).filename().string();
    EXPECT_TRUE(std::ranges::any_of(Sources(),
                                    [&](const SourceFile& other) {
                                      return (IsCpp(other) || other.path == "CMakeLists.txt") &&
                                             (other.text.find("/" + name + "\"") != std::string::npos ||
                                              other.text.find("/" + name + ">") != std::string::npos);
                                    }))
        << file.path << ": nothing includes it";
  }
}

// The first line of a file says what it is for.
TEST(Tidy, EveryFileSaysWhatItIsFor) {
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file) || file.lines.empty()) continue;
    EXPECT_TRUE(file.lines[0].starts_with("//"))
        << file.path << ": starts without the sentence that says what it is for";
  }
}

// The README's program is one that a test builds and runs against the installed library (tests/install).
TEST(Readme, ShowsTheProgramThatATestRuns) {
  const std::string readme = ReadAll(SourceDir() / "README.md");
  const std::string program = ReadAll(SourceDir() / "tests/install/consumer/main.cc");
  ASSERT_FALSE(program.empty());
  EXPECT_NE(readme.find(program), readme.npos)
      << "README.md's program differs from tests/install/consumer/main.cc";
}

TEST(Readme, IsAPage) {
  const std::string readme = ReadAll(SourceDir() / "README.md");
  EXPECT_LE(std::ranges::count(readme, '\n'), 130)
      << "move what is not an entrance to client/guide or server/README.md";
}

TEST(Readme, NamesOnlyFilesThatExist) {
  static const std::regex path(R"re(`((?:client|common|deploy|proto|server|tests)/[A-Za-z0-9_./-]*)`)re"),
      header(R"re(`(hlod/[A-Za-z0-9_./-]*\.(?:h|inc|md))`)re"), link(R"re(\]\(([A-Za-z0-9_./-]+)\))re");
  for (const SourceFile& document : Sources()) {
    if (!document.path.ends_with(".md") || document.path.starts_with("tests/conformance/")) continue;
    const auto names = [&](const std::regex& pattern, const fs::path& from) {
      for (std::sregex_iterator it(document.text.begin(), document.text.end(), pattern), end; it != end;
           ++it) {
        EXPECT_TRUE(fs::exists(SourceDir() / from / (*it)[1].str()))
            << document.path << " names " << (*it)[1] << ", which does not exist";
      }
    };
    names(path, "");
    names(header, "client/include");
    names(link, fs::path(document.path).parent_path());
  }
}

}  // namespace
}  // namespace hlod
