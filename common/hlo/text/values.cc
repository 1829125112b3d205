// Reads and prints the attributes that any instruction may have: metadata, shardings, maps of strings, and
// those that are only passed on.
#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "common/base/text/strings.h"
#include "common/hlo/names/unique_names.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/text/internal.h"
#include "common/hlo/text/mesh.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;
using absl::StrAppend;
using google::protobuf::FieldDescriptor;
using InstructionProto = xla::HloInstructionProto;

// ---- Shardings.

constexpr std::array<std::string_view, 7> kSubgroupWords = {"replicated", "maximal", "",         "",
                                                            "manual",     "unknown", "unreduced"};

absl::StatusOr<int64_t> ReadAssigned(Lexer& lexer) {
  RETURN_IF_ERROR(lexer.Expect("="));
  return lexer.Integer();
}

template <typename Field>
Status ReadNumbers(Lexer& lexer, std::string_view open, std::string_view close, Field* field) {
  return ReadList(lexer, open, close, [&]() -> Status {
    ASSIGN_OR_RETURN(const int64_t value, lexer.Integer());
    field->Add(static_cast<typename Field::value_type>(value));
    return OkStatus();
  });
}

// Reads devices=[2,2]0,1,2,3 or devices=[4,2]<=[2,2,2]T(2,0,1).
Status ReadDevices(Lexer& lexer, xla::OpSharding& sharding) {
  sharding.set_type(xla::OpSharding::OTHER);
  RETURN_IF_ERROR(lexer.Expect("="));
  RETURN_IF_ERROR(ReadNumbers(lexer, "[", "]", sharding.mutable_tile_assignment_dimensions()));
  if (lexer.Try("<=")) {
    RETURN_IF_ERROR(ReadNumbers(lexer, "[", "]", sharding.mutable_iota_reshape_dims()));
    if (sharding.iota_reshape_dims_size() == 0) return lexer.Expected("devices before this");
    if (lexer.Try("T")) return ReadNumbers(lexer, "(", ")", sharding.mutable_iota_transpose_perm());
    for (int i = 0; i < sharding.iota_reshape_dims_size(); ++i) sharding.add_iota_transpose_perm(i);
    return OkStatus();
  }
  do {
    ASSIGN_OR_RETURN(const int64_t device, lexer.Integer());
    sharding.add_tile_assignment_devices(device);
  } while (lexer.Try(","));
  return OkStatus();
}

Status ReadLastTileDims(Lexer& lexer, xla::OpSharding& sharding) {
  RETURN_IF_ERROR(lexer.Expect("="));
  return ReadList(lexer, "{", "}", [&]() -> Status {
    for (size_t i = 0; i < kSubgroupWords.size(); ++i) {
      if (kSubgroupWords[i].empty() || !lexer.TryWord(kSubgroupWords[i])) continue;
      sharding.add_last_tile_dims(static_cast<xla::OpSharding::Type>(i));
      return OkStatus();
    }
    return lexer.Expected("replicated, manual, unreduced or another kind of sharding");
  });
}

Status ReadShardGroup(Lexer& lexer, xla::OpSharding::ShardGroupType type, xla::OpSharding& sharding) {
  sharding.set_is_shard_group(true);
  sharding.set_shard_group_type(type);
  ASSIGN_OR_RETURN(const int64_t id, lexer.Integer());
  sharding.set_shard_group_id(id);
  return OkStatus();
}

Status ReadShardingWord(Lexer& lexer, xla::OpSharding& sharding) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Name());
  if (word == "devices") return ReadDevices(lexer, sharding);
  if (word == "last_tile_dim_replicate") {
    sharding.set_replicate_on_last_tile_dim(true);
    return OkStatus();
  }
  if (word == "last_tile_dims") return ReadLastTileDims(lexer, sharding);
  if (word == "shard_as") return ReadShardGroup(lexer, xla::OpSharding::AS, sharding);
  if (word == "shard_like") return ReadShardGroup(lexer, xla::OpSharding::LIKE, sharding);
  if (word == "device") {
    ASSIGN_OR_RETURN(const int64_t device, ReadAssigned(lexer));
    sharding.add_tile_assignment_devices(device);
    return OkStatus();
  }
  if (word == "metadata") {
    RETURN_IF_ERROR(lexer.Expect("="));
    return ReadMetadata(lexer, *sharding.add_metadata());
  }
  for (size_t i = 0; i < kSubgroupWords.size(); ++i) {
    if (word != kSubgroupWords[i]) continue;
    sharding.set_type(static_cast<xla::OpSharding::Type>(i));
    return OkStatus();
  }
  return lexer.At(at, Unimplemented("sharding has no \"%s\" in this build", word));
}

// Returns true when the sharding's text parses back to the same sharding; it does not when a mesh lacks
// devices, or the sharding names axes that the mesh does not have.
bool ComesBack(const xla::NamedShardingProto& sharding) {
  const std::string text = NamedShardingText(sharding);
  Lexer lexer(text);
  xla::NamedShardingProto read;
  return ReadNamedSharding(lexer, read).ok() && lexer.AtEnd() &&
         codec::SerializeDeterministic(read) == codec::SerializeDeterministic(sharding);
}

bool HasText(const xla::OpSharding& sharding) {
  if (sharding.has_named_sharding()) {
    xla::OpSharding others = sharding;
    others.clear_named_sharding();
    return others.ByteSizeLong() == 0 && ComesBack(sharding.named_sharding());
  }
  if (sharding.has_tile_shape() || sharding.metadata_size() > 1) return false;
  for (const auto& element : sharding.tuple_shardings()) {
    if (!HasText(element)) return false;
  }
  // Tiles without devices have no text form either.
  if (sharding.type() == xla::OpSharding::OTHER) {
    return sharding.tile_assignment_devices_size() != 0 || sharding.iota_reshape_dims_size() != 0;
  }
  return xla::OpSharding::Type_IsValid(sharding.type());
}

void PrintSharding(const xla::OpSharding& sharding, std::string& out) {
  out += '{';
  if (sharding.has_named_sharding()) {
    out += NamedShardingText(sharding.named_sharding());
  } else if (sharding.type() == xla::OpSharding::TUPLE) {
    for (int i = 0; i < sharding.tuple_shardings_size(); ++i) {
      if (i != 0) out += ", ";
      PrintSharding(sharding.tuple_shardings(i), out);
    }
  } else if (sharding.type() == xla::OpSharding::OTHER) {
    StrAppend(&out, "devices=[", absl::StrJoin(sharding.tile_assignment_dimensions(), ","), "]");
    if (sharding.iota_reshape_dims_size() != 0) {
      StrAppend(&out, "<=[", absl::StrJoin(sharding.iota_reshape_dims(), ","), "]");
      bool identity = true;
      for (int i = 0; i < sharding.iota_transpose_perm_size(); ++i)
        identity &= sharding.iota_transpose_perm(i) == i;
      if (!identity) StrAppend(&out, "T(", absl::StrJoin(sharding.iota_transpose_perm(), ","), ")");
    } else {
      StrAppend(&out, absl::StrJoin(sharding.tile_assignment_devices(), ","));
    }
    if (sharding.replicate_on_last_tile_dim()) out += " last_tile_dim_replicate";
    if (sharding.last_tile_dims_size() != 0) {
      out += " last_tile_dims={";
      for (int i = 0; i < sharding.last_tile_dims_size(); ++i) {
        const size_t type = static_cast<size_t>(sharding.last_tile_dims(i));
        StrAppend(&out, i == 0 ? "" : ", ",
                  ToAbsl(type < kSubgroupWords.size() ? kSubgroupWords[type] : "unknown"));
      }
      out += '}';
    }
  } else {
    StrAppend(&out, ToAbsl(kSubgroupWords[sharding.type()]));
    if (sharding.type() == xla::OpSharding::MAXIMAL && sharding.tile_assignment_devices_size() == 1) {
      StrAppend(&out, " device=", sharding.tile_assignment_devices(0));
    }
  }
  if (sharding.is_shard_group()) {
    StrAppend(&out, sharding.shard_group_type() == xla::OpSharding::AS ? " shard_as " : " shard_like ",
              sharding.shard_group_id());
  }
  if (sharding.metadata_size() == 1) StrAppend(&out, " metadata=", MetadataText(sharding.metadata(0)));
  out += '}';
}

// ---- Attributes that are only carried along.

Status ReadParameterReplication(Lexer& lexer, InstructionProto& proto) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(const bool replicated, lexer.Bool());
    proto.mutable_parameter_replication()->add_replicated_at_leaf_buffers(replicated);
    return OkStatus();
  });
}
void PrintParameterReplication(const InstructionProto& proto, std::string& out) {
  const auto& flags = proto.parameter_replication().replicated_at_leaf_buffers();
  if (flags.empty()) return;
  out += '{';
  for (int i = 0; i < flags.size(); ++i) StrAppend(&out, i == 0 ? "" : ",", flags[i] ? "true" : "false");
  out += '}';
}

Status ReadSchedule(Lexer& lexer, InstructionProto& proto) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  xla::CustomCallSchedule schedule;
  if (!xla::CustomCallSchedule_Parse(std::string(word), &schedule)) {
    return lexer.At(at, Unimplemented("schedule \"%s\" is not known to this build", word));
  }
  proto.set_custom_call_schedule(schedule);
  return OkStatus();
}
void PrintSchedule(const InstructionProto& proto, std::string& out) {
  if (proto.custom_call_schedule() != xla::SCHEDULE_NONE &&
      xla::CustomCallSchedule_IsValid(proto.custom_call_schedule())) {
    out += xla::CustomCallSchedule_Name(proto.custom_call_schedule());
  }
}

Status ReadLayoutConstraints(Lexer& lexer, InstructionProto& proto) {
  proto.set_constrain_layout(true);
  return ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(const Shape shape, ReadShape(lexer, kMaxTupleDepth));
    *proto.add_operand_shapes_with_layout() = ToProto(shape);
    return OkStatus();
  });
}
void PrintLayoutConstraints(const InstructionProto& proto, std::string& out) {
  if (!proto.constrain_layout()) return;
  out += '{';
  for (int i = 0; i < proto.operand_shapes_with_layout_size(); ++i) {
    const absl::StatusOr<Shape> shape = FromProto(proto.operand_shapes_with_layout(i));
    StrAppend(&out, i == 0 ? "" : ", ", shape.ok() ? ToString(*shape) : "opaque[]");
  }
  out += '}';
}

// Reads output_to_operand_aliasing={{0}: (1, {}), {}: (0, {2})}.
Status ReadOutputAliasing(Lexer& lexer, InstructionProto& proto) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    auto& alias = *proto.add_output_operand_aliasing();
    RETURN_IF_ERROR(ReadNumbers(lexer, "{", "}", alias.mutable_output_shape_index()));
    RETURN_IF_ERROR(lexer.Expect(":"));
    RETURN_IF_ERROR(lexer.Expect("("));
    ASSIGN_OR_RETURN(const int64_t operand, lexer.Integer());
    alias.set_operand_index(operand);
    RETURN_IF_ERROR(lexer.Expect(","));
    RETURN_IF_ERROR(ReadNumbers(lexer, "{", "}", alias.mutable_operand_shape_index()));
    return lexer.Expect(")");
  });
}
void PrintOutputAliasing(const InstructionProto& proto, std::string& out) {
  if (proto.output_operand_aliasing_size() == 0) return;
  out += '{';
  for (int i = 0; i < proto.output_operand_aliasing_size(); ++i) {
    const auto& alias = proto.output_operand_aliasing(i);
    StrAppend(&out, i == 0 ? "" : ", ", DimsText(alias.output_shape_index()), ": (", alias.operand_index(),
              ", ", DimsText(alias.operand_shape_index()), ")");
  }
  out += '}';
}

Status ReadAsyncThread(Lexer& lexer, InstructionProto& proto) {
  ASSIGN_OR_RETURN(*proto.mutable_async_execution_thread(), lexer.QuotedUtf8());
  return OkStatus();
}
void PrintAsyncThread(const InstructionProto& proto, std::string& out) {
  if (!proto.async_execution_thread().empty()) out += QuotedText(proto.async_execution_thread());
}

Status ReadPrefetchIndex(Lexer& lexer, InstructionProto& proto) {
  ASSIGN_OR_RETURN(const int64_t index, lexer.Integer());
  proto.set_cross_program_prefetch_index(static_cast<int32_t>(index));
  return OkStatus();
}
void PrintPrefetchIndex(const InstructionProto& proto, std::string& out) {
  if (proto.has_cross_program_prefetch_index()) StrAppend(&out, proto.cross_program_prefetch_index());
}

// Skips an attribute of texts older than 2023 that pairs the halves of asynchronous instructions. It is not
// needed, because their operands have the same information.
Status SkipInteger(Lexer& lexer, InstructionProto&) { return lexer.Integer().status(); }
void PrintNothing(const InstructionProto&, std::string&) {}

constexpr CarriedField kCarried[] = {
    {"operand_layout_constraints", ReadLayoutConstraints, PrintLayoutConstraints},
    {"output_to_operand_aliasing", ReadOutputAliasing, PrintOutputAliasing},
    {"schedule", ReadSchedule, PrintSchedule},
    {"async_execution_thread", ReadAsyncThread, PrintAsyncThread, /*early=*/true},
    {"async_group_id", SkipInteger, PrintNothing},
    {"cross_program_prefetch_index", ReadPrefetchIndex, PrintPrefetchIndex},
    {"parameter_replication", ReadParameterReplication, PrintParameterReplication},
    // Descriptions for tools; they are skipped and not printed.
    {"statistics", nullptr, nullptr},
    {"origin", nullptr, nullptr},
};

}  // namespace

absl::Span<const CarriedField> CarriedFields() { return kCarried; }

Status ReadSharding(Lexer& lexer, int nesting_max, xla::OpSharding& sharding) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  if (nesting_max < 0) return lexer.ErrorAt(at, "the sharding nests too deep");
  RETURN_IF_ERROR(lexer.Expect("{"));
  if (lexer.Peek() == '{' || lexer.Peek() == '}') {
    sharding.set_type(xla::OpSharding::TUPLE);
    if (lexer.Try("}")) return OkStatus();
    do {
      RETURN_IF_ERROR(ReadSharding(lexer, nesting_max - 1, *sharding.add_tuple_shardings()));
    } while (lexer.Try(","));
    return lexer.Expect("}");
  }
  if (AtNamedSharding(lexer)) {
    RETURN_IF_ERROR(ReadNamedSharding(lexer, *sharding.mutable_named_sharding()));
    return lexer.Expect("}");
  }
  while (!lexer.Try("}")) RETURN_IF_ERROR(ReadShardingWord(lexer, sharding));
  return OkStatus();
}

std::string ShardingText(const xla::OpSharding& sharding) {
  std::string out;
  if (HasText(sharding)) PrintSharding(sharding, out);
  return out;
}

// The names are those of OpMetadata's fields.
Status ReadMetadata(Lexer& lexer, xla::OpMetadata& metadata) {
  RETURN_IF_ERROR(lexer.Expect("{"));
  while (!lexer.Try("}")) {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(const std::string_view key, lexer.Name());
    RETURN_IF_ERROR(lexer.Expect("="));
    const FieldDescriptor* field = xla::OpMetadata::descriptor()->FindFieldByName(std::string(key));
    if (field == nullptr) return lexer.At(at, Unimplemented("metadata has no \"%s\" in this build", key));
    const auto* reflection = metadata.GetReflection();
    if (field->is_repeated() || field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      RETURN_IF_ERROR(lexer.Braces().status());  // Skips profiles.
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      ASSIGN_OR_RETURN(std::string value, lexer.QuotedUtf8());
      reflection->SetString(&metadata, field, std::move(value));
    } else {
      ASSIGN_OR_RETURN(const int64_t value, lexer.Integer());
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
        reflection->SetInt64(&metadata, field, value);
      } else if (value == static_cast<int32_t>(value)) {
        reflection->SetInt32(&metadata, field, static_cast<int32_t>(value));
      } else {
        return lexer.ErrorAt(at, "%s is %d, which does not fit 32 bits", key, value);
      }
    }
    lexer.Try(",");
  }
  return OkStatus();
}

std::string MetadataText(const xla::OpMetadata& metadata) {
  std::string out = "{";
  const auto* reflection = metadata.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(metadata, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_repeated() || field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) continue;
    StrAppend(&out, out.size() == 1 ? "" : " ", field->name(), "=");
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      out += QuotedText(reflection->GetString(metadata, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      StrAppend(&out, reflection->GetInt64(metadata, field));
    } else {
      StrAppend(&out, reflection->GetInt32(metadata, field));
    }
  }
  return out + "}";
}

Status ReadStringMap(Lexer& lexer, std::map<std::string, std::string>& map) {
  return ReadList(lexer, "{", "}", [&]() -> Status {
    std::string key;
    if (lexer.Peek() == '"') {
      ASSIGN_OR_RETURN(key, lexer.QuotedUtf8());
    } else {
      ASSIGN_OR_RETURN(key, lexer.Name());
    }
    RETURN_IF_ERROR(lexer.Expect("="));
    if (lexer.Peek() == '{') {
      ASSIGN_OR_RETURN(map[key], lexer.Braces());
    } else {
      ASSIGN_OR_RETURN(map[key], lexer.QuotedUtf8());
    }
    return OkStatus();
  });
}

// Returns true when a value is written without quotes: it is in braces that close at its end.
bool IsDictionary(const std::string& value) {
  if (!value.starts_with('{')) return false;
  Lexer lexer(value);
  const absl::StatusOr<std::string_view> braces = lexer.Braces();
  return braces.ok() && *braces == value;
}

std::string StringMapText(const std::map<std::string, std::string>& map) {
  std::string out = "{";
  for (const auto& [key, value] : map) {
    const bool name = !key.empty() && absl::c_all_of(key, codec::IsNameCharacter);
    StrAppend(&out, out.size() == 1 ? "" : ",", name ? key : QuotedText(key), "=",
              IsDictionary(value) ? value : QuotedText(value));
  }
  return out + "}";
}

}  // namespace hlod::hlo::text
