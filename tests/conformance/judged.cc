// Reads judged.csv.
#include "tests/conformance/judged.h"

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/system/file.h"
#include "tests/support/source_dir.h"

namespace hlod::testing {

std::vector<Judged> ReadJudged(std::string_view corpus) {
  const std::string text =
      ReadFile((SourceDir() / "tests/conformance" / corpus / "judged.csv").string()).value();
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  const std::vector<std::string> columns = absl::StrSplit(lines[0], ',');
  std::vector<Judged> rows;
  for (size_t line = 1; line < lines.size(); ++line) {
    const std::vector<std::string> cells = absl::StrSplit(lines[line], ',');
    Judged row{.name = cells[0]};
    for (size_t column = 1; column < columns.size(); ++column) {
      const bool is_number = absl::SimpleAtod(cells[column], &row.values[columns[column]]);
      if (!is_number) std::abort();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hlod::testing
