// The peak of a module: each computation once, from the callees up.
#include "client/analysis/peak.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "client/analysis/callees_first.h"
#include "client/analysis/fusion_model.h"
#include "common/hlo/analysis/trip_count.h"
#include "common/passes/passes.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::NodeId;

using BufferId = int32_t;
// A buffer, and how much of it is read.
struct Source {
  BufferId buffer = 0;
  int64_t read = 0;
};
// The buffer of an array; of a fused one those that it is computed from.
using Sources = absl::InlinedVector<Source, 2>;
// A value's leaves.
using Value = std::vector<Sources>;

// A fused value that would read more than this is written after all.
constexpr size_t kSourcesMax = 32;

struct Buffer {
  NodeId made = 0;      // By this instruction,
  NodeId last_use = 0;  // read last by this one.
  int64_t bytes = 0;    // 0: the caller's memory.
  const hlo::Shape* shape = nullptr;
  bool in_place = false;  // Takes over an operand's memory: not there at `made` beside it.
};

// What a computation needs beyond its parameters and results, at its fullest.
struct Need {
  int64_t bytes = 0;
  NodeId at = 0;
  double traffic = 0;  // Bytes read and written.
  std::vector<Contributor> largest;
};

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

// Whether the result may lie where operand `index` lay that is not needed any more.
bool MayShare(Instruction i, uint32_t index) {
  switch (i.opcode()) {
    case hlo::kDynamicUpdateSlice:
    case hlo::kScatter: return index == 0;
    case hlo::kSort: return true;
    default: return hlo::HasTrait(i.opcode(), hlo::kElementwise);
  }
}

class Computations {
 public:
  Computations(const hlo::Module& module, const PeakOptions& options)
      : module_(module), options_(options), needs_(module.entry_id() + 1) {
    const std::vector<hlo::ComputationId> order = CalleesFirst(module, module.entry_id());
    std::vector<bool> carries(needs_.size(), false);  // Bodies of loops.
    for (const hlo::ComputationId id : order) {
      const hlo::Computation& computation = module.computation(id);
      for (NodeId node = 0; node < computation.size(); ++node) {
        if (computation[node].opcode() == hlo::kWhile) carries[computation[node].called()[0]] = true;
      }
    }
    for (const hlo::ComputationId id : order)
      needs_[id] = Walk(*this, module.computation(id), carries[id]).Result();
  }

  int64_t Bytes(const hlo::Shape& shape) const {
    return options_.bytes ? options_.bytes(shape) : hlo::ByteSize(shape).value_or(0);
  }

  const Need& Of(hlo::ComputationId id) const { return needs_[id]; }

  Contributor Describe(const hlo::Computation& computation, const Buffer& buffer) const {
    const Instruction made = computation[buffer.made];
    Contributor contributor{.name = made.name(), .shape = *buffer.shape, .bytes = buffer.bytes};
    if (buffer.last_use < computation.size()) contributor.last_use = computation[buffer.last_use].name();
    if (const hlo::Notes* const notes = computation.notes(buffer.made); notes != nullptr) {
      contributor.op_name = notes->metadata.op_name;
      if (!notes->metadata.source_file.empty())
        contributor.source = absl::StrCat(notes->metadata.source_file, ":", notes->metadata.source_line);
    }
    return contributor;
  }
  size_t contributors_max() const { return options_.contributors_max; }

 private:
  class Walk {
   public:
    // `carries`: the result's leaves replace the parameters', as in a loop's body.
    Walk(const Computations& all, const hlo::Computation& computation, bool carries)
        : all_(all),
          computation_(computation),
          fused_(all.options_.fused ? FusedAway(computation) : std::vector<bool>(computation.size(), false)),
          inner_(computation.size(), nullptr) {
      for (NodeId node = 0; node < computation.size(); ++node) values_.push_back(Place(computation[node]));
      KeepResults(carries);
      for (NodeId node = 0; node < computation.size(); ++node) ShareInPlace(computation[node]);
    }

    Need Result() {
      // Bytes that come and go, then their running sum.
      std::vector<int64_t> change(computation_.size() + 2, 0);
      for (const Buffer& buffer : buffers_) {
        const NodeId first = buffer.made + (buffer.in_place ? 1 : 0);
        const NodeId last = std::max(std::min(buffer.last_use, computation_.size()), first);
        change[first] += buffer.bytes;
        change[last + 1] -= buffer.bytes;
      }
      Need need{.traffic = traffic_};
      int64_t alive = 0;
      for (NodeId node = 0; node <= computation_.size(); ++node) {
        alive += change[node];
        const Need* const inner = node < computation_.size() ? inner_[node] : nullptr;
        const int64_t bytes = alive + (inner != nullptr ? inner->bytes : 0);
        if (bytes <= need.bytes) continue;
        need.bytes = bytes;
        need.at = std::min(node, computation_.size() - 1);
      }
      Explain(need);
      return need;
    }

   private:
    Value Place(Instruction i) {
      Use(i);
      if (i.opcode() == hlo::kTuple) {
        Value leaves;
        for (const NodeId operand : i.operands())
          leaves.insert(leaves.end(), values_[operand].begin(), values_[operand].end());
        return leaves;
      }
      if (i.opcode() == hlo::kGetTupleElement) return Element(i);
      if (IsAlias(i.opcode())) return values_[i.operands()[0]];
      if (fused_[i.id()]) {
        if (std::optional<Value> sources = FusedSources(i); sources.has_value()) return *std::move(sources);
      }
      Run(i);
      const bool outside = i.opcode() == hlo::kParameter || i.opcode() == hlo::kConstant;
      Value leaves;
      for (const hlo::ShapeLeaf& leaf : hlo::Leaves(i.shape())) {
        buffers_.push_back({.made = i.id(),
                            .last_use = i.id(),
                            .bytes = outside ? 0 : all_.Bytes(*leaf.shape),
                            .shape = leaf.shape});
        leaves.push_back({{static_cast<BufferId>(buffers_.size()) - 1, all_.Bytes(*leaf.shape)}});
      }
      return leaves;
    }

    Buffer& At(BufferId id) { return buffers_[static_cast<size_t>(id)]; }

    // Operands are alive until here. Tuples and their elements do not read arrays.
    void Use(Instruction i) {
      if (i.opcode() == hlo::kTuple || i.opcode() == hlo::kGetTupleElement || IsAlias(i.opcode())) return;
      for (const NodeId operand : i.operands()) {
        for (const Sources& leaf : values_[operand]) {
          for (const Source& source : leaf)
            At(source.buffer).last_use = std::max(At(source.buffer).last_use, i.id());
        }
      }
    }

    // What the instruction reads, each buffer once: a slice no more than it gives.
    Sources ReadBy(Instruction i) const {
      const bool slices =
          i.opcode() == hlo::kSlice || i.opcode() == hlo::kDynamicSlice || i.opcode() == hlo::kGather;
      const bool updates = i.opcode() == hlo::kDynamicUpdateSlice || i.opcode() == hlo::kScatter;
      Sources sources;
      for (uint32_t operand = 0; operand < i.operand_count(); ++operand) {
        for (const Sources& leaf : values_[i.operands()[operand]]) {
          for (const Source& source : leaf) {
            int64_t read = source.read;
            if (operand == 0 && slices) read = std::min(read, all_.Bytes(i.shape()));
            if (operand == 0 && updates) read = 0;
            const auto same = [&](const Source& known) { return known.buffer == source.buffer; };
            const auto known = std::find_if(sources.begin(), sources.end(), same);
            if (known == sources.end()) sources.push_back({source.buffer, read});
            else known->read = std::max(known->read, read);
          }
        }
      }
      return sources;
    }

    // What the instruction writes: of an array that is updated in place the updates.
    int64_t WrittenBy(Instruction i) const {
      if (i.opcode() == hlo::kDynamicUpdateSlice) return all_.Bytes(i.operand(1).shape());
      if (i.opcode() == hlo::kScatter) return 2 * all_.Bytes(i.operand(i.operand_count() - 1).shape());
      return all_.Bytes(i.shape());
    }

    Value Element(Instruction get) {
      const hlo::Shape& whole = get.operand(0).shape();
      const auto index = static_cast<size_t>(get.attributes<hlo::TupleIndexAttributes>().index);
      size_t first = 0;
      for (size_t i = 0; i < index; ++i) first += hlo::Leaves(whole.tuple[i]).size();
      const size_t count = hlo::Leaves(get.shape()).size();
      const Value& value = values_[get.operands()[0]];
      const auto begin = value.begin() + static_cast<ptrdiff_t>(first);
      return Value(begin, begin + static_cast<ptrdiff_t>(count));
    }

    // Nothing when they are too many.
    std::optional<Value> FusedSources(Instruction i) const {
      Sources sources = ReadBy(i);
      if (sources.size() > kSourcesMax) return std::nullopt;
      return Value{std::move(sources)};
    }

    // What runs in the instruction or inside it.
    void Run(Instruction i) {
      switch (i.opcode()) {
        case hlo::kParameter:
        case hlo::kConstant: return;
        case hlo::kWhile: {
          const double turns = static_cast<double>(hlo::TripCountOf(all_.module_, i).value_or(1));
          const Need &body = all_.Of(i.called()[0]), &condition = all_.Of(i.called()[1]);
          traffic_ += turns * body.traffic + (turns + 1) * condition.traffic;
          inner_[i.id()] = &body;
          return;
        }
        case hlo::kConditional:
        case hlo::kCall: {
          double traffic = 0;
          for (const hlo::ComputationId called : i.called()) {
            const Need& need = all_.Of(called);
            traffic = std::max(traffic, need.traffic);
            if (inner_[i.id()] == nullptr || need.bytes > inner_[i.id()]->bytes) inner_[i.id()] = &need;
          }
          traffic_ += traffic;
          return;
        }
        default: break;
      }
      traffic_ += static_cast<double>(WrittenBy(i));
      for (const Source& source : ReadBy(i)) traffic_ += static_cast<double>(source.read);
    }

    // Results live in the caller's memory; a loop's, where the state is, unless the old state is still read
    // when the new one is made.
    void KeepResults(bool carries) {
      Value parameters;
      for (const NodeId parameter : computation_.parameters())
        parameters.insert(parameters.end(), values_[parameter].begin(), values_[parameter].end());
      const Value& results = values_[computation_.root_id()];
      for (size_t leaf = 0; leaf < results.size(); ++leaf) {
        for (const Source& source : results[leaf]) {
          Buffer& buffer = At(source.buffer);
          bool outside = true;
          if (carries && leaf < parameters.size())
            outside = At(parameters[leaf][0].buffer).last_use <= buffer.made;
          if (outside) buffer.bytes = 0;
          buffer.last_use = computation_.size();
        }
      }
    }

    void ShareInPlace(Instruction i) {
      const Value& value = values_[i.id()];
      if (value.empty() || IsAlias(i.opcode()) || fused_[i.id()]) return;
      if (i.opcode() == hlo::kWhile) return ShareState(i);
      if (value.size() != 1 || value[0].size() != 1) return;
      Buffer& result = At(value[0][0].buffer);
      if (result.made != i.id()) return;
      for (uint32_t index = 0; index < i.operand_count(); ++index) {
        if (!MayShare(i, index)) continue;
        for (const Sources& leaf : values_[i.operands()[index]]) {
          for (const Source& source : leaf) {
            if (!Ends(source.buffer, i.id(), result.bytes)) continue;
            result.in_place = true;
            return;
          }
        }
      }
    }
    // A loop's state lies where its beginning lay.
    void ShareState(Instruction loop) {
      const Value &state = values_[loop.id()], &begin = values_[loop.operands()[0]];
      for (size_t leaf = 0; leaf < state.size() && leaf < begin.size(); ++leaf) {
        Buffer& result = At(state[leaf][0].buffer);
        for (const Source& source : begin[leaf])
          result.in_place |= Ends(source.buffer, loop.id(), result.bytes);
      }
    }
    bool Ends(BufferId id, NodeId at, int64_t bytes) const {
      const Buffer& buffer = buffers_[static_cast<size_t>(id)];
      return buffer.last_use == at && buffer.bytes == bytes && bytes > 0;
    }

    void Explain(Need& need) const {
      for (const Buffer& buffer : buffers_) {
        const NodeId first = buffer.made + (buffer.in_place ? 1 : 0);
        if (buffer.bytes > 0 && first <= need.at && buffer.last_use >= need.at)
          need.largest.push_back(all_.Describe(computation_, buffer));
      }
      if (const Need* const inner = inner_.empty() ? nullptr : inner_[need.at]; inner != nullptr)
        need.largest.insert(need.largest.end(), inner->largest.begin(), inner->largest.end());
      std::stable_sort(need.largest.begin(), need.largest.end(),
                       [](const Contributor& a, const Contributor& b) { return a.bytes > b.bytes; });
      if (need.largest.size() > all_.contributors_max()) need.largest.resize(all_.contributors_max());
    }

    const Computations& all_;
    const hlo::Computation& computation_;
    const std::vector<bool> fused_;
    std::vector<const Need*> inner_;  // By instruction.
    std::vector<Buffer> buffers_;
    std::vector<Value> values_;  // By instruction.
    double traffic_ = 0;
  };

  const hlo::Module& module_;
  const PeakOptions& options_;
  std::vector<Need> needs_;  // By computation.
};

// The arguments and results themselves.
void AddSignature(const hlo::Module& module, const Computations& computations, size_t contributors_max,
                  Peak& peak) {
  const auto add = [&](Contributor::Kind kind, const hlo::Shape& shape, std::string name) {
    const int64_t bytes = computations.Bytes(shape);
    peak.largest.push_back({.kind = kind, .name = std::move(name), .shape = shape, .bytes = bytes});
    return bytes;
  };
  const hlo::Computation& entry = module.entry();
  for (const NodeId parameter : entry.parameters()) {
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(entry[parameter].shape()))
      peak.arguments += add(Contributor::Kind::kArgument, *leaf.shape, entry[parameter].name());
  }
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(entry.root().shape()))
    peak.results += add(Contributor::Kind::kResult, *leaf.shape, entry.root().name());
  for (const hlo::InputOutputAlias& alias : module.config.input_output_alias) {
    const hlo::Shape* const shape = hlo::SubShape(entry.root().shape(), alias.output_index);
    if (shape != nullptr) peak.aliased += computations.Bytes(*shape);
  }
  std::stable_sort(peak.largest.begin(), peak.largest.end(),
                   [](const Contributor& a, const Contributor& b) { return a.bytes > b.bytes; });
  if (peak.largest.size() > contributors_max) peak.largest.resize(contributors_max);
}

}  // namespace

absl::StatusOr<Peak> PeakOf(const hlo::Module& module, const PeakOptions& options) {
  const std::unique_ptr<hlo::Module> own = hlo::Clone(module);
  absl::StatusOr<std::unique_ptr<hlo::Module>> canonical = RunPipeline(*own);
  if (!canonical.ok()) return canonical.status();
  Computations computations(**canonical, options);
  const Need& need = computations.Of((*canonical)->entry_id());
  Peak peak;
  peak.temporaries = need.bytes;
  peak.traffic = need.traffic;
  peak.at = (*canonical)->entry()[need.at].name();
  peak.largest = need.largest;
  AddSignature(**canonical, computations, options.contributors_max, peak);
  return peak;
}

}  // namespace hlod::analysis
