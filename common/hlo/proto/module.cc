// Decodes modules from HloModuleProto: resolves ids to positions, upgrades old forms, and trusts no field.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/hlo/names/spelling.h"
#include "common/hlo/proto/attributes.h"
#include "common/hlo/proto/notes.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/proto/serialized.h"
#include "common/hlo/proto/shape.h"
#include "common/hlo/proto/wire_count.h"
#include "google/protobuf/stubs/logging.h"

namespace hlod::hlo {
namespace {

// Returns the low half of an instruction id: newer writers keep the computation's id in the high half.
uint32_t LocalId(int64_t id) { return static_cast<uint32_t>(static_cast<uint64_t>(id)); }

// Returns a foreign name, short enough for a message.
std::string Quoted(const std::string& name) {
  return absl::StrCat("\"", ToAbsl(std::string_view(name).substr(0, 100)), name.size() > 100 ? "..." : "",
                      "\"");
}

absl::Status Prefixed(const absl::Status& status, const std::string& prefix) {
  return absl::Status(status.code(), absl::StrCat(prefix, ": ", status.message()));
}

// The number of instructions between two calls of `interrupted`: some milliseconds.
constexpr int64_t kInterruptedEach = 1024;

class ModuleDecoder {
 public:
  ModuleDecoder(const xla::HloModuleProto& proto, const DecodeOptions& options)
      : proto_(proto), options_(options) {}

  absl::StatusOr<std::unique_ptr<Module>> Run() {
    if (proto_.computations().empty())
      return InvalidArgument("The module %s has no computations.", Quoted(proto_.name()));
    module_ = std::make_unique<Module>(proto_.name());
    for (const auto& computation : proto_.computations()) {
      if (absl::Status status = DecodeComputation(computation); !status.ok()) {
        return Prefixed(status, absl::StrCat("Computation ", Quoted(computation.name())));
      }
    }
    RETURN_IF_ERROR(ResolveEntry());
    RETURN_IF_ERROR(DecodeModuleFields());
    return std::move(module_);
  }

 private:
  using InstructionProto = xla::HloInstructionProto;

  absl::Status DecodeComputation(const xla::HloComputationProto& proto) {
    if (proto.instructions().empty()) return InvalidArgument("there are no instructions");
    const ComputationId id = module_->computation_count();
    computation_ = &module_->AddComputation(proto.name());
    computation_->config.is_fusion = proto.is_fusion_computation();
    computation_->config.execution_thread =
        proto.execution_thread() == "main" ? "" : proto.execution_thread();
    nodes_.clear();
    for (const auto& instruction : proto.instructions()) {
      if (options_.interrupted && ++decoded_ % kInterruptedEach == 0) RETURN_IF_ERROR(options_.interrupted());
      if (absl::Status status = DecodeInstruction(instruction, proto.instructions_size()); !status.ok()) {
        return Prefixed(status, absl::StrCat("instruction ", Quoted(instruction.name())));
      }
    }
    const auto root = nodes_.find(LocalId(proto.root_id()));
    if (root == nodes_.end())
      return InvalidArgument("root_id %d is not an instruction here", proto.root_id());
    computation_->set_root(root->second);
    // Only now can the computation be called, so it cannot call itself.
    if (!computations_.emplace(proto.id(), id).second)
      return InvalidArgument("id %d is taken by another", proto.id());
    KeepComputationResidue(proto);
    return absl::OkStatus();
  }

  void KeepComputationResidue(const xla::HloComputationProto& proto) {
    using P = xla::HloComputationProto;
    static const codec::FieldSet modelled = codec::FieldsOf(
        {P::kNameFieldNumber, P::kProgramShapeFieldNumber, P::kIdFieldNumber, P::kRootIdFieldNumber,
         P::kIsFusionComputationFieldNumber, P::kExecutionThreadFieldNumber});
    P rest;
    codec::CopyResidue(proto, modelled, codec::FieldsOf({P::kInstructionsFieldNumber}), &rest);
    computation_->config.unmodelled = codec::SerializeDeterministic(rest);
  }

  absl::Status DecodeInstruction(const InstructionProto& proto, int instruction_count) {
    if (proto.name().empty()) return InvalidArgument("the name is missing");
    const std::optional<OpcodeSpelling> spelling = ParseOpcodeSpelling(proto.opcode());
    if (!spelling) return Unimplemented("opcode %s is not known to this build", Quoted(proto.opcode()));
    const Opcode opcode = spelling->opcode;
    if (!proto.has_shape()) return InvalidArgument("the shape is missing");
    ASSIGN_OR_RETURN(const Shape shape, FromProto(proto.shape()));

    absl::InlinedVector<NodeId, 8> operands;
    absl::InlinedVector<const Shape*, 8> operand_shapes;
    for (int64_t id : proto.operand_ids()) {
      const auto node = nodes_.find(LocalId(id));
      if (node == nodes_.end()) return InvalidArgument("operand id %d is not an earlier instruction", id);
      operands.push_back(node->second);
      operand_shapes.push_back(&(*computation_)[node->second].shape());
    }
    ASSIGN_OR_RETURN(auto called, ResolveCallees(proto, opcode));
    ASSIGN_OR_RETURN(
        const Attributes attributes,
        codec::DecodeAttributes({proto, opcode, operand_shapes, module_->tables(), proto_, options_}));
    if (opcode == kParameter)
      RETURN_IF_ERROR(CheckParameterNumber(proto.parameter_number(), instruction_count));
    if (opcode == kDynamicSlice) RETURN_IF_ERROR(SplitStartIndices(1, operands));
    if (opcode == kDynamicUpdateSlice) RETURN_IF_ERROR(SplitStartIndices(2, operands));
    ASSIGN_OR_RETURN(Notes notes, codec::DecodeNotes(proto, opcode, options_));
    for (int64_t id : proto.control_predecessor_ids()) {
      const auto node = nodes_.find(LocalId(id));
      if (node == nodes_.end())
        return InvalidArgument("control predecessor id %d is not an earlier instruction", id);
      notes.control_predecessors.push_back(node->second);
    }

    const NodeId node = computation_->Append(opcode, module_->tables().Intern(shape),
                                             module_->tables().Intern(attributes), operands, called);
    computation_->mutable_notes(node) = std::move(notes);
    if (!nodes_.emplace(LocalId(proto.id()), node).second) {
      return InvalidArgument("id %d is taken by another instruction", proto.id());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<absl::InlinedVector<ComputationId, 4>> ResolveCallees(const InstructionProto& proto,
                                                                       Opcode opcode) {
    absl::InlinedVector<ComputationId, 4> called;
    // Old writers repeat the wrapped computation on the later instructions of an asynchronous pair, which now
    // take it from the start.
    if (opcode == kAsyncUpdate || opcode == kAsyncDone) return called;
    const int expected = Info(opcode).called;
    if (expected >= 0 && proto.called_computation_ids_size() != expected) {
      return InvalidArgument("%s calls %d computations instead of %d", Name(opcode),
                             proto.called_computation_ids_size(), expected);
    }
    // The maximum count that its bits in an instruction's first word can hold.
    constexpr int kMaxCalled = (1 << 24) - 1;
    if (proto.called_computation_ids_size() > kMaxCalled) {
      return InvalidArgument("%s calls %d computations; the limit is %d", Name(opcode),
                             proto.called_computation_ids_size(), kMaxCalled);
    }
    for (int64_t id : proto.called_computation_ids()) {
      const auto callee = computations_.find(id);
      if (callee == computations_.end())
        return InvalidArgument("called computation id %d is not an earlier computation", id);
      called.push_back(callee->second);
    }
    return called;
  }

  absl::Status CheckParameterNumber(int64_t number, int instruction_count) const {
    if (number < 0 || number >= instruction_count) {
      return InvalidArgument("parameter_number is %d in a computation of %d instructions", number,
                             instruction_count);
    }
    if (static_cast<size_t>(number) < computation_->parameters().size()) {
      return InvalidArgument("there is another parameter with number %d", number);
    }
    return absl::OkStatus();
  }

  // Old writers pass the start indices as one vector; the IR has one scalar per dimension. Appends, per
  // dimension, a slice of the vector, reshaped to a scalar.
  absl::Status SplitStartIndices(size_t first, absl::InlinedVector<NodeId, 8>& operands) {
    if (operands.size() != first + 1) return absl::OkStatus();
    const Shape vector = (*computation_)[operands[first]].shape();
    if (!vector.IsArray() || vector.rank() != 1) return absl::OkStatus();
    const int64_t rank = (*computation_)[operands[0]].shape().rank();
    if (vector.dims[0] != rank) {
      return InvalidArgument("the start indices have shape %s for an operand of rank %d", ToString(vector),
                             rank);
    }
    const NodeId indices = operands[first];
    operands.pop_back();
    Tables& tables = module_->tables();
    const ShapeId one = tables.Intern(Shape::Array(vector.type, {1})),
                  scalar = tables.Intern(Shape::Scalar(vector.type));
    for (int64_t d = 0; d < rank; ++d) {
      const NodeId slice =
          computation_->Append(kSlice, one, tables.Intern(SliceAttributes{{d}, {d + 1}, {1}}), {indices});
      operands.push_back(
          computation_->Append(kReshape, scalar, tables.Intern(DimensionsAttributes{}), {slice}));
    }
    return absl::OkStatus();
  }

  absl::Status ResolveEntry() {
    const auto by_id = computations_.find(proto_.entry_computation_id());
    if (by_id != computations_.end()) {
      module_->set_entry(by_id->second);
      return absl::OkStatus();
    }
    for (ComputationId id = 0; id < module_->computation_count(); ++id) {
      if (module_->computation(id).name() != proto_.entry_computation_name()) continue;
      module_->set_entry(id);
      return absl::OkStatus();
    }
    return InvalidArgument("The module %s has no computation with the entry's id %d or name %s.",
                           Quoted(proto_.name()), proto_.entry_computation_id(),
                           Quoted(proto_.entry_computation_name()));
  }

  absl::Status DecodeModuleFields() {
    absl::StatusOr<ProgramShape> layout = codec::DecodeProgramShape(proto_.host_program_shape());
    if (!layout.ok()) return Prefixed(layout.status(), "host_program_shape");
    module_->config.entry_layout = *std::move(layout);
    for (const auto& entry : proto_.input_output_alias().entries()) {
      module_->config.input_output_alias.push_back(
          {Dims(entry.output_shape_index().begin(), entry.output_shape_index().end()),
           entry.parameter_number(),
           Dims(entry.parameter_shape_index().begin(), entry.parameter_shape_index().end()),
           entry.kind() == xla::MUST_ALIAS});
    }
    for (const auto& entry : proto_.buffer_donor().entries()) {
      module_->config.buffer_donors.push_back(
          {entry.parameter_number(),
           Dims(entry.parameter_shape_index().begin(), entry.parameter_shape_index().end())});
    }
    for (const auto& [key, value] : proto_.frontend_attributes().map())
      module_->config.frontend_attributes.emplace(key, value);
    module_->config.is_scheduled = proto_.has_schedule();
    // The device numbers are kept among the unmodelled fields.
    const xla::DeviceAssignmentProto& devices = proto_.device_assignment();
    module_->config.replica_count = std::max(1, devices.replica_count());
    module_->config.partition_count = std::max(1, devices.computation_count());
    KeepModuleResidue();
    return absl::OkStatus();
  }

  void KeepModuleResidue() {
    using P = xla::HloModuleProto;
    static const codec::FieldSet modelled = codec::FieldsOf(
        {P::kNameFieldNumber, P::kEntryComputationNameFieldNumber, P::kHostProgramShapeFieldNumber,
         P::kEntryComputationIdFieldNumber, P::kInputOutputAliasFieldNumber, P::kBufferDonorFieldNumber,
         P::kFrontendAttributesFieldNumber});
    // Computations keep their own unmodelled fields. The schedule refers to instructions by ids, which
    // change, so it is rebuilt from their order. The module's own id is a count of its process: JAX's equal
    // programs would differ by it, and each would be compiled.
    static const codec::FieldSet dropped =
        codec::FieldsOf({P::kComputationsFieldNumber, P::kScheduleFieldNumber, P::kIdFieldNumber});
    P rest;
    codec::CopyResidue(proto_, modelled, dropped, &rest);
    module_->config.unmodelled = codec::SerializeDeterministic(rest);
  }

  const xla::HloModuleProto& proto_;
  const DecodeOptions& options_;
  std::unique_ptr<Module> module_;
  Computation* computation_ = nullptr;  // The computation that is being decoded.
  int64_t decoded_ = 0;                 // The number of instructions decoded so far.
  absl::flat_hash_map<uint32_t, NodeId> nodes_;
  absl::flat_hash_map<int64_t, ComputationId> computations_;
};

absl::Status NotAModule(std::string_view bytes) {
  return InvalidArgument("These %d bytes are not a serialized HloModuleProto, HloProto or HloSnapshot.",
                         bytes.size());
}

// A few bytes on the wire can become a large message in memory, so limits are checked on the wire format.
absl::Status CheckParse(std::string_view bytes, std::string_view module, const DecodeOptions& options) {
  const std::optional<codec::WireCount> count = codec::CountWire(module);
  if (!count) return NotAModule(bytes);
  if (count->instructions > options.instructions_max) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("Module %s has %d instructions; the limit instructions_max is %d.",
                        Quoted(codec::ModuleName(module)), count->instructions, options.instructions_max));
  }
  // Programs made of the shortest instructions (a name, an opcode and a shape) take up to about 40 times
  // their bytes.
  constexpr int64_t kSmall = 1 << 20, kFactor = 64;
  const int64_t limit =
      std::min(options.parse_bytes_max, kSmall + kFactor * static_cast<int64_t>(module.size()));
  if (count->memory_bytes > limit) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("Module %s, %d bytes, would take %d bytes of memory as it is parsed; the "
                        "limit for a module of its size is %d.",
                        Quoted(codec::ModuleName(module)), module.size(), count->memory_bytes, limit));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> FromProto(const xla::HloModuleProto& proto,
                                                  const DecodeOptions& options) {
  return ModuleDecoder(proto, options).Run();
}

absl::StatusOr<std::unique_ptr<Module>> FromSerialized(std::string_view bytes, const DecodeOptions& options) {
  if (bytes.size() > INT32_MAX) {
    return InvalidArgument("A serialized module has %d bytes; a protobuf message has at most %d.",
                           bytes.size(), INT32_MAX);
  }
  // The returned error is enough; a peer must not write into our log.
  google::protobuf::LogSilencer silencer;
  const std::string_view module = codec::ModuleBytes(bytes);
  if (options.instructions_max < INT64_MAX || options.parse_bytes_max < INT64_MAX)
    RETURN_IF_ERROR(CheckParse(bytes, module, options));
  xla::HloModuleProto proto;
  if (!proto.ParseFromArray(module.data(), static_cast<int>(module.size()))) return NotAModule(bytes);
  return FromProto(proto, options);
}

}  // namespace hlod::hlo
