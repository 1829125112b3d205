// Compares ways to trace a step, side by side.
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/report/graphs/table.h"
#include "common/base/saturated.h"
#include "common/base/text/strings.h"
#include "hlod/transform/compare_tracing.h"

namespace hlod {
namespace {

using Json = nlohmann::ordered_json;

struct Total {
  int64_t held = 0, lost = 0, breaks = 0;
};
Total TotalOf(const GraphReport& report) {
  Total total;
  for (const BreakRow& row : report.breaks) {
    total.held = std::max(total.held, row.held_bytes);
    AddSaturated(total.lost, row.fusion_lost_bytes);
    total.breaks += row.times;
  }
  return total;
}

}  // namespace

std::string ToText(const TracingComparison& comparison) {
  const auto n = [](int64_t value) { return absl::StrCat(value); };
  const auto us = [](double value) { return absl::StrCat(std::llround(value)); };
  report::Table table({"way", "captured", "modules", "compiles", "daemon hits", "hits", "executes", "breaks",
                       "to device", "to host", "held", "fusion lost", "trace us", "lower us", "compile us",
                       "queue us", "execute us", "wait us"});
  const TracingProfile* const profiles[] = {&comparison.lazy, &comparison.captured, &comparison.phases};
  for (const TracingProfile* profile : profiles) {
    const GraphReport& r = profile->report;
    const Total total = TotalOf(r);
    table.Add({profile->name, n(profile->captured_graphs), n(profile->modules), n(r.compiles),
               n(r.daemon_hits), n(r.cache_hits), n(r.executes), n(total.breaks), n(r.host_to_device.bytes),
               n(r.device_to_host.bytes), n(total.held), n(total.lost), us(r.times.trace_us),
               us(r.times.lower_us), us(r.times.compile_us), us(r.times.queue_us), us(r.times.execute_us),
               us(r.times.wait_us)});
  }
  std::string text = absl::StrFormat("%d calls in each way\n%s", comparison.calls, table.ToString());
  for (const std::string& why : comparison.why_broken) {
    absl::StrAppend(
        &text, "\nCapture broke, so the function runs at each call and its pieces are reused: ", why, "\n");
  }
  for (const TracingProfile* profile : profiles)
    absl::StrAppend(&text, "\n--- ", profile->name, "\n", ToText(profile->report));
  return text;
}

std::string ToTable(const std::vector<std::pair<std::string, TracingComparison>>& models) {
  const auto n = [](int64_t value) { return absl::StrCat(value); };
  report::Table table({"model", "way", "captured", "modules", "compiles", "executes", "breaks", "to device",
                       "to host", "held", "fusion lost", "client us", "device us", "remove first"});
  for (const auto& [model, comparison] : models) {
    for (const TracingProfile* profile : {&comparison.lazy, &comparison.captured, &comparison.phases}) {
      const GraphReport& r = profile->report;
      const Total total = TotalOf(r);
      table.Add({model, profile->name, n(profile->captured_graphs), n(profile->modules), n(r.compiles),
                 n(r.executes), n(total.breaks), n(r.host_to_device.bytes), n(r.device_to_host.bytes),
                 n(total.held), n(total.lost), n(std::llround(r.times.trace_us + r.times.lower_us)),
                 n(std::llround(r.times.execute_us)),
                 r.breaks.empty()
                     ? "-"
                     : absl::StrCat(ToAbsl(Name(r.breaks[0].cause)), " at ", ToString(r.breaks[0].origin))});
    }
  }
  return table.ToString();
}

std::string ToJson(const TracingComparison& comparison) {
  Json json = {{"calls", comparison.calls}, {"why_broken", comparison.why_broken}};
  for (const TracingProfile* profile : {&comparison.lazy, &comparison.captured, &comparison.phases}) {
    json[profile->name] = {{"captured_graphs", profile->captured_graphs},
                           {"modules", profile->modules},
                           {"report", Json::parse(ToJson(profile->report))}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hlod
