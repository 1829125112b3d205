// Dumps of PyTorch/XLA, written by hand in the forms of its debug_util.cpp, ir_dump_util.cpp and metrics.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "client/analysis/torch_xla/torch_xla_report.h"
#include "common/base/system/file.h"

namespace hlod::analysis::torch_xla {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kRule(80, '='), kEnd(80, '-');

// Returns a block of PT_XLA_DEBUG_FILE.
std::string Block(const std::string& kind, const std::string& cause, const std::string& hash, int inputs,
                  const std::vector<std::string>& frames) {
  const std::string prefix = kind + " Analysis: ";
  std::string text =
      absl::StrCat("\n", prefix, kRule, "\n", prefix, kind == "Compilation" ? kind : "Execution", " Cause\n",
                   prefix, "  ", cause, "\n", prefix, "Graph Info: \n", prefix, "  Graph Hash: ", hash, "\n",
                   prefix, "  Number of Graph Inputs: ", inputs, "\n", prefix,
                   "  Number of Graph Outputs: 2\n", prefix, "Python Frame Triggered Execution: \n");
  for (const std::string& frame : frames) absl::StrAppend(&text, prefix, "  ", frame, "\n");
  absl::StrAppend(&text, prefix, "  ..........\n", prefix, kEnd, "\n", prefix, kRule, "\n");
  return text;
}

// Returns a graph of XLA_SAVE_TENSORS_FILE with XLA_SAVE_TENSORS_FMT=text.
std::string Trace(const std::string& hash, int batch, const std::vector<std::string>& frames) {
  std::string text = "[ScheduleSyncTensorsGraph]\nTensorsGraphInfo:\n";
  for (const std::string& frame : frames) absl::StrAppend(&text, "  ", frame, "\n");
  absl::StrAppend(&text, "\nRoot Hashes: (1a2b, 3c4d)\n\n## BEGIN_GRAPH\nIR {\n",
                  "  %0 = f32[512,10]{1,0} xla::device_data(), xla_shape=f32[512,10]{1,0}\n", "  %1 = f32[",
                  batch, ",512]{1,0} xla::device_data(), xla_shape=f32[", batch, ",512]{1,0}\n",
                  "  %2 = f32[512,512]{1,0} aten::mm(%1, %0), xla_shape=f32[512,512]{1,0}, ROOT=0\n",
                  "}\nGraph Hash: ", hash, "\n\n## END_GRAPH\n\n");
  return text;
}

const std::vector<std::string> kSync = {"sync (/opt/python/site-packages/torch_xla/torch_xla.py:123)",
                                        "train_step (/repo/train.py:48)", "<module> (/repo/train.py:90)"};
const std::vector<std::string> kPrint = {"__repr__ (/opt/python/site-packages/torch/_tensor.py:460)",
                                         "log (/repo/train.py:52)", "<module> (/repo/train.py:91)"};
const std::string kSyncCause = "user torch_xla.sync",
                  kReadCause = "most likely user code trying to access tensor value before torch_xla.sync";

absl::Status Read(const std::string& name, const std::string& text, Dump& dump) {
  const std::string path = testing::TempDir() + name;
  EXPECT_TRUE(WriteFile(path, text).ok());
  return ReadDump(path, dump);
}
Report ReportOfTexts(const std::vector<std::string>& texts) {
  Dump dump;
  for (size_t i = 0; i < texts.size(); ++i) {
    const absl::Status status = Read(absl::StrCat("dump", i, ".txt"), texts[i], dump);
    EXPECT_TRUE(status.ok()) << status;
  }
  return ReportOf(std::move(dump));
}

// Two steps, the second with a smaller batch, and a print in between: the number of graphs, and their causes.
TEST(TorchXla, GraphsTheirCausesLinesAndRecompiles) {
  const std::string post = "Post Compilation Analysis: ";
  const std::string debug =
      Block("Compilation", kSyncCause, "aaaa1111", 3, kSync) + "\nComputation hash: 77\n\n" + post + kRule +
      "\n" + post + "Graph input size: 1.500000 GB\n" + post + "Graph output size: 0.250000 GB\n" + post +
      "Aliased Input size: 0.000000 GB\n" + post + "Intermediate tensor size: 2.000000 GB\n" + post +
      "Compiled program size: Unknown  GB\n" + post + kEnd + "\n" + post + kRule + "\n" +
      Block("Execution", kSyncCause, "aaaa1111", 3, kSync) +
      Block("Execution", kSyncCause, "aaaa1111", 3, kSync) +
      Block("Compilation", kReadCause, "cccc3333", 1, kPrint) +
      Block("Execution", kReadCause, "cccc3333", 1, kPrint) +
      Block("Compilation", kSyncCause, "bbbb2222", 3, kSync) +
      Block("Execution", kSyncCause, "bbbb2222", 3, kSync);
  const std::string traces =
      Trace("aaaa1111", 32, kSync) + Trace("aaaa1111", 32, kSync) + Trace("bbbb2222", 31, kSync);
  const Report report = ReportOfTexts({debug, traces});
  ASSERT_EQ(report.graphs.size(), 3u);
  const Graph& step = report.graphs[0];
  EXPECT_EQ(step.hash, "aaaa1111");
  EXPECT_EQ(ToString(step.at.at), "/repo/train.py:48");
  EXPECT_EQ(step.at.function, "train_step");
  EXPECT_EQ(step.compiles, 1);
  EXPECT_EQ(step.executions, 2) << "the debug file has them; the traces are not counted once more";
  EXPECT_EQ(step.inputs, 3);
  EXPECT_EQ(step.outputs, 2);
  EXPECT_EQ(step.nodes, 3);
  ASSERT_TRUE(step.sizes.has_value());
  EXPECT_EQ(step.sizes->input_bytes, 1.5 * (1 << 30));
  EXPECT_EQ(step.sizes->program_bytes, 0) << "unknown to the backend";
  EXPECT_EQ(report.dynamo_graphs(), 0);

  ASSERT_EQ(report.places.size(), 2u);
  EXPECT_EQ(report.places[0].graphs, 2);
  EXPECT_EQ(report.places[0].executions, 3);
  EXPECT_FALSE(report.places[0].cause.is_break);
  EXPECT_EQ(ToString(report.places[1].at.at), "/repo/train.py:52");
  EXPECT_TRUE(report.places[1].cause.is_break);

  ASSERT_EQ(report.recompiles.size(), 1u);
  EXPECT_EQ(report.recompiles[0].from, "aaaa1111");
  EXPECT_EQ(report.recompiles[0].to, "bbbb2222");
  ASSERT_TRUE(report.recompiles[0].difference.has_value());
  const auto& changes = report.recompiles[0].difference->changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_THAT(changes[0].line, HasSubstr("f32[32,512]"));
  EXPECT_FALSE(changes[0].added);
  EXPECT_THAT(changes[1].line, HasSubstr("f32[31,512]"));
  EXPECT_TRUE(changes[1].added);
  EXPECT_THAT(ToText(report), HasSubstr("/repo/train.py:52 log: BREAK: most likely user code"));
}

TEST(TorchXla, TracesAloneHaveTheirCausesFromTheirFrames) {
  const std::vector<std::string> loader = {"sync (/lib/torch_xla/torch_xla.py:1)",
                                           "next (/lib/torch_xla/distributed/parallel_loader.py:44)",
                                           "train (/repo/train.py:7)"};
  std::string dynamo =
      Trace("d1", 4,
            {"extract_graph_helper (/lib/torch_xla/_dynamo/dynamo_bridge.py:300)", "f (/repo/train.py:9)"});
  dynamo.replace(0, dynamo.find('\n'), "[dynamo]");
  const Report report =
      ReportOfTexts({Trace("a1", 4, loader) + Trace("a1", 4, loader) + dynamo + Trace("c1", 4, kPrint)});
  ASSERT_EQ(report.graphs.size(), 3u);
  EXPECT_EQ(report.graphs[0].cause.text, "torch_xla.sync in parallel loader at step end");
  EXPECT_EQ(report.graphs[0].executions, 2);
  EXPECT_EQ(report.graphs[0].compiles, std::nullopt) << "traces do not say which were compiled";
  EXPECT_TRUE(report.graphs[1].cause.is_dynamo);
  EXPECT_EQ(report.dynamo_graphs(), 1);
  EXPECT_EQ(report.graphs[2].cause.text, kReadCause);
}

// Dumps with XLA_SAVE_TENSORS_FMT=hlo and dot have three nodes each.
TEST(TorchXla, TracesMayBeHloOrDot) {
  const std::string head =
      "[ScheduleSyncTensorsGraph]\nGraph Name: toy\nTensorsGraphInfo:\n  f (/repo/t.py:3)\n\n"
      "Root Hashes: (1)\n\n## BEGIN_GRAPH\n";
  const std::string hlo =
      "HloModule IrToHlo.5, entry_computation_layout={(f32[2]{0})->(f32[2]{0})}\n\nENTRY %IrToHlo.5 (p0.1: "
      "f32[2]) -> (f32[2]) {\n  %p0.1 = f32[2]{0} parameter(0)\n  %add.2 = f32[2]{0} add(%p0.1, %p0.1)\n"
      "  ROOT %tuple.3 = (f32[2]{0}) tuple(%add.2)\n}\n";
  const std::string dot =
      "digraph G {\n  node0 [label=\"xla::device_data\"]\n  node1 [label=\"aten::add\"]\n"
      "  node2 [label=\"aten::mul\\nROOT=0\"]\n  node0 -> node1 [label=\"i=0\"]\n  node1 -> node2\n}\n";
  const Report report = ReportOfTexts(
      {head + hlo + "Graph Hash: h\n\n## END_GRAPH\n\n" + head + dot + "Graph Hash: d\n\n## END_GRAPH\n\n"});
  ASSERT_EQ(report.graphs.size(), 2u);
  EXPECT_EQ(report.graphs[0].nodes, 3);
  EXPECT_EQ(report.graphs[1].nodes, 3);
  EXPECT_EQ(report.graphs[0].name, "toy");
}

// Versions before 2.7 write mark_step and "Hashes:", and have no graph hash.
TEST(TorchXla, OlderVersionsAreRead) {
  std::string trace =
      Trace("x", 4, {"mark_step (/lib/torch_xla/core/xla_model.py:1055)", "f (/repo/t.py:3)"});
  trace.erase(trace.find("Graph Hash"), trace.find("\n## END") - trace.find("Graph Hash"));
  trace.replace(trace.find("Root Hashes"), 11, "Hashes");
  const Report report =
      ReportOfTexts({Block("Compilation", "mark_step in parallel loader at step end", "h", 1, kSync), trace});
  EXPECT_EQ(report.graphs[0].cause.text, "torch_xla.sync in parallel loader at step end");
  EXPECT_EQ(report.graphs[1].hash, "(1a2b, 3c4d)");
  EXPECT_EQ(report.graphs[1].cause.text, kSyncCause);
}

std::string MetricsText(int compiles, const std::string& compile_time) {
  return absl::StrCat(
      "Metric: CompileTime\n  TotalSamples: ", compiles, "\n  Accumulator: ", compile_time,
      "\n  ValueRate: 778ms572.062us / second\n  Rate: 0.425201 / second\n"
      "  Percentiles: 1%=001ms32.778us; 50%=013ms; 99%=01s\n"
      "Metric: OutboundData\n  TotalSamples: 12\n  Accumulator: 3.50GB\n  ValueRate: 1.00KB / second\n"
      "  Rate: 1 / second\n  Percentiles: 1%=1.00KB; 50%=2.00KB\n"
      "Counter: CachedCompile\n  Value: ",
      compiles * 2, "\nCounter: aten::nonzero\n  Value: 7\nCounter: aten::_local_scalar_dense\n  Value: 9\n");
}

// 1 h 2 min 3 s 28 ms 571.841 us.
TEST(TorchXla, MetricsAreTheLatestOfEachName) {
  const Report report =
      ReportOfTexts({"[MetricsData; step=1]\n" + MetricsText(2, "500ms") + "\n[MetricsData; step=2]\n" +
                     MetricsText(5, "01h02m03s028ms571.841us")});
  ASSERT_TRUE(report.compile.has_value());
  EXPECT_EQ(report.compile->calls, 5);
  EXPECT_NEAR(report.compile->sum, 3723.028571841, 1e-9);
  EXPECT_EQ(report.to_device_bytes->sum, 3.5 * (1 << 30));
  EXPECT_EQ(report.cached, 10);
  EXPECT_FALSE(report.execute.has_value());
  EXPECT_THAT(report.fallbacks, ElementsAre(std::pair<std::string, int64_t>("aten::nonzero", 7)));
  EXPECT_THAT(ToText(report), HasSubstr("to device   3.50 GiB in 12 calls"));
}

TEST(TorchXla, OneFileMayHoldAllAsStderrDoes) {
  const Report report = ReportOfTexts(
      {"WARNING: something\n" + Block("Compilation", kSyncCause, "a", 1, kSync) +
       "pt-xla-profiler: CompileTime too frequent: 21 counts during 11 steps\n" + MetricsText(1, "1s")});
  EXPECT_EQ(report.graphs.size(), 1u);
  EXPECT_EQ(report.compile->calls, 1);
  EXPECT_THAT(report.advice, ElementsAre("CompileTime too frequent: 21 counts during 11 steps"));
}

// The dump is cut at every position: the part before the cut is used, and the cut is reported.
TEST(TorchXla, ADumpThatIsCutOffIsReadUpToThere) {
  const std::string whole = Block("Compilation", kSyncCause, "a", 1, kSync) + Trace("a", 4, kSync);
  const std::string last = Block("Execution", kReadCause, "b", 12, kPrint);
  for (size_t length = 1; length < last.size(); length += 3) {
    Dump dump;
    const absl::Status status = Read("cut.txt", whole + last.substr(0, length), dump);
    ASSERT_TRUE(status.ok()) << length << ": " << status;
    ASSERT_EQ(dump.traces.size(), 1u);
    ASSERT_LE(dump.analyses.size(), 2u);
    if (dump.analyses.size() == 2) {
      EXPECT_EQ(dump.analyses[1].inputs, 12);
    }
  }
  const std::string metrics = MetricsText(40, "7s");
  for (size_t length = 1; length < metrics.size(); length += 3) {
    Dump dump;
    ASSERT_TRUE(Read("cut.txt", whole + MetricsText(20, "3s") + metrics.substr(0, length), dump).ok())
        << length;
    ASSERT_EQ(dump.metrics.size(), 1u);
    EXPECT_THAT(dump.metrics[0].metrics.at("CompileTime").samples, testing::AnyOf(20, 40));
    EXPECT_THAT(dump.metrics[0].counters.at("CachedCompile"), testing::AnyOf(40, 80)) << length;
  }
  Dump dump;
  ASSERT_TRUE(
      Read("cut.txt", whole + "[ScheduleSyncTensorsGraph]\nTensorsGraphInfo:\n\n## BEGIN_GRAPH\nIR {\n", dump)
          .ok());
  EXPECT_THAT(dump.problems, ElementsAre(HasSubstr("cut.txt:34: the graph that begins here is cut off")));
}

TEST(TorchXla, WhatIsNotADumpIsNamed) {
  Dump dump;
  const auto message = [&](const std::string& text) {
    return std::string(Read("bad.txt", text, dump).message());
  };
  EXPECT_THAT(message(""), HasSubstr("bad.txt: the file is empty"));
  EXPECT_THAT(message("\n\n"), HasSubstr("bad.txt: the file is empty"));
  EXPECT_THAT(message("import torch\n"),
              HasSubstr("bad.txt:1: this is not a dump of PyTorch/XLA (it begins \"import torch\")"));
  EXPECT_THAT(message(std::string("\x7f"
                                  "ELF\0\1",
                                  6)),
              HasSubstr("it begins \"?ELF??\""));
  std::string wrong = Block("Compilation", kSyncCause, "a", 1, kSync);
  wrong.replace(wrong.find("Inputs: 1"), 9, "Inputs: x");
  EXPECT_THAT(message(wrong), HasSubstr("bad.txt:7: the number of inputs is \"x\", which is not a count"));
  EXPECT_THAT(message(Block("Compilation", kSyncCause, "a", 1, {"nonsense"})),
              HasSubstr("bad.txt:10: \"nonsense\" is not a frame"));
  EXPECT_THAT(message("Metric: A\n  TotalSamples: 1\n  Accumulator: 12parsecs\n"),
              HasSubstr("bad.txt:3: A is \"12parsecs\", which is not a time, a size or a number"));
  EXPECT_EQ(ReadDump(testing::TempDir() + "nowhere.txt", dump).code(), absl::StatusCode::kNotFound);
}

TEST(LineDifference, IsTheLeastOne) {
  const auto same = [](const std::string& line) { return line; };
  const LineDifference difference = DifferenceOf({"a", "b", "c", "d", "e"}, {"a", "c", "x", "d", "e"}, same);
  ASSERT_EQ(difference.changes.size(), 2u);
  EXPECT_EQ(difference.changes[0].line, "b");
  EXPECT_FALSE(difference.changes[0].added);
  EXPECT_EQ(difference.changes[1].line, "x");
  EXPECT_TRUE(difference.changes[1].added);
  EXPECT_TRUE(DifferenceOf({"a"}, {"a"}, same).changes.empty());
  EXPECT_EQ(DifferenceOf({}, {"a", "b"}, same).changes.size(), 2u);
}

}  // namespace
}  // namespace hlod::analysis::torch_xla
