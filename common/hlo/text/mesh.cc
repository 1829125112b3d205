// Converts axes, which have names in text and numbers in protos.
#include "common/hlo/text/mesh.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/text/strings.h"
#include "common/hlo/text/internal.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;
using absl::StrAppend;
using absl::StrCat;
using xla::NamedShardingProto;

// Reads 'x y'.
absl::StatusOr<std::string> ReadAxisName(Lexer& lexer) {
  if (lexer.Peek() != '\'') return lexer.Expected("the name of an axis in single quotes");
  return lexer.QuotedUtf8('\'');
}
std::string NameText(const std::string& name) { return StrCat("'", absl::CEscape(name), "'"); }

template <typename Numbers>
Status ReadNumbers(Lexer& lexer, std::string_view open, std::string_view close, Numbers& numbers) {
  return ReadList(lexer, open, close, [&]() -> Status {
    ASSIGN_OR_RETURN(const int64_t number, lexer.Integer());
    numbers.Add(number);
    return OkStatus();
  });
}

// Reads (1,0,3,2) or ([2,2]T(1,0)). An iota that is not transposed is the default and adds no device ids.
Status ReadDeviceIds(Lexer& lexer, xla::MeshProto& mesh) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  RETURN_IF_ERROR(lexer.Expect("("));
  if (lexer.Peek() != '[') {
    lexer.Rewind(at);
    return ReadNumbers(lexer, "(", ")", *mesh.mutable_device_ids());
  }
  xla::MeshProto::IotaTransform iota;
  RETURN_IF_ERROR(ReadNumbers(lexer, "[", "]", *iota.mutable_reshape_dims()));
  if (lexer.Try("T")) {
    RETURN_IF_ERROR(ReadNumbers(lexer, "(", ")", *iota.mutable_transpose_perm()));
    *mesh.mutable_iota_transform() = std::move(iota);
  }
  return lexer.Expect(")");
}

std::string AxisText(const xla::MeshProto& mesh, const xla::AxisRefProto& axis) {
  const auto index = static_cast<int>(axis.mesh_axis_index());
  std::string text = index >= 0 && index < mesh.axes_size() ? NameText(mesh.axes(index).name()) : "''";
  if (axis.has_sub_axis_info())
    StrAppend(&text, ":(", axis.sub_axis_info().pre_size(), ")", axis.sub_axis_info().size());
  return text;
}

Status ReadAxis(Lexer& lexer, const xla::MeshProto& mesh, xla::AxisRefProto& axis) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string name, ReadAxisName(lexer));
  int index = 0;
  while (index < mesh.axes_size() && mesh.axes(index).name() != name) ++index;
  if (index == mesh.axes_size()) return lexer.ErrorAt(at, "the mesh has no axis '%s'", name);
  axis.set_mesh_axis_index(index);
  if (!lexer.Try(":")) return OkStatus();
  RETURN_IF_ERROR(lexer.Expect("("));
  ASSIGN_OR_RETURN(const int64_t before, lexer.Integer());
  RETURN_IF_ERROR(lexer.Expect(")"));
  ASSIGN_OR_RETURN(const int64_t size, lexer.Integer());
  axis.mutable_sub_axis_info()->set_pre_size(before);
  axis.mutable_sub_axis_info()->set_size(size);
  return OkStatus();
}

// Reads {'x', ?}, where ? means that further axes may be added.
Status ReadDimension(Lexer& lexer, const xla::MeshProto& mesh,
                     NamedShardingProto::DimensionSharding& dimension) {
  dimension.set_is_closed(true);
  return ReadList(lexer, "{", "}", [&]() -> Status {
    if (!dimension.is_closed()) return lexer.Expected("'}' after '?'");
    if (lexer.Try("?")) {
      dimension.set_is_closed(false);
      return OkStatus();
    }
    return ReadAxis(lexer, mesh, *dimension.add_axes());
  });
}

// Reads {op_name="x"} or {{...}, {...}}.
Status ReadAllMetadata(Lexer& lexer, NamedShardingProto& sharding) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  RETURN_IF_ERROR(lexer.Expect("{"));
  const bool several = lexer.Peek() == '{';
  lexer.Rewind(at);
  if (!several) return ReadMetadata(lexer, *sharding.add_metadata());
  return ReadList(lexer, "{", "}", [&] { return ReadMetadata(lexer, *sharding.add_metadata()); });
}

// A keyword and its list of axes, which may follow the dimensions, in printing order.
struct Axes {
  std::string_view word;
  AxisRefs* (NamedShardingProto::*mutable_axes)();
  const AxisRefs& (NamedShardingProto::*axes)() const;
};
constexpr Axes kAxes[] = {
    {"replicated", &NamedShardingProto::mutable_replicated_axes, &NamedShardingProto::replicated_axes},
    {"unreduced", &NamedShardingProto::mutable_unreduced_axes, &NamedShardingProto::unreduced_axes},
    {"manual", &NamedShardingProto::mutable_manual_axes, &NamedShardingProto::manual_axes},
};

Status ReadRest(Lexer& lexer, NamedShardingProto& sharding) {
  for (const Axes& row : kAxes) {
    if (!lexer.TryWord(row.word)) continue;
    RETURN_IF_ERROR(lexer.Expect("="));
    return ReadAxes(lexer, sharding.mesh(), *(sharding.*row.mutable_axes)());
  }
  if (!lexer.TryWord("metadata")) return lexer.Expected("replicated, unreduced, manual or metadata");
  RETURN_IF_ERROR(lexer.Expect("="));
  return ReadAllMetadata(lexer, sharding);
}

}  // namespace

Status ReadMesh(Lexer& lexer, xla::MeshProto& mesh) {
  RETURN_IF_ERROR(lexer.Expect("mesh"));
  RETURN_IF_ERROR(ReadList(lexer, "[", "]", [&]() -> Status {
    auto& axis = *mesh.add_axes();
    ASSIGN_OR_RETURN(*axis.mutable_name(), ReadAxisName(lexer));
    RETURN_IF_ERROR(lexer.Expect("="));
    ASSIGN_OR_RETURN(const int64_t size, lexer.Integer());
    axis.set_size(size);
    return OkStatus();
  }));
  const size_t at = lexer.position();
  if (lexer.Try(",") && lexer.TryWord("device_ids")) {
    RETURN_IF_ERROR(lexer.Expect("="));
    return ReadDeviceIds(lexer, mesh);
  }
  lexer.Rewind(at);
  return OkStatus();
}

std::string MeshText(const xla::MeshProto& mesh) {
  if (mesh.axes_size() == 0 && mesh.device_ids_size() == 1)
    return StrCat("maximal_mesh[device_id=", mesh.device_ids(0), "]");
  std::string text = StrCat("mesh[",
                            absl::StrJoin(mesh.axes(), ",",
                                          [](std::string* out, const auto& axis) {
                                            StrAppend(out, NameText(axis.name()), "=", axis.size());
                                          }),
                            "]");
  if (mesh.device_ids_size() > 0) {
    StrAppend(&text, ", device_ids=(", absl::StrJoin(mesh.device_ids(), ","), ")");
  } else if (mesh.has_iota_transform()) {
    StrAppend(&text, ", device_ids=([", absl::StrJoin(mesh.iota_transform().reshape_dims(), ","), "]T(",
              absl::StrJoin(mesh.iota_transform().transpose_perm(), ","), "))");
  }
  return text;
}

Status ReadAxes(Lexer& lexer, const xla::MeshProto& mesh, AxisRefs& axes) {
  return ReadList(lexer, "{", "}", [&] { return ReadAxis(lexer, mesh, *axes.Add()); });
}

std::string AxesText(const xla::MeshProto& mesh, const AxisRefs& axes, std::string_view separator) {
  return StrCat(
      "{",
      absl::StrJoin(axes, ToAbsl(separator),
                    [&](std::string* out, const xla::AxisRefProto& axis) { *out += AxisText(mesh, axis); }),
      "}");
}

bool AtNamedSharding(Lexer& lexer) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  const bool here = lexer.TryWord("mesh") || lexer.TryWord("maximal_mesh");
  lexer.Rewind(at);
  return here;
}

Status ReadNamedSharding(Lexer& lexer, NamedShardingProto& sharding) {
  if (lexer.TryWord("maximal_mesh")) {
    RETURN_IF_ERROR(lexer.Expect("["));
    RETURN_IF_ERROR(lexer.Expect("device_id"));
    RETURN_IF_ERROR(lexer.Expect("="));
    ASSIGN_OR_RETURN(const int64_t device, lexer.Integer());
    sharding.mutable_mesh()->add_device_ids(device);
    return lexer.Expect("]");
  }
  RETURN_IF_ERROR(ReadMesh(lexer, *sharding.mutable_mesh()));
  lexer.Try(",");
  if (lexer.TryWord("replicated")) return OkStatus();
  RETURN_IF_ERROR(ReadList(
      lexer, "[", "]", [&] { return ReadDimension(lexer, sharding.mesh(), *sharding.add_dim_shardings()); }));
  while (lexer.Try(",")) RETURN_IF_ERROR(ReadRest(lexer, sharding));
  return OkStatus();
}

std::string NamedShardingText(const NamedShardingProto& sharding) {
  const xla::MeshProto& mesh = sharding.mesh();
  std::string text = MeshText(mesh);
  if (mesh.axes_size() == 0 && mesh.device_ids_size() == 1) return text;
  bool says_more = sharding.dim_shardings_size() > 0;
  for (const Axes& row : kAxes) says_more = says_more || !(sharding.*row.axes)().empty();
  if (!says_more) {
    text += ", replicated";
  } else {
    text += ", [";
    for (int d = 0; d < sharding.dim_shardings_size(); ++d) {
      const auto& dimension = sharding.dim_shardings(d);
      std::string axes = AxesText(mesh, dimension.axes(), ", ");
      if (!dimension.is_closed()) axes.insert(axes.size() - 1, dimension.axes_size() == 0 ? "?" : ", ?");
      StrAppend(&text, d == 0 ? "" : ", ", axes);
    }
    text += "]";
  }
  for (const Axes& row : kAxes) {
    const AxisRefs& axes = (sharding.*row.axes)();
    if (!axes.empty()) StrAppend(&text, ", ", ToAbsl(row.word), "=", AxesText(mesh, axes, ", "));
  }
  if (sharding.metadata_size() > 0) {
    StrAppend(&text, ", metadata={",
              absl::StrJoin(sharding.metadata(), ", ",
                            [](std::string* out, const auto& one) { *out += MetadataText(one); }),
              "}");
  }
  return text;
}

}  // namespace hlod::hlo::text
