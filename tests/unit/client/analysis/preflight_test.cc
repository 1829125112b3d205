// Records of runs, written by hand, and their needs, computed by hand.
#include "client/analysis/preflight/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/kinds.h"
#include "common/base/system/file.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/sharding.h"
#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

using hlo::Shape;
using testing::HasSubstr;

constexpr char kAdd[] = R"(
HloModule add
ENTRY main {
  w = f32[1024] parameter(0)
  x = f32[1024] parameter(1)
  ROOT s = f32[1024] add(w, x)
})";
// The result reuses the donated argument's memory.
constexpr char kUpdate[] = R"(
HloModule update, buffer_donor={ (0, {}) }
ENTRY main {
  w = f32[1024] parameter(0)
  g = f32[1024] parameter(1)
  ROOT s = f32[1024] subtract(w, g)
})";

class Writer {
 public:
  Writer() {
    v1::PreflightBegin& begin = *Add().mutable_begin();
    begin.set_version(1);
    begin.set_program("train pid 17");
  }
  v1::PreflightEvent& Add() { return record_.events.emplace_back(); }
  v1::PreflightEvent& Last() { return record_.events.back(); }
  void Program(const std::string& digest, const char* text) {
    v1::PreflightProgram& program = *Add().mutable_program();
    program.set_digest(digest);
    program.set_module(hlo::Serialize(*hlo::ParseModule(text).value()));
  }
  void Buffer(uint64_t handle, Cause cause, bool absent = false) {
    v1::PreflightBuffer& buffer = *Add().mutable_buffer();
    buffer.set_handle(handle);
    *buffer.mutable_shape() = hlo::ToProto(Shape::Array(hlo::kF32, {1024}));
    buffer.set_bytes(4096);
    buffer.set_cause(static_cast<int>(cause));
    buffer.set_absent(absent);
    Line(buffer.mutable_origin(), 7);
  }
  void Placeholder(uint64_t handle) {
    Buffer(handle, Cause::kUpload, /*absent=*/true);
    record_.events.back().mutable_buffer()->set_cause(0);
  }
  void Label(uint64_t handle, const std::string& role, const std::string& sharding = "") {
    v1::PreflightLabel& label = *Add().mutable_label();
    label.set_handle(handle);
    label.set_role(role);
    label.set_name("w" + std::to_string(handle));
    if (!sharding.empty()) label.set_sharding(hlo::ParseSharding(sharding, 1).value());
  }
  void Execute(const std::string& digest, const std::vector<uint64_t>& arguments, uint64_t result,
               const std::vector<uint32_t>& donated = {}) {
    v1::PreflightExecute& execute = *Add().mutable_execute();
    execute.set_digest(digest);
    execute.mutable_arguments()->Add(arguments.begin(), arguments.end());
    execute.add_results(result);
    execute.mutable_donated()->Add(donated.begin(), donated.end());
    Line(execute.mutable_origin(), 9);
  }
  // Moves the buffer that was made last to another device.
  void OnDevice(uint32_t device) { Last().mutable_buffer()->set_device(device); }
  void Free(uint64_t handle) { Add().mutable_free()->add_handles(handle); }
  void Step() { Add().mutable_step(); }
  void Read(Cause cause, bool absent) {
    v1::PreflightRead& read = *Add().mutable_read();
    read.set_bytes(4);
    read.set_cause(static_cast<int>(cause));
    read.set_absent(absent);
    Line(read.mutable_origin(), 11);
  }
  void Close(const std::string& cause) {
    Add().mutable_close()->set_cause(cause);
    Line(record_.events.back().mutable_close()->mutable_origin(), 11);
  }
  static void Line(v1::Origin* origin, int line) {
    origin->set_file("train.cc");
    origin->set_line(line);
  }
  const PreflightLog& record() const { return record_; }

 private:
  PreflightLog record_;
};

RunReport Follow(const Writer& writer, const std::optional<Target>& target = {}, const Budget& budget = {}) {
  absl::StatusOr<RunReport> report = FollowRun({writer.record()}, target, budget);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

double PartOf(const RunReport& report, Part part) { return report.peak.parts[static_cast<size_t>(part)]; }

// The arrays have 4 KiB: w is in quarters, x and h = x x are whole, and y = w h is in quarters, like w.
TEST(Preflight, ShardingsAreCarriedThroughPrograms) {
  constexpr char kProducts[] = R"(
HloModule products
ENTRY main {
  w = f32[1024] parameter(0), sharding={devices=[4]<=[4]}
  x = f32[1024] parameter(1)
  m = f32[32,32] reshape(w)
  n = f32[32,32] reshape(x)
  h = f32[32,32] dot(n, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[32,32] dot(m, h), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[1024] reshape(y)
})";
  Writer run;
  run.Program("products", kProducts);
  run.Placeholder(1);
  run.Label(1, "weight", "{devices=[4]<=[4]}");
  run.Buffer(2, Cause::kUpload);
  run.Execute("products", {1, 2}, 3);
  const Chip chip = {.name = "c", .usable_bytes = 1e9, .bandwidth = 1, .flops = 1};
  const RunReport report = Follow(run, Target{chip, 4});
  EXPECT_EQ(report.peak.bytes.low, 1024 + 4096 + 1024 + 1024);
  EXPECT_EQ(report.peak.bytes.high, 1024 + 4096 + 4096 + 4096);
  EXPECT_EQ(report.peak.likely.low, 1024 + 4096 + 4096 + 1024);
  EXPECT_EQ(report.peak.likely.high, report.peak.likely.low);
  EXPECT_THAT(ToText(report),
              HasSubstr("10.00 KiB where shardings are carried through what leaves no choice"));
  EXPECT_EQ(Follow(run, Target{chip, 1}).peak.likely.high, 0);

  run.Execute("products", {1, 2}, 4);  // The result of the previous execute is still held, in quarters.
  EXPECT_EQ(Follow(run, Target{chip, 4}).peak.likely.high, 1024 + 4096 + 4096 + 2 * 1024);
}

TEST(Preflight, MemoryIsWhatLivesAcrossExecutes) {
  Writer run;
  run.Program("add", kAdd);
  run.Placeholder(1);
  run.Label(1, "weight");
  run.Buffer(2, Cause::kUpload, /*absent=*/true);
  run.Execute("add", {1, 2}, 3);  // Weights, input and result: 3 arrays.
  run.Free(2);
  run.Execute("add", {1, 3}, 4);  // Three arrays again.
  run.Buffer(5, Cause::kUpload);
  run.Execute("add", {1, 5}, 6);  // Two arrays from before and three new ones: 1, 3, 4, 5, 6.
  const RunReport report = Follow(run);
  EXPECT_EQ(report.executes, 3);
  EXPECT_EQ(report.peak.bytes.low, 5 * 4096);
  EXPECT_EQ(report.peak.bytes.high, 5 * 4096);
  EXPECT_EQ(PartOf(report, Part::kWeights), 4096);
  EXPECT_EQ(PartOf(report, Part::kInputs), 4096);
  EXPECT_EQ(PartOf(report, Part::kGradients), 3 * 4096) << "results of a weight's dimensions";
  EXPECT_EQ(report.upload_bytes, 2 * 4096);
  EXPECT_EQ(report.unsent_bytes, 4096);
  ASSERT_EQ(report.programs.size(), 1u);
  EXPECT_EQ(report.programs[0].runs, 3);
  EXPECT_EQ(ShortText(report.peak.line), "train.cc:9");
}

// Each device of a mesh has a part of the input; the record has the first participant's execute.
TEST(Preflight, MemoryIsThatOfOneDevice) {
  Writer run;
  run.Program("add", kAdd);
  run.Placeholder(1);
  for (uint32_t device = 0; device < 8; ++device) {
    run.Buffer(2 + device, Cause::kUpload, /*absent=*/true);
    run.OnDevice(device);
  }
  run.Execute("add", {1, 2}, 10);
  const RunReport report = Follow(run);
  EXPECT_EQ(report.peak.bytes.low, 3 * 4096);
  EXPECT_EQ(report.upload_bytes, 8 * 4096);
}

// The result is listed at the line that made it, not at the line that requested it, which for a trace is the
// session's Sync().
TEST(Preflight, AResultStandsAtTheLineThatMadeIt) {
  std::string with_metadata = kAdd;
  const std::string add = "add(w, x)";
  with_metadata.replace(with_metadata.find(add), add.size(),
                        add + R"(, metadata={source_file="src/layers.cc" source_line=21})");
  Writer run;
  run.Program("add", kAdd);
  run.Program("noted", with_metadata.c_str());
  run.Placeholder(1);
  run.Execute("add", {1, 1}, 2);
  run.Execute("noted", {1, 1}, 3);
  run.Execute("noted", {1, 1}, 4);
  v1::Origin& made = *run.Last().mutable_execute()->add_result_origins();
  made.set_file("/src/model.cc");
  made.set_line(31);
  const RunReport report = Follow(run);
  std::map<std::string, int> lines;
  for (const RunArray& array : report.peak.largest) ++lines[ShortText(array.line)];
  const std::map<std::string, int> wanted = {
      {"train.cc:7", 1}, {"train.cc:9", 1}, {"layers.cc:21", 1}, {"model.cc:31", 1}};
  EXPECT_EQ(lines, wanted);
}

TEST(Preflight, DonatedMemoryIsTakenOver) {
  Writer run;
  run.Program("update", kUpdate);
  run.Placeholder(1);
  run.Label(1, "weight");
  run.Placeholder(2);
  run.Label(2, "gradient");
  run.Execute("update", {1, 2}, 3, {0});
  run.Label(3, "weight");
  run.Execute("update", {3, 2}, 4, {0});
  run.Label(4, "weight");
  const RunReport report = Follow(run);
  EXPECT_EQ(report.peak.bytes.low, 2 * 4096);
  EXPECT_EQ(PartOf(report, Part::kWeights), 4096);
  // Without donation, the result is a third array.
  Writer kept;
  kept.Program("update", kUpdate);
  kept.Placeholder(1);
  kept.Placeholder(2);
  kept.Execute("update", {1, 2}, 3);
  EXPECT_EQ(Follow(kept).peak.bytes.low, 3 * 4096);
}

TEST(Preflight, ShardingsDivideAndTheRestIsABracket) {
  Writer run;
  run.Program("add", kAdd);
  run.Placeholder(1);
  run.Label(1, "weight", "{devices=[4]<=[4]}");
  run.Buffer(2, Cause::kUpload, /*absent=*/true);
  run.Execute("add", {1, 2}, 3);
  Target target{
      .chip = {.name = "mine", .memory_bytes = 1e9, .usable_bytes = 7000, .bandwidth = 1, .flops = 1},
      .count = 4};
  const RunReport report = Follow(run, target);
  EXPECT_EQ(report.peak.bytes.low, 1024 + 4096 + 1024) << "weight by its sharding, input whole, result by 4";
  EXPECT_EQ(report.peak.bytes.high, 1024 + 4096 + 4096);
  EXPECT_EQ(report.fit(), ModuleReport::Fit::kUnknown);
  EXPECT_FALSE(report.passed());
  EXPECT_TRUE(report.unknown());
  EXPECT_THAT(ToText(report), HasSubstr("verdict          unknown"));
  target.chip.usable_bytes = 6000;
  EXPECT_EQ(Follow(run, target).fit(), ModuleReport::Fit::kDoesNotFit);
  EXPECT_FALSE(Follow(run, target).passed());
  EXPECT_THAT(ToText(Follow(run, target)), HasSubstr("verdict          FAILED"));
}

// A weight without a sharding is whole on each chip in all steps: the partitioner does not divide it when a
// program has computed it.
TEST(Preflight, WeightsWithoutAShardingAreWholeFromTheFirstStep) {
  const Target target{
      .chip = {.name = "mine", .memory_bytes = 1e9, .usable_bytes = 1e9, .bandwidth = 1, .flops = 1},
      .count = 4};
  Writer run;
  run.Program("add", kAdd);
  run.Program("update", kUpdate);
  run.Placeholder(1);
  run.Execute("add", {1, 1}, 2);
  run.Label(2, "weight");
  run.Free(1);
  run.Placeholder(3);
  run.Label(3, "gradient");
  run.Execute("update", {2, 3}, 4, {0});
  run.Label(4, "weight");
  const RunReport first = Follow(run, target);
  EXPECT_EQ(PartOf(first, Part::kWeights), 4096);
  EXPECT_EQ(first.peak.bytes.low, first.peak.bytes.high);
  run.Execute("update", {4, 3}, 5, {0});
  run.Label(5, "weight");
  EXPECT_EQ(Follow(run, target).peak.bytes.low, first.peak.bytes.low);
}

// A result that reuses a donated argument's memory is divided among the chips like the argument.
TEST(Preflight, AResultInADonatedArgumentsMemoryLiesAsTheArgumentDoes) {
  const Target target{
      .chip = {.name = "mine", .memory_bytes = 1e9, .usable_bytes = 1e9, .bandwidth = 1, .flops = 1},
      .count = 4};
  Writer run;
  run.Program("update", kUpdate);
  run.Placeholder(1);
  run.Label(1, "weight", "{devices=[4]<=[4]}");
  run.Placeholder(2);
  run.Execute("update", {1, 2}, 3, {0});
  run.Execute("update", {3, 2}, 4, {0});
  const RunReport report = Follow(run, target);
  EXPECT_EQ(report.peak.bytes.low, 1024 + 4096);
  EXPECT_EQ(report.peak.bytes.high, 1024 + 4096);
}

TEST(Preflight, EveryArrayAtThePeakIsInTheReport) {
  Writer run;
  run.Program("add", kAdd);
  for (uint64_t handle = 1; handle <= 40; ++handle) run.Placeholder(handle);
  run.Execute("add", {1, 2}, 41);
  const RunReport report = Follow(run);
  EXPECT_EQ(report.peak.arrays, 41);
  EXPECT_EQ(report.peak.largest.size(), 41u);
  EXPECT_THAT(ToText(report), HasSubstr("and 29 smaller ones (--json lists 41 in all)"));
}

TEST(Preflight, CountsStepsBreaksReadsAndWhatWasRefused) {
  Writer run;
  run.Program("add", kAdd);
  run.Buffer(1, Cause::kUpload);
  run.Close("item");
  run.Execute("add", {1, 1}, 2);
  run.Read(Cause::kScalarRead, /*absent=*/true);
  run.Close("sync");
  run.Step();
  run.Close("item");
  run.Read(Cause::kPrint, /*absent=*/true);
  run.Add().mutable_failure()->mutable_error()->set_text("no");
  run.Read(Cause::kDownload, /*absent=*/true);
  v1::PreflightEnd& end = *run.Add().mutable_end();
  end.set_reason("stopped");
  end.set_text("asked");
  Writer::Line(end.mutable_origin(), 41);
  const RunReport report =
      Follow(run, {}, {{"graph_breaks", 1}, {"host_waits", 3}, {"executes", 100}, {"compiles", 1}});
  EXPECT_EQ(report.steps, 1);
  EXPECT_EQ(report.graph_breaks(), 2);
  ASSERT_EQ(report.breaks.size(), 1u);
  EXPECT_EQ(ShortText(report.breaks[0].line), "train.cc:11");
  EXPECT_EQ(report.download_calls, 3);
  EXPECT_EQ(report.stand_ins, 1) << "a print shows a placeholder, and the last read stopped the run";
  EXPECT_EQ(ShortText(report.stopped_at), "train.cc:41");
  EXPECT_THAT(report.failures, testing::ElementsAre("no"));
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].metric, "executes");
  EXPECT_FALSE(report.findings[0].over) << "loose: 1 of 100";
  EXPECT_EQ(report.findings[1].metric, "graph_breaks");
  EXPECT_TRUE(report.findings[1].over);
  EXPECT_THAT(ToText(report), HasSubstr("stopped at train.cc:41: asked."));
}

std::string Framed(const v1::PreflightEvent& event) {
  const std::string bytes = event.SerializeAsString();
  std::string framed(4, '\0');
  framed[0] = static_cast<char>(bytes.size());
  return framed + bytes;
}

// A framework's program says of no array what it is: the names of the step's parameters do.
TEST(Preflight, AFrameworksStepsAreTheRunsOfWhatComputesMost) {
  constexpr char kInit[] = R"(
HloModule init
ENTRY main {
  x = f32[1024] parameter(0)
  ROOT n = f32[1024] negate(x)
})";
  constexpr char kStep[] = R"(
HloModule step
ENTRY main {
  w = f32[1024] parameter(0), metadata={op_name="params['w']"}
  m = f32[1024] parameter(1), metadata={op_name="s[0].mu['w']"}
  x = f32[1024] parameter(2), metadata={op_name="batch"}
  g = f32[1024] multiply(w, x)
  n = f32[1024] add(m, g)
  v = f32[1024] subtract(w, n)
  ROOT r = (f32[1024], f32[1024]) tuple(v, n)
})";
  Writer run;
  run.Add().mutable_framework();
  run.Program("init", kInit);
  run.Placeholder(1);
  run.Execute("init", {1}, 2);
  run.Execute("init", {1}, 3);
  run.Free(1);
  run.Program("step", kStep);
  const auto step = [&](uint64_t w, uint64_t m, uint64_t x, uint64_t result) {
    run.Buffer(x, Cause::kUpload, /*absent=*/true);
    run.Execute("step", {w, m, x}, result);
    run.Last().mutable_execute()->add_results(result + 1);
  };
  step(2, 3, 10, 4);
  run.Free(2);
  run.Free(3);
  run.Free(10);
  step(4, 5, 11, 6);
  run.Read(Cause::kDownload, /*absent=*/true);
  run.Last().mutable_read()->set_refused(true);
  // The same name and line, and another program.
  run.Program("again", kStep);
  run.Last().mutable_program()->set_reason("parameter 2 was f32[1024], now f32[1024]");
  const RunReport report = Follow(run);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.step_program, "step");
  EXPECT_EQ(report.flops, 3 * 1024) << "of a step, without what ran before the first";
  EXPECT_EQ(PartOf(report, Part::kWeights), 2 * 4096) << "w and its successor";
  EXPECT_EQ(PartOf(report, Part::kOptimizerState), 2 * 4096);
  EXPECT_EQ(PartOf(report, Part::kInputs), 4096);
  EXPECT_THAT(ToText(report), HasSubstr("params['w']"));
  EXPECT_EQ(report.stand_ins, 0);
  EXPECT_EQ(report.download_calls, 0);
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(ShortText(report.refused[0].line), "train.cc:11");
  EXPECT_EQ(report.recompiles(), 1);
  EXPECT_THAT(ToText(report), HasSubstr("step: parameter 2 was f32[1024], now f32[1024]"));
  EXPECT_EQ(ValuesOf(report).at("recompiles"), 1);
  // A program that marks no steps hides the graphs that end between them.
  EXPECT_THAT(ToText(report), HasSubstr("graph breaks     unknown: the program marks no steps\n"));
  EXPECT_FALSE(ValuesOf(report).contains("graph_breaks"));
  const absl::Status refused = Compare({{"graph_breaks", 0}}, ValuesOf(report)).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("a program that marks no steps does not show them"));
}

// A loop that uploads a batch, scales it and runs the step, ended before its third step: what it made for
// that one does not count. What it uploaded after a step for another purpose does.
TEST(Preflight, WhatIsMadeForAStepThatDoesNotRunIsNotCounted) {
  constexpr char kScale[] = R"(
HloModule scale
ENTRY main {
  x = f32[1024] parameter(0)
  ROOT n = f32[1024] negate(x)
})";
  constexpr char kStep[] = R"(
HloModule step
ENTRY main {
  w = f32[1024] parameter(0), metadata={op_name="w"}
  x = f32[1024] parameter(1), metadata={op_name="batch"}
  g = f32[1024] multiply(w, x)
  h = f32[1024] multiply(g, x)
  ROOT v = f32[1024] subtract(w, h)
})";
  Writer run;
  run.Add().mutable_framework();
  run.Program("scale", kScale);
  run.Program("step", kStep);
  run.Buffer(1, Cause::kUpload);
  const auto prepare = [&](uint64_t x) {
    run.Buffer(x, Cause::kUpload);
    run.Execute("scale", {x}, x + 1);
  };
  prepare(10);
  run.Execute("step", {1, 11}, 2);
  prepare(20);
  run.Execute("step", {2, 21}, 3);
  run.Buffer(40, Cause::kUpload);
  prepare(30);
  for (const uint64_t argument : {3, 31}) run.Label(argument, "next");
  const RunReport report = Follow(run);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.upload_calls, 4) << "w, two batches, and one of another purpose";
  EXPECT_EQ(report.upload_bytes, 4 * 4096);
  EXPECT_EQ(report.executes, 4);
  EXPECT_EQ(PartOf(report, Part::kWeights), 3 * 4096) << "the label takes no role away";
}

TEST(Records, AreReadAsFarAsTheyGo) {
  v1::PreflightEvent begin, step;
  begin.mutable_begin()->set_version(1);
  step.mutable_step()->mutable_origin()->set_file("a.cc");
  const std::string path = testing::TempDir() + "a.record", whole = Framed(begin) + Framed(step);
  ASSERT_TRUE(WriteFile(path, whole).ok());
  EXPECT_EQ(ReadPreflightLog(path)->events.size(), 2u);
  EXPECT_TRUE(ReadPreflightLog(path)->cut_off) << "it has no end";
  for (size_t size = 1; size < whole.size(); ++size) {
    ASSERT_TRUE(WriteFile(path, whole.substr(0, size)).ok());
    const absl::StatusOr<PreflightLog> record = ReadPreflightLog(path);
    if (record.ok()) EXPECT_EQ(record->events.size(), 1u) << size;
    else EXPECT_LT(size, Framed(begin).size());
  }
  begin.mutable_begin()->set_version(2);
  ASSERT_TRUE(WriteFile(path, Framed(begin)).ok());
  EXPECT_THAT(std::string(ReadPreflightLog(path).status().message()), HasSubstr("begins with version 2"));
  // No message has 2^31 bytes: that is another file, and not one that was cut.
  ASSERT_TRUE(WriteFile(path, whole + std::string("\0\0\0\x80", 4)).ok());
  EXPECT_THAT(std::string(ReadPreflightLog(path).status().message()),
              HasSubstr("event 2 has 2147483648 bytes; the maximum is 2147483647"));
  ASSERT_TRUE(WriteFile(path, "#!/bin/sh\necho this is something else\n").ok());
  EXPECT_FALSE(ReadPreflightLog(path).ok());
}

}  // namespace
}  // namespace hlod::analysis
