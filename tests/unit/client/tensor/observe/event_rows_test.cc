// The events that observers of a program receive: closes, compiles with their reasons, transfers, waits,
// freed values; and the metrics report.
#include <algorithm>
#include <map>
#include <sstream>
#include <thread>

#include "hlod/observe/account.h"
#include "hlod/observe/events.h"
#include "hlod/observe/metrics.h"
#include "hlod/tensor/tensor_name.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

// Keeps all events.
class Recorder : public Observer {
 public:
  void OnEvent(const Event& event) override {
    EXPECT_FALSE(ToString(event).empty());
    EXPECT_EQ(event.number, events.empty() ? event.number : events.back().number + 1);
    events.push_back(event);
  }
  template <typename T>
  std::vector<T> All() const {
    std::vector<T> found;
    for (const Event& event : events) {
      if (const T* const what = std::get_if<T>(&event.what)) found.push_back(*what);
    }
    return found;
  }
  std::vector<CloseEvent> closes() const { return All<CloseEvent>(); }

  std::vector<Event> events;
};

class EventRows : public TensorTest {};

// Acceptance row GB2.
TEST_F(EventRows, APrintInTheMiddleSplitsTheStepInTwo) {
  Recorder recorder;
  int print_line = 0;
  {
    const Observation observation(recorder);
    const Tensor x = OnDevice({1, 2}, {2});
    const Tensor y = x + x;
    print_line = __LINE__ + 1;
    EXPECT_THAT(y.ToString(), HasSubstr("4"));
    const Tensor z = Exp(y);
    Sync();
  }
  const std::vector<CloseEvent> closes = recorder.closes();
  ASSERT_EQ(closes.size(), 2u);
  EXPECT_EQ(closes[0].cause, TraceCause::kPrint);
  EXPECT_EQ(closes[0].operation, "print");
  EXPECT_EQ(closes[0].origin.line, print_line);
  EXPECT_EQ(closes[1].cause, TraceCause::kSync);
  EXPECT_EQ(closes[1].close, closes[0].close + 1);
  EXPECT_EQ(closes[0].found, ProgramSource::kCompiled);
  EXPECT_EQ(closes[0].nodes, 2) << "x, x + x";
  EXPECT_FALSE(closes[0].program.empty());
  // A single graph would not have written y, which the first graph returns and the second reads.
  ASSERT_EQ(closes[0].outputs.size(), 1u);
  ASSERT_EQ(closes[1].inputs.size(), 1u);
  EXPECT_EQ(closes[0].forced, closes[0].outputs[0].value);
  EXPECT_EQ(closes[1].inputs[0].value, closes[0].outputs[0].value);
  EXPECT_EQ(closes[1].inputs[0].buffer, closes[0].outputs[0].buffer);
  EXPECT_EQ(closes[1].inputs[0].close, closes[0].close);
  EXPECT_EQ(closes[1].inputs[0].bytes, 8);
  EXPECT_EQ(closes[0].inputs[0].close, 0u) << "It was uploaded.";

  const std::vector<ForceEvent> forced = recorder.All<ForceEvent>();
  ASSERT_EQ(forced.size(), 1u);
  EXPECT_EQ(forced[0].close, closes[0].close);
  EXPECT_EQ(forced[0].value.value, closes[0].outputs[0].value);
  const std::vector<TransferEvent> transfers = recorder.All<TransferEvent>();
  ASSERT_EQ(transfers.size(), 2u);
  EXPECT_EQ(transfers[0].cause, Cause::kUpload);
  EXPECT_EQ(transfers[0].value.value, closes[0].inputs[0].value);
  EXPECT_EQ(transfers[1].cause, Cause::kPrint);
  EXPECT_EQ(transfers[1].origin.line, print_line);
  EXPECT_EQ(transfers[1].value.value, closes[0].outputs[0].value);
  EXPECT_EQ(transfers[1].value.close, closes[0].close);
  const std::vector<WaitEvent> waits = recorder.All<WaitEvent>();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].cause, WaitCause::kRead);
  EXPECT_EQ(waits[0].origin.line, print_line);
  // x, y and z were freed at the end of their scope.
  EXPECT_EQ(recorder.All<ValueFreedEvent>().size(), 3u);
  EXPECT_EQ(recorder.All<StepEvent>().size(), 1u);
}

// Acceptance row GB5.
TEST_F(EventRows, TheSameShapesAgainCompileNothing) {
  Recorder recorder;
  {
    const Observation observation(recorder);
    Tensor w = OnDevice({1, 2}, {2});
    for (int step = 0; step < 3; ++step) {
      w += w;
      Sync();
    }
  }
  const std::vector<CloseEvent> closes = recorder.closes();
  ASSERT_EQ(closes.size(), 3u);
  EXPECT_EQ(recorder.All<CompileEvent>().size(), 1u);
  EXPECT_EQ(closes[0].found, ProgramSource::kCompiled);
  for (int i = 1; i < 3; ++i) {
    EXPECT_EQ(closes[i].found, ProgramSource::kRecorded) << i;
    EXPECT_EQ(closes[i].program, closes[0].program);
    EXPECT_EQ(closes[i].step, closes[0].step + static_cast<uint64_t>(i));
    EXPECT_TRUE(closes[i].inputs[0].donated) << "Nothing else holds the old value.";
  }
  std::map<std::string, int> deaths;
  for (const ValueFreedEvent& death : recorder.All<ValueFreedEvent>()) ++deaths[death.how];
  EXPECT_EQ(deaths["donated"], 3);
  EXPECT_EQ(deaths["released"], 1) << "The last one.";
}

// Returns the compiles that `body` causes, with their reasons.
std::vector<CompileEvent> CompilesOf(const std::function<void()>& body) {
  Recorder recorder;
  {
    const Observation observation(recorder);
    body();
  }
  return recorder.All<CompileEvent>();
}

// Acceptance row GB6.
TEST_F(EventRows, AnotherShapeNamesTheParameterAndItsLine) {
  const auto compiles = CompilesOf([&] {
    for (const int64_t rows : {4, 4, 3}) {
      const Tensor batch = Ones({rows, 2}).To(device());
      const Tensor y = Tanh(batch * batch);
      Sync();
    }
  });
  ASSERT_EQ(compiles.size(), 2u);
  EXPECT_EQ(compiles[0].reason, CompileReason::kFirst);
  EXPECT_EQ(compiles[1].reason, CompileReason::kOperation) << "The device makes the ones: no parameter.";
  const auto uploaded = CompilesOf([&] {
    for (const int64_t rows : {4, 3}) {
      const std::vector<float> values(static_cast<size_t>(rows * 2), 1);
      const Tensor batch = FromValues<float>(values, Dims{rows, 2}, device());
      const Tensor y = Sqrt(batch * batch);
      Sync();
    }
  });
  ASSERT_EQ(uploaded.size(), 2u);
  EXPECT_EQ(uploaded[1].reason, CompileReason::kParameter);
  EXPECT_THAT(uploaded[1].why,
              HasSubstr("parameter 0 was f32[4,2], now f32[3,2], made at event_rows_test.cc:"));
  EXPECT_EQ(uploaded[1].nearest, uploaded[0].name);
}

// Acceptance row GB6.
TEST_F(EventRows, AnotherTypeIsAParameter) {
  const auto compiles = CompilesOf([&] {
    const Tensor narrow = OnDevice({1, 2}, {2}).To(kBF16);
    Sync();
    for (const bool wide : {true, false}) {
      const Tensor x = wide ? OnDevice({1, 2}, {2}) : narrow;
      const Tensor y = Cos(x + x);
      Sync();
    }
  });
  ASSERT_EQ(compiles.size(), 3u);
  EXPECT_EQ(compiles[2].reason, CompileReason::kParameter);
  EXPECT_THAT(compiles[2].why, HasSubstr("parameter 0 was f32[2], now bf16[2]"));
}

// Acceptance row GB6.
TEST_F(EventRows, ANumberThatBeginsToVaryWasAConstant) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto compiles = CompilesOf([&] {
    for (const double factor : {1.0, 0.5, 0.25}) {
      const Tensor y = Sin(x * factor);
      Sync();
    }
  });
  ASSERT_EQ(compiles.size(), 2u);
  EXPECT_EQ(compiles[1].reason, CompileReason::kConstant);
  EXPECT_THAT(compiles[1].why, HasSubstr("the constant f32[] 1"));
  EXPECT_THAT(compiles[1].why, HasSubstr("has become parameter 1, f32[]"));
}

// Acceptance row GB6.
TEST_F(EventRows, ResultsInAnotherOrderAndDonations) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto ordered = CompilesOf([&] {
    for (const bool swapped : {false, true}) {
      const Tensor first = swapped ? Sinh(x) : Cosh(x);
      const Tensor second = swapped ? Cosh(x) : Sinh(x);
      Sync();
    }
  });
  ASSERT_EQ(ordered.size(), 2u);
  EXPECT_EQ(ordered[1].reason, CompileReason::kResult);
  EXPECT_THAT(ordered[1].why, HasSubstr("another order"));

  const auto donated = CompilesOf([&] {
    for (const bool keeps : {true, false}) {
      Tensor w = OnDevice({3, 4}, {2});
      const Tensor old = keeps ? w : Tensor();
      w = Tan(w);
      Sync();
    }
  });
  ASSERT_EQ(donated.size(), 2u);
  EXPECT_EQ(donated[1].reason, CompileReason::kDonation);
  EXPECT_THAT(donated[1].why, HasSubstr("parameter 0 is now donated"));
}

// Acceptance row GB7.
TEST_F(EventRows, EveryCauseHasItsEventAndItsLine) {
  struct Case {
    TraceCause cause;
    std::function<void(const Tensor&)> ask;
  };
  const std::vector<Case> cases = {
      {TraceCause::kSync, [](const Tensor&) { Sync(); }},
      {TraceCause::kToHost, [](const Tensor& y) { y.ToHost(); }},
      {TraceCause::kItem, [](const Tensor& y) { Sum(y).Item<float>(); }},
      {TraceCause::kPrint, [](const Tensor& y) { static_cast<void>(y.ToString()); }},
      {TraceCause::kExport, [](const Tensor& y) { y.ToBuffer(); }},
      {TraceCause::kDynamicShape, [](const Tensor& y) { Nonzero(y); }},
      {TraceCause::kHostFunction,
       [](const Tensor& y) { HostFunction("same", [](const std::vector<Tensor>& t) { return t; }, {y}); }},
      {TraceCause::kLimit,
       [](const Tensor& y) {
         const SettingsScope scope({.trace_nodes_max = 4});
         Tensor z = y;
         for (int i = 0; i < 6; ++i) z = z + y;
       }},
  };
  for (const Case& row : cases) {
    Recorder recorder;
    {
      const Observation observation(recorder);
      const Tensor x = OnDevice({1, 2}, {2});
      row.ask(x + x);
      Sync();
    }
    const std::vector<CloseEvent> closes = recorder.closes();
    ASSERT_FALSE(closes.empty());
    EXPECT_EQ(closes[0].cause, row.cause) << Name(row.cause);
    EXPECT_THAT(closes[0].origin.file, HasSubstr("event_rows_test.cc")) << Name(row.cause);
    EXPECT_GT(closes[0].origin.line, 0) << Name(row.cause);
  }
}

// Acceptance row GB7.
TEST_F(EventRows, AThreadsClosesHaveTheirLinesToo) {
  Recorder recorder;
  {
    const Observation observation(recorder);
    std::thread thread([&] {
      const Tensor x = OnDevice({1, 2}, {2});
      (x + x).ToHost();
    });
    thread.join();
  }
  ASSERT_EQ(recorder.closes().size(), 1u);
  EXPECT_GT(recorder.closes()[0].origin.line, 0);
  EXPECT_NE(recorder.events[0].thread, 0u);
}

TEST_F(EventRows, AHostFunctionSaysWhatCrossedForIt) {
  Recorder recorder;
  {
    const Observation observation(recorder);
    const Tensor x = OnDevice({1, 2}, {2});
    HostFunction("halve", [](const std::vector<Tensor>& t) { return std::vector<Tensor>{t[0] * 0.5}; },
                 {x + x});
  }
  const std::vector<HostFunctionEvent> calls = recorder.All<HostFunctionEvent>();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].name, "halve");
  ASSERT_EQ(calls[0].inputs.size(), 1u);
  ASSERT_EQ(calls[0].outputs.size(), 1u);
  EXPECT_EQ(calls[0].inputs[0].close, recorder.closes()[0].close);
  EXPECT_EQ(calls[0].outputs[0].bytes, 8);
  EXPECT_NE(calls[0].outputs[0].buffer, 0u);
}

TEST_F(EventRows, WhatBackwardAloneNeedsIsMarked) {
  Recorder recorder;
  Tensor w = OnDevice({1, 2, 3, 4}, {2, 2});
  w.RequiresGrad_();
  {
    const Observation observation(recorder);
    const Tensor loss = Sum(Exp(MatMul(w, w)));  // Backward() needs the product.
    loss.Item<float>();
    loss.Backward();
    Sync();
  }
  const std::vector<CloseEvent> closes = recorder.closes();
  ASSERT_GE(closes.size(), 2u);
  const auto held = std::count_if(closes[0].outputs.begin(), closes[0].outputs.end(),
                                  [](const auto& output) { return output.alive != LiveReason::kTensor; });
  EXPECT_GE(held, 1) << "The read splits forward and backward: something is kept between them.";
  EXPECT_EQ(std::count_if(closes[0].outputs.begin(), closes[0].outputs.end(),
                          [&](const auto& output) { return output.value == closes[0].forced; }),
            1);
}

TEST_F(EventRows, NamesOfTensorsGoIntoTheAccount) {
  Recorder recorder;
  {
    const Observation observation(recorder);
    const TensorName scope("batch");
    OnDevice({1, 2, 3}, {3});
  }
  ASSERT_EQ(recorder.All<TransferEvent>().size(), 1u);
  EXPECT_EQ(recorder.All<TransferEvent>()[0].name, "batch");
  const SessionAccount account = GetAccount(*client_).value();
  ASSERT_EQ(account.transfers.size(), 1u);
  EXPECT_EQ(account.transfers[0].name, "batch");
  const auto sums = AddUp(account.transfers, TransferView::kName);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].key, "batch");
  EXPECT_EQ(sums[0].host_to_device, (Amount{12, 1}));
}

TEST_F(EventRows, AnObserverMayUseTensors) {
  struct Reader : Observer {
    void OnEvent(const Event& event) override {
      if (const auto* const close = std::get_if<CloseEvent>(&event.what); close != nullptr && reads++ < 1)
        (value + value).ToHost();
    }
    Tensor value;
    int reads = 0;
  };
  Reader reader;
  reader.value = OnDevice({1}, {1});
  {
    const Observation observation(reader);
    const Tensor x = OnDevice({1, 2}, {2});
    const Tensor y = x + x;
    Sync();
  }
  EXPECT_EQ(reader.reads, 2) << "The program's close, and the observer's.";
}

TEST_F(EventRows, TheAccountHasRunsAndCompilesByProgramLineAndStep) {
  Tensor w = OnDevice({1, 2}, {2});
  for (int step = 0; step < 3; ++step) {
    w = Exp(w);
    Sync();
  }
  const SessionAccount account = GetAccount(*client_).value();
  EXPECT_EQ(account.stats.executes, 3);
  int64_t count = 0, run_us = 0;
  std::vector<uint64_t> steps;
  for (const RunRow& row : account.runs) {
    count += row.count;
    run_us += row.run.sum_us;
    steps.push_back(row.step);
    EXPECT_THAT(row.origin.file, HasSubstr("event_rows_test.cc"));
    EXPECT_LE(row.run.min_us, row.run.max_us);
    EXPECT_GE(row.peak_bytes, 8);
  }
  std::sort(steps.begin(), steps.end());
  EXPECT_THAT(steps, ElementsAre(0, 1, 2));
  EXPECT_EQ(count, account.stats.executes);
  EXPECT_EQ(run_us, account.stats.execute_us);
  EXPECT_EQ(account.samples.size(), 3u);
  const auto programs = AddUp(account.runs, RunView::kProgram);
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].count, 3);
}

// Acceptance row GB12. The program takes f32[2] and returns f32[2].
TEST_F(EventRows, SizesOfAProgramComeFromTheDaemon) {
  const Tensor x = OnDevice({1, 2}, {2});
  const Tensor y = x + x;
  Sync();
  const SessionAccount account = GetAccount(*client_).value();
  ASSERT_EQ(account.compiles.size(), 1u);
  const CompileRow& row = account.compiles[0];
  EXPECT_EQ(row.argument_bytes, 8);
  EXPECT_EQ(row.output_bytes, 8);
  EXPECT_EQ(row.alias_bytes, 0);
  EXPECT_GE(row.temporary_bytes, 0);
  EXPECT_GT(row.code_bytes, 0);
  EXPECT_GT(row.program_bytes, 0);
  EXPECT_EQ(row.outcome, CompileOutcome::kCompiled);
  EXPECT_EQ(row.reason, CompileReason::kFirst);
  EXPECT_THAT(row.why, HasSubstr("nothing like it"));
  EXPECT_EQ(row.digest, account.runs.at(0).digest);
}

// Parses the report into name -> "TotalSamples" or "Value".
std::map<std::string, std::map<std::string, std::string>> Parsed(const std::string& report) {
  std::map<std::string, std::map<std::string, std::string>> parsed;
  std::istringstream in(report);
  std::string name;
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    if (line.starts_with("  ")) parsed[name][line.substr(2, colon - 2)] = line.substr(colon + 2);
    else name = line.substr(colon + 2);
  }
  return parsed;
}

// Acceptance row GB10.
TEST_F(EventRows, TheReportHasUpstreamsNamesAndCanBeReadBack) {
  ClearMetrics();
  ClearCounters();
  EXPECT_EQ(GetMetric("OutboundData"), std::nullopt);
  EXPECT_EQ(GetCounter("MarkStep"), std::nullopt);
  EXPECT_EQ(GetMetric("no such metric"), std::nullopt);
  Tensor w = OnDevice({1, 2, 3}, {3});
  for (int step = 0; step < 4; ++step) {
    w = Exp(w);
    Sync();
  }
  w.ToHost();
  const auto parsed = Parsed(MetricsReport());
  EXPECT_EQ(parsed.at("OutboundData").at("TotalSamples"), "1");
  EXPECT_EQ(parsed.at("OutboundData").at("Accumulator"), "12.00B");
  EXPECT_EQ(parsed.at("InboundData").at("Accumulator"), "12.00B");
  EXPECT_EQ(parsed.at("TransferToDeviceTime").at("TotalSamples"), "1");
  EXPECT_EQ(parsed.at("TransferFromDeviceTime").at("TotalSamples"), "1");
  EXPECT_EQ(parsed.at("CompileTime").at("TotalSamples"), "1");
  EXPECT_EQ(parsed.at("ExecuteTime").at("TotalSamples"), "4");
  EXPECT_EQ(parsed.at("MarkStep").at("Value"), "4");
  EXPECT_EQ(parsed.at("UncachedCompile").at("Value"), "1");
  EXPECT_EQ(parsed.at("CachedCompile").at("Value"), "3");
  EXPECT_THAT(parsed.at("ExecuteTime").at("Percentiles"), HasSubstr("99%="));
  EXPECT_THAT(parsed.at("OutboundData").at("Percentiles"), HasSubstr("1%=12.00B; 5%=12.00B"));
  // The same metrics as data, by hlod's names.
  const std::optional<MetricData> bytes = GetMetric("host_to_device_bytes");
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->total_samples, 1);
  EXPECT_EQ(bytes->accumulator, 12);
  EXPECT_EQ(bytes->Percentile(0.5), 12);
  EXPECT_EQ(GetCounter("steps"), 4);
  EXPECT_EQ(GetMetric("ExecuteTime")->accumulator, static_cast<double>(Account().execute_us));
  EXPECT_THAT(ShortMetricsReport(), HasSubstr("Counter: MarkStep\n  Value: 4\n"));
  ClearMetrics();
  ClearCounters();
  EXPECT_EQ(GetMetric("ExecuteTime"), std::nullopt);
  EXPECT_EQ(GetCounter("MarkStep"), std::nullopt);
}

}  // namespace
}  // namespace hlod
