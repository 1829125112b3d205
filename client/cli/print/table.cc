// Tables and figures for people.
#include "client/cli/print/table.h"

#include <cstdio>
#include <iterator>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/base/text/printable.h"

namespace hlod::cli {

namespace {

void Write(std::FILE* stream, std::string_view text) {
  const std::string shown = PrintableLines(text);
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

}  // namespace

void Show(std::string_view text) { Write(stdout, text); }
void ShowError(std::string_view text) { Write(stderr, text); }

void Table::Print() const { Show(ToString()); }

std::string N(int64_t n) { return std::to_string(n); }

std::string Bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return absl::StrFormat("%d B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string Seconds(int64_t us) { return absl::FormatDuration(absl::Milliseconds(us / 1000)); }

void PrintTotal(size_t listed, int64_t total) {
  if (total > static_cast<int64_t>(listed)) std::printf("(%s in all)\n", N(total).c_str());
}

}  // namespace hlod::cli
