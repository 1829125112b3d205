// Text of meshes.
#include "client/partition/mesh.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"

namespace hlod::partition {

absl::StatusOr<hlo::Mesh> ParseMesh(std::string_view text) {
  constexpr int64_t kDevicesMax = int64_t{1} << 20;
  hlo::Mesh mesh;
  int64_t devices = 1;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    const std::vector<std::string> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
    std::string name;
    int64_t size = 0;
    if (sides.size() == 2) name = std::string(absl::StripAsciiWhitespace(sides[0]));
    if (name.empty() || !absl::SimpleAtoi(sides[1], &size) || size < 1) {
      return InvalidArgument(
          "The mesh (%s) has the axis (%s); expected names and sizes of at least 1, as in data=4,model=2.",
          text, part);
    }
    if (std::ranges::any_of(mesh.axes, [&](const auto& axis) { return axis.first == name; }))
      return InvalidArgument("The mesh (%s) has the axis %s twice.", text, name);
    if (size > kDevicesMax / devices)
      return InvalidArgument("The mesh (%s) has more than %d devices.", text, kDevicesMax);
    devices *= size;
    mesh.axes.emplace_back(std::move(name), size);
  }
  return mesh;
}

std::string MeshText(const hlo::Mesh& mesh) {
  return absl::StrJoin(mesh.axes, ",", [](std::string* out, const auto& axis) {
    absl::StrAppend(out, axis.first, axis.first.empty() ? "" : "=", axis.second);
  });
}

}  // namespace hlod::partition
