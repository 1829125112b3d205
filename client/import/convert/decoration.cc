// Copies frontend attributes; parses Shardy's meshes and shardings from their text.
#include "client/import/convert/decoration.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/program/attribute_text.h"
#include "common/base/text/strings.h"
#include "common/hlo/text/sharding.h"

namespace hlod::stablehlo {

Meshes MeshesOf(const Program& program) {
  Meshes meshes;
  for (const Operation& operation : program.others) {
    const Attribute* const mesh = Find(operation.attributes, "mesh");
    const Attribute* const name = Find(operation.attributes, "sym_name");
    if (operation.name != "sdy.mesh" || mesh == nullptr || name == nullptr) continue;
    meshes[PlainText(*name)] = hlo::ParseMesh(PlainText(*mesh));
  }
  return meshes;
}

std::map<std::string, std::string> ModuleAttributes(const Program& program) {
  std::map<std::string, std::string> attributes;
  if (const AttributeMap* stated = MapOf(Find(program.attributes, "mhlo.frontend_attributes"))) {
    for (const auto& [key, value] : *stated) attributes[key] = PlainText(value);
  }
  std::vector<std::string> meshes;
  for (const auto& [name, mesh] : MeshesOf(program))
    meshes.push_back(absl::StrCat(name, " = ", hlo::ToString(mesh)));
  if (!meshes.empty()) attributes["xla.sdy.meshes"] = absl::StrCat("{", absl::StrJoin(meshes, ", "), "}");
  return attributes;
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
    sharding = hlo::OpShardingOf(PlainText(*shardy), meshes, type.dims.size()).value_or("");
  }
  if (const Attribute* stated = Find(attributes, "mhlo.sharding")) {
    absl::StatusOr<std::string> parsed = hlo::ParseSharding(PlainText(*stated), type.dims.size());
    if (parsed.ok()) sharding = *std::move(parsed);
  }
}

}  // namespace hlod::stablehlo
