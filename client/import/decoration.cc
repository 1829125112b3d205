// Frontend attributes as they stand; Shardy's meshes and shardings by their text.
#include "client/import/decoration.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/attribute_text.h"
#include "common/base/strings.h"
#include "common/hlo/text/sharding.h"

namespace hlod::stablehlo {
namespace {

// Reads a text from its start on.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

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

// <["x"=2, "y"=4]>, with or without '#sdy.mesh' before it.
Mesh ParseMesh(const std::string& text) {
  Mesh mesh;
  const size_t start = text.find('[');
  if (start == std::string::npos) return mesh;
  mesh.has_order = text.find("device_ids") != std::string::npos;
  Reader reader(std::string_view(text).substr(start + 1));
  while (std::optional<std::string> axis = reader.TakeString()) {
    int64_t size = 0;
    if (!reader.Take("=") || !absl::SimpleAtoi(reader.TakeUntil(",]"), &size) || size < 1) return {};
    mesh.axes.emplace_back(*std::move(axis), size);
    if (!reader.Take(",")) break;
  }
  return mesh;
}

}  // namespace

Meshes MeshesOf(const Program& program) {
  Meshes meshes;
  for (const Operation& operation : program.others) {
    const Attribute* const mesh = Find(operation.attributes, "mesh");
    const Attribute* const name = Find(operation.attributes, "sym_name");
    if (operation.name != "sdy.mesh" || mesh == nullptr || name == nullptr) continue;
    meshes[PlainText(*name)] = ParseMesh(PlainText(*mesh));
  }
  return meshes;
}

std::map<std::string, std::string> ModuleAttributes(const Program& program) {
  std::map<std::string, std::string> attributes;
  if (const AttributeMap* stated = MapOf(Find(program.attributes, "mhlo.frontend_attributes"))) {
    for (const auto& [key, value] : *stated) attributes[key] = PlainText(value);
  }
  std::vector<std::string> meshes;
  for (const auto& [name, mesh] : MeshesOf(program)) {
    meshes.push_back(absl::StrCat(name, " = #sdy.mesh<[",
                                  absl::StrJoin(mesh.axes, ", ",
                                                [](std::string* out, const auto& axis) {
                                                  absl::StrAppend(out, "\"", axis.first, "\"=", axis.second);
                                                }),
                                  "]>"));
  }
  if (!meshes.empty()) attributes["xla.sdy.meshes"] = absl::StrCat("{", absl::StrJoin(meshes, ", "), "}");
  return attributes;
}

std::string OpShardingOf(std::string_view sharding, const Meshes& meshes, size_t rank) {
  const size_t start = sharding.find("<@");
  if (start == std::string_view::npos) return "";
  Reader reader(sharding.substr(start + 2));
  const auto found = meshes.find(reader.TakeUntil(",>"));
  if (found == meshes.end() || found->second.has_order || !reader.Take(",") || !reader.Take("[")) return "";
  const Mesh& mesh = found->second;
  // The axes in the order of the dimensions that they split, then those that nothing is split over.
  std::vector<int64_t> tiles, order;
  for (size_t d = 0; d < rank; ++d) {
    if ((d > 0 && !reader.Take(",")) || !reader.Take("{")) return "";
    tiles.push_back(1);
    while (!reader.Take("}")) {
      if (reader.Take(",")) continue;
      if (reader.Take("?")) continue;  // Open to more.
      const std::optional<std::string> name = reader.TakeString();
      if (!name.has_value() || reader.Take(":")) return "";  // A part of an axis has no simple form.
      size_t axis = 0;
      while (axis < mesh.axes.size() && mesh.axes[axis].first != *name) ++axis;
      if (axis == mesh.axes.size() || std::ranges::count(order, static_cast<int64_t>(axis)) != 0) return "";
      tiles.back() *= mesh.axes[axis].second;
      order.push_back(static_cast<int64_t>(axis));
    }
    if (reader.Take("p")) reader.TakeUntil(",]");  // A priority.
  }
  if (!reader.Take("]")) return "";
  if (order.empty()) {
    absl::StatusOr<std::string> replicated = hlo::ParseSharding("{replicated}", rank);
    return replicated.ok() ? *std::move(replicated) : "";
  }
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
    if (size > (int64_t{1} << 40) / devices) return "";
    devices *= size;
  }
  const bool in_order = std::ranges::is_sorted(order);
  const std::string text =
      absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[",
                   in_order ? absl::StrCat(devices, "]")
                            : absl::StrCat(absl::StrJoin(sizes, ","), "]T(", absl::StrJoin(order, ","), ")"),
                   rest > 1 ? " last_tile_dim_replicate}" : "}");
  absl::StatusOr<std::string> parsed = hlo::ParseSharding(text, rank);
  return parsed.ok() ? *std::move(parsed) : "";
}

void Decoration::Take(const AttributeMap& attributes, const Meshes& meshes, const Type& type) {
  if (attributes.empty()) return;
  if (const AttributeMap* stated = MapOf(Find(attributes, "mhlo.frontend_attributes"))) {
    for (const auto& [key, value] : *stated) frontend_attributes[key] = PlainText(value);
  }
  if (const Attribute* rule = Find(attributes, "sdy.sharding_rule")) {
    frontend_attributes["xla.sdy.sharding_rule"] = PlainText(*rule);
  }
  if (const Attribute* shardy = Find(attributes, "sdy.sharding")) {
    frontend_attributes["xla.sdy.sharding"] = PlainText(*shardy);
    sharding = OpShardingOf(PlainText(*shardy), meshes, type.dims.size());
  }
  if (const Attribute* stated = Find(attributes, "mhlo.sharding")) {
    absl::StatusOr<std::string> parsed = hlo::ParseSharding(PlainText(*stated), type.dims.size());
    if (parsed.ok()) sharding = *std::move(parsed);
  }
}

}  // namespace hlod::stablehlo
