// A device's number is its coordinates along the axes, the last axis fastest. So an axis divides a dimension
// when the device that is one step along it has another tile there: for <["x"=2, "y"=4]>, device 4 is one
// step along x and device 1 one along y.
#include "client/analysis/mesh/axes.h"

#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/hlo/proto/tiling.h"

namespace hlod::analysis {
namespace {

// Returns the distance of two devices that are one step apart, by axis. Empty for a mesh with devices in an
// order of its own.
std::vector<int64_t> Strides(const hlo::Mesh& mesh) {
  std::vector<int64_t> strides(mesh.axes.size(), 1);
  if (!mesh.devices.empty()) return {};
  for (size_t axis = mesh.axes.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * mesh.axes[axis].second;
  return strides;
}

int64_t Coordinate(int64_t device, int64_t stride, int64_t size) { return device / stride % size; }

}  // namespace

std::string AxisName(const hlo::Mesh& mesh, size_t axis) {
  return mesh.axes[axis].first.empty() ? absl::StrCat("axis ", axis) : mesh.axes[axis].first;
}

AxisSpec SpecOf(std::string_view sharding, size_t rank, const hlo::Mesh& mesh) {
  AxisSpec spec{.dims = std::vector<std::vector<size_t>>(rank)};
  const std::vector<int64_t> strides = Strides(mesh);
  const absl::StatusOr<hlo::Tiling> tiling = hlo::TilingOf(sharding, rank, hlo::DeviceCount(mesh));
  if (!tiling.ok() || strides.empty()) return spec;
  hlo::Dims parts(rank, 1);
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (mesh.axes[axis].second == 1) continue;
    bool divides = false;
    for (size_t dim = 0; dim < rank; ++dim) {
      if (tiling->tiles[static_cast<size_t>(strides[axis])][dim] == tiling->tiles[0][dim]) continue;
      spec.dims[dim].push_back(axis);
      parts[dim] *= mesh.axes[axis].second;
      divides = true;
    }
    if (!divides) spec.replicated.push_back(axis);
  }
  spec.known = parts == tiling->parts;
  // The axis whose step moves furthest along the dimension is the slowest.
  for (size_t dim = 0; dim < rank; ++dim) {
    std::ranges::stable_sort(spec.dims[dim], std::greater<>(), [&](size_t axis) {
      return tiling->tiles[static_cast<size_t>(strides[axis])][dim];
    });
  }
  return spec;
}

std::string ToString(const AxisSpec& spec, const hlo::Mesh& mesh) {
  if (!spec.known) return "";
  const auto name = [&](std::string* out, size_t axis) { out->append(AxisName(mesh, axis)); };
  return absl::StrCat("[",
                      absl::StrJoin(spec.dims, ", ",
                                    [&](std::string* out, const std::vector<size_t>& axes) {
                                      out->append(axes.empty() ? "-" : absl::StrJoin(axes, "+", name));
                                    }),
                      "]");
}

std::vector<size_t> AxesOf(const std::vector<std::vector<int>>& groups, const hlo::Mesh& mesh) {
  const std::vector<int64_t> strides = Strides(mesh);
  if (groups.empty() || strides.empty()) return {};
  std::set<size_t> varies;
  int64_t size = 1;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const auto coordinate = [&](int device) {
      return Coordinate(device, strides[axis], mesh.axes[axis].second);
    };
    const bool differs = std::ranges::any_of(groups, [&](const std::vector<int>& group) {
      return std::ranges::any_of(group,
                                 [&](int device) { return coordinate(device) != coordinate(group.front()); });
    });
    if (!differs) continue;
    varies.insert(axis);
    size *= mesh.axes[axis].second;
  }
  // Devices of a group differ along these axes only; if there are as many as the axes have, it has them all.
  if (std::ranges::any_of(groups, [&](const std::vector<int>& group) {
        return static_cast<int64_t>(group.size()) != size;
      })) {
    return {};
  }
  return {varies.begin(), varies.end()};
}

std::vector<size_t> AxesOfPairs(const std::vector<int>& source_of, const hlo::Mesh& mesh) {
  const std::vector<int64_t> strides = Strides(mesh);
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    for (size_t target = 0; target < source_of.size(); ++target) {
      if (source_of[target] < 0) continue;
      const int64_t size = mesh.axes[axis].second;
      if (Coordinate(static_cast<int64_t>(target), strides[axis], size) ==
          Coordinate(source_of[target], strides[axis], size))
        continue;
      axes.push_back(axis);
      break;
    }
  }
  return axes;
}

}  // namespace hlod::analysis
