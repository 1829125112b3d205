// Reports of the run in tests/unit/client/report/example.jsonl: two graphs over one upload of 1024 bytes,
// counted by hand.
#include "client/report/page/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "client/report/page/memory.h"
#include "client/report/page/trace.h"
#include "hlod/observe/graph_report.h"
#include "hlod/tensor/trace.h"
#include "tests/support/source_dir.h"

namespace hlod::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Profile ExampleLog() {
  absl::StatusOr<Profile> run = ReadProfile(SourceDir() / "tests/unit/client/report/example.jsonl");
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : Profile{};
}
// Returns the example with temporaries of `bytes` in the first program; the second one has none.
Profile ExampleWithTemporaries(int64_t bytes) {
  Profile run = ExampleLog();
  for (CompileRow& row : run.accounts[0].account.compiles)
    row.temporary_bytes = row.digest == "aa01" ? bytes : 0;
  return run;
}

// x is 1024 bytes. The first graph adds 1024 and 4. Then the 4 bytes are freed. The second graph's result
// reuses 1024.
TEST(Report, MemoryIsCountedFromBufferToDeath) {
  const Memory memory = MemoryOf(ExampleWithTemporaries(0));
  std::vector<int64_t> bytes;
  for (const MemoryPoint& point : memory.points) bytes.push_back(point.bytes());
  EXPECT_THAT(bytes, ::testing::ElementsAre(1024, 2052, 2048, 2048));
  EXPECT_EQ(memory.peak_bytes, 2052);
  EXPECT_EQ(memory.peak_us, 310);
  ASSERT_EQ(memory.at_peak.size(), 3);
  EXPECT_EQ(memory.at_peak[0].bytes, 1024);
  EXPECT_EQ(memory.at_peak[2].bytes, 4);
  EXPECT_EQ(memory.others, 0);
}

TEST(Report, TemporariesAreHeldWhileTheirProgramIsSent) {
  const Memory memory = MemoryOf(ExampleWithTemporaries(5000));
  EXPECT_EQ(memory.peak_bytes, 2052 + 5000);
  EXPECT_EQ(memory.at_peak[0].bytes, 5000);
  EXPECT_THAT(memory.at_peak[0].name, HasSubstr("temporaries"));
}

// Numbers of a profile may be as large as an integer can be: modelled times stop there. The runs of both rows
// are of one program, and two sessions have them.
TEST(Report, SumsStopAtTheLargestNumber) {
  Profile run = ExampleLog();
  for (Event& event : run.events) {
    if (auto* const transfer = std::get_if<TransferEvent>(&event.what)) transfer->value.bytes = INT64_MAX;
    if (auto* const close = std::get_if<CloseEvent>(&event.what)) {
      for (CloseEvent::Input& input : close->inputs) input.bytes = INT64_MAX;
      for (CloseEvent::Output& output : close->outputs) output.bytes = INT64_MAX;
    }
  }
  for (RunRow& row : run.accounts[0].account.runs) {
    row.digest = "aa01";
    row.run.sum_us = row.queue.sum_us = INT64_MAX;
  }
  run.accounts[0].account.stats.host_to_device.bytes = INT64_MAX;
  run.accounts.push_back(run.accounts[0]);
  const Memory memory = MemoryOf(run);
  EXPECT_EQ(memory.peak_bytes, INT64_MAX);
  for (const MemoryPoint& point : memory.points) EXPECT_GE(point.bytes(), 0);
  const Json report = MakeReport(run);
  EXPECT_EQ(report["totals"]["host_to_device"]["bytes"], INT64_MAX);
  ASSERT_EQ(report["programs"]["rows"].size(), 1);
  EXPECT_EQ(report["programs"]["rows"][0]["run_us"], INT64_MAX);
  const GraphReport graphs = MakeGraphReport(run);
  EXPECT_EQ(graphs.host_to_device.bytes, INT64_MAX);
  for (const GraphRow& row : graphs.graphs) EXPECT_GE(row.execute.sum_us, 0);
  for (const BreakRow& row : graphs.breaks) EXPECT_GE(row.fusion_lost_bytes, 0);
}

TEST(Report, HasTheRunsFigures) {
  const Json report = MakeReport(ExampleLog(), {.costs = {{"aa01", {.flops = 512, .bytes = 2052}}}});
  EXPECT_EQ(report["run"]["program"], "example");
  EXPECT_EQ(report["run"]["events"], 11);
  EXPECT_EQ(report["totals"]["host_to_device"]["bytes"], 1024);
  EXPECT_EQ(report["totals"]["device_to_host"]["bytes"], 4);
  EXPECT_EQ(report["totals"]["executes"], 2);
  EXPECT_EQ(report["totals"]["compiles"], 2);
  EXPECT_EQ(report["totals"]["peak_bytes"], 2052);

  // Both groupings of the account's rows sum to its totals.
  for (const char* const view : {"by_step", "by_line"}) {
    int64_t in = 0, out = 0;
    for (const Json& row : report["transfers"][view]) {
      (row["direction"] == "host_to_device" ? in : out) += row["bytes"].get<int64_t>();
    }
    EXPECT_EQ(in, 1024) << view;
    EXPECT_EQ(out, 4) << view;
  }
  EXPECT_EQ(report["transfers"]["by_line"][0]["origin"], "example.cc:10");
  EXPECT_EQ(report["transfers"]["by_line"][0]["name"], "x");

  ASSERT_EQ(report["graphs"]["rows"].size(), 2);
  std::set<std::string> causes;
  for (const Json& row : report["graphs"]["rows"]) {
    causes.insert(row["cause"]);
    EXPECT_EQ(row["count"], 1);
    if (row["cause"] != "item") continue;
    EXPECT_EQ(row["origin"], "example.cc:12");
    EXPECT_EQ(row["nodes"], 4);
    EXPECT_EQ(row["held_bytes"], 1028);
    EXPECT_EQ(row["wait_us"], 2051);
  }
  EXPECT_EQ(causes, (std::set<std::string>{"item", "sync"}));

  ASSERT_EQ(report["compiles"]["rows"].size(), 2);
  EXPECT_EQ(report["compiles"]["rows"][0]["at_us"], 300 - 100.5);
  EXPECT_EQ(report["compiles"]["rows"][1]["reason"], "operation");
  EXPECT_EQ(report["compiles"]["rows"][1]["why"], "1 instruction fewer than in trace_example.cc:12");
  bool found = false;
  for (const Json& row : report["programs"]["rows"]) {
    if (row["program"] != "aa01") continue;
    found = true;
    EXPECT_EQ(row["flops"], 512);
  }
  EXPECT_TRUE(found);
}

// item at line 12 waits 2051 us of a run of 2420 us; compiling the graph that it ends takes 2060 us of the
// program's and the daemon's time. Each line compiles once, and x is uploaded once.
TEST(Report, BeginsWithTheBreakThatCostsMost) {
  const Json first = MakeReport(ExampleLog())["first"];
  ASSERT_EQ(first.size(), 1);
  EXPECT_EQ(first[0]["kind"], "graph break");
  EXPECT_EQ(first[0]["origin"], "example.cc:12");
  EXPECT_EQ(first[0]["times"], 1);
  EXPECT_GT(first[0]["saves_us"].get<double>(), 0);
  EXPECT_NEAR(first[0]["share"].get<double>(), first[0]["saves_us"].get<double>() / 2419.5, 1e-9);
  EXPECT_THAT(first[0]["remedy"].get<std::string>(), HasSubstr("Keep it a tensor"));
}

TEST(Report, ALineThatCompilesAgainOrUploadsAgainIsNamed) {
  Profile run;
  const auto add = [&](double at_us, decltype(Event::what) what) {
    run.events.push_back({run.events.size() + 1, at_us, 1, std::move(what)});
  };
  for (int step = 0; step < 3; ++step) {
    CompileEvent compile;
    compile.program = "p" + std::to_string(step);
    compile.reason = step == 0 ? CompileReason::kFirst : CompileReason::kParameter;
    compile.why = "parameter 0 is f32[" + std::to_string(step) + "]";
    compile.origin = {"a.cc", 7, "f"};
    add(1000.0 * step, compile);
    CloseEvent close;
    close.close = static_cast<uint64_t>(step) + 1;
    close.cause = TraceCause::kSync;
    close.origin = {"a.cc", 7, "f"};
    close.found = ProgramSource::kCompiled;
    close.program = compile.program;
    close.compile_us = 100;
    add(1000.0 * step + 1, close);
    TransferEvent upload;
    upload.cause = Cause::kUpload;
    upload.origin = {"a.cc", 5, "f"};
    upload.value.bytes = 64;
    upload.us = 300;
    add(1000.0 * step + 2, upload);
  }
  const Json first = MakeReport(run)["first"];
  ASSERT_EQ(first.size(), 2);
  EXPECT_EQ(first[0]["kind"], "transfer");
  EXPECT_EQ(first[0]["origin"], "a.cc:5");
  EXPECT_EQ(first[0]["bytes"], 3 * 64);
  EXPECT_EQ(first[0]["saves_us"], 600);
  EXPECT_EQ(first[1]["kind"], "recompile");
  EXPECT_EQ(first[1]["origin"], "a.cc:7");
  EXPECT_EQ(first[1]["times"], 2);
  EXPECT_EQ(first[1]["saves_us"], 200);
  EXPECT_EQ(first[1]["what"], "parameter 0 is f32[2]");
  EXPECT_THAT(first[1]["remedy"].get<std::string>(), HasSubstr("Keep shapes"));
}

// Ten steps of a program without traces, each of 1,000 us: 100 us of its own work, an upload of 20 us, and a
// read that waits for 880 us (the first for 4,880). The last shape compiles another program, which takes
// 3,000 us.
TEST(Report, RecompilesAndBlockingReadsComeBeforeSmallUploads) {
  Profile run;
  double now = 0;
  const auto add = [&](double us, decltype(Event::what) what) {
    now += us;
    run.events.push_back({run.events.size() + 1, now, 1, std::move(what)});
  };
  const auto transfer = [](Cause cause, int line, double us) {
    TransferEvent event;
    event.cause = cause;
    event.origin = {"train.py", line, ""};
    event.value.bytes = 8;
    event.us = us;
    return event;
  };
  const auto compile = [&](const std::string& digest, CompileReason reason, int64_t us) {
    CompileEvent event;
    event.program = digest;
    event.reason = reason;
    event.why = "parameter 1 is f32[7]";
    event.origin = {"train.py", 6, ""};
    add(0, event);
    if (run.accounts.empty()) run.accounts.emplace_back();
    CompileRow& row = run.accounts[0].account.compiles.emplace_back();
    row.digest = digest;
    row.compile_us = us;
    row.count = 1;
    RunRow& ran = run.accounts[0].account.runs.emplace_back();
    ran.digest = digest;
    ran.origin = {"train.py", 6, ""};
    ran.count = 1;
  };
  for (int step = 0; step < 10; ++step) {
    add(20, transfer(Cause::kUpload, 5, 20));
    if (step == 0) compile("p0", CompileReason::kFirst, 4000);
    if (step == 9) compile("p1", CompileReason::kParameter, 3000);
    const double wait = step == 0 ? 4880 : 880;
    add(100 + wait, transfer(Cause::kDownload, 7, wait));
  }
  const Json first = MakeReport(run)["first"];
  ASSERT_EQ(first.size(), 3);
  EXPECT_EQ(first[0]["kind"], "recompile");
  EXPECT_EQ(first[0]["origin"], "train.py:6");
  EXPECT_EQ(first[0]["saves_us"], 3000);
  EXPECT_EQ(first[1]["kind"], "blocking read");
  EXPECT_EQ(first[1]["origin"], "train.py:7");
  EXPECT_EQ(first[1]["times"], 10);
  EXPECT_EQ(first[1]["saves_us"], 9 * 120) << "its own work could be done meanwhile";
  EXPECT_THAT(first[1]["remedy"].get<std::string>(), HasSubstr("after the loop"));
  EXPECT_EQ(first[2]["kind"], "transfer");
  EXPECT_EQ(first[2]["saves_us"], 9 * 20);
}

// Waits in a loop: the program works 500 us for itself in each of 4 steps, and waits 200 us.
TEST(Report, RepeatedWaitsAreNamed) {
  Profile run;
  for (int step = 0; step < 4; ++step) {
    WaitEvent wait;
    wait.cause = WaitCause::kSettle;
    wait.origin = {"train.py", 9, ""};
    wait.us = 200;
    run.events.push_back({run.events.size() + 1, 700.0 * (step + 1), 1, wait});
  }
  const Json first = MakeReport(run)["first"];
  ASSERT_EQ(first.size(), 1);
  EXPECT_EQ(first[0]["kind"], "wait");
  EXPECT_EQ(first[0]["origin"], "train.py:9");
  EXPECT_EQ(first[0]["saves_us"], 3 * 200);
}

// A program with a slow step ran for 4.5 ms of a run of 10 ms. The estimated saving is nine tenths of 4.5 ms.
TEST(Report, SlowStepsAreNamedWithTheirLines) {
  Profile run;
  run.events.push_back({1, 0, 1, StepEvent{1, 1, {"a.cc", 9, "f"}}});
  run.events.push_back({2, 10'000, 1, StepEvent{1, 2, {"a.cc", 9, "f"}}});
  SessionAccount& account = run.accounts.emplace_back().account;
  CompileRow& compiled = account.compiles.emplace_back();
  compiled.digest = "aa";
  compiled.slow_steps = {"sort (model.cc:12): its comparator is not an order of keys"};
  RunRow& ran = account.runs.emplace_back();
  ran.digest = "aa";
  ran.count = 1;
  ran.run.sum_us = 4500;
  const Json report = MakeReport(run);
  ASSERT_EQ(report["slow"]["rows"].size(), 1);
  EXPECT_EQ(report["slow"]["rows"][0]["origin"], "model.cc:12");
  ASSERT_EQ(report["first"].size(), 1);
  EXPECT_EQ(report["first"][0]["kind"], "slow path");
  EXPECT_EQ(report["first"][0]["origin"], "model.cc:12");
  EXPECT_EQ(report["first"][0]["saves_us"], 4050);
}

// Upload, two traces, two executes of the daemon: each has its own lane, in the page's order.
TEST(Report, TheTimelineHasALanePerPhase) {
  const Json timeline = MakeReport(ExampleLog())["timeline"];
  std::vector<std::string> lanes;
  for (const Json& lane : timeline["lanes"]) lanes.push_back(lane["name"]);
  EXPECT_THAT(lanes, ::testing::ElementsAre("trace", "lower", "compile", "send", "transfers", "waits",
                                            "compile", "queue", "execute"));
  EXPECT_EQ(timeline["lanes"][0]["slices"].size(), 2);
  EXPECT_EQ(timeline["lanes"][0]["slices"][0][3], "example.cc:12");
  EXPECT_EQ(timeline["lanes"][8]["slices"][1][1], 20);
  EXPECT_EQ(timeline["steps"].size(), 1);
  EXPECT_EQ(timeline["left_out"], 0);
}

TEST(Report, MemoryIsStackedByKind) {
  const Json memory = MakeReport(ExampleLog())["memory"];
  ASSERT_EQ(memory["kinds"].size(), 4);
  EXPECT_EQ(memory["points"][0][2], Json::array({1024, 0, 0, 0}));
  EXPECT_EQ(memory["points"][1][2], Json::array({1024, 1028, 0, 0}));
}

TEST(Report, ARunOfNothingIsAReport) {
  const Json report = MakeReport(Profile{});
  EXPECT_EQ(report["memory"]["points"].size(), 0);
  EXPECT_EQ(report["totals"]["executes"], 0);
  EXPECT_THAT(MakePage(report), HasSubstr("</html>"));
  EXPECT_EQ(ToJson(TraceOf(Profile{}))["traceEvents"].size(), 0);
}

// The data in the page, parsed again, is the report. Names with markup do not end the element that holds it,
// and are not lost.
TEST(Report, ThePageHoldsTheReportAndNeedsNoNetwork) {
  Profile run = ExampleLog();
  run.program = "</script><script>alert(1)</script>";
  const Json report = MakeReport(run);
  const std::string page = MakePage(report);
  const std::string open = "<script type=\"application/json\" id=\"report\">";
  const size_t begin = page.find(open) + open.size();
  const size_t end = page.find("</script>", begin);
  EXPECT_EQ(Json::parse(page.substr(begin, end - begin)), report);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("/*REPORT*/")));
  for (const char* const outside : {"http://", "https://", "src=", "@import", "url(", "fetch(", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(outside))) << outside;
}

TEST(Trace, HasTracksAndSlicesWithLines) {
  const Json trace = ToJson(TraceOf(ExampleLog()));
  std::set<std::string> tracks;
  std::map<std::pair<int, int>, double> until;
  for (const auto& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "M" && event["name"] == "thread_name") tracks.insert(event["args"]["name"]);
    if (phase != "X") continue;
    EXPECT_GE(event["dur"].get<double>(), 0);
    EXPECT_TRUE(event["args"].contains("line") || event["pid"] != 1) << event;
    // Slices of one track are ordered and do not overlap.
    double& free_at = until[{event["pid"], event["tid"]}];
    EXPECT_GE(event["ts"].get<double>(), free_at - 1e-6) << event;
    free_at = event["ts"].get<double>() + event["dur"].get<double>();
    if (event["cat"] == "transfers" && event["name"] == "upload") {
      EXPECT_EQ(event["args"]["line"], "example.cc:10");
      EXPECT_EQ(event["args"]["bytes"], 1024);
      EXPECT_EQ(event["dur"], 12.5);
    }
    if (event["cat"] == "waits") {
      EXPECT_EQ(event["args"]["line"], "example.cc:12");
      EXPECT_EQ(event["dur"], 2051);
    }
  }
  for (const char* const track : {"transfers", "waits", "steps", "programs sent", "compile"})
    EXPECT_TRUE(tracks.contains(track)) << track;
}

// Three overlapping waits need three tracks; a fourth one after them reuses a track.
TEST(Trace, WhatOverlapsIsSideBySide) {
  Profile run;
  for (const double at : {100.0, 110.0, 120.0, 300.0}) {
    WaitEvent wait;
    wait.us = 90;
    run.events.push_back({run.events.size() + 1, at, 1, wait});
  }
  std::set<int> tids;
  const Json trace = ToJson(TraceOf(run));
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") tids.insert(event["tid"].get<int>());
  }
  EXPECT_EQ(tids.size(), 3);
}

// The daemon's clock has another origin; after alignment no execute begins before its close.
TEST(Trace, TheDaemonsRunsComeAfterTheirCloses) {
  Profile run;
  for (const double at : {1000.0, 2000.0}) {
    CloseEvent close;
    close.session = 1;
    close.command = 7;
    close.origin = {"train.cc", 8, "f"};
    run.events.push_back({run.events.size() + 1, at, 1, close});
  }
  // By the daemon's clock they were ready at 50 and 1070, which is 950 and 930 before the closes: the clocks
  // differ by 950.
  ProfileAccount& session = run.accounts.emplace_back();
  session.session = 1;
  session.account.stats.executes = 2;
  session.account.samples = {{.at_us = 150, .queue_us = 10, .run_us = 90},
                             {.at_us = 1200, .queue_us = 30, .run_us = 100}};
  std::vector<double> begins;
  const Json trace = ToJson(TraceOf(run));
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["cat"] == "execute") {
      begins.push_back(event["ts"]);
      EXPECT_EQ(event["args"]["line"], "train.cc:8");
    }
  }
  // The trace begins with the first event, at 1000.
  EXPECT_THAT(begins, ::testing::ElementsAre(10, 1050));
}

}  // namespace
}  // namespace hlod::report
