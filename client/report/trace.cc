// Slices, laid out on tracks.
#include "client/report/trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/report/memory.h"

namespace hlod::report {
namespace {

// Slices of one process of the trace. They are kept until all are there, since those of one track must come
// in order and lie side by side.
class Process {
 public:
  Process(int pid, std::string name) : pid_(pid), name_(std::move(name)) {}

  void Slice(const std::string& track, std::string name, double begin_us, double us, Json args) {
    if (!slices_.contains(track)) order_.push_back(track);
    slices_[track].push_back({std::move(name), begin_us, std::max(us, 0.0), std::move(args)});
  }
  void Instant(const std::string& track, std::string name, double at_us, Json args) {
    Slice(track, std::move(name), at_us, -1, std::move(args));
    slices_[track].back().us = -1;
  }

  void Write(Json& events) {
    if (order_.empty()) return;
    events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", pid_}, {"args", {{"name", name_}}}});
    int tid = 0;
    for (const std::string& track : order_) {
      std::vector<Slice_>& all = slices_[track];
      std::stable_sort(all.begin(), all.end(),
                       [](const Slice_& a, const Slice_& b) { return a.begin_us < b.begin_us; });
      std::vector<double> free_at;  // Of each lane.
      std::vector<int> lanes;
      for (Slice_& slice : all) {
        size_t lane = 0;
        while (lane < free_at.size() && free_at[lane] > slice.begin_us) ++lane;
        if (lane == free_at.size()) {
          free_at.push_back(0);
          lanes.push_back(++tid);
          const std::string name = lane == 0 ? track : absl::StrCat(track, " ", lane + 1);
          events.push_back({{"ph", "M"},
                            {"name", "thread_name"},
                            {"pid", pid_},
                            {"tid", lanes[lane]},
                            {"args", {{"name", name}}}});
          events.push_back({{"ph", "M"},
                            {"name", "thread_sort_index"},
                            {"pid", pid_},
                            {"tid", lanes[lane]},
                            {"args", {{"sort_index", lanes[lane]}}}});
        }
        free_at[lane] = slice.begin_us + std::max(slice.us, 0.0);
        Json event = {{"ph", slice.us < 0 ? "i" : "X"},
                      {"name", slice.name},
                      {"cat", track},
                      {"pid", pid_},
                      {"tid", lanes[lane]},
                      {"ts", slice.begin_us}};
        if (slice.us < 0) {
          event["s"] = "p";
        } else {
          event["dur"] = slice.us;
        }
        event["args"] = std::move(slice.args);
        events.push_back(std::move(event));
      }
    }
  }

 private:
  struct Slice_ {
    std::string name;
    double begin_us = 0, us = 0;  // Negative: an instant.
    Json args;
  };
  const int pid_;
  const std::string name_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<Slice_>> slices_;
};

class Tracks {
 public:
  explicit Tracks(const RunJson& run)
      : start_(run.events.empty() ? 0 : Number(run.events.front(), "at_us")), program_(1, run.program) {}

  void Add(const Json& event) {
    const std::string kind = Text(event, "event"), line = LineOf(event);
    const double end = Number(event, "at_us") - start_, us = Number(event, "us");
    const int64_t step = Integer(event, "step");
    if (kind == "close") AddClose(event, end);
    if (kind == "transfer") {
      const Json& value = Part(event, "value");
      program_.Slice("transfers", Text(event, "cause"), end - us, us,
                     {{"line", line},
                      {"name", Text(event, "name")},
                      {"bytes", Integer(value, "bytes")},
                      {"shape", Text(value, "shape")},
                      {"step", step}});
    }
    if (kind == "wait")
      program_.Slice("waits", Text(event, "cause"), end - us, us, {{"line", line}, {"step", step}});
    if (kind == "host_function")
      program_.Slice("host functions", Text(event, "name"), end - us, us, {{"line", line}});
    if (kind == "compile") {
      program_.Instant("programs sent", Text(event, "name"), end,
                       {{"line", line},
                        {"reason", Text(event, "reason")},
                        {"why", Text(event, "why")},
                        {"program", Text(event, "program")}});
    }
    if (kind == "step") program_.Instant("steps", absl::StrCat("step ", step), end, {{"line", line}});
  }
  void Write(Json& events) { program_.Write(events); }
  double start() const { return start_; }

 private:
  // Its parts follow one another up to the event, which is made when the execute is sent.
  void AddClose(const Json& close, double end) {
    const Json args = {{"line", LineOf(close)},
                       {"cause", Text(close, "cause")},
                       {"operation", Text(close, "operation")},
                       {"close", Integer(close, "close")},
                       {"step", Integer(close, "step")},
                       {"nodes", Integer(close, "nodes")},
                       {"found", Text(close, "found")},
                       {"program", Text(close, "program")},
                       {"arguments", Part(close, "inputs").size()},
                       {"results", Part(close, "outputs").size()}};
    const auto part = [&](const char* track, const char* field) {
      const double us = Number(close, field);
      if (us <= 0) return;
      end -= us;
      const std::string name = Text(close, "name");
      program_.Slice(track, name.empty() ? Text(close, "cause") : name, end, us, args);
    };
    part("send", "send_us");
    part("compile", "compile_us");
    part("lower", "lower_us");
    // Recording is spread over the time since the last close: shown as one slice that ends here.
    const double begin = std::max(end - Number(close, "trace_us"), traced_until_);
    if (end > begin) program_.Slice("trace", Text(close, "operation"), begin, end - begin, args);
    traced_until_ = std::max(traced_until_, end);
  }

  const double start_;
  Process program_;
  double traced_until_ = -1e18;
};

// One run on the daemon, by its clock: it waited from `ready` and ran from `began` to `ended`.
struct Sample {
  double ready = 0, began = 0, ended = 0;
};
std::vector<Sample> SamplesOf(const Json& account) {
  std::vector<Sample> samples;
  for (const Json& row : Part(account, "samples")) {
    const double ended = Number(row, "at_us"), began = ended - Number(row, "run_us");
    samples.push_back({began - Number(row, "queue_us"), began, ended});
  }
  return samples;
}

// From the daemon's clock to the program's, when the session's closes are its executes, one by one.
std::optional<double> OffsetOf(const std::vector<Sample>& samples, int64_t executes,
                               const std::vector<const Json*>& closes) {
  if (samples.empty() || static_cast<int64_t>(closes.size()) != executes || samples.size() > closes.size())
    return std::nullopt;
  // No run begins before its execute was sent.
  std::optional<double> offset;
  const size_t first = closes.size() - samples.size();
  for (size_t i = 0; i < samples.size(); ++i) {
    const double later = Number(*closes[first + i], "at_us") - samples[i].ready;
    offset = std::max(offset.value_or(later), later);
  }
  return offset;
}

void AddDaemon(const RunJson& run, const Json& account, double start, int pid, Json& events) {
  const int64_t session = Integer(account, "account");
  std::vector<const Json*> closes;
  for (const Json& event : run.events) {
    if (Text(event, "event") == "close" && Integer(event, "session") == session &&
        Integer(event, "command") != 0 && !event.contains("status")) {
      closes.push_back(&event);
    }
  }
  const std::vector<Sample> samples = SamplesOf(account);
  const std::optional<double> offset = OffsetOf(samples, Integer(Part(account, "stats"), "executes"), closes);
  const double by = offset.has_value() ? *offset - start : 0;
  Process process(pid, absl::StrCat(Text(account, "daemon"), ", session ", session,
                                    offset.has_value() ? "" : " (by the daemon's clock)"));
  for (size_t i = 0; i < samples.size(); ++i) {
    std::string name = "execute";
    Json args = Json::object();
    if (offset.has_value()) {
      const Json& close = *closes[closes.size() - samples.size() + i];
      if (!Text(close, "name").empty()) name = Text(close, "name");
      args = {{"line", LineOf(close)},
              {"close", Integer(close, "close")},
              {"step", Integer(close, "step")},
              {"program", Text(close, "program")}};
    }
    process.Slice("queue", name, samples[i].ready + by, samples[i].began - samples[i].ready, args);
    process.Slice("execute", name, samples[i].began + by, samples[i].ended - samples[i].began, args);
  }
  for (const Json& row : Part(account, "compiles")) {
    if (Flag(row, "others")) continue;
    const double us = Number(row, "compile_us");
    process.Slice("compile", Text(row, "program"), Number(row, "at_us") - us + by, us,
                  {{"line", LineOf(row)},
                   {"reason", Text(row, "reason")},
                   {"why", Text(row, "why")},
                   {"outcome", Text(row, "outcome")},
                   {"program", Text(row, "digest")},
                   {"step", Integer(row, "step")}});
  }
  process.Write(events);
}

// What began before the first event ended counts from 0, too: viewers take no negative times.
void BeginAtZero(Json& events) {
  double first = 0;
  for (const Json& event : events) {
    if (event.contains("ts")) first = std::min(first, event["ts"].get<double>());
  }
  for (Json& event : events) {
    if (event.contains("ts")) event["ts"] = event["ts"].get<double>() - first;
  }
}

}  // namespace

Json MakeTrace(const RunJson& run) {
  Json events = Json::array();
  Tracks tracks(run);
  for (const Json& event : run.events) tracks.Add(event);
  tracks.Write(events);
  for (const MemoryPoint& point : MemoryOf(run).points) {
    events.push_back({{"ph", "C"},
                      {"name", "device memory"},
                      {"pid", 1},
                      {"ts", point.at_us - tracks.start()},
                      {"args", {{"bytes", point.bytes()}}}});
  }
  int pid = 1;
  for (const Json& account : run.accounts) AddDaemon(run, account, tracks.start(), ++pid, events);
  BeginAtZero(events);
  return {{"displayTimeUnit", "ms"},
          {"otherData", {{"program", run.program}, {"started", run.started}}},
          {"traceEvents", std::move(events)}};
}

}  // namespace hlod::report
