// Text word by word.
#include "common/hlo/text/shardy.h"

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/strings.h"
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
  // "name", or nothing.
  std::optional<std::string> TakeString() {
    if (!Take("\"")) return std::nullopt;
    const size_t end = text_.find('"');
    if (end == std::string_view::npos) return std::nullopt;
    std::string name(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return name;
  }
  // What stands before one of `ends`.
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

std::optional<std::string> OpShardingOf(std::string_view sharding, const Meshes& meshes, size_t rank,
                                        const std::vector<std::string>* axes) {
  const size_t start = sharding.find("<@");
  if (start == std::string_view::npos) return std::nullopt;
  ShardyReader reader(sharding.substr(start + 2));
  const auto found = meshes.find(reader.TakeUntil(",>"));
  if (found == meshes.end() || !found->second.devices.empty() || !reader.Take(",") || !reader.Take("["))
    return std::nullopt;
  const Mesh& mesh = found->second;
  // The axes in the order of the dimensions that they split, then those that nothing is split over.
  std::vector<int64_t> tiles, order;
  for (size_t d = 0; d < rank; ++d) {
    if ((d > 0 && !reader.Take(",")) || !reader.Take("{")) return std::nullopt;
    tiles.push_back(1);
    while (!reader.Take("}")) {
      if (reader.Take(",")) continue;
      if (reader.Take("?")) continue;  // Open to more.
      const std::optional<std::string> name = reader.TakeString();
      if (!name.has_value() || reader.Take(":"))
        return std::nullopt;  // A part of an axis has no simple form.
      if (axes != nullptr && std::ranges::count(*axes, *name) == 0) continue;
      size_t axis = 0;
      while (axis < mesh.axes.size() && mesh.axes[axis].first != *name) ++axis;
      if (axis == mesh.axes.size() || std::ranges::count(order, static_cast<int64_t>(axis)) != 0)
        return std::nullopt;
      tiles.back() *= mesh.axes[axis].second;
      order.push_back(static_cast<int64_t>(axis));
    }
    if (reader.Take("p")) reader.TakeUntil(",]");  // A priority.
  }
  if (!reader.Take("]")) return std::nullopt;
  if (order.empty()) return "";
  int64_t rest = 1;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (std::ranges::count(order, static_cast<int64_t>(axis)) != 0) continue;
    rest *= mesh.axes[axis].second;
    order.push_back(static_cast<int64_t>(axis));
  }
  if (rest > 1) tiles.push_back(rest);
  std::vector<int64_t> sizes;
  int64_t devices = 1;
  for (const auto& [name, size] : mesh.axes) {
    sizes.push_back(size);
    if (size > (int64_t{1} << 40) / devices) return std::nullopt;
    devices *= size;
  }
  const bool in_order = std::ranges::is_sorted(order);
  const std::string text =
      absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[",
                   in_order ? absl::StrCat(devices, "]")
                            : absl::StrCat(absl::StrJoin(sizes, ","), "]T(", absl::StrJoin(order, ","), ")"),
                   rest > 1 ? " last_tile_dim_replicate}" : "}");
  absl::StatusOr<std::string> parsed = ParseSharding(text, rank);
  return parsed.ok() ? std::optional<std::string>(*std::move(parsed)) : std::nullopt;
}

}  // namespace hlod::hlo
