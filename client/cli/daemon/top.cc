// hloctl top: draws the daemon's activity again and again.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "hlod/observe/account.h"

namespace hlod::cli {
namespace {

constexpr size_t kProgramsShown = 10;

struct Frame {
  absl::Time at;
  DaemonStats stats;
  std::vector<DeviceRow> devices;
  std::vector<SessionRow> sessions;
  std::vector<RunSum> programs;  // The programs, sorted by run time.
};

absl::StatusOr<Frame> Take(const Admin& admin, const AccountAdmin& account) {
  Frame frame;
  frame.at = absl::Now();
  ASSIGN_OR_RETURN(frame.stats, admin.Stats());
  ASSIGN_OR_RETURN(frame.devices, admin.Devices());
  ASSIGN_OR_RETURN(frame.sessions, admin.Sessions());
  ASSIGN_OR_RETURN(const AccountRows<RunRow> runs, account.Runs(/*session=*/0, kAccountRowsMax));
  frame.programs = AddUp(runs.rows, RunView::kProgram);
  return frame;
}

// Rates per second since the frame before; "-" in the first frame.
class Rates {
 public:
  Rates(const Frame& now, const std::optional<Frame>& before)
      : seconds_(before.has_value() ? absl::ToDoubleSeconds(now.at - before->at) : 0) {}
  std::string Bytes(int64_t now, std::optional<int64_t> before) const {
    if (!Known(before)) return "-";
    return cli::Bytes(static_cast<int64_t>(static_cast<double>(now - *before) / seconds_)) + "/s";
  }
  std::string Count(int64_t now, std::optional<int64_t> before) const {
    if (!Known(before)) return "-";
    return absl::StrFormat("%.1f/s", static_cast<double>(now - *before) / seconds_);
  }

 private:
  bool Known(std::optional<int64_t> before) const { return before.has_value() && seconds_ > 0; }
  const double seconds_;
};

std::string Draw(const Frame& frame, const std::optional<Frame>& before) {
  const Rates rates(frame, before);
  const SessionStats& now = frame.stats.totals;
  const auto then = [&](auto field) {
    return before.has_value() ? std::optional<int64_t>(field(before->stats.totals)) : std::nullopt;
  };
  std::string text =
      absl::StrFormat("%s, up %s, %d sessions (%d ended)\n", frame.stats.version,
                      Seconds(frame.stats.uptime_us), frame.stats.sessions, frame.stats.sessions_ended);
  for (const DeviceRow& device : frame.devices) {
    absl::StrAppendFormat(&text, "hlod:%d       %s of %s, peak %s, %d buffers, %d placeholders, %d queued\n",
                          device.ordinal, Bytes(device.used_bytes), Bytes(device.capacity_bytes),
                          Bytes(device.peak_bytes), device.buffers, device.placeholders,
                          device.queued_executes);
  }
  Table totals({"", "total", "now"});
  const auto bytes = [&](const char* name, auto field) {
    totals.Add({name, Bytes(field(now)), rates.Bytes(field(now), then(field))});
  };
  const auto count = [&](const char* name, auto field) {
    totals.Add({name, N(field(now)), rates.Count(field(now), then(field))});
  };
  bytes("to device", [](const SessionStats& s) { return s.host_to_device.bytes; });
  bytes("to host", [](const SessionStats& s) { return s.device_to_host.bytes; });
  count("executes", [](const SessionStats& s) { return s.executes; });
  count("compiles", [](const SessionStats& s) { return s.compiles; });
  count("failed commands", [](const SessionStats& s) { return s.failed_commands; });
  text += totals.ToString();

  std::map<uint64_t, const SessionStats*> earlier;
  if (before.has_value()) {
    for (const SessionRow& row : before->sessions) earlier[row.session] = &row.stats;
  }
  Table sessions({"session", "pid", "live", "peak", "to device", "to host", "executes", "client"});
  for (const SessionRow& row : frame.sessions) {
    const auto found = earlier.find(row.session);
    const auto was = [&](auto field) {
      return found == earlier.end() ? std::nullopt : std::optional<int64_t>(field(*found->second));
    };
    sessions.Add({N(static_cast<int64_t>(row.session)), N(row.pid), Bytes(row.stats.live_bytes),
                  Bytes(row.stats.peak_bytes),
                  rates.Bytes(row.stats.host_to_device.bytes,
                              was([](const SessionStats& s) { return s.host_to_device.bytes; })),
                  rates.Bytes(row.stats.device_to_host.bytes,
                              was([](const SessionStats& s) { return s.device_to_host.bytes; })),
                  rates.Count(row.stats.executes, was([](const SessionStats& s) { return s.executes; })),
                  row.client});
  }
  absl::StrAppend(&text, "\n", sessions.ToString());

  Table programs({"program", "executes", "run us", "mean", "most", "queued most", "peak"});
  for (size_t i = 0; i < std::min(kProgramsShown, frame.programs.size()); ++i) {
    const RunSum& sum = frame.programs[i];
    programs.Add({sum.key, N(sum.count), N(sum.run.sum_us), N(sum.run.sum_us / sum.count), N(sum.run.max_us),
                  N(sum.queue.max_us), Bytes(sum.peak_bytes)});
  }
  absl::StrAppend(&text, "\n", programs.ToString());
  return text;
}

Json FrameJson(const Frame& frame) {
  return {{"stats", ToJson(frame.stats)},
          {"devices", ToJson(frame.devices)},
          {"sessions", ToJson(frame.sessions)},
          {"programs", ToJson(frame.programs)}};
}

}  // namespace

absl::Status Top(const CommonOptions& common, const TopOptions& options) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const AccountAdmin account, AccountAdmin::Connect(common.connect));
  const bool redraw = !options.once && !common.json && isatty(STDOUT_FILENO) == 1;
  std::optional<Frame> before;
  for (int frames = 1;; ++frames) {
    ASSIGN_OR_RETURN(Frame frame, Take(admin, account));
    if (common.json) {
      Show(Dump(FrameJson(frame)) + "\n");
    } else {
      // Moves the cursor to the upper left, then erases the screen.
      if (redraw) std::printf("\x1b[H\x1b[J");
      Show(Draw(frame, before));
      if (!options.once && !redraw) std::printf("\n");
    }
    // Stops when no process reads stdout any more.
    if (std::fflush(stdout) != 0 || options.once) return absl::OkStatus();
    if (options.frames > 0 && frames == options.frames) return absl::OkStatus();
    before = std::move(frame);
    absl::SleepFor(absl::Seconds(options.seconds));
  }
}

}  // namespace hlod::cli
