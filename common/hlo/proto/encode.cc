// Encodes modules as HloModuleProto the way XLA writes them: small ids that are unique in the module, names
// too, schedules and signatures filled in.
#include <algorithm>

#include "common/base/text/strings.h"
#include "common/base/text/utf8.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/names/unique_names.h"
#include "common/hlo/proto/attributes.h"
#include "common/hlo/proto/notes.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/proto/shape.h"

namespace hlod::hlo {
namespace {

class ModuleEncoder {
 public:
  explicit ModuleEncoder(const Module& module) : module_(module), names_(codec::UniqueNames(module)) {}

  xla::HloModuleProto Run() {
    if (!module_.config.unmodelled.empty() && !proto_.ParseFromString(module_.config.unmodelled))
      proto_.Clear();
    proto_.set_name(ValidUtf8(module_.name()));
    int64_t next_id = 1;
    for (ComputationId id = 0; id < module_.computation_count(); ++id) {
      first_ids_.push_back(next_id);
      next_id += module_.computation(id).size();
    }
    for (ComputationId id = 0; id < module_.computation_count(); ++id) EncodeComputation(id);
    proto_.set_entry_computation_id(IdOf(module_.entry_id()));
    proto_.set_entry_computation_name(names_.computations[module_.entry_id()]);
    EncodeModuleFields();
    return std::move(proto_);
  }

 private:
  static int64_t IdOf(ComputationId id) { return int64_t{id} + 1; }
  int64_t IdOf(ComputationId computation, NodeId node) const { return first_ids_[computation] + node; }

  void EncodeComputation(ComputationId id) {
    const Computation& computation = module_.computation(id);
    xla::HloComputationProto* proto = proto_.add_computations();
    if (!computation.config.unmodelled.empty() && !proto->ParseFromString(computation.config.unmodelled))
      proto->Clear();
    proto->set_name(names_.computations[id]);
    proto->set_id(IdOf(id));
    proto->set_root_id(IdOf(id, computation.root_id()));
    proto->set_is_fusion_computation(computation.config.is_fusion);
    proto->set_execution_thread(computation.config.execution_thread);
    ProgramShape signature = computation.program_shape();
    for (size_t i = 0; i < signature.parameter_names.size(); ++i) {
      signature.parameter_names[i] = names_.instructions[id][computation.parameters()[i]];
    }
    codec::EncodeProgramShape(signature, proto->mutable_program_shape());
    for (NodeId node = 0; node < computation.size(); ++node) {
      EncodeInstruction(computation[node], id, proto->add_instructions());
    }
    if (!module_.config.is_scheduled) return;
    auto& sequence = (*proto_.mutable_schedule()->mutable_sequences())[IdOf(id)];
    for (NodeId node = 0; node < computation.size(); ++node) sequence.add_instruction_ids(IdOf(id, node));
  }

  // XLA's reader compares a constant's layout with its literal's layout, which is always stated.
  static Shape ShapeOnTheWire(Instruction instruction) {
    Shape shape = instruction.shape();
    if (instruction.opcode() == kConstant && shape.IsArray() && shape.rank() > 0 && !shape.layout)
      shape.layout = Layout::RowMajor(shape.rank());
    return shape;
  }

  void EncodeInstruction(Instruction instruction, ComputationId computation,
                         xla::HloInstructionProto* proto) {
    const Notes* notes = instruction.computation().notes(instruction.id());
    if (notes != nullptr) codec::EncodeNotes(*notes, proto);
    proto->set_name(names_.instructions[computation][instruction.id()]);
    proto->set_opcode(std::string(Name(instruction.opcode())));
    proto->set_id(IdOf(computation, instruction.id()));
    codec::EncodeShape(ShapeOnTheWire(instruction), proto->mutable_shape());
    codec::EncodeAttributes(instruction.attributes(), module_.tables(), proto);
    for (NodeId operand : instruction.operands()) proto->add_operand_ids(IdOf(computation, operand));
    for (ComputationId callee : instruction.called()) proto->add_called_computation_ids(IdOf(callee));
    if (notes == nullptr) return;
    for (NodeId node : notes->control_predecessors)
      proto->add_control_predecessor_ids(IdOf(computation, node));
  }

  // Keeps the module's original device assignment when its counts of replicas and partitions are still right;
  // otherwise writes one that numbers the devices 0, 1, ...
  void EncodeDevices() {
    const auto [replicas, partitions] = ParticipantsOf(module_);
    xla::DeviceAssignmentProto& devices = *proto_.mutable_device_assignment();
    if (replicas == std::max(1, devices.replica_count()) &&
        partitions == std::max(1, devices.computation_count())) {
      if (devices.ByteSizeLong() == 0) proto_.clear_device_assignment();
      return;
    }
    proto_.clear_device_assignment();
    if (replicas == 1 && partitions == 1) return;
    xla::DeviceAssignmentProto& written = *proto_.mutable_device_assignment();
    written.set_replica_count(static_cast<int32_t>(std::min<int64_t>(replicas, INT32_MAX)));
    written.set_computation_count(static_cast<int32_t>(std::min<int64_t>(partitions, INT32_MAX)));
    // Such a module cannot run, and the number of its devices may be large.
    if (!CheckParticipants(module_).ok()) return;
    for (int64_t p = 0; p < partitions; ++p) {
      xla::DeviceAssignmentProto::ComputationDevice& computation = *written.add_computation_devices();
      for (int64_t r = 0; r < replicas; ++r) computation.add_replica_device_ids(r * partitions + p);
    }
  }

  void EncodeModuleFields() {
    ProgramShape entry = module_.entry().program_shape();
    for (size_t i = 0; i < entry.parameter_names.size(); ++i) {
      entry.parameter_names[i] = names_.instructions[module_.entry_id()][module_.entry().parameters()[i]];
    }
    // Uses the requested layouts when stated, otherwise the entry's own.
    ProgramShape wanted = module_.config.entry_layout;
    if (wanted.result.type == kInvalid) wanted.result = entry.result;
    if (wanted.parameters.empty()) wanted.parameters = entry.parameters;
    if (wanted.parameter_names.size() != wanted.parameters.size())
      wanted.parameter_names = entry.parameter_names;
    codec::EncodeProgramShape(wanted, proto_.mutable_host_program_shape());
    bool is_dynamic = wanted.result.HasDynamicDimension();
    for (const Shape& parameter : wanted.parameters) is_dynamic |= parameter.HasDynamicDimension();
    if (is_dynamic) proto_.set_is_dynamic(true);

    int index = 0;
    auto& aliases = *proto_.mutable_input_output_alias()->mutable_entries();
    EncodeDevices();
    for (const InputOutputAlias& alias : module_.config.input_output_alias) {
      auto* entry_proto = index < aliases.size() ? aliases.Mutable(index) : aliases.Add();
      ++index;
      entry_proto->mutable_output_shape_index()->Assign(alias.output_index.begin(), alias.output_index.end());
      entry_proto->set_parameter_number(alias.parameter_number);
      entry_proto->mutable_parameter_shape_index()->Assign(alias.parameter_index.begin(),
                                                           alias.parameter_index.end());
      entry_proto->set_kind(alias.must_alias ? xla::MUST_ALIAS : xla::MAY_ALIAS);
    }
    index = 0;
    auto& donors = *proto_.mutable_buffer_donor()->mutable_entries();
    for (const BufferDonor& donor : module_.config.buffer_donors) {
      auto* entry_proto = index < donors.size() ? donors.Mutable(index) : donors.Add();
      ++index;
      entry_proto->set_parameter_number(donor.parameter_number);
      entry_proto->mutable_parameter_shape_index()->Assign(donor.parameter_index.begin(),
                                                           donor.parameter_index.end());
    }
    for (const auto& [key, value] : module_.config.frontend_attributes) {
      (*proto_.mutable_frontend_attributes()->mutable_map())[ValidUtf8(key)] = ValidUtf8(value);
    }
  }

  const Module& module_;
  const codec::ModuleNames names_;
  std::vector<int64_t> first_ids_;  // By computation, the id of its first instruction.
  xla::HloModuleProto proto_;
};

}  // namespace

xla::HloModuleProto ToProto(const Module& module) { return ModuleEncoder(module).Run(); }

std::string Serialize(const Module& module) { return codec::SerializeDeterministic(ToProto(module)); }

}  // namespace hlod::hlo
