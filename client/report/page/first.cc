// One row per break, per line that recompiles, per line that waits or uploads repeatedly, per slow path.
#include "client/report/page/first.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/report/page/pauses.h"
#include "common/base/kinds.h"
#include "common/base/saturated.h"
#include "common/base/text/strings.h"

namespace hlod::report {
namespace {

constexpr double kLeastShare = 1e-3;

struct Recompiles {
  int64_t times = 0;
  double us = 0;
  const RecompileRow* last = nullptr;
};

struct Uploads {
  int64_t times = 0, bytes = 0;
  double us = 0, first_us = 0;
  std::string name;
};

class Rows {
 public:
  explicit Rows(double wall_us) : wall_us_(wall_us) {}
  void Add(const char* kind, std::string what, std::string origin, int64_t times, int64_t bytes,
           double saves_us, std::string_view remedy) {
    const double share = wall_us_ > 0 ? saves_us / wall_us_ : 0;
    if (share < kLeastShare) return;
    rows_.push_back({{"kind", kind},
                     {"what", std::move(what)},
                     {"origin", std::move(origin)},
                     {"times", times},
                     {"bytes", bytes},
                     {"saves_us", saves_us},
                     {"share", share},
                     {"remedy", remedy}});
  }
  Json Take() && {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Json& a, const Json& b) {
      return a["saves_us"].get<double>() > b["saves_us"].get<double>();
    });
    return std::move(rows_);
  }

 private:
  const double wall_us_;
  Json rows_ = Json::array();
};

void AddBreaks(const GraphReport& graphs, Rows& rows) {
  for (const BreakRow& row : graphs.breaks) {
    const std::string operation = row.operation.empty() ? std::string(Name(row.cause)) : row.operation;
    int64_t bytes = row.host_to_device_bytes;
    AddSaturated(bytes, row.device_to_host_bytes);
    rows.Add("graph break",
             absl::StrCat(operation, " ends a graph", row.value.empty() ? "" : " to read ", row.value),
             ToString(row.origin), row.times, bytes, row.saves_us, Remedy(row.cause));
  }
}

// Returns the recompiles of a line that count. A number of a trace becomes a parameter when it first varies,
// which costs one recompile. Programs without traces have no such parameters.
int64_t LeastRecompiles(const Profile& run) {
  int64_t closes = 0;
  ForEach<CloseEvent>(run, [&](const Event&, const CloseEvent&) { ++closes; });
  return closes == 0 ? 1 : 2;
}

void AddRecompiles(const GraphReport& graphs, const Profile& run, Rows& rows) {
  const int64_t least = LeastRecompiles(run);
  std::map<std::string, Recompiles> lines;
  for (const RecompileRow& row : graphs.recompiles) {
    Recompiles& line = lines[ToString(row.origin)];
    ++line.times;
    line.us += row.compile_us;
    line.last = &row;
  }
  for (const auto& [origin, line] : lines) {
    if (line.times < least) continue;
    rows.Add("recompile", line.last->why, origin, line.times, 0, line.us, Remedy(line.last->reason));
  }
}

// A line that is the end of a graph is a break, with the time that its removal saves.
void AddPauses(const GraphReport& graphs, const Profile& run, Rows& rows) {
  std::set<std::string> breaks;
  for (const BreakRow& row : graphs.breaks) breaks.insert(LineOf(row.origin));
  for (const PauseRow& row : PausesOf(run)) {
    if (row.times < 2 || breaks.contains(row.line)) continue;
    if (row.reads) {
      rows.Add(
          "blocking read", "the program waits for a value of the device", row.line, row.times, row.bytes,
          row.saves_us,
          "Read every few steps, or after the loop and several values at once (jax.device_get, "
          "ToHost()): at each read the program waits for the device, and then the device for the program.");
    } else {
      rows.Add("wait", "the program waits for all that the device has to do", row.line, row.times, 0,
               row.saves_us,
               "Wait once, after the loop: the device goes on while the program prepares its next steps.");
    }
  }
}

// A slow path is more than ten times slower than the normal one, which therefore saves at least nine tenths
// of its time, if the program needs all of it.
void AddSlow(const GraphReport& graphs, Rows& rows) {
  constexpr double kSaved = 0.9;
  for (const SlowRow& row : graphs.slow)
    rows.Add("slow path", row.what, row.line, row.times, 0, kSaved * row.us, row.remedy);
}

// A tensor needs one upload; the later ones of a line may not be needed.
void AddUploads(const Profile& run, Rows& rows) {
  std::map<std::tuple<std::string, std::string>, Uploads> lines;  // The uploads by line and cause.
  ForEach<TransferEvent>(run, [&](const Event&, const TransferEvent& transfer) {
    if (DirectionOf(transfer.cause) != Direction::kHostToDevice) return;
    Uploads& line = lines[{LineOf(transfer.origin), std::string(Name(transfer.cause))}];
    if (line.times++ == 0) line.first_us = transfer.us;
    line.us += transfer.us;
    AddSaturated(line.bytes, transfer.value.bytes);
    if (line.name.empty()) line.name = transfer.name;
  });
  for (const auto& [key, line] : lines) {
    const auto& [origin, cause] = key;
    rows.Add(
        "transfer", absl::StrCat(cause, line.name.empty() ? "" : " of ", line.name, " again and again"),
        origin, line.times, line.bytes, line.us - line.first_us,
        "Move the tensor to the device once, before the loop; hand batches over while the step before runs.");
  }
}

}  // namespace

Json FirstThings(const GraphReport& graphs, const Profile& run) {
  Rows rows(graphs.wall_us);
  AddBreaks(graphs, rows);
  AddRecompiles(graphs, run, rows);
  AddPauses(graphs, run, rows);
  AddUploads(run, rows);
  AddSlow(graphs, rows);
  return std::move(rows).Take();
}

}  // namespace hlod::report
