// Places values in one walk over each computation, operands first.
#include "client/analysis/module/placement.h"

#include <algorithm>
#include <functional>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "client/analysis/module/access.h"
#include "client/analysis/module/callees_first.h"
#include "client/analysis/module/dot_operands.h"
#include "client/analysis/module/fusion_model.h"
#include "client/analysis/module/memory/alignment.h"
#include "client/analysis/module/memory/combine_reductions.h"
#include "client/analysis/module/memory/copy_insertion.h"
#include "client/analysis/module/memory/cpu_expansions.h"
#include "client/analysis/module/memory/cpu_forms.h"
#include "client/analysis/module/memory/cpu_kernels.h"
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
      runs_(computation.size(), false),
      bytes_made_(computation.size(), 0) {
  if (options_->fused && options_->compiler == Compiler::kXlaCpu)
    kernels_.emplace(CpuKernels(all.module(), computation));
  fused_ =
      options_->fused && !kernels_ ? FusedAway(computation) : std::vector<bool>(computation.size(), false);
  for (NodeId node = 0; kernels_ && node < computation.size(); ++node) fused_[node] = kernels_->inside(node);
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
  if (IsAlias(i.opcode()) && !IsStored(i)) return values_[i.operands()[0]];
  if (fused_[i.id()] && kernels_) return Value(1);  // Only its kernels read its operands.
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

// Returns true for an alias that is the result of a kernel, of what is computed inside.
bool Placement::IsStored(Instruction alias) const {
  return kernels_ && !fused_[alias.id()] &&
         std::ranges::any_of(kernels_->members(alias.id()),
                             [&](NodeId member) { return !IsAlias((*computation_)[member].opcode()); });
}

Value Placement::Element(Instruction get) const {
  const hlo::Shape& whole = get.operand(0).shape();
  const auto index = static_cast<size_t>(get.attributes<hlo::TupleIndexAttributes>().index);
  size_t first = 0;
  for (size_t i = 0; i < index; ++i) first += hlo::Leaves(whole.tuple[i]).size();
  const auto begin = values_[get.operands()[0]].begin() + static_cast<ptrdiff_t>(first);
  return Value(begin, begin + static_cast<ptrdiff_t>(hlo::Leaves(get.shape()).size()));
}

namespace {

// The way in which a kernel reads something.
struct Reading {
  bool aligned = true;
  int64_t bytes_max = 0;
};

void Add(const Source& source, Sources& sources) {
  const auto known = std::ranges::find(sources, source.buffer, &Source::buffer);
  if (known == sources.end()) return sources.push_back(source);
  known->read = std::max(known->read, source.read);
  known->aligned = known->aligned && source.aligned;
}

}  // namespace

// Follows the kernel from its result to what it reads; operands have smaller numbers than their users.
Sources Placement::ReadByKernel(Instruction i) const {
  std::map<NodeId, Reading, std::greater<>> open = {{i.id(), {true, INT64_MAX}}};
  const std::vector<NodeId>& all = kernels_->members(i.id());
  const absl::flat_hash_set<NodeId> members(all.begin(), all.end());
  Sources sources;
  for (; !open.empty(); open.erase(open.begin())) {
    const Instruction at = (*computation_)[open.begin()->first];
    const Reading reading = open.begin()->second;
    for (uint32_t index = 0; index < at.operand_count(); ++index) {
      const NodeId operand = at.operands()[index];
      const Access access = AccessOf(at, index);
      const bool updated = access == Access::kUpdated && at.id() == i.id();
      const bool aligned = reading.aligned && hlo::HasTrait(at.opcode(), hlo::kElementwise) &&
                           at.operand(index).shape().dims == at.shape().dims;
      const int64_t most = access == Access::kPart
                               ? std::min(reading.bytes_max, options_->BytesOf(at.shape()))
                               : reading.bytes_max;
      if (members.contains(operand)) {
        const auto [other, is_new] = open.try_emplace(operand, Reading{aligned, most});
        if (is_new) continue;
        other->second = {other->second.aligned && aligned, std::max(other->second.bytes_max, most)};
        continue;
      }
      for (const Source& source : values_[operand][0])
        Add({source.buffer, updated ? 0 : std::min(source.read, most),
             (updated || aligned) && source.aligned},
            sources);
    }
  }
  return sources;
}

Sources Placement::ReadBy(Instruction i) const {
  if (kernels_ && !kernels_->members(i.id()).empty()) return ReadByKernel(i);
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
        Add({source.buffer, read, aligned && source.aligned}, sources);
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
  const std::unique_ptr<hlo::Module> combined =
      WithCombinedReductions(*WithCpuExpansions(*passes::RemoveDead(*WithCpuForms(*copied))));
  return WithArgumentCopies(*combined, {.compiler = compiler});
}

}  // namespace hlod::analysis
