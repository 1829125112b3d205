// Lays cells out in columns.
#include "client/report/graphs/table.h"

#include <algorithm>
#include <utility>

#include "common/base/text/printable.h"

namespace hlod::report {

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = Printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::ToString() const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      const bool number = !row[i].empty() && (row[i][0] >= '0' && row[i][0] <= '9');
      text += (i == 0 ? "" : "  ") + (number                ? padding + row[i]
                                      : i + 1 == row.size() ? row[i]
                                                            : row[i] + padding);
    }
    text += "\n";
  }
  return text;
}

}  // namespace hlod::report
