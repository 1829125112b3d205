// Reads Shardy's text word by word.
#include "common/hlo/text/shardy.h"

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/arithmetic.h"
#include "common/base/text/strings.h"
#include "common/hlo/collectives/mesh_groups.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/text/sharding.h"

namespace hlod::hlo {
namespace {

// Reads a text from its start on.
class ShardyReader {
 public:
  explicit ShardyReader(std::string_view text) : text_(text) {}

  bool Take(std::string_view word) {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  // Reads "name"; returns nullopt when no string follows.
  std::optional<std::string> TakeString() {
    if (!Take("\"")) return std::nullopt;
    const size_t end = text_.find('"');
    if (end == std::string_view::npos) return std::nullopt;
    std::string name(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return name;
  }
  // Returns the text up to one of `ends`.
  std::string TakeUntil(std::string_view ends) {
    const size_t end = std::min(text_.find_first_of(ends), text_.size());
    std::string word(text_.substr(0, end));
    text_.remove_prefix(end);
    return word;
  }

 private:
  std::string_view text_;
};

}  // namespace

Mesh ParseMesh(std::string_view text) {
  Mesh mesh;
  const size_t start = text.find('[');
  if (start == std::string_view::npos) return mesh;
  ShardyReader reader(text.substr(start + 1));
  while (std::optional<std::string> axis = reader.TakeString()) {
    int64_t size = 0;
    if (!reader.Take("=") || !absl::SimpleAtoi(reader.TakeUntil(",]"), &size) || size < 1) return {};
    mesh.axes.emplace_back(*std::move(axis), size);
    if (!reader.Take(",")) break;
  }
  if (!reader.Take("]") || !reader.Take(",") || !reader.Take("device_ids") || !reader.Take("=") ||
      !reader.Take("[")) {
    return mesh;
  }
  int64_t device = 0;
  while (reader.Take("") && absl::SimpleAtoi(reader.TakeUntil(",]"), &device)) {
    mesh.devices.push_back(device);
    if (!reader.Take(",")) break;
  }
  return mesh;
}

std::string ToString(const Mesh& mesh) {
  const auto axis_text = [](std::string* out, const auto& axis) {
    absl::StrAppend(out, "\"", axis.first, "\"=", axis.second);
  };
  return absl::StrCat(
      "#sdy.mesh<[", absl::StrJoin(mesh.axes, ", ", axis_text), "]",
      mesh.devices.empty() ? "" : absl::StrCat(", device_ids=[", absl::StrJoin(mesh.devices, ", "), "]"),
      ">");
}

Meshes ParseMeshes(std::string_view text) {
  Meshes meshes;
  ShardyReader reader(text);
  reader.Take("{");
  while (true) {
    reader.Take("");
    std::string name = reader.TakeUntil(" =");
    if (name.empty() || !reader.Take("=")) return meshes;
    meshes[std::move(name)] = ParseMesh(reader.TakeUntil(">"));
    if (!reader.Take(">") || !reader.Take(",")) return meshes;
  }
}

std::vector<std::string_view> SplitShardings(std::string_view text) {
  std::vector<std::string_view> shardings;
  for (size_t start = text.find("<@"); start != text.npos;) {
    const size_t next = text.find("<@", start + 1);
    shardings.push_back(text.substr(start, next - start));
    start = next;
  }
  return shardings;
}

std::vector<std::string> AxisNames(std::string_view text) {
  std::vector<std::string> names;
  ShardyReader reader(text);
  reader.TakeUntil("\"");
  while (std::optional<std::string> name = reader.TakeString()) {
    names.push_back(*std::move(name));
    reader.TakeUntil("\"");
  }
  return names;
}

namespace {

// The axes that split an array: the number of tiles per dimension, and the axes in the order in which they
// split them.
struct Split {
  std::vector<int64_t> tiles;
  xla::MeshAxesReplicaGroupListProto axes;  // The axes, together with the mesh.
};

void WriteMesh(const Mesh& mesh, xla::MeshProto& to) {
  for (const auto& [name, size] : mesh.axes) {
    xla::MeshProto::MeshAxis& axis = *to.add_axes();
    axis.set_name(name);
    axis.set_size(size);
  }
  to.mutable_device_ids()->Assign(mesh.devices.begin(), mesh.devices.end());
}

// Reads the part after the name in "x" or "x":(2)4, where 2 is the product of the sizes before the part and 4
// its size. Returns the size; 0 when `name` is not an axis of the mesh.
int64_t TakeAxis(ShardyReader& reader, const std::string& name, const Mesh& mesh, xla::AxisRefProto& axis) {
  size_t index = 0;
  while (index < mesh.axes.size() && mesh.axes[index].first != name) ++index;
  if (index == mesh.axes.size()) return 0;
  axis.set_mesh_axis_index(static_cast<int64_t>(index));
  if (!reader.Take(":")) return mesh.axes[index].second;
  int64_t before = 0, size = 0;
  if (!reader.Take("(") || !absl::SimpleAtoi(reader.TakeUntil(")"), &before) || !reader.Take(")") ||
      !absl::SimpleAtoi(reader.TakeUntil(",}"), &size)) {
    return 0;
  }
  axis.mutable_sub_axis_info()->set_pre_size(before);
  axis.mutable_sub_axis_info()->set_size(size);
  return size;
}

std::optional<Split> TakeSplit(ShardyReader& reader, const Mesh& mesh, size_t rank,
                               const std::vector<std::string>* axes) {
  Split split;
  WriteMesh(mesh, *split.axes.mutable_mesh());
  if (!reader.Take("[")) return std::nullopt;
  for (size_t d = 0; d < rank; ++d) {
    if ((d > 0 && !reader.Take(",")) || !reader.Take("{")) return std::nullopt;
    split.tiles.push_back(1);
    while (!reader.Take("}")) {
      if (reader.Take(",")) continue;
      if (reader.Take("?")) continue;  // Open to further axes.
      const std::optional<std::string> name = reader.TakeString();
      if (!name.has_value()) return std::nullopt;
      xla::AxisRefProto axis;
      const int64_t size = TakeAxis(reader, *name, mesh, axis);
      if (size < 1) return std::nullopt;
      if (axes != nullptr && std::ranges::count(*axes, *name) == 0) continue;
      if (size > (int64_t{1} << 40) / split.tiles.back()) return std::nullopt;
      split.tiles.back() *= size;
      *split.axes.add_axes() = std::move(axis);
    }
    if (reader.Take("p")) reader.TakeUntil(",]");  // Skips a priority.
  }
  return reader.Take("]") ? std::optional(std::move(split)) : std::nullopt;
}

std::string TileText(std::vector<int64_t> tiles, int64_t copies, std::string_view devices) {
  if (copies > 1) tiles.push_back(copies);
  return absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]", ToAbsl(devices),
                      copies > 1 ? " last_tile_dim_replicate}" : "}");
}

// Returns the text of a split by an iota, for whole axes and devices in the mesh's order.
std::optional<std::string> IotaText(const Split& split) {
  const xla::MeshProto& mesh = split.axes.mesh();
  // The axes in the order of the dimensions that they split, then the axes that do not split a dimension.
  std::vector<int64_t> order, sizes;
  for (const xla::AxisRefProto& axis : split.axes.axes()) {
    if (std::ranges::count(order, axis.mesh_axis_index()) != 0) return std::nullopt;
    order.push_back(axis.mesh_axis_index());
  }
  int64_t copies = 1, devices = 1;
  for (int axis = 0; axis < mesh.axes_size(); ++axis) {
    const int64_t size = mesh.axes(axis).size();
    if (size > (int64_t{1} << 40) / devices) return std::nullopt;
    sizes.push_back(size);
    devices *= size;
    if (std::ranges::count(order, axis) != 0) continue;
    copies *= size;
    order.push_back(axis);
  }
  return TileText(split.tiles, copies,
                  std::ranges::is_sorted(order) ? absl::StrCat("<=[", devices, "]")
                                                : absl::StrCat("<=[", absl::StrJoin(sizes, ","), "]T(",
                                                               absl::StrJoin(order, ","), ")"));
}

// Returns the text of a split as a list of devices, in which the copies of each tile are adjacent.
std::optional<std::string> ListText(const Split& split) {
  constexpr int64_t kDevicesMax = 1 << 16;
  const absl::StatusOr<std::vector<Dims>> groups = MeshGroups(split.axes, kDevicesMax);
  if (!groups.ok()) return std::nullopt;
  std::vector<int64_t> devices;
  for (size_t tile = 0; tile < groups->front().size(); ++tile) {
    for (const Dims& group : *groups) devices.push_back(group[tile]);
  }
  return TileText(split.tiles, static_cast<int64_t>(groups->size()), absl::StrJoin(devices, ","));
}

}  // namespace

std::optional<std::string> OpShardingOf(std::string_view sharding, const Meshes& meshes, size_t rank,
                                        const std::vector<std::string>* axes) {
  const size_t start = sharding.find("<@");
  if (start == std::string_view::npos) return std::nullopt;
  ShardyReader reader(sharding.substr(start + 2));
  const auto found = meshes.find(reader.TakeUntil(",>"));
  if (found == meshes.end() || !reader.Take(",")) return std::nullopt;
  const std::optional<Split> split = TakeSplit(reader, found->second, rank, axes);
  if (!split.has_value()) return std::nullopt;
  if (split->axes.axes().empty()) return "";
  const bool in_parts = std::ranges::any_of(
      split->axes.axes(), [](const xla::AxisRefProto& axis) { return axis.has_sub_axis_info(); });
  const std::optional<std::string> text =
      in_parts || !found->second.devices.empty() ? ListText(*split) : IotaText(*split);
  if (!text.has_value()) return std::nullopt;
  absl::StatusOr<std::string> parsed = ParseSharding(*text, rank);
  return parsed.ok() ? std::optional<std::string>(*std::move(parsed)) : std::nullopt;
}

bool IsShare(const Module& module) { return module.entry().name().ends_with("_spmd"); }

int64_t PartitionsToRun(const Module& module) {
  if (!DependsOnPartition(module) && !IsShare(module)) return 1;
  const auto stated = module.config.frontend_attributes.find("xla.sdy.meshes");
  if (module.config.partition_count > 1 || stated == module.config.frontend_attributes.end())
    return module.config.partition_count;
  int64_t most = 1;
  for (const auto& [name, mesh] : ParseMeshes(stated->second)) {
    std::optional<int64_t> devices = 1;
    for (const auto& [axis, size] : mesh.axes) devices = CheckedMultiply(devices.value_or(-1), size);
    most = std::max(most, devices.value_or(1));
  }
  return most;
}

}  // namespace hlod::hlo
