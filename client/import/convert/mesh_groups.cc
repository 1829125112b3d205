// Parses the attribute's text, field by field.
#include "client/import/convert/mesh_groups.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/import/text/reader.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/mesh_groups.h"

namespace hlod::stablehlo {
namespace {

using text::Reader;

// Reads "#NAME<", the beginning of a structure.
absl::Status Begin(Reader& reader, std::string_view name) {
  ASSIGN_OR_RETURN(const std::string_view found, reader.NameAfter('#', name));
  if (found != name) return InvalidArgument("Expected #%s, found #%s.", name, found);
  return reader.Expect("<");
}

// Reads the fields of a structure up to its '>'. Calls `read` with the name of each field, after its '='.
template <typename Read>
absl::Status Fields(Reader& reader, Read read) {
  for (bool is_first = true; !reader.Try(">"); is_first = false) {
    if (!is_first) RETURN_IF_ERROR(reader.Expect(","));
    ASSIGN_OR_RETURN(const std::string_view field, reader.BareWord("a field"));
    RETURN_IF_ERROR(reader.Expect("="));
    RETURN_IF_ERROR(read(field));
  }
  return absl::OkStatus();
}

template <typename Read>
absl::Status List(Reader& reader, Read read) {
  RETURN_IF_ERROR(reader.Expect("["));
  for (bool is_first = true; !reader.Try("]"); is_first = false) {
    if (!is_first) RETURN_IF_ERROR(reader.Expect(","));
    RETURN_IF_ERROR(read());
  }
  return absl::OkStatus();
}

absl::Status Unknown(std::string_view structure, std::string_view field) {
  return Unimplemented("The structure %s has an unknown field %s.", structure, field);
}

absl::Status ReadMeshAxis(Reader& reader, xla::MeshProto::MeshAxis& axis) {
  RETURN_IF_ERROR(Begin(reader, "stablehlo.mesh_axis"));
  return Fields(reader, [&](std::string_view field) -> absl::Status {
    if (field == "name") {
      ASSIGN_OR_RETURN(*axis.mutable_name(), reader.String());
    } else if (field == "size") {
      ASSIGN_OR_RETURN(const int64_t size, reader.Integer());
      axis.set_size(size);
    } else {
      return Unknown("mesh_axis", field);
    }
    return absl::OkStatus();
  });
}

absl::Status ReadMesh(Reader& reader, const Meshes& meshes, xla::MeshProto& mesh) {
  if (reader.Peek() != '@') {
    RETURN_IF_ERROR(Begin(reader, "stablehlo.mesh"));
    return Fields(reader, [&](std::string_view field) -> absl::Status {
      if (field != "axes") return Unknown("mesh", field);
      return List(reader, [&] { return ReadMeshAxis(reader, *mesh.add_axes()); });
    });
  }
  ASSIGN_OR_RETURN(const std::string name, reader.SymbolName());
  const auto found = meshes.find(name);
  if (found == meshes.end()) return InvalidArgument("The program has no mesh @%s.", name);
  for (const auto& [axis_name, size] : found->second.axes) {
    xla::MeshProto::MeshAxis& axis = *mesh.add_axes();
    axis.set_name(axis_name);
    axis.set_size(size);
  }
  for (const int64_t device : found->second.devices) mesh.add_device_ids(device);
  return absl::OkStatus();
}

// An axis by its name. Its mesh may follow later in the text.
struct Axis {
  std::string name;
  std::optional<std::pair<int64_t, int64_t>> factor;  // The product of the factors before it, and its size.
};

absl::Status ReadAxis(Reader& reader, Axis& axis) {
  RETURN_IF_ERROR(Begin(reader, "stablehlo.axis_ref"));
  return Fields(reader, [&](std::string_view field) -> absl::Status {
    if (field == "name") {
      ASSIGN_OR_RETURN(axis.name, reader.String());
    } else if (field == "sub_axis_info") {
      RETURN_IF_ERROR(reader.Expect("("));
      ASSIGN_OR_RETURN(const int64_t before, reader.Integer());
      RETURN_IF_ERROR(reader.Expect(")"));
      ASSIGN_OR_RETURN(const int64_t size, reader.Integer());
      axis.factor = {before, size};
    } else {
      return Unknown("axis_ref", field);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<xla::MeshAxesReplicaGroupListProto> Read(std::string_view text, const Meshes& meshes) {
  Reader reader(text);
  xla::MeshAxesReplicaGroupListProto list;
  std::vector<Axis> axes;
  RETURN_IF_ERROR(Begin(reader, "stablehlo.replica_group_mesh_axes"));
  RETURN_IF_ERROR(Fields(reader, [&](std::string_view field) -> absl::Status {
    if (field == "mesh" || field == "mesh_name") return ReadMesh(reader, meshes, *list.mutable_mesh());
    if (field == "axes") return List(reader, [&] { return ReadAxis(reader, axes.emplace_back()); });
    return Unknown("replica_group_mesh_axes", field);
  }));
  for (const Axis& axis : axes) {
    const auto& all = list.mesh().axes();
    const auto found =
        std::ranges::find_if(all, [&](const auto& other) { return other.name() == axis.name; });
    if (found == all.end()) return InvalidArgument("The mesh has no axis \"%s\".", axis.name);
    xla::AxisRefProto& reference = *list.add_axes();
    reference.set_mesh_axis_index(found - all.begin());
    if (!axis.factor.has_value()) continue;
    reference.mutable_sub_axis_info()->set_pre_size(axis.factor->first);
    reference.mutable_sub_axis_info()->set_size(axis.factor->second);
  }
  return list;
}

}  // namespace

absl::StatusOr<hlo::ReplicaGroups> MeshAxesGroups(std::string_view text, const Meshes& meshes) {
  const absl::StatusOr<xla::MeshAxesReplicaGroupListProto> list = Read(text, meshes);
  if (!list.ok()) return Annotate(list.status(), "reading replica_groups");
  hlo::ReplicaGroups groups;
  groups.form = hlo::ReplicaGroups::Form::kMesh;
  groups.mesh = list->SerializeAsString();
  return groups;
}

}  // namespace hlod::stablehlo
