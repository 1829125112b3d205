// The devices of collectives in HLO text: replica groups, pairs of source and target.
#include "absl/strings/str_cat.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/text/forms.h"
#include "common/hlo/text/mesh.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;
using absl::StrAppend;

absl::StatusOr<Dims> ReadBracketed(Lexer& lexer, std::string_view open, std::string_view close) {
  Dims dims;
  RETURN_IF_ERROR(ReadList(lexer, open, close, [&]() -> Status {
    ASSIGN_OR_RETURN(const int64_t value, lexer.Integer());
    dims.push_back(value);
    return OkStatus();
  }));
  return dims;
}

// Reads [groups,size]<=[dims]T(permutation).
Status ReadIota(Lexer& lexer, ReplicaGroups& groups) {
  groups.form = ReplicaGroups::Form::kIota;
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const Dims sizes, ReadBracketed(lexer, "[", "]"));
  if (sizes.size() != 2)
    return lexer.ErrorAt(at, "expected [groups,devices a group], found %d numbers", sizes.size());
  groups.count = sizes[0];
  groups.size = sizes[1];
  RETURN_IF_ERROR(lexer.Expect("<="));
  ASSIGN_OR_RETURN(groups.reshape, ReadBracketed(lexer, "[", "]"));
  if (lexer.Try("T")) {
    ASSIGN_OR_RETURN(groups.transpose, ReadBracketed(lexer, "(", ")"));
    return OkStatus();
  }
  for (size_t d = 0; d < groups.reshape.size(); ++d) groups.transpose.push_back(static_cast<int64_t>(d));
  return OkStatus();
}

void PrintBracketed(const Dims& dims, char open, char close, std::string& out) {
  out += open;
  for (size_t i = 0; i < dims.size(); ++i) StrAppend(&out, i == 0 ? "" : ",", dims[i]);
  out += close;
}

bool IsIdentity(const Dims& permutation) {
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (permutation[d] != static_cast<int64_t>(d)) return false;
  }
  return true;
}

// Reads mesh['x'=2,'y'=4] {'x'}.
Status ReadMeshGroups(Lexer& lexer, ReplicaGroups& groups) {
  groups.form = ReplicaGroups::Form::kMesh;
  xla::MeshAxesReplicaGroupListProto list;
  RETURN_IF_ERROR(ReadMesh(lexer, *list.mutable_mesh()));
  RETURN_IF_ERROR(ReadAxes(lexer, list.mesh(), *list.mutable_axes()));
  groups.mesh = codec::SerializeDeterministic(list);
  return OkStatus();
}

void PrintMeshGroups(const ReplicaGroups& groups, std::string& out) {
  xla::MeshAxesReplicaGroupListProto list;
  if (!list.ParseFromString(groups.mesh)) return;
  StrAppend(&out, MeshText(list.mesh()), " ", AxesText(list.mesh(), list.axes(), ","));
}

}  // namespace

Status Read(Lexer& lexer, ReplicaGroups& value) {
  if (lexer.Peek() == '[') return ReadIota(lexer, value);
  if (lexer.Peek() == 'm') return ReadMeshGroups(lexer, value);
  return ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(value.lists.emplace_back(), ReadDims(lexer));
    return OkStatus();
  });
}

void Print(const ReplicaGroups& value, std::string& out) {
  switch (value.form) {
    case ReplicaGroups::Form::kMesh: return PrintMeshGroups(value, out);
    case ReplicaGroups::Form::kIota:
    case ReplicaGroups::Form::kDeviceListIota:
      PrintBracketed({value.count, value.size}, '[', ']', out);
      out += "<=";
      PrintBracketed(value.reshape, '[', ']', out);
      if (IsIdentity(value.transpose)) return;
      out += 'T';
      PrintBracketed(value.transpose, '(', ')', out);
      return;
    default: break;
  }
  out += '{';
  for (size_t i = 0; i < value.lists.size(); ++i)
    StrAppend(&out, i == 0 ? "" : ",", DimsText(value.lists[i]));
  out += '}';
}

Status Read(Lexer& lexer, std::vector<std::pair<int64_t, int64_t>>& value) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(const Dims pair, ReadDims(lexer));
    if (pair.size() != 2) return lexer.ErrorAt(at, "expected {source,target}, found %d numbers", pair.size());
    value.emplace_back(pair[0], pair[1]);
    return OkStatus();
  });
}

void Print(const std::vector<std::pair<int64_t, int64_t>>& value, std::string& out) {
  out += '{';
  for (size_t i = 0; i < value.size(); ++i)
    StrAppend(&out, i == 0 ? "" : ",", "{", value[i].first, ",", value[i].second, "}");
  out += '}';
}

}  // namespace hlod::hlo::text
