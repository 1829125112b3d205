// Converts meshes, their axes, and shardings by the names of axes to and from HLO text.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/hlo/text/lexer.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::hlo::text {

using AxisRefs = google::protobuf::RepeatedPtrField<xla::AxisRefProto>;

// Reads mesh['x'=2,'y'=4], then an optional ", device_ids=(1,0,...)" or ", device_ids=([4,2]T(1,0))".
absl::Status ReadMesh(Lexer& lexer, xla::MeshProto& mesh);
std::string MeshText(const xla::MeshProto& mesh);

// Reads {'x','y':(2)4}: axes of the mesh, or parts of axes, written as the product of the sizes before the
// part and its size.
absl::Status ReadAxes(Lexer& lexer, const xla::MeshProto& mesh, AxisRefs& axes);
std::string AxesText(const xla::MeshProto& mesh, const AxisRefs& axes, std::string_view separator);

// The text inside a sharding's braces: mesh['x'=2], [{'x', ?}], replicated={...}, unreduced={...},
// manual={...}.
bool AtNamedSharding(Lexer& lexer);
absl::Status ReadNamedSharding(Lexer& lexer, xla::NamedShardingProto& sharding);
std::string NamedShardingText(const xla::NamedShardingProto& sharding);

}  // namespace hlod::hlo::text
