// A vector whose places are close to each other is read by a load and a permutation, each of which takes as
// long as an addition; by a gather it takes ten times that.
#include "server/engine/assemble/view_tables.h"

#include <algorithm>
#include <cstdlib>

#include "server/engine/tile/kernel.h"

namespace hlod::engine::assemble {
namespace {

// The limit on places, which are multiplied by widths in 32 bits.
constexpr int64_t kPlaceMax = int64_t{1} << 26;

bool SameDims(const ViewTable& table, const View& view) {
  const auto same = [](const View::Dimension& a, const View::Dimension& b) {
    return a.size == b.size && a.stride == b.stride;
  };
  return std::equal(table.dims.begin(), table.dims.end(), view.dims.begin(), view.dims.end(), same);
}

std::vector<int32_t> PlacesOf(const View& view, int lanes) {
  std::vector<int32_t> places;
  for (int64_t e = 0; e < view.count; ++e) {
    int64_t rest = e, place = 0;
    for (size_t d = view.dims.size(); d-- > 0;) {
      place += rest % view.dims[d].size * view.dims[d].stride;
      rest /= view.dims[d].size;
    }
    places.push_back(static_cast<int32_t>(place));
  }
  while (places.size() % static_cast<size_t>(lanes) != 0) places.push_back(places.back());
  return places;
}

}  // namespace

bool ViewTables::Fits(const View& view) {
  if (view.count > KernelSlot::kTableElementsMax) return false;
  int64_t farthest = std::abs(view.offset);
  for (const View::Dimension& d : view.dims) {
    if (std::abs(d.stride) > kPlaceMax || d.size > KernelSlot::kTableElementsMax) return false;
    farthest += d.size * std::abs(d.stride);
  }
  return farthest <= kPlaceMax;
}

const ViewTable& ViewTables::Of(const View& view, bool windows) {
  std::list<ViewTable>& tables = tables_[windows ? 1 : 0];
  for (const ViewTable& table : tables) {
    if (SameDims(table, view)) return table;
  }
  ViewTable& table = tables.emplace_back();
  table.dims = view.dims;
  table.count = view.count;
  table.places = PlacesOf(view, lanes_);
  table.places_label = cc_.newLabel();
  if (windows) FindWindows(table);
  return table;
}

void ViewTables::FindWindows(ViewTable& table) const {
  const auto [first, last] = std::minmax_element(table.places.begin(), table.places.end());
  const int32_t least = *first, most = *last;
  int32_t span = 0;
  for (auto vector = table.places.begin(); vector != table.places.end(); vector += lanes_) {
    const auto [low, high] = std::minmax_element(vector, vector + lanes_);
    span = std::max(span, *high - *low);
  }
  if (span >= lanes_) return;
  table.has_windows = true;
  table.window = span + 1;
  table.in_order = true;
  table.starts_label = cc_.newLabel();
  int64_t element = 0;
  for (auto vector = table.places.begin(); vector != table.places.end(); vector += lanes_) {
    const int32_t start = std::clamp(*std::min_element(vector, vector + lanes_), least, most - span);
    table.starts.push_back(start);
    table.starts.resize(table.starts.size() + static_cast<size_t>(lanes_) / sizeof(int32_t) - 1);
    for (int32_t i = 0; i < lanes_; ++i, ++element) {
      vector[i] -= start;
      if (vector[i] != i && element < table.count) table.in_order = false;
    }
  }
}

void ViewTables::Embed() {
  for (const std::list<ViewTable>& tables : tables_) {
    for (const ViewTable& table : tables) {
      cc_.bind(table.places_label);
      cc_.embed(table.places.data(), table.places.size() * sizeof(int32_t));
      if (!table.has_windows) continue;
      cc_.bind(table.starts_label);
      cc_.embed(table.starts.data(), table.starts.size() * sizeof(int32_t));
    }
  }
}

}  // namespace hlod::engine::assemble
