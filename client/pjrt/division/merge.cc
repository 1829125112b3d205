// Instructions in which the programs differ become a conditional on the participant's number, with a branch
// for each program. For instance, when participant 0 adds 1 and participant 1 adds 2:
//   index = convert(replica-id())
//   added = conditional(index, (), ()), branches = {constant(1)}, {constant(2)}
//   ROOT sum = add(x, added)
#include "client/pjrt/division/merge.h"

#include <string>
#include <vector>

#include "common/base/errors/status.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/instruction_cloner.h"
#include "common/hlo/translation.h"

namespace hlod::pjrt {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Module;
using hlo::NodeId;
using Programs = absl::Span<const Module* const>;

std::string Text(Instruction instruction) {
  return absl::StrFormat("%s (%s %s)", instruction.name(), std::string(hlo::Name(instruction.opcode())),
                         hlo::ToStringNoLayout(instruction.shape()));
}

bool HaveEqualValues(Instruction a, Instruction b) {
  if (a.opcode() == hlo::Opcode::kConstant) return a.literal() == b.literal();
  return a.attributes() == b.attributes();
}

// Returns an error unless two instructions can be branches of one conditional, or are equal.
absl::Status CheckAlike(Instruction a, Instruction b, bool in_entry) {
  const bool is_same_step = a.opcode() == b.opcode() && a.shape() == b.shape() &&
                            a.operands() == b.operands() && a.called() == b.called();
  const bool may_branch = in_entry && a.called().empty() && !hlo::HasTrait(a.opcode(), hlo::kCollective) &&
                          !hlo::IsTransfer(a.opcode()) && a.opcode() != hlo::Opcode::kParameter;
  if (is_same_step && (may_branch || HaveEqualValues(a, b))) return absl::OkStatus();
  return InvalidArgument("one has %s where another has %s", Text(a), Text(b));
}

absl::Status CheckAlike(const Module& a, const Module& b) {
  if (a.computation_count() != b.computation_count() || a.entry_id() != b.entry_id())
    return InvalidArgument("one has %d computations, another %d", a.computation_count(),
                           b.computation_count());
  if (a.config.input_output_alias != b.config.input_output_alias ||
      a.config.buffer_donors != b.config.buffer_donors)
    return InvalidArgument("they overwrite different arguments");
  for (hlo::ComputationId id = 0; id < a.computation_count(); ++id) {
    const Computation& left = a.computation(id);
    const Computation& right = b.computation(id);
    for (NodeId node = 0; node < std::min(left.size(), right.size()); ++node)
      RETURN_IF_ERROR(CheckAlike(left[node], right[node], id == a.entry_id()));
    if (left.size() != right.size() || left.root_id() != right.root_id())
      return InvalidArgument("%s has %d instructions in one and %d in another", left.name(), left.size(),
                             right.size());
  }
  return absl::OkStatus();
}

bool AllEqual(Programs programs, NodeId node) {
  for (const Module* const program : programs) {
    if (!HaveEqualValues(programs[0]->entry()[node], program->entry()[node])) return false;
  }
  return true;
}

// Adds the computation that takes a tuple of an instruction's operands, and returns its result.
hlo::ComputationId AddBranch(const Module& program, NodeId node, hlo::Shape operands, Module& merged) {
  const Instruction instruction = program.entry()[node];
  Computation& branch = merged.AddComputation(absl::StrCat("participant.", merged.computation_count()));
  hlo::Tables& tables = merged.tables();
  hlo::Translation translation(program.tables(), tables);
  hlo::InstructionCloner cloner(program.entry(), branch, {.translation = &translation, .notes = false});
  const hlo::AttributesId number = tables.Intern(hlo::ParameterAttributes{0});
  const NodeId tuple = branch.Append(hlo::Opcode::kParameter, tables.Intern(operands), number, {});
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    cloner.set_node(instruction.operands()[i],
                    branch.Append(hlo::Opcode::kGetTupleElement, tables.Intern(operands.tuple[i]),
                                  tables.Intern(hlo::TupleIndexAttributes{i}), {tuple}));
  }
  branch.set_root(cloner.Clone(node));
  return merged.computation_count() - 1;
}

// The nodes of the merged entry, in order.
class Merger {
 public:
  explicit Merger(Programs programs)
      : programs_(programs),
        merged_(std::make_unique<Module>(programs[0]->name())),
        translation_(programs[0]->tables(), merged_->tables()) {}

  std::unique_ptr<Module> Merge() {
    AddCallees();
    AddBranches();
    AddEntry();
    merged_->config = programs_[0]->config;
    return std::move(merged_);
  }

 private:
  hlo::InstructionCloner::Options Options() {
    return {.callee = [this](hlo::ComputationId old) { return callees_[old]; }, .translation = &translation_};
  }

  void AddCallees() {
    const Module& first = *programs_[0];
    for (hlo::ComputationId id = 0; id < first.computation_count(); ++id) {
      callees_.push_back(merged_->computation_count());
      if (id == first.entry_id()) continue;
      Computation& copy = merged_->AddComputation(first.computation(id).name());
      copy.config = first.computation(id).config;
      hlo::InstructionCloner(first.computation(id), copy, Options()).CloneAll();
    }
  }

  void AddBranches() {
    const Computation& entry = programs_[0]->entry();
    branches_.resize(entry.size());
    for (NodeId node = 0; node < entry.size(); ++node) {
      if (AllEqual(programs_, node)) continue;
      hlo::Shape operands = hlo::Shape::Tuple({});
      for (const NodeId operand : entry[node].operands()) operands.tuple.push_back(entry[operand].shape());
      for (const Module* const program : programs_)
        branches_[node].push_back(AddBranch(*program, node, operands, *merged_));
    }
  }

  void AddEntry() {
    const Computation& from = programs_[0]->entry();
    Computation& entry = merged_->AddComputation(from.name());
    hlo::Tables& tables = merged_->tables();
    hlo::InstructionCloner cloner(from, entry, Options());
    const auto append = [&](hlo::Opcode opcode, const hlo::Shape& shape, std::vector<NodeId> operands,
                            absl::Span<const hlo::ComputationId> called = {}) {
      return entry.Append(opcode, tables.Intern(shape), 0, operands, called);
    };
    const NodeId replica =
        append(hlo::Opcode::kReplicaId, hlo::Shape::Array(hlo::PrimitiveType::kU32, {}), {});
    const NodeId index =
        append(hlo::Opcode::kConvert, hlo::Shape::Array(hlo::PrimitiveType::kS32, {}), {replica});
    for (NodeId node = 0; node < from.size(); ++node) {
      if (branches_[node].empty()) {
        cloner.Clone(node);
        continue;
      }
      hlo::Shape shape = hlo::Shape::Tuple({});
      for (const NodeId operand : from[node].operands()) shape.tuple.push_back(from[operand].shape());
      const absl::InlinedVector<NodeId, 8> operands = cloner.operands(from[node]);
      const NodeId tuple = append(hlo::Opcode::kTuple, shape, {operands.begin(), operands.end()});
      std::vector<NodeId> inputs(programs_.size() + 1, tuple);
      inputs[0] = index;
      cloner.set_node(node, append(hlo::Opcode::kConditional, from[node].shape(), inputs, branches_[node]));
    }
    entry.set_root(cloner.node(from.root_id()));
    merged_->set_entry(merged_->computation_count() - 1);
  }

  const Programs programs_;
  std::unique_ptr<Module> merged_;
  hlo::Translation translation_;
  std::vector<hlo::ComputationId> callees_;                // By the first program's ids.
  std::vector<std::vector<hlo::ComputationId>> branches_;  // By the node; empty where all are equal.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> MergePrograms(Programs programs) {
  // The participant's number is its replica's.
  if (const auto replicas = programs[0]->config.replica_count;
      replicas != static_cast<int64_t>(programs.size())) {
    return InvalidArgument(
        "%d devices run different programs together, of %d replicas; only replicas may run different programs.",
        programs.size(), replicas);
  }
  for (size_t i = 1; i < programs.size(); ++i) {
    if (const absl::Status alike = CheckAlike(*programs[0], *programs[i]); !alike.ok()) {
      return InvalidArgument(
          "Devices 0 and %d run different programs together, %s and %s: %s. PyTorch/XLA's devices must run "
          "the same operations between two syncs.",
          i, programs[0]->name(), programs[i]->name(), std::string(alike.message()));
    }
  }
  return Merger(programs).Merge();
}

}  // namespace hlod::pjrt
