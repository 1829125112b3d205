// Reports on runs that are written below, with costs computed by hand.
#include "hlod/observe/graph_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"

namespace hlod {
namespace {

using ::testing::HasSubstr;

GraphReport ExampleReport() {
  return MakeGraphReport(ReadProfile(SourceDir() / "tests/golden/run/example.jsonl").value());
}

TEST(GraphReports, GraphsAndTheirTimesAreTheRunsAndTheAccounts) {
  const GraphReport report = ExampleReport();
  EXPECT_EQ(report.steps, 1);
  EXPECT_EQ(report.compiles, 2);
  EXPECT_EQ(report.cache_hits, 0);
  EXPECT_EQ(report.executes, 2);
  EXPECT_EQ(report.host_to_device, (Amount{1024, 1}));
  EXPECT_EQ(report.device_to_host, (Amount{4, 1}));
  ASSERT_EQ(report.graphs.size(), 2u);
  const GraphRow& first = report.graphs[0];
  EXPECT_EQ(first.program, "aa01");
  EXPECT_EQ(first.cause, "item");
  EXPECT_EQ(ToString(first.origin), "example.cc:12");
  EXPECT_EQ(first.nodes, 4);
  EXPECT_EQ(first.inputs, 1);
  EXPECT_EQ(first.outputs, 2);
  EXPECT_EQ(first.compile, (Distribution{2000, 2000, 2000}));
  EXPECT_EQ(first.execute, (Distribution{30, 30, 30}));
  EXPECT_EQ(first.host_to_device_bytes, 1024);
  EXPECT_EQ(first.device_to_host_bytes, 4);
  EXPECT_EQ(report.graphs[1].cause, "sync");
  EXPECT_EQ(report.graphs[1].host_to_device_bytes, 0);
  EXPECT_EQ(report.graphs[1].number_bytes, 4) << "it travelled with the execute, and is not a transfer";
  EXPECT_EQ(report.number_bytes, 4);
}

// The rows of the account: 1024 bytes uploaded at line 10, 4 bytes read at line 12.
TEST(GraphReports, TransfersHaveTheirLines) {
  const GraphReport report = ExampleReport();
  ASSERT_EQ(report.transfers.size(), 2u);
  EXPECT_EQ(report.transfers[0].cause, Cause::kUpload);
  EXPECT_EQ(ToString(report.transfers[0].origin), "example.cc:10");
  EXPECT_EQ(report.transfers[0].amount, (Amount{1024, 1}));
  EXPECT_EQ(DirectionOf(report.transfers[1].cause), Direction::kDeviceToHost);
  EXPECT_EQ(ToString(report.transfers[1].origin), "example.cc:12");
  EXPECT_EQ(report.transfers[1].amount, (Amount{4, 1}));
  EXPECT_THAT(ToText(report), HasSubstr("host_to_device  example.cc:10"));
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["transfers"][0]["origin"]["line"], 10);
  EXPECT_EQ(json["transfers"][1]["direction"], "device_to_host");
}

// A program that the daemon had already is not a compile, as in its own account.
TEST(GraphReports, AProgramThatTheDaemonHadIsNoCompile) {
  Profile run = ReadProfile(SourceDir() / "tests/golden/run/example.jsonl").value();
  for (CompileRow& row : run.accounts[0].account.compiles) {
    if (row.digest == "aa01") row.outcome = CompileOutcome::kPersistent;
  }
  const GraphReport report = MakeGraphReport(run);
  EXPECT_EQ(report.compiles, 1);
  EXPECT_EQ(report.daemon_hits, 1);
  EXPECT_EQ(report.graphs[0].compiles, 0);
  EXPECT_EQ(report.graphs[0].daemon_hits, 1);
  EXPECT_EQ(report.graphs[1].compiles, 1);
}

// Nothing is known of the operations of a program that ran without a trace, as JAX's programs do.
TEST(GraphReports, AProgramWithoutATraceHasNoNumbersOfNodes) {
  Profile run = ReadProfile(SourceDir() / "tests/golden/run/example.jsonl").value();
  run.events.clear();
  const GraphReport report = MakeGraphReport(run);
  ASSERT_EQ(report.graphs.size(), 2u);
  EXPECT_EQ(report.graphs[0].cause, "execute");
  EXPECT_EQ(report.graphs[0].nodes, std::nullopt);
  EXPECT_EQ(report.graphs[0].inputs, std::nullopt);
  EXPECT_EQ(report.compiles, 2);
  EXPECT_THAT(ToText(report), HasSubstr("-      -   -"));
  // The phases are the sums of the rows.
  double execute_us = 0, compile_us = 0;
  for (const GraphRow& row : report.graphs) {
    execute_us += static_cast<double>(row.execute.sum_us);
    compile_us += static_cast<double>(row.compile.sum_us);
  }
  EXPECT_GT(report.times.execute_us, 0);
  EXPECT_EQ(report.times.execute_us, execute_us);
  EXPECT_EQ(report.times.compile_us, compile_us);
}

// The recompile of such a program costs what the daemon measured.
TEST(GraphReports, ARecompileWithoutATraceHasTheDaemonsTime) {
  Profile run = ReadProfile(SourceDir() / "tests/golden/run/example.jsonl").value();
  std::erase_if(run.events, [](const Event& event) {
    const auto* const compile = std::get_if<CompileEvent>(&event.what);
    return compile == nullptr || compile->program != "bb02";
  });
  run.events.push_back(run.events.at(0));  // The first program of a line is no recompile.
  const GraphReport report = MakeGraphReport(run);
  ASSERT_EQ(report.recompiles.size(), 1u);
  EXPECT_EQ(report.recompiles[0].compile_us, 1000);
  // It ran and marked no steps, as PyTorch/XLA's programs do, and may have any number of breaks.
  EXPECT_THAT(ToText(report), HasSubstr("Breaks: unknown: the program marks no steps.\n"));
}

// The bytes of the graphs and those without a graph add up to the account's.
TEST(GraphReports, BytesOfGraphsAddUpToTheAccounts) {
  Profile run = ReadProfile(SourceDir() / "tests/golden/run/example.jsonl").value();
  EXPECT_EQ(MakeGraphReport(run).other_host_to_device_bytes, 0);
  EXPECT_EQ(MakeGraphReport(run).other_device_to_host_bytes, 0);
  // An upload without a following graph, and a read of it.
  run.accounts[0].account.stats.host_to_device.bytes += 48;
  run.accounts[0].account.stats.device_to_host.bytes += 16;
  const GraphReport report = MakeGraphReport(run);
  EXPECT_EQ(report.other_host_to_device_bytes, 48);
  EXPECT_EQ(report.other_device_to_host_bytes, 16);
  int64_t to_device = report.other_host_to_device_bytes, to_host = report.other_device_to_host_bytes;
  for (const GraphRow& row : report.graphs) {
    to_device += row.host_to_device_bytes;
    to_host += row.device_to_host_bytes;
  }
  EXPECT_EQ(to_device, report.host_to_device.bytes);
  EXPECT_EQ(to_host, report.device_to_host.bytes);
  EXPECT_THAT(ToText(report), testing::ContainsRegex("\nnone +48 +16"));
}

// y (1024 bytes) is a result of the first graph and the donated argument of the second: it is written and
// read only because of the break. x is read by the first graph only.
TEST(GraphReports, ABreakCostsWhatOneGraphWouldNotHaveMoved) {
  const GraphReport report = ExampleReport();
  ASSERT_EQ(report.breaks.size(), 1u);
  const BreakRow& row = report.breaks[0];
  EXPECT_EQ(row.stage, BreakStage::kTrace);
  EXPECT_EQ(row.cause, TraceCause::kItem);
  EXPECT_EQ(ToString(row.origin), "example.cc:12");
  EXPECT_EQ(row.value, "f32[] made at example.cc:12");
  EXPECT_EQ(row.times, 1);
  EXPECT_EQ(row.device_to_host_bytes, 4);
  EXPECT_EQ(row.host_to_device_bytes, 0);
  EXPECT_EQ(row.held_bytes, 1024);
  EXPECT_EQ(row.fusion_lost_bytes, 2048);
  EXPECT_EQ(row.times_us.wait_us, 2051);
  EXPECT_EQ(row.times_us.compile_us, 60 + 2000);
  EXPECT_EQ(row.times_us.execute_us, 30);
}

// Builds a run of one session and one device, event by event.
class Story {
 public:
  void Add(double at_us, decltype(Event::what) what) {
    run_.events.push_back({run_.events.size() + 1, at_us, 1, std::move(what)});
  }
  void Upload(double at_us, int64_t bytes) {
    TransferEvent event;
    event.cause = Cause::kUpload;
    event.origin = {"a.cc", 1, "f"};
    event.session = 1;
    event.value.bytes = bytes;
    Add(at_us, event);
  }
  // Adds a graph that is closed at a line and runs for `run_us`. `event` has its reads and results.
  void Close(double at_us, TraceCause cause, const char* program, int line, int64_t run_us,
             CloseEvent event = {}) {
    event.close = ++closes_;
    event.cause = cause;
    event.operation = std::string(Name(cause));
    event.origin = {"a.cc", line, "f"};
    event.session = 1;
    event.found = ProgramSource::kRecorded;
    event.program = program;
    Add(at_us, event);
    RunRow& row = account_.account.runs.emplace_back();
    row.digest = program;
    row.origin = event.origin;
    row.count = 1;
    row.run = {run_us, run_us, run_us};
  }
  void Read(double begin_us, double end_us, int line) {
    Add(end_us, WaitEvent{WaitCause::kRead, {"a.cc", line, "f"}, 1, 0, 0, end_us - begin_us});
  }
  GraphReport Report(double end_us) {
    Add(end_us, StepEvent{1, 1, {"a.cc", 9, "f"}});
    run_.accounts.push_back(account_);
    return MakeGraphReport(run_);
  }

 private:
  Profile run_;
  ProfileAccount account_{.session = 1};
  uint64_t closes_ = 0;
};

// One step: graphs of 1000 us each at 0 and 2100, a wait from 0 to 1100 for the first, and 1000 us of the
// program's own work after it. As recorded, the second graph starts at 1100 + 1000 = 2100 and ends at 3100. A
// single graph starts when all is recorded, at 1000, and ends at 3000.
TEST(GraphReports, ARemovedBreakSavesItsWaitAndNotTheWork) {
  Story story;
  story.Close(0, TraceCause::kPrint, "aa", 5, 1000);
  story.Read(0, 1100, 5);
  story.Close(2100, TraceCause::kSync, "bb", 7, 1000);
  const GraphReport report = story.Report(2100);
  ASSERT_EQ(report.breaks.size(), 1u);
  EXPECT_EQ(report.breaks[0].times_us.wait_us, 1100);
  EXPECT_NEAR(report.breaks[0].saves_us, 100, 1e-6);
}

// Three graphs of 1000 us, of which the program waits for two: for the first until 300 us after its end (the
// device waited for an upload in 200 of these), for the second until 100 us after its end. The upload is
// waited for with or without the first read.
TEST(GraphReports, ARemovedBreakDoesNotSaveTheUploadsThatItWaitedFor) {
  Story story;
  story.Upload(0, 1 << 20);
  story.Close(0, TraceCause::kItem, "aa", 5, 1000);
  story.Read(0, 1300, 5);
  story.Close(1300, TraceCause::kPrint, "bb", 6, 1000);
  story.Read(1300, 2400, 6);
  story.Close(2400, TraceCause::kSync, "cc", 7, 1000);
  const GraphReport report = story.Report(2400);
  ASSERT_EQ(report.breaks.size(), 2u);
  EXPECT_NEAR(report.breaks[0].saves_us, 100, 1e-6);
  EXPECT_NEAR(report.breaks[1].saves_us, 100, 1e-6);
}

// Two graphs of 1000 us that compute. The second reads the 200,000 bytes that the first wrote: 10 us at 20
// GB/s in each direction, although the graphs are much slower.
TEST(GraphReports, AGraphThatComputesIsNotASlowMemory) {
  Story story;
  CloseEvent makes, reads;
  makes.outputs.emplace_back();
  makes.outputs[0].buffer = 3;
  makes.outputs[0].bytes = 200'000;
  reads.inputs.emplace_back();
  reads.inputs[0].buffer = 3;
  reads.inputs[0].bytes = 200'000;
  story.Close(0, TraceCause::kItem, "aa", 6, 1000, makes);
  story.Read(0, 1000, 6);
  story.Close(1000, TraceCause::kSync, "bb", 7, 1000, reads);
  const GraphReport report = story.Report(1000);
  ASSERT_EQ(report.breaks.size(), 1u);
  EXPECT_EQ(report.breaks[0].fusion_lost_bytes, 200'000);
  EXPECT_NEAR(report.breaks[0].saves_us, 10, 1e-6);
}

// The first program of a line is not a recompile, even when another line's program is similar. The line's
// second program is one, and so is a repetition of the first.
TEST(GraphReports, ALinesFirstProgramIsNoRecompile) {
  Story story;
  const auto compile = [&](int line, CompileReason reason, const char* why) {
    CompileEvent event;
    event.reason = reason;
    event.why = why;
    event.origin = {"a.cc", line, "f"};
    story.Add(0, event);
  };
  compile(5, CompileReason::kFirst, "first");
  compile(6, CompileReason::kOperation, "like that of line 5");
  compile(6, CompileReason::kParameter, "another shape");
  compile(7, CompileReason::kAgain, "the same as line 5's");
  const GraphReport report = story.Report(10);
  ASSERT_EQ(report.recompiles.size(), 2u);
  EXPECT_EQ(report.recompiles[0].why, "another shape");
  EXPECT_EQ(report.recompiles[1].why, "the same as line 5's");
  EXPECT_THAT(ToText(report), HasSubstr("a.cc:6"));
}

// Two sessions compiled the program, and one of them ran it three times, for 1,500 us each; a product of host
// tensors took 20 ms twice. By time: the product, then the sort.
TEST(GraphReports, SlowPathsAreCountedAndNamedWithTheirLines) {
  const std::string step = "sort (model.cc:12): its comparator is not an order of keys";
  Profile run;
  for (int i = 0; i < 2; ++i) {
    run.events.push_back({static_cast<uint64_t>(i) + 1, 1.0 * i, 1,
                          SlowEvent{SlowPath::kHostTensor, "matmul", {"host.cc", 4, "f"}, 20'000}});
  }
  for (uint64_t session = 1; session <= 2; ++session) {
    ProfileAccount& account = run.accounts.emplace_back();
    account.session = session;
    CompileRow& compiled = account.account.compiles.emplace_back();
    compiled.digest = "aa";
    compiled.program = "step";
    compiled.slow_steps = {step};
    if (session == 2) continue;
    RunRow& ran = account.account.runs.emplace_back();
    ran.digest = "aa";
    ran.count = 3;
    ran.run.sum_us = 4500;
  }
  // Reads the run back from its file form.
  const absl::StatusOr<Profile> read = ParseProfile(ToJsonLines(run), "profile.jsonl");
  ASSERT_TRUE(read.ok()) << read.status();
  const GraphReport report = MakeGraphReport(*read);
  ASSERT_EQ(report.slow.size(), 2u);
  EXPECT_EQ(report.slow[0].path, "host_tensor");
  EXPECT_EQ(report.slow[0].line, "host.cc:4");
  EXPECT_EQ(report.slow[0].times, 2);
  EXPECT_EQ(report.slow[0].us, 40'000);
  EXPECT_THAT(report.slow[0].remedy, HasSubstr("To(device)"));
  EXPECT_EQ(report.slow[1].path, "slow_step");
  EXPECT_EQ(report.slow[1].what, step);
  EXPECT_EQ(report.slow[1].line, "model.cc:12");
  EXPECT_EQ(report.slow[1].program, "step");
  EXPECT_EQ(report.slow[1].times, 3);
  EXPECT_EQ(report.slow[1].us, 4500);
  EXPECT_THAT(ToText(report), HasSubstr(step));
  EXPECT_EQ(nlohmann::json::parse(ToJson(report))["slow"][1]["line"], "model.cc:12");
}

TEST(GraphReports, TextAndJsonSayTheSame) {
  const GraphReport report = ExampleReport();
  const std::string text = ToText(report);
  EXPECT_THAT(
      text,
      HasSubstr("1 steps, 2 graphs, 2 compiles, 0 daemon hits, 0 cache hits, 2 executes; 1024 bytes to the "
                "device, 4 to the host, 4 in numbers that travelled with executes\n"));
  // From the first event, at 100.5 us, to the last, at 2520.
  EXPECT_THAT(text, HasSubstr("; the run took 2420\n"));
  EXPECT_THAT(text, HasSubstr("item   trace  example.cc:12"));
  EXPECT_THAT(text, HasSubstr("Remove first: item at example.cc:12"));
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["graphs"].size(), 2u);
  EXPECT_EQ(json["graphs"][0]["execute"]["mean_us"], 30.0);
  EXPECT_EQ(json["breaks"][0]["fusion_lost_bytes"], 2048);
  EXPECT_EQ(json["breaks"][0]["cause"], "item");
  EXPECT_TRUE(json["recompiles"].empty()) << "each of the two lines has compiled once";
}

TEST(GraphReports, ARunWithoutEventsIsAnEmptyReport) {
  EXPECT_THAT(ToText(MakeGraphReport({})), HasSubstr("No breaks"));
}

// Every cause has a stage and a remedy.
TEST(GraphReports, EveryCauseHasARemedy) {
  for (int i = 0; i < kTraceCauses; ++i) {
    const auto cause = static_cast<TraceCause>(i);
    EXPECT_FALSE(Remedy(cause).empty()) << Name(cause);
    if (cause == TraceCause::kSync) continue;
    EXPECT_NE(Remedy(cause), Remedy(TraceCause::kSync)) << Name(cause);
  }
}

}  // namespace
}  // namespace hlod
