// Lays slices out on tracks.
#include "client/report/page/trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/kinds.h"
#include "hlod/tensor/trace.h"

namespace hlod::report {
namespace {

// Collects the slices of one process by track. They are kept until all are known, since the slices of one
// track must come in order and not overlap.
class Slices {
 public:
  void Add(const std::string& track, TraceSlice slice) {
    if (!slices_.contains(track)) order_.push_back(track);
    slice.us = std::max(slice.us, 0.0);
    slices_[track].push_back(std::move(slice));
  }

  std::vector<TraceTrack> Take() && {
    std::vector<TraceTrack> tracks;
    for (const std::string& name : order_) {
      std::vector<TraceSlice>& all = slices_[name];
      std::stable_sort(all.begin(), all.end(),
                       [](const TraceSlice& a, const TraceSlice& b) { return a.begin_us < b.begin_us; });
      const size_t first = tracks.size();
      std::vector<double> free_at;  // The times at which lanes become free.
      for (TraceSlice& slice : all) {
        size_t lane = 0;
        while (lane < free_at.size() && free_at[lane] > slice.begin_us) ++lane;
        if (lane == free_at.size()) {
          free_at.push_back(0);
          tracks.push_back({name, static_cast<int>(lane), {}});
        }
        free_at[lane] = slice.begin_us + slice.us;
        tracks[first + lane].slices.push_back(std::move(slice));
      }
    }
    return tracks;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<TraceSlice>> slices_;
};

// Collects the tracks of the program.
class ProgramTracks {
 public:
  explicit ProgramTracks(const Profile& run) : start_(StartOf(run)) {
    for (const Event& event : run.events) {
      end_ = event.at_us - start_;
      std::visit([this](const auto& what) { Add(what); }, event.what);
    }
  }
  std::vector<TraceTrack> Take() && { return std::move(slices_).Take(); }

 private:
  // The parts of a close follow one another up to the event, which is made when the execute is sent.
  void Add(const CloseEvent& close) {
    const Json args = {{"cause", Name(close.cause)},
                       {"operation", close.operation},
                       {"close", close.close},
                       {"nodes", close.nodes},
                       {"found", Name(close.found)},
                       {"program", close.program},
                       {"arguments", close.inputs.size()},
                       {"results", close.outputs.size()}};
    const std::string line = LineOf(close.origin);
    double end = end_;
    const auto part = [&](const char* track, double us) {
      if (us <= 0) return;
      end -= us;
      slices_.Add(track, {.name = close.name.empty() ? std::string(Name(close.cause)) : close.name,
                          .begin_us = end,
                          .us = us,
                          .line = line,
                          .step = close.step,
                          .args = args});
    };
    part("send", close.send_us);
    part("compile", close.compile_us);
    part("lower", close.lower_us);
    // Recording is spread over the time since the last close; it is shown as one slice that ends here.
    const double begin = std::max(end - close.trace_us, traced_until_);
    if (end > begin) {
      slices_.Add("trace", {.name = close.operation,
                            .begin_us = begin,
                            .us = end - begin,
                            .line = line,
                            .step = close.step,
                            .args = args});
    }
    traced_until_ = std::max(traced_until_, end);
  }
  void Add(const TransferEvent& transfer) {
    AddEnded("transfers", std::string(Name(transfer.cause)), transfer.us, transfer.origin, transfer.step,
             {{"name", transfer.name},
              {"bytes", transfer.value.bytes},
              {"shape", hlo::ToStringNoLayout(transfer.value.shape)}});
  }
  void Add(const WaitEvent& wait) {
    AddEnded("waits", std::string(Name(wait.cause)), wait.us, wait.origin, wait.step, Json::object());
  }
  void Add(const HostFunctionEvent& call) {
    AddEnded("host functions", call.name, call.us, call.origin, 0, Json::object());
  }
  void Add(const CompileEvent& compile) {
    AddInstant("programs sent", compile.name, compile.origin, compile.step,
               {{"reason", Name(compile.reason)}, {"why", compile.why}, {"program", compile.program}});
  }
  void Add(const StepEvent& step) {
    AddInstant("steps", absl::StrCat("step ", step.step), step.origin, step.step, Json::object());
  }
  void Add(const ForceEvent&) {}
  void Add(const ValueFreedEvent&) {}
  void Add(const SlowEvent&) {}

  // Adds a period of `us` that ends at the event.
  void AddEnded(const char* track, std::string name, double us, const Origin& origin, uint64_t step,
                Json args) {
    slices_.Add(track, {.name = std::move(name),
                        .begin_us = end_ - us,
                        .us = us,
                        .line = LineOf(origin),
                        .step = step,
                        .args = std::move(args)});
  }
  void AddInstant(const char* track, std::string name, const Origin& origin, uint64_t step, Json args) {
    slices_.Add(track, {.name = std::move(name),
                        .begin_us = end_,
                        .instant = true,
                        .line = LineOf(origin),
                        .step = step,
                        .args = std::move(args)});
  }

  const double start_;
  Slices slices_;
  double end_ = 0;  // The event's time.
  double traced_until_ = -1e18;
};

// One run on the daemon, by its clock: it waited from `ready` and ran from `began` to `ended`.
struct Sample {
  double ready = 0, began = 0, ended = 0;
};
std::vector<Sample> SamplesOf(const SessionAccount& account) {
  std::vector<Sample> samples;
  for (const RunSample& row : account.samples) {
    const auto ended = static_cast<double>(row.at_us), began = ended - static_cast<double>(row.run_us);
    samples.push_back({began - static_cast<double>(row.queue_us), began, ended});
  }
  return samples;
}

// A close and when its event was made.
struct SentClose {
  double at_us = 0;
  const CloseEvent* close = nullptr;
};

// Returns the offset from the daemon's clock to the program's, when the session's closes are its executes,
// one by one.
std::optional<double> OffsetOf(const std::vector<Sample>& samples, int64_t executes,
                               const std::vector<SentClose>& closes) {
  if (samples.empty() || static_cast<int64_t>(closes.size()) != executes || samples.size() > closes.size())
    return std::nullopt;
  // No run begins before its execute was sent.
  std::optional<double> offset;
  const size_t first = closes.size() - samples.size();
  for (size_t i = 0; i < samples.size(); ++i) {
    const double later = closes[first + i].at_us - samples[i].ready;
    offset = std::max(offset.value_or(later), later);
  }
  return offset;
}

TraceProcess DaemonProcess(const Profile& run, const ProfileAccount& session) {
  std::vector<SentClose> closes;
  ForEach<CloseEvent>(run, [&](const Event& event, const CloseEvent& close) {
    if (close.session == session.session && close.command != 0 && close.status.ok())
      closes.push_back({event.at_us, &close});
  });
  const std::vector<Sample> samples = SamplesOf(session.account);
  const std::optional<double> offset = OffsetOf(samples, session.account.stats.executes, closes);
  const double by = offset.has_value() ? *offset - StartOf(run) : 0;
  Slices slices;
  for (size_t i = 0; i < samples.size(); ++i) {
    TraceSlice slice = {.name = "execute", .args = Json::object()};
    if (offset.has_value()) {
      const CloseEvent& close = *closes[closes.size() - samples.size() + i].close;
      if (!close.name.empty()) slice.name = close.name;
      slice.line = LineOf(close.origin);
      slice.step = close.step;
      slice.args = {{"close", close.close}, {"program", close.program}};
    }
    const auto add = [&](const char* track, double from, double to) {
      slice.begin_us = from + by;
      slice.us = to - from;
      slices.Add(track, slice);
    };
    add("queue", samples[i].ready, samples[i].began);
    add("execute", samples[i].began, samples[i].ended);
  }
  for (const CompileRow& row : session.account.compiles) {
    if (row.others) continue;
    const auto us = static_cast<double>(row.compile_us);
    slices.Add("compile", {.name = row.program,
                           .begin_us = static_cast<double>(row.at_us) - us + by,
                           .us = us,
                           .line = LineOf(row.origin),
                           .step = row.step,
                           .args = {{"reason", Name(row.reason)},
                                    {"why", row.why},
                                    {"outcome", Name(row.outcome)},
                                    {"program", row.digest}}});
  }
  return {absl::StrCat(session.daemon, ", session ", session.session,
                       offset.has_value() ? "" : " (by the daemon's clock)"),
          std::move(slices).Take()};
}

// Moves everything to times from 0, also what began before the first event ended, because viewers reject
// negative times.
void BeginAtZero(Trace& trace) {
  double first = 0;
  for (const TraceProcess& process : trace.processes) {
    for (const TraceTrack& track : process.tracks) {
      if (!track.slices.empty()) first = std::min(first, track.slices.front().begin_us);
    }
  }
  for (TraceProcess& process : trace.processes) {
    for (TraceTrack& track : process.tracks) {
      for (TraceSlice& slice : track.slices) slice.begin_us -= first;
    }
  }
  for (MemoryPoint& point : trace.memory) point.at_us -= first;
}

// Appends the event that names a process or thread of the trace.
void AddName(Json& events, const char* what, int pid, std::optional<int> tid, Json args) {
  Json event = {{"ph", "M"}, {"name", what}, {"pid", pid}};
  if (tid.has_value()) event["tid"] = *tid;
  event["args"] = std::move(args);
  events.push_back(std::move(event));
}

void AddSlice(Json& events, const TraceTrack& track, const TraceSlice& slice, int pid, int tid) {
  Json event = {{"ph", slice.instant ? "i" : "X"},
                {"name", slice.name},
                {"cat", track.name},
                {"pid", pid},
                {"tid", tid},
                {"ts", slice.begin_us}};
  if (slice.instant) event["s"] = "p";
  else event["dur"] = slice.us;
  event["args"] = slice.args;
  event["args"]["line"] = slice.line;
  if (slice.step != 0) event["args"]["step"] = slice.step;
  events.push_back(std::move(event));
}

}  // namespace

Trace TraceOf(const Profile& run, const Memory& memory) {
  Trace trace = {.program = run.program, .started = run.started, .memory = memory.points};
  for (MemoryPoint& point : trace.memory) point.at_us -= StartOf(run);
  trace.processes.push_back({run.program, ProgramTracks(run).Take()});
  for (const ProfileAccount& account : run.accounts) trace.processes.push_back(DaemonProcess(run, account));
  BeginAtZero(trace);
  return trace;
}

Json ToJson(const Trace& trace) {
  Json events = Json::array();
  int pid = 0;
  for (const TraceProcess& process : trace.processes) {
    ++pid;
    if (process.tracks.empty()) continue;
    AddName(events, "process_name", pid, std::nullopt, {{"name", process.name}});
    int tid = 0;
    for (const TraceTrack& track : process.tracks) {
      ++tid;
      const std::string name = track.lane == 0 ? track.name : absl::StrCat(track.name, " ", track.lane + 1);
      AddName(events, "thread_name", pid, tid, {{"name", name}});
      AddName(events, "thread_sort_index", pid, tid, {{"sort_index", tid}});
      for (const TraceSlice& slice : track.slices) AddSlice(events, track, slice, pid, tid);
    }
  }
  for (const MemoryPoint& point : trace.memory) {
    events.push_back({{"ph", "C"},
                      {"name", "device memory"},
                      {"pid", 1},
                      {"ts", point.at_us},
                      {"args", {{"bytes", point.bytes()}}}});
  }
  return {{"displayTimeUnit", "ms"},
          {"otherData", {{"program", trace.program}, {"started", trace.started}}},
          {"traceEvents", std::move(events)}};
}

}  // namespace hlod::report
