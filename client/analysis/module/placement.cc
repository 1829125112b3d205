// Places values in one walk over each computation, operands first.
#include "client/analysis/module/placement.h"

#include <algorithm>

#include "client/analysis/module/access.h"
#include "client/analysis/module/callees_first.h"
#include "client/analysis/module/dot_operands.h"
#include "client/analysis/module/fusion_model.h"
#include "client/analysis/module/memory/alignment.h"
#include "client/analysis/module/memory/combine_reductions.h"
#include "client/analysis/module/memory/copy_insertion.h"
#include "client/analysis/module/memory/cpu_forms.h"
#include "common/base/errors/status.h"
#include "common/passes/passes.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// A fused value that would read more buffers than this is written to memory after all.
constexpr size_t kSourcesMax = 32;

constexpr int64_t kPointerBytes = 8;

}  // namespace

bool IsAlias(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kReshape:
    case hlo::kBitcast:
    case hlo::kOptBarrier:
    case hlo::kDomain:
    case hlo::kAddDependency: return true;
    default: return false;
  }
}

int64_t TableBytes(const hlo::Shape& shape) {
  if (!shape.IsTuple()) return 0;
  int64_t bytes = kPointerBytes * static_cast<int64_t>(shape.tuple.size());
  for (const hlo::Shape& element : shape.tuple) bytes += TableBytes(element);
  return bytes;
}

Placement::Placement(const Placements& all, const hlo::Computation& computation)
    : all_(&all),
      computation_(&computation),
      options_(&all.options()),
      fused_(all.options().fused ? FusedAway(computation, all.options().compiler)
                                 : std::vector<bool>(computation.size(), false)),
      runs_(computation.size(), false),
      bytes_made_(computation.size(), 0) {
  for (NodeId node = 0; node < computation.size(); ++node) values_.push_back(Place(computation[node]));
}

Value Placement::Place(Instruction i) {
  if (i.opcode() == hlo::kTuple) {
    Value leaves;
    for (const NodeId operand : i.operands())
      leaves.insert(leaves.end(), values_[operand].begin(), values_[operand].end());
    return leaves;
  }
  if (i.opcode() == hlo::kGetTupleElement) return Element(i);
  if (IsAlias(i.opcode())) return values_[i.operands()[0]];
  if (fused_[i.id()]) {
    if (Sources sources = ReadBy(i); sources.size() <= kSourcesMax) return {std::move(sources)};
    fused_[i.id()] = false;
  }
  return Allocate(i);
}

Value Placement::Allocate(Instruction i) {
  const bool outside = i.opcode() == hlo::kParameter || i.opcode() == hlo::kConstant;
  runs_[i.id()] = !outside;
  Value leaves;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(i.shape())) {
    if (Stays(i, leaves.size())) {
      leaves.push_back(values_[i.operands()[0]][leaves.size()]);
      continue;
    }
    const int64_t parts = options_->PartsOf(i, leaves.size());
    const int64_t bytes = (options_->BytesOf(*leaf.shape) + parts - 1) / parts;
    leaves.push_back({{static_cast<BufferId>(buffers_.size()), bytes}});
    buffers_.push_back({.made = i.id(), .bytes = outside ? 0 : AlignedBytes(bytes), .shape = leaf.shape});
    bytes_made_[i.id()] += buffers_.back().bytes;
  }
  if (const int64_t table = TableBytes(i.shape()); table > 0 && !outside)
    buffers_.push_back({.made = i.id(), .bytes = AlignedBytes(table), .shape = &i.shape()});
  return leaves;
}

// Returns true for a leaf that a loop only reads, which stays in its buffer.
bool Placement::Stays(Instruction i, size_t leaf) const {
  return i.opcode() == hlo::kWhile && all_->KeepsLeaf(i.called()[0], leaf);
}

Value Placement::Element(Instruction get) const {
  const hlo::Shape& whole = get.operand(0).shape();
  const auto index = static_cast<size_t>(get.attributes<hlo::TupleIndexAttributes>().index);
  size_t first = 0;
  for (size_t i = 0; i < index; ++i) first += hlo::Leaves(whole.tuple[i]).size();
  const auto begin = values_[get.operands()[0]].begin() + static_cast<ptrdiff_t>(first);
  return Value(begin, begin + static_cast<ptrdiff_t>(hlo::Leaves(get.shape()).size()));
}

Sources Placement::ReadBy(Instruction i) const {
  Sources sources;
  const bool elementwise = hlo::HasTrait(i.opcode(), hlo::kElementwise);
  for (uint32_t operand = 0; operand < i.operand_count(); ++operand) {
    const Access access = AccessOf(i, operand);
    const bool aligned = elementwise && i.operand(operand).shape().dims == i.shape().dims;
    for (const Sources& leaf : values_[i.operands()[operand]]) {
      for (const Source& source : leaf) {
        int64_t read = source.read;
        if (access == Access::kPart) read = std::min(read, options_->BytesOf(i.shape()));
        if (access == Access::kUpdated) read = 0;
        const auto same = [&](const Source& known) { return known.buffer == source.buffer; };
        const auto known = std::find_if(sources.begin(), sources.end(), same);
        if (known == sources.end()) {
          sources.push_back({source.buffer, read, aligned && source.aligned});
        } else {
          known->read = std::max(known->read, read);
          known->aligned = known->aligned && aligned && source.aligned;
        }
      }
    }
  }
  return sources;
}

Placements::Placements(const hlo::Module& canonical, PlacementOptions options)
    : module_(canonical),
      options_(std::move(options)),
      order_(CalleesFirst(canonical, canonical.entry_id())),
      by_id_(canonical.entry_id() + 1) {
  for (const hlo::ComputationId id : order_) by_id_[id].emplace(*this, module_.computation(id));
}

bool Placements::KeepsLeaf(hlo::ComputationId body, size_t leaf) const {
  const Placement& placement = of(body);
  const Value &before = placement.value(placement.computation().parameters()[0]),
              &after = placement.value(placement.computation().root_id());
  return after[leaf].size() == 1 && after[leaf][0].buffer == before[leaf][0].buffer;
}

absl::StatusOr<std::unique_ptr<hlo::Module>> Canonical(const hlo::Module& module, Compiler compiler) {
  const std::unique_ptr<hlo::Module> own = hlo::Clone(module);
  ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> canonical, passes::RunPipeline(*own));
  std::unique_ptr<hlo::Module> copied = WithDotCopies(*canonical, compiler);
  if (compiler != Compiler::kXlaCpu) return copied;
  const std::unique_ptr<hlo::Module> combined = WithCombinedReductions(*WithCpuForms(*copied));
  return WithArgumentCopies(*combined, {.compiler = compiler});
}

}  // namespace hlod::analysis
