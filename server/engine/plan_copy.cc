// Appends every instruction again.
#include "server/engine/plan_copy.h"

namespace hlod::engine {

std::unique_ptr<hlo::Module> CopyModule(const hlo::Module& module) {
  auto copy = std::make_unique<hlo::Module>(module.name(), module.shared_tables());
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& from = module.computation(c);
    hlo::Computation& to = copy->AddComputation(from.name());
    for (hlo::NodeId id = 0; id < from.size(); ++id) {
      const hlo::Instruction i = from[id];
      to.Append(i.opcode(), i.shape_id(), i.attributes_id(), i.operands(), i.called());
      if (const hlo::Notes* notes = from.notes(id)) to.mutable_notes(id) = *notes;
    }
    to.set_root(from.root_id());
    to.execution_thread = from.execution_thread;
    to.is_fusion = from.is_fusion;
  }
  copy->set_entry(module.entry_id());
  copy->entry_layout = module.entry_layout;
  copy->input_output_alias = module.input_output_alias;
  copy->buffer_donors = module.buffer_donors;
  copy->replica_count = module.replica_count;
  copy->partition_count = module.partition_count;
  return copy;
}

}  // namespace hlod::engine
