// The longest common subsequence, by the table of its lengths.
#include "client/analysis/torch_xla/line_difference.h"

#include <algorithm>
#include <cstdint>

namespace hlod::analysis::torch_xla {
namespace {

// The maximum number of entries of the table. If it would need more, everything between the common beginning
// and end counts as replaced.
constexpr size_t kTableMax = 4'000'000;

}  // namespace

LineDifference DifferenceOf(const std::vector<std::string>& before, const std::vector<std::string>& after,
                            const std::function<std::string(const std::string&)>& key) {
  std::vector<std::string> a, b;
  for (const std::string& line : before) a.push_back(key(line));
  for (const std::string& line : after) b.push_back(key(line));
  size_t begin = 0, a_end = a.size(), b_end = b.size();
  while (begin < a_end && begin < b_end && a[begin] == b[begin]) ++begin;
  while (a_end > begin && b_end > begin && a[a_end - 1] == b[b_end - 1]) --a_end, --b_end;
  const size_t rows = a_end - begin, columns = b_end - begin;
  // common[i][j] is the number of lines that the remaining texts from i and j have in common.
  const bool fits = rows == 0 || columns < kTableMax / (rows + 1);
  std::vector<uint32_t> common(fits ? (rows + 1) * (columns + 1) : 0, 0);
  const auto at = [&](size_t i, size_t j) -> uint32_t& { return common[i * (columns + 1) + j]; };
  for (size_t i = fits ? rows : 0; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      at(i, j) = a[begin + i] == b[begin + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  LineDifference difference;
  size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (fits && i < rows && j < columns && a[begin + i] == b[begin + j]) {
      ++i, ++j;
    } else if (i < rows && (!fits || j == columns || at(i + 1, j) >= at(i, j + 1))) {
      difference.changes.push_back({/*added=*/false, before[begin + i++]});
    } else {
      difference.changes.push_back({/*added=*/true, after[begin + j++]});
    }
  }
  return difference;
}

}  // namespace hlod::analysis::torch_xla
