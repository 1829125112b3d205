// Acceptance rows GB: the graphs that a program runs lazily and captured, what breaks them, and what the
// breaks cost.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "common/base/text/strings.h"
#include "hlod/observe/graph_report.h"
#include "hlod/observe/profile.h"
#include "hlod/optim/optimizers.h"
#include "hlod/transform/compare_tracing.h"
#include "hlod/transform/foreign.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class GraphRows : public TensorTest {};

std::vector<std::string> Causes(const GraphReport& report) {
  std::vector<std::string> causes;
  for (const GraphRow& row : report.graphs) causes.push_back(row.cause);
  return causes;
}

// Acceptance row GB1. Two graphs: x, x + x; then y, Exp(y). x is uploaded before.
TEST_F(GraphRows, AReportHasEachGraphWithItsFigures) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {4});
  Sync();
  int line = 0;
  const GraphReport report = ReportGraphs([&] {
    const Tensor y = x + x;
    line = __LINE__ + 1;
    y.ToHost();
    const Tensor z = Exp(y);
    Sync();
  });
  EXPECT_THAT(Causes(report), ElementsAre("to_host", "sync"));
  EXPECT_EQ(report.steps, 1);
  EXPECT_EQ(report.compiles, 2);
  EXPECT_EQ(report.cache_hits, 0);
  EXPECT_EQ(report.executes, 2);
  EXPECT_EQ(report.host_to_device, (Amount{0, 0})) << "x was uploaded before";
  EXPECT_EQ(report.device_to_host, (Amount{16, 1}));
  const GraphRow& first = report.graphs[0];
  EXPECT_EQ(first.origin.line, line);
  EXPECT_EQ(first.program.size(), 64u);
  EXPECT_EQ(first.nodes, 2);
  EXPECT_EQ(first.inputs, 1);
  EXPECT_EQ(first.outputs, 1);
  EXPECT_EQ(first.executes, 1);
  EXPECT_EQ(first.executes_timed, 1) << "the account's";
  EXPECT_EQ(first.compiles_timed, 1);
  EXPECT_EQ(first.device_to_host_bytes, 16);
  EXPECT_GT(first.compile.sum_us, 0);
  ASSERT_EQ(report.breaks.size(), 1u);
  const BreakRow& row = report.breaks[0];
  EXPECT_EQ(row.cause, TraceCause::kToHost);
  EXPECT_EQ(row.origin.line, line);
  EXPECT_EQ(row.device_to_host_bytes, 16);
  EXPECT_EQ(row.held_bytes, 16);
  // The second graph reads y. A single graph would have written it as well, because its tensor still exists.
  EXPECT_EQ(row.fusion_lost_bytes, 16);
  EXPECT_THAT(ToText(report), HasSubstr("Remove first: to_host at graph_rows_test.cc"));
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["graphs"][0]["execute"]["total_us"], first.execute.sum_us);
}

// Acceptance row GB2.
TEST_F(GraphRows, AnItemInTheMiddleIsTwoGraphsInEachWay) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {4});
  int line = 0;
  const auto step = [&line](const Tensor& t) {
    const Tensor y = t + t;
    line = __LINE__ + 1;
    const bool large = Sum(y).Item<float>() > 10;
    return large ? Exp(y) : y;
  };
  const TracingComparison both = CompareTracing(step, std::tuple(x));
  EXPECT_EQ(both.lazy.modules, 2);
  EXPECT_EQ(both.lazy.captured_graphs, 2);
  EXPECT_EQ(both.lazy.report.executes, 6) << "two a call, three calls";
  EXPECT_EQ(both.captured.modules, 2);
  EXPECT_EQ(both.captured.captured_graphs, 2);
  EXPECT_EQ(both.captured.report.compiles, 0) << "its pieces are those that lazy mode compiled";
  ASSERT_EQ(both.captured.report.breaks.size(), 1u);
  EXPECT_EQ(both.captured.report.breaks[0].cause, TraceCause::kItem);
  EXPECT_EQ(both.captured.report.breaks[0].origin.line, line);
  EXPECT_EQ(both.captured.report.breaks[0].times, 3);
  ASSERT_EQ(both.why_broken.size(), 1u);
  EXPECT_THAT(both.why_broken[0], HasSubstr("graph_rows_test.cc:" + std::to_string(line)));
  EXPECT_THAT(ToText(both), HasSubstr("Capture broke"));
}

// Acceptance row GB3.
TEST_F(GraphRows, ATrainingStepIsOneGraphLazilyAndThreeByPhases) {
  const Tensor w = OnDevice({8, 2}, {2});
  const Tensor x = OnDevice({3, 4}, {2});
  const auto step = [](const Tensor& before, const Tensor& input) {
    Tensor weight = before.Detach();
    weight.RequiresGrad_();
    Sum(weight * weight * input).Backward();
    return weight.Detach() - 0.125 * weight.Grad();
  };
  // The step computes w - 2 w x / 8 = w (1 - x / 4).
  EXPECT_THAT(step(w, x).ToVector<float>(), ElementsAre(2, 0));
  const TracingComparison ways = CompareTracing(step, std::tuple(w, x), {.calls = 2});
  EXPECT_EQ(ways.lazy.report.executes, 2) << "one graph a step";
  EXPECT_EQ(ways.lazy.modules, 1);
  EXPECT_EQ(ways.phases.report.executes, 6) << "forward, backward and optimizer of two steps";
  EXPECT_EQ(ways.phases.modules, 3);
}

// Acceptance row GB4.
TEST_F(GraphRows, AHostFunctionSplitsOneGraphWhenItIsLowered) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {4});
  const auto step = [](const Tensor& t) {
    const Tensor y = HostFunction(
        "plus_one", [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + 1.0}; },
        {t * t})[0];
    return y * y;
  };
  const TracingComparison ways = CompareTracing(step, std::tuple(x));
  EXPECT_EQ(ways.lazy.modules, 2);
  EXPECT_EQ(ways.lazy.captured_graphs, 1);
  EXPECT_EQ(ways.lazy.report.executes, 6);
  ASSERT_EQ(ways.lazy.report.breaks.size(), 1u);
  const BreakRow& row = ways.lazy.report.breaks[0];
  EXPECT_EQ(row.stage, BreakStage::kLowering);
  EXPECT_EQ(row.cause, TraceCause::kHostFunction);
  EXPECT_EQ(row.operation, "plus_one");
  EXPECT_EQ(row.times, 3);
  EXPECT_EQ(row.device_to_host_bytes, 3 * 16);
  EXPECT_EQ(row.host_to_device_bytes, 3 * 16);
}

// Acceptance row GB5.
TEST_F(GraphRows, AnUnbrokenFunctionIsRecordedOnceAndReplayed) {
  const Tensor x = OnDevice({1, 2}, {2});
  int runs = 0;
  const auto step = Compile([&runs](const Tensor& t) {
    ++runs;
    return t * t + t;
  });
  const auto call = [&] {
    const Tensor y = step(x);
    Sync();
    return y.ToVector<float>();
  };
  EXPECT_THAT(call(), ElementsAre(2, 6));
  const GraphReport again = ReportGraphs([&] { EXPECT_THAT(call(), ElementsAre(2, 6)); });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(step.recordings(), 1);
  EXPECT_EQ(step.calls(), 2);
  EXPECT_TRUE(step.WhyBroken().empty());
  EXPECT_EQ(again.compiles, 0);
  EXPECT_EQ(again.cache_hits, 1);
  // Another shape is traced again.
  EXPECT_THAT(step(OnDevice({1, 2, 3}, {3})).ToVector<float>(), ElementsAre(2, 6, 12));
  EXPECT_EQ(runs, 2);
}

// Acceptance row GB8.
TEST_F(GraphRows, AFullGraphDoesNotBreakAndNothingRuns) {
  const Tensor x = OnDevice({1, 2}, {2});
  Sync();
  int line = 0;
  const auto step = Compile(
      [&line](const Tensor& t) {
        const Tensor y = t + t;
        line = __LINE__ + 1;
        return Sum(y).Item<float>() > 0 ? y : t;
      },
      {.name = "my_step", .full_graph = true});
  const int64_t before = Account().executes;
  const absl::Status thrown = Thrown([&] { step(x); });
  EXPECT_EQ(KindOf(thrown), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("my_step is to be one graph (full_graph), and is not"));
  EXPECT_THAT(last_what_, HasSubstr("graph_rows_test.cc:" + std::to_string(line)));
  Sync();
  EXPECT_EQ(Account().executes, before);
  EXPECT_THAT((x + x).ToVector<float>(), ElementsAre(2, 4)) << "the program may go on";
}

// Acceptance row GB9.
TEST_F(GraphRows, OneGraphTooManySaysWhereItDiffers) {
  const Tensor x = OnDevice({1, 2}, {2});
  bool add = true;
  const auto step =
      Compile([&add](const Tensor& t) { return add ? t + t : t * t; }, {.max_different_graphs = 1});
  EXPECT_THAT(step(x).ToVector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(step(x).ToVector<float>(), ElementsAre(2, 4));
  add = false;
  const Tensor longer = OnDevice({1, 2, 3}, {3});
  EXPECT_EQ(KindOf(Thrown([&] { step(longer); })), ErrorKind::kArgument);
  EXPECT_THAT(
      last_what_,
      HasSubstr("Maximum number of different graphs allowed per function exceeded: 1, by the function"));
  EXPECT_THAT(last_what_, HasSubstr("Got: parameter f32[3]. Expected: parameter f32[2] (instruction 0)"));
}

// Acceptance row GB7. Each break is made in its own step and is reported with its cause, stage and line.
TEST_F(GraphRows, EveryBreakHasItsCauseStageAndLine) {
  const Tensor x = OnDevice({1, 0, 2}, {3});
  Sync();
  int line = 0;
  const auto break_of = [&](const std::function<void(const Tensor&)>& body) {
    const GraphReport report = ReportGraphs([&] {
      body(x + x);
      Sync();
    });
    EXPECT_EQ(report.breaks.size(), 1u);
    if (report.breaks.empty()) return TraceCause::kSync;
    EXPECT_EQ(report.breaks[0].origin.line, line) << Name(report.breaks[0].cause);
    EXPECT_NE(Remedy(report.breaks[0].cause), Remedy(TraceCause::kSync));
    return report.breaks[0].cause;
  };
  line = __LINE__ + 1;
  EXPECT_EQ(break_of([](const Tensor& y) { y.ToHost(); }), TraceCause::kToHost);
  line = __LINE__ + 1;
  EXPECT_EQ(break_of([](const Tensor& y) { static_cast<void>(Sum(y).Item<float>()); }), TraceCause::kItem);
  line = __LINE__ + 1;
  EXPECT_EQ(break_of([](const Tensor& y) { static_cast<void>(y.ToString()); }), TraceCause::kPrint);
  line = __LINE__ + 1;
  EXPECT_EQ(break_of([](const Tensor& y) { static_cast<void>(y.ToBuffer()); }), TraceCause::kExport);
  line = __LINE__ + 1;
  EXPECT_EQ(break_of([](const Tensor& y) { static_cast<void>(Nonzero(y)); }), TraceCause::kDynamicShape);
}

// The item closes the trace. The host function finds its operand computed, but without the item it would have
// closed the trace itself.
TEST_F(GraphRows, WhatFindsItsValueThereStillStopsTheStep) {
  const auto twice = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + in[0]}; };
  const Tensor x = OnDevice({1, 2, 3, 4}, {4});
  Sync();
  int item = 0, host = 0;
  const GraphReport report = ReportGraphs([&] {
    for (int step = 0; step < 3; ++step) {
      const Tensor y = x + x;
      item = __LINE__ + 1;
      Sum(y).Item<float>();
      host = __LINE__ + 1;
      const Tensor z = HostFunction("twice", twice, {y})[0];
      const Tensor w = z + 1;
      Sync();
    }
  });
  ASSERT_EQ(report.breaks.size(), 2u);
  for (const BreakRow& row : report.breaks) {
    EXPECT_EQ(row.times, 3);
    if (row.cause == TraceCause::kItem) {
      EXPECT_EQ(row.origin.line, item);
      EXPECT_EQ(row.device_to_host_bytes, 3 * 4);
      EXPECT_EQ(row.host_to_device_bytes, 0);
    } else {
      EXPECT_EQ(row.cause, TraceCause::kHostFunction);
      EXPECT_EQ(row.operation, "twice");
      EXPECT_EQ(row.origin.line, host);
      EXPECT_EQ(row.device_to_host_bytes, 3 * 16);
      EXPECT_EQ(row.host_to_device_bytes, 3 * 16);
    }
  }
  EXPECT_EQ(report.executes, 6);
}

struct Breaks {
  bool item = true, print = true, host_function = true;
};

// Runs a step with the requested breaks between its operations.
Tensor BrokenStep(Tensor x, const Breaks& breaks) {
  const auto twice = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + in[0]}; };
  x = Tanh(x + 1);
  if (breaks.item) Sum(x).Item<float>();
  x = Tanh(x + 2);
  if (breaks.print) (void)x.ToString();
  x = Tanh(x + 3);
  x = breaks.host_function ? HostFunction("twice", twice, {x})[0] : x + x;
  x = Tanh(x + 4);
  Sync();
  return x;
}

GraphReport ReportOf(Tensor x, const Breaks& breaks, int steps) {
  x = BrokenStep(x, breaks);  // The first step compiles.
  return ReportGraphs([&] {
    for (int i = 0; i < steps; ++i) x = BrokenStep(x, breaks);
  });
}

// Acceptance row GB6. Removes each break from each program that has some of the three; what remains must
// match the report's promise. By hand: a step with n breaks is n + 1 graphs, and each break costs one execute
// per step.
TEST_F(GraphRows, RemovingABreakSavesTheGraphsExecutesAndTransfersThatWerePromised) {
  constexpr int kSteps = 4;
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6, 7, 8}, {8});
  const struct {
    bool Breaks::* which;
    TraceCause cause;
    int64_t bytes_up, bytes_down;  // The bytes per step.
  } kKinds[] = {{&Breaks::item, TraceCause::kItem, 0, 4},
                {&Breaks::print, TraceCause::kPrint, 0, 32},
                {&Breaks::host_function, TraceCause::kHostFunction, 32, 32}};
  for (int with = 1; with < 8; ++with) {
    const Breaks breaks = {(with & 1) != 0, (with & 2) != 0, (with & 4) != 0};
    const GraphReport before = ReportOf(x, breaks, kSteps);
    const int64_t count = breaks.item + breaks.print + breaks.host_function;
    EXPECT_EQ(static_cast<int64_t>(before.graphs.size()), count + 1) << ToText(before);
    EXPECT_EQ(before.executes, kSteps * (count + 1)) << ToText(before);
    EXPECT_EQ(static_cast<int64_t>(before.breaks.size()), count) << ToText(before);
    for (const auto& kind : kKinds) {
      if (!(breaks.*kind.which)) continue;
      Breaks fewer = breaks;
      fewer.*kind.which = false;
      const GraphReport after = ReportOf(x, fewer, kSteps);
      const auto row = std::find_if(before.breaks.begin(), before.breaks.end(),
                                    [&](const BreakRow& it) { return it.cause == kind.cause; });
      ASSERT_NE(row, before.breaks.end()) << Name(kind.cause) << ToText(before);
      SCOPED_TRACE(absl::StrCat("without ", ToAbsl(Name(kind.cause)), "\n", ToText(before), ToText(after)));
      EXPECT_EQ(row->saves_executes, kSteps);
      EXPECT_EQ(row->saves_executes, before.executes - after.executes);
      EXPECT_EQ(row->saves_graphs, 1);
      EXPECT_EQ(row->saves_graphs, static_cast<int64_t>(before.graphs.size() - after.graphs.size()));
      EXPECT_EQ(row->host_to_device_bytes, kSteps * kind.bytes_up);
      EXPECT_EQ(row->device_to_host_bytes, kSteps * kind.bytes_down);
      EXPECT_EQ(row->host_to_device_bytes, before.host_to_device.bytes - after.host_to_device.bytes);
      EXPECT_EQ(row->device_to_host_bytes, before.device_to_host.bytes - after.device_to_host.bytes);
      EXPECT_EQ(row->host_to_device_calls, before.host_to_device.calls - after.host_to_device.calls);
      EXPECT_EQ(row->device_to_host_calls, before.device_to_host.calls - after.device_to_host.calls);
    }
  }
}

// Two lines read the same result, and each is a break: when one is removed, the other still breaks the step.
TEST_F(GraphRows, ABreakBesideAnotherOneSavesItsTransferAndNoExecute) {
  const Tensor x = OnDevice({1, 2}, {2});
  const GraphReport report = ReportGraphs([&] {
    for (int i = 0; i < 3; ++i) {
      const Tensor y = x + x;
      (void)y.ToString();
      (void)y.ToVector<float>();
      const Tensor z = Tanh(y);
      Sync();
    }
  });
  ASSERT_EQ(report.breaks.size(), 2u) << ToText(report);
  for (const BreakRow& row : report.breaks) {
    EXPECT_EQ(row.saves_executes, 0) << ToText(report);
    EXPECT_EQ(row.saves_graphs, 0) << ToText(report);
    EXPECT_EQ(row.device_to_host_calls, 3) << ToText(report);
  }
}

// The values of an optimizer (moments, counts, sums) are attributed to the line that calls it, not to hlod's
// own lines.
TEST_F(GraphRows, WhatAnOptimizerDoesStandsAtTheProgramsLine) {
  struct Rule {
    std::string name;
    std::function<std::unique_ptr<ParameterOptimizer>(std::vector<Tensor>)> make;
  };
  const std::vector<Rule> rules = {
      {"sgd",
       [](auto of) { return std::make_unique<Sgd>(of, SgdOptions{.momentum = 0.9, .dampening = 0.1}); }},
      {"adam", [](auto of) { return std::make_unique<Adam>(of, AdamOptions{.amsgrad = true}); }},
      {"adamw", [](auto of) { return std::make_unique<AdamW>(of); }},
      {"rmsprop", [](auto of) { return std::make_unique<RmsProp>(of, RmsPropOptions{.momentum = 0.5}); }},
      {"adagrad", [](auto of) { return std::make_unique<Adagrad>(of); }}};
  for (const Rule& rule : rules) {
    Tensor w = OnDevice({1, 2}, {2});
    w.RequiresGrad_();
    const auto optimizer = rule.make({w});
    ProfileRecorder recording;
    for (int i = 0; i < 2; ++i) {
      Sum(w * w).Backward();
      optimizer->Step();
      optimizer->ZeroGrad();
      Sync();
    }
    const Profile run = recording.Finish();
    int values = 0;
    for (const Event& event : run.events) {
      const auto* const close = std::get_if<CloseEvent>(&event.what);
      if (close == nullptr) continue;
      for (const EventValue& value : close->outputs) {
        ++values;
        EXPECT_TRUE(value.origin.file.ends_with("graph_rows_test.cc")) << rule.name << ToString(value.origin);
      }
    }
    EXPECT_GE(values, 2) << rule.name;
  }
  // Updates in the style of Optax.
  const Tensor w = OnDevice({1, 2}, {2});
  ProfileRecorder recording;
  const optim::Optimizer adam = optim::Adam(0.1);
  optim::State state = adam.Init(w);
  auto [update, next] = adam.Update(w, state, w);
  Tensor after = optim::ApplyUpdates(w, update);
  Sync();
  for (const Event& event : recording.Finish().events) {
    const auto* const close = std::get_if<CloseEvent>(&event.what);
    if (close == nullptr) continue;
    for (const EventValue& value : close->outputs)
      EXPECT_TRUE(value.origin.file.ends_with("graph_rows_test.cc")) << ToString(value.origin);
  }
}

TEST_F(GraphRows, ARunFileIsWhatHappenedAndReadsBack) {
  const std::string path = ::testing::TempDir() + "/graph_rows_run.jsonl";
  const Tensor x = OnDevice({1, 2, 3, 4}, {4});
  Sync();
  {
    const auto file = ProfileFile::Open(path).value();
    const Tensor y = x + x;
    y.ToHost();
    Sync();
    EXPECT_TRUE(file->Finish().ok());
  }
  const Profile run = ReadProfile(path).value();
  std::remove(path.c_str());
  EXPECT_TRUE(run.complete);
  ASSERT_EQ(run.accounts.size(), 1u);
  EXPECT_EQ(run.accounts[0].account.stats.device_to_host, (Amount{16, 1}));
  EXPECT_EQ(run.accounts[0].account.stats.host_to_device, (Amount{0, 0})) << "x came before";
  const GraphReport report = MakeGraphReport(run);
  EXPECT_EQ(report.executes, 1);
  EXPECT_EQ(report.device_to_host, (Amount{16, 1}));
}

// The program closes its connection before the profile ends: its statistics are read at the close.
TEST_F(GraphRows, AClosedSessionsAccountIsKept) {
  ProfileRecorder recording;
  {
    Client client = daemon_->Connect().value();
    Environment environment(client);
    const Tensor x = FromValues<float>({1, 2}, Dims{2}, client.device(0));
    EXPECT_THAT((x + x).ToVector<float>(), ElementsAre(2, 4));
    environment.End();
  }
  const Profile run = recording.Finish();
  ASSERT_EQ(run.accounts.size(), 2u) << "and the fixture's";
  EXPECT_EQ(run.accounts[0].account.stats.device_to_host, (Amount{8, 1}));
}

}  // namespace
}  // namespace hlod
