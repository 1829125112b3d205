// One row per break, per line that recompiles, per line that uploads repeatedly, per slow path.
#include "client/report/page/first.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/kinds.h"
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
    rows.Add("graph break",
             absl::StrCat(operation, " ends a graph", row.value.empty() ? "" : " to read ", row.value),
             ToString(row.origin), row.times, row.host_to_device_bytes + row.device_to_host_bytes,
             row.saves_us, Remedy(row.cause));
  }
}

void AddRecompiles(const GraphReport& graphs, Rows& rows) {
  std::map<std::string, Recompiles> lines;
  for (const RecompileRow& row : graphs.recompiles) {
    Recompiles& line = lines[ToString(row.origin)];
    ++line.times;
    line.us += row.compile_us;
    line.last = &row;
  }
  for (const auto& [origin, line] : lines) {
    if (line.times < 2) continue;  // A number that first varies costs one recompile.
    rows.Add("recompile", line.last->why, origin, line.times, 0, line.us, Remedy(line.last->reason));
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
    line.bytes += transfer.value.bytes;
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
  AddRecompiles(graphs, rows);
  AddUploads(run, rows);
  AddSlow(graphs, rows);
  return std::move(rows).Take();
}

}  // namespace hlod::report
