// Computes the peak of each computation once, from the callees up.
#include "client/analysis/module/peak.h"

#include <algorithm>
#include <utility>

#include "client/analysis/module/access.h"
#include "common/base/errors/status.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// The most bytes that a computation needs at one instruction, beyond its parameters and results.
struct Need {
  int64_t bytes = 0;
  NodeId at = 0;
  std::vector<Contributor> largest;
};

// The instructions during which a buffer's bytes are in use.
struct Life {
  NodeId last_use = 0;  // The last reader; the computation's size for a result.
  int64_t bytes = 0;
  // True when it takes over an operand's memory: its bytes count from the instruction after the one that
  // makes it.
  bool in_place = false;
  bool taken = false;  // True when a result has taken over its memory, so that no other can.
};

void KeepLargest(std::vector<Contributor>& arrays, size_t count) {
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const Contributor& a, const Contributor& b) { return a.bytes > b.bytes; });
  if (arrays.size() > count) arrays.resize(count);
}

// The data that all computations of a module share.
struct Context {
  const Placements& placements;
  const SourceLines lines;
  const size_t contributors_max;
  std::vector<Need> needs;  // By computation; callees before their callers.

  Contributor Describe(const hlo::Computation& computation, NodeId node, const hlo::Shape& shape) const {
    Contributor contributor{.name = computation[node].name(), .shape = shape};
    if (const hlo::Notes* const notes = computation.notes(node); notes != nullptr) {
      contributor.op_name = notes->metadata.op_name;
      contributor.source = lines.Of(*notes);
    }
    return contributor;
  }
};

// Returns true when leaf `leaf` of the result may take the memory of operand `index`, if that is not needed
// any more.
bool MayShare(Instruction i, uint32_t index, size_t leaf) {
  if (i.opcode() == hlo::kSort) return index == leaf;
  return AccessOf(i, index) == Access::kUpdated || hlo::HasTrait(i.opcode(), hlo::kElementwise);
}

// The buffers of one computation over time, measured in instructions.
class Timeline {
 public:
  // With `carries`, for a loop's body, the result's leaves replace the parameters'.
  Timeline(const Context& context, const Placement& placement, bool carries)
      : context_(context), placement_(placement), computation_(placement.computation()) {
    for (const Buffer& buffer : placement.buffers())
      lives_.push_back({.last_use = buffer.made, .bytes = buffer.bytes});
    for (NodeId node = 0; node < computation_.size(); ++node) Use(computation_[node]);
    KeepResults(carries);
    // Visits users first, because an array that is updated in place until it is a result lies in the caller's
    // memory from the start.
    for (NodeId node = computation_.size(); node-- > 0;) ShareInPlace(computation_[node]);
  }

  Need Fullest() const {
    // change[n] is the bytes allocated at n minus the bytes freed there. The running sum is the bytes alive.
    std::vector<int64_t> change(computation_.size() + 2, 0);
    for (size_t id = 0; id < lives_.size(); ++id) {
      const NodeId first = Begin(id),
                   last = std::max(std::min(lives_[id].last_use, computation_.size()), first);
      change[first] += lives_[id].bytes;
      change[last + 1] -= lives_[id].bytes;
    }
    Need need;
    int64_t alive = 0;
    for (NodeId node = 0; node <= computation_.size(); ++node) {
      alive += change[node];
      const Need* const inner = node < computation_.size() ? Inner(node) : nullptr;
      const int64_t bytes = alive + (inner != nullptr ? inner->bytes : 0);
      if (bytes <= need.bytes) continue;
      need.bytes = bytes;
      need.at = std::min(node, computation_.size() - 1);
    }
    Explain(need);
    return need;
  }

 private:
  Life& At(BufferId id) { return lives_[static_cast<size_t>(id)]; }
  const Buffer& Made(size_t id) const { return placement_.buffers()[id]; }
  NodeId Begin(size_t id) const { return Made(id).made + (lives_[id].in_place ? 1 : 0); }

  // Keeps the operands alive until `i`. Tuples and their elements do not read arrays.
  void Use(Instruction i) {
    if (i.opcode() == hlo::kTuple || i.opcode() == hlo::kGetTupleElement || IsAlias(i.opcode())) return;
    for (const NodeId operand : i.operands()) {
      for (const Sources& leaf : placement_.value(operand)) {
        for (const Source& source : leaf)
          At(source.buffer).last_use = std::max(At(source.buffer).last_use, i.id());
      }
    }
  }

  // Keeps the results alive to the end. They are in the caller's memory and count as 0 bytes; the results of
  // a loop's body are in the memory of the old state, unless that is still read when the new state is made.
  void KeepResults(bool carries) {
    Value parameters;
    for (const NodeId parameter : computation_.parameters())
      parameters.insert(parameters.end(), placement_.value(parameter).begin(),
                        placement_.value(parameter).end());
    const Value& results = placement_.value(computation_.root_id());
    for (size_t leaf = 0; leaf < results.size(); ++leaf) {
      for (const Source& source : results[leaf]) {
        Life& life = At(source.buffer);
        bool outside = true;
        if (carries && leaf < parameters.size()) {
          const NodeId made = Made(static_cast<size_t>(source.buffer)).made;
          outside = At(parameters[leaf][0].buffer).last_use <= made;
        }
        if (outside) life.bytes = 0;
        life.last_use = computation_.size();
      }
    }
  }

  void ShareInPlace(Instruction i) {
    if (!placement_.runs(i.id())) return;
    const Value& value = placement_.value(i.id());
    for (size_t leaf = 0; leaf < value.size(); ++leaf) {
      const BufferId result = value[leaf][0].buffer;
      if (Made(static_cast<size_t>(result)).made != i.id()) continue;  // The leaf is only read by the loop.
      if (i.opcode() == hlo::kWhile) {  // A loop's state takes the memory of its initial value.
        TakeOver(result, placement_.value(i.operands()[0])[leaf], /*must=*/true);
        continue;
      }
      for (uint32_t index = 0; index < i.operand_count() && !At(result).in_place; ++index) {
        if (!MayShare(i, index, leaf)) continue;
        for (const Sources& sources : placement_.value(i.operands()[index]))
          TakeOver(result, sources, AccessOf(i, index) == Access::kUpdated);
      }
    }
  }
  // Gives a result the memory of one of the operand's buffers, whose last reader makes the result. With
  // `must`, both are one buffer for the operand's life, too: an operand that is updated until it becomes a
  // result is in the caller's memory.
  void TakeOver(BufferId result, const Sources& operand, bool must) {
    const Buffer& made = Made(static_cast<size_t>(result));
    for (const Source& source : operand) {
      Life& old = At(source.buffer);
      if (old.taken || old.last_use != made.made || old.bytes == 0 || old.bytes != made.bytes) continue;
      old.taken = true;
      At(result).in_place = true;
      if (must && At(result).bytes == 0) old.bytes = 0;
      return;
    }
  }

  // Returns the need of the loop body, branch or callee that runs inside an instruction, the largest of
  // several; null for most instructions.
  const Need* Inner(NodeId node) const {
    const Instruction i = computation_[node];
    const Need* inner = nullptr;
    if (i.opcode() == hlo::kWhile) return &context_.needs[i.called()[0]];
    if (i.opcode() != hlo::kConditional && i.opcode() != hlo::kCall) return nullptr;
    for (const hlo::ComputationId called : i.called()) {
      const Need& need = context_.needs[called];
      if (inner == nullptr || need.bytes > inner->bytes) inner = &need;
    }
    return inner;
  }

  void Explain(Need& need) const {
    for (size_t id = 0; id < lives_.size(); ++id) {
      const Life& life = lives_[id];
      if (life.bytes == 0 || Begin(id) > need.at || life.last_use < need.at) continue;
      Contributor array = context_.Describe(computation_, Made(id).made, *Made(id).shape);
      array.bytes = life.bytes;
      if (life.last_use < computation_.size()) array.last_use = computation_[life.last_use].name();
      need.largest.push_back(std::move(array));
    }
    if (const Need* const inner = computation_.size() == 0 ? nullptr : Inner(need.at); inner != nullptr)
      need.largest.insert(need.largest.end(), inner->largest.begin(), inner->largest.end());
    KeepLargest(need.largest, context_.contributors_max);
  }

  const Context& context_;
  const Placement& placement_;
  const hlo::Computation& computation_;
  std::vector<Life> lives_;  // The lives by buffer.
};

// Adds the arguments and the results of the entry.
void AddSignature(const Context& context, Peak& peak) {
  const hlo::Module& module = context.placements.module();
  const hlo::Computation& entry = module.entry();
  const PlacementOptions& options = context.placements.options();
  const Placement& placement = context.placements.of(module.entry_id());
  const auto add = [&](Contributor::Kind kind, NodeId node) {
    int64_t bytes = TableBytes(entry[node].shape());
    const Value& value = placement.value(node);
    size_t at = 0;
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(entry[node].shape())) {
      // A result is named after the instruction that makes it instead of the tuple that contains it.
      const Sources& sources = value[at++];
      const NodeId made =
          sources.empty() ? node : placement.buffers()[static_cast<size_t>(sources[0].buffer)].made;
      Contributor array = context.Describe(entry, made, *leaf.shape);
      array.kind = kind;
      array.bytes = options.BytesOf(*leaf.shape);
      bytes += array.bytes;
      peak.largest.push_back(std::move(array));
    }
    return bytes;
  };
  for (const NodeId parameter : entry.parameters())
    peak.arguments += add(Contributor::Kind::kArgument, parameter);
  peak.results = add(Contributor::Kind::kResult, entry.root_id());
  for (const hlo::InputOutputAlias& alias : module.config.input_output_alias) {
    const hlo::Shape* const shape = hlo::SubShape(entry.root().shape(), alias.output_index);
    if (shape != nullptr) peak.aliased += options.BytesOf(*shape);
  }
  KeepLargest(peak.largest, context.contributors_max);
}

}  // namespace

std::string_view Name(Contributor::Kind kind) {
  static constexpr std::string_view kNames[] = {"argument", "result", "temporary"};
  return kNames[static_cast<size_t>(kind)];
}

Peak PeakOf(const Placements& placements, size_t contributors_max) {
  const hlo::Module& module = placements.module();
  Context context{placements, SourceLines(module), contributors_max, {}};
  context.needs.resize(module.entry_id() + 1);
  std::vector<bool> carries(context.needs.size(), false);  // True for bodies of loops.
  for (const hlo::ComputationId id : placements.callees_first()) {
    const hlo::Computation& computation = module.computation(id);
    for (NodeId node = 0; node < computation.size(); ++node) {
      if (computation[node].opcode() == hlo::kWhile) carries[computation[node].called()[0]] = true;
    }
  }
  for (const hlo::ComputationId id : placements.callees_first())
    context.needs[id] = Timeline(context, placements.of(id), carries[id]).Fullest();
  Need& need = context.needs[module.entry_id()];
  Peak peak{
      .temporaries = need.bytes, .at = module.entry()[need.at].name(), .largest = std::move(need.largest)};
  AddSignature(context, peak);
  return peak;
}

absl::StatusOr<Peak> PeakOf(const hlo::Module& module, const PlacementOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> canonical, Canonical(module));
  return PeakOf(Placements(*canonical, options));
}

}  // namespace hlod::analysis
