// Formats three or four digits, and a suitable unit.
#include "client/analysis/check/quantity.h"

#include "absl/strings/str_format.h"

namespace hlod::analysis {
namespace {

struct Unit {
  double from;
  const char* name;
};

}  // namespace

std::string BytesText(double bytes) {
  static constexpr Unit kUnits[] = {{1024.0 * 1024 * 1024 * 1024, "TiB"},
                                    {1024.0 * 1024 * 1024, "GiB"},
                                    {1024.0 * 1024, "MiB"},
                                    {1024.0, "KiB"}};
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.from) return absl::StrFormat("%.2f %s", bytes / unit.from, unit.name);
  }
  return absl::StrFormat("%.0f bytes", bytes);
}

std::string SecondsText(double seconds) {
  static constexpr Unit kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const Unit& unit : kUnits) {
    if (seconds >= unit.from) return absl::StrFormat("%.3g %s", seconds / unit.from, unit.name);
  }
  return absl::StrFormat("%.3g ns", seconds * 1e9);
}

std::string CountText(double count) {
  return count < 1e7 ? absl::StrFormat("%.0f", count) : absl::StrFormat("%.4g", count);
}

}  // namespace hlod::analysis
