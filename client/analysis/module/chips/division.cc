// The rules per opcode, from operands to results.
#include "client/analysis/module/chips/division.h"

#include <algorithm>
#include <utility>

#include "client/analysis/module/chips/sharding.h"
#include "client/analysis/module/placement.h"
#include "common/hlo/attributes.h"
#include "common/hlo/bitcast.h"
#include "common/hlo/opcode.h"
#include "common/hlo/shape.h"

namespace hlod::analysis {
namespace {

using hlo::Dims;
using hlo::Instruction;
using hlo::NodeId;
using hlo::Shape;
using Leaves = std::vector<Tiling>;

// The tiling of a loop's state is a fixpoint, sought in at most this many iterations; a state that does not
// settle counts as undivided.
constexpr int kIterationsMax = 4;
constexpr int64_t kVisitsMax = 64;  // The limit on visits per instruction, on average.
constexpr int kDepthMax = 64;

Tiling Undivided(const Shape& shape) { return {.tiles = Dims(shape.dims.size(), 1)}; }
Leaves Undivided(Instruction i) {
  Leaves leaves;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(i.shape())) leaves.push_back(Undivided(*leaf.shape));
  return leaves;
}
Leaves Free(Instruction i) {
  Leaves leaves = Undivided(i);
  for (Tiling& leaf : leaves) leaf.free = true;
  return leaves;
}

// Returns the tiling if two ways to the same value agree on it; undivided if they do not.
Tiling Meet(const Tiling& a, const Tiling& b) {
  if (a.free) return b;
  if (b.free || a == b) return a;
  return {.tiles = Dims(a.tiles.size(), 1)};
}
Leaves Meet(const Leaves& a, const Leaves& b) {
  Leaves both;
  for (size_t leaf = 0; leaf < std::min(a.size(), b.size()); ++leaf) both.push_back(Meet(a[leaf], b[leaf]));
  return both;
}

// Returns the common tiling of operands of the same shape. Operands that are divided must agree, otherwise
// the result is undivided.
Tiling Agreed(const std::vector<const Tiling*>& operands, const Shape& shape) {
  const Tiling* divided = nullptr;
  bool free = true;
  for (const Tiling* const operand : operands) {
    free &= operand->free;
    if (operand->parts() == 1) continue;
    if (divided != nullptr && divided->tiles != operand->tiles) return Undivided(shape);
    divided = operand;
  }
  if (divided != nullptr) return *divided;
  Tiling whole = Undivided(shape);
  whole.free = free;
  return whole;
}

// Returns the tiles of the dimensions that keep their size.
Tiling Kept(const Tiling& from, const Shape& before, const Shape& after) {
  Tiling kept = Undivided(after);
  kept.free = from.free;
  for (size_t dim = 0; dim < std::min(before.dims.size(), after.dims.size()); ++dim) {
    if (before.dims[dim] == after.dims[dim]) kept.tiles[dim] = from.tiles[dim];
  }
  return kept;
}

// Carries tiles through a reshape. Pairs the shortest runs of dimensions with equal products. A run that is
// divided along its first dimension alone, as when a dimension is split or merged, stays divided in this way.
Tiling Reshaped(const Tiling& from, const Shape& before, const Shape& after) {
  Tiling tiling = Undivided(after);
  tiling.free = from.free;
  const size_t n = before.dims.size(), m = after.dims.size();
  for (size_t a = 0, b = 0; a < n && b < m;) {
    const size_t first_a = a, first_b = b;
    int64_t was = before.dims[a++], is = after.dims[b++];
    while (was != is) {
      if (was < is && a < n) was *= before.dims[a++];
      else if (is < was && b < m) is *= after.dims[b++];
      else return tiling;  // The array has no elements.
    }
    size_t major = first_a, to = first_b;
    while (major + 1 < a && before.dims[major] == 1) ++major;
    while (to + 1 < b && after.dims[to] == 1) ++to;
    const bool others = std::any_of(
        from.tiles.begin() + static_cast<ptrdiff_t>(first_a), from.tiles.begin() + static_cast<ptrdiff_t>(a),
        [&](const int64_t& tiles) { return &tiles != &from.tiles[major] && tiles > 1; });
    if (!others && after.dims[to] % from.tiles[major] == 0) tiling.tiles[to] = from.tiles[major];
  }
  return tiling;
}

Tiling OfDot(Instruction dot, const Tiling& lhs, const Tiling& rhs) {
  const auto& attributes = dot.attributes<hlo::DotAttributes>();
  Tiling result = Undivided(dot.shape());
  size_t out = 0;
  for (size_t i = 0; i < attributes.lhs_batch.size(); ++i, ++out) {
    const int64_t a = lhs.tiles[static_cast<size_t>(attributes.lhs_batch[i])],
                  b = rhs.tiles[static_cast<size_t>(attributes.rhs_batch[i])];
    if (a == b || b == 1) result.tiles[out] = a;
    else if (a == 1) result.tiles[out] = b;
  }
  const auto add_free = [&](const Tiling& side, const Dims& batch, const Dims& contracting) {
    for (size_t dim = 0; dim < side.tiles.size(); ++dim) {
      const auto in = [dim](const Dims& list) {
        return std::find(list.begin(), list.end(), static_cast<int64_t>(dim)) != list.end();
      };
      if (!in(batch) && !in(contracting)) result.tiles[out++] = side.tiles[dim];
    }
  };
  add_free(lhs, attributes.lhs_batch, attributes.lhs_contracting);
  add_free(rhs, attributes.rhs_batch, attributes.rhs_contracting);
  return result;
}

// Divides the result like the indices: each chip reads the elements of its own indices.
Tiling OfGather(Instruction gather, const Tiling& indices) {
  const auto& attributes = gather.attributes<hlo::GatherAttributes>();
  Tiling result = Undivided(gather.shape());
  const auto vector_dim = static_cast<size_t>(attributes.index_vector_dim);
  size_t batch = 0;
  for (size_t dim = 0; dim < result.tiles.size(); ++dim) {
    const Dims& offsets = attributes.offset_dims;
    if (std::find(offsets.begin(), offsets.end(), static_cast<int64_t>(dim)) != offsets.end()) continue;
    if (batch == vector_dim) ++batch;
    if (batch < indices.tiles.size()) result.tiles[dim] = indices.tiles[batch++];
  }
  return result;
}

Tiling OfReduce(Instruction reduce, const Tiling& from) {
  const Dims& reduced = reduce.attributes<hlo::DimensionsAttributes>().dimensions;
  Tiling result{.free = from.free};
  for (size_t dim = 0; dim < from.tiles.size(); ++dim) {
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(dim)) == reduced.end())
      result.tiles.push_back(from.tiles[dim]);
  }
  return result;
}

Tiling OfBroadcast(Instruction broadcast, const Tiling& from) {
  Tiling tiling = Undivided(broadcast.shape());
  const Dims& dimensions = broadcast.attributes<hlo::DimensionsAttributes>().dimensions;
  for (size_t dim = 0; dim < dimensions.size(); ++dim)
    tiling.tiles[static_cast<size_t>(dimensions[dim])] = from.tiles[dim];
  return tiling;
}

Tiling OfTranspose(Instruction transpose, const Tiling& from) {
  Tiling tiling = from;
  const Dims& dimensions = transpose.attributes<hlo::DimensionsAttributes>().dimensions;
  for (size_t dim = 0; dim < dimensions.size(); ++dim)
    tiling.tiles[dim] = from.tiles[static_cast<size_t>(dimensions[dim])];
  return tiling;
}

Tiling OfConcatenate(Instruction concatenate, const std::vector<std::vector<Tiling>>& values) {
  std::vector<Tiling> kept;
  for (uint32_t i = 0; i < concatenate.operand_count(); ++i) {
    kept.push_back(
        Kept(values[concatenate.operands()[i]][0], concatenate.operand(i).shape(), concatenate.shape()));
  }
  std::vector<const Tiling*> operands;
  for (const Tiling& tiling : kept) operands.push_back(&tiling);
  return Agreed(operands, concatenate.shape());
}

std::vector<Tiling> OfTuple(Instruction tuple, const std::vector<std::vector<Tiling>>& values) {
  std::vector<Tiling> leaves;
  for (const NodeId operand : tuple.operands())
    leaves.insert(leaves.end(), values[operand].begin(), values[operand].end());
  return leaves;
}

// Returns the leaves of one element of a tuple.
std::vector<Tiling> OfElement(Instruction element, const std::vector<Tiling>& tuple) {
  const auto index = static_cast<size_t>(element.attributes<hlo::TupleIndexAttributes>().index);
  size_t first = 0;
  for (size_t before = 0; before < index; ++before)
    first += hlo::Leaves(element.operand(0).shape().tuple[before]).size();
  const auto begin = tuple.begin() + static_cast<ptrdiff_t>(first);
  return {begin, begin + static_cast<ptrdiff_t>(hlo::Leaves(element.shape()).size())};
}

// Divides the result like those operands that have its shape. Any other instruction is not divided.
std::vector<Tiling> OfElementwise(Instruction i, const std::vector<std::vector<Tiling>>& values) {
  if (!hlo::HasTrait(i.opcode(), hlo::kElementwise) || !i.shape().IsArray()) return Undivided(i);
  std::vector<const Tiling*> operands;
  for (uint32_t operand = 0; operand < i.operand_count(); ++operand) {
    if (i.operand(operand).shape().dims == i.shape().dims)
      operands.push_back(&values[i.operands()[operand]][0]);
  }
  return {Agreed(operands, i.shape())};
}

}  // namespace

int64_t Tiling::parts() const {
  int64_t parts = 1;
  for (const int64_t tile : tiles) parts *= tile;
  return parts;
}

Divisions::Divisions(const hlo::Module& canonical, int64_t chips)
    : module_(canonical), chips_(chips), visits_left_(kVisitsMax * canonical.instruction_count()) {
  const hlo::Computation& entry = module_.entry();
  Leaves parameters;
  for (const NodeId parameter : entry.parameters()) {
    const Leaves leaves = Undivided(entry[parameter]);
    parameters.insert(parameters.end(), leaves.begin(), leaves.end());
  }
  Run(entry, parameters);
}

int64_t Divisions::PartsOf(const hlo::Computation& computation, NodeId node, size_t leaf) const {
  const auto found = values_.find(&computation);
  if (found == values_.end() || leaf >= found->second[node].size()) return 1;
  return std::clamp<int64_t>(found->second[node][leaf].parts(), 1, chips_);
}

Divisions::Leaves Divisions::Run(const hlo::Computation& computation, const Leaves& parameters) {
  visits_left_ -= static_cast<int64_t>(computation.size());
  if (visits_left_ < 0 || depth_ >= kDepthMax) {
    values_.erase(&computation);
    return Undivided(computation.root());
  }
  ++depth_;
  std::vector<Leaves> values(computation.size());
  std::vector<size_t> first = {0};  // The first leaf of each parameter.
  for (const NodeId parameter : computation.parameters())
    first.push_back(first.back() + hlo::Leaves(computation[parameter].shape()).size());
  for (NodeId node = 0; node < computation.size(); ++node) {
    const Instruction i = computation[node];
    if (i.opcode() == hlo::kParameter) {
      const auto number = static_cast<size_t>(i.parameter_number());
      values[node].assign(parameters.begin() + static_cast<ptrdiff_t>(first[number]),
                          parameters.begin() + static_cast<ptrdiff_t>(first[number + 1]));
    } else {
      values[node] = Visit(i, values);
    }
    const hlo::Notes* const notes = computation.notes(node);
    if (notes == nullptr || notes->sharding.empty()) continue;
    const std::vector<Dims> said = TilesOf(notes->sharding, i.shape());
    for (size_t leaf = 0; leaf < values[node].size(); ++leaf) values[node][leaf] = {.tiles = said[leaf]};
  }
  Leaves result = values[computation.root_id()];
  values_[&computation] = std::move(values);
  --depth_;
  return result;
}

Divisions::Leaves Divisions::VisitCalls(Instruction i, const std::vector<Leaves>& values) {
  if (i.opcode() == hlo::kWhile) {
    Leaves state = values[i.operands()[0]];
    for (int iteration = 0; iteration < kIterationsMax; ++iteration) {
      Leaves both = Meet(state, Run(module_.computation(i.called()[0]), state));
      if (both == state) return state;
      state = std::move(both);
    }
    state = Undivided(i);
    Run(module_.computation(i.called()[0]), state);
    return state;
  }
  Leaves result = Free(i);
  for (size_t branch = 0; branch < i.called().size(); ++branch)
    result = Meet(result, Run(module_.computation(i.called()[branch]), values[i.operands()[branch + 1]]));
  return result;
}

Divisions::Leaves Divisions::Visit(Instruction i, const std::vector<Leaves>& values) {
  const auto of = [&](uint32_t operand) -> const Leaves& { return values[i.operands()[operand]]; };
  const auto shape_of = [&](uint32_t operand) -> const Shape& { return i.operand(operand).shape(); };
  switch (i.opcode()) {
    case hlo::kConstant:
    case hlo::kIota:
    case hlo::kRng:
    case hlo::kRngBitGenerator: return Free(i);
    case hlo::kTuple: return OfTuple(i, values);
    case hlo::kGetTupleElement: return OfElement(i, of(0));
    case hlo::kWhile:
    case hlo::kConditional: return VisitCalls(i, values);
    case hlo::kCopy:
    case hlo::kReverse:
    case hlo::kOptBarrier:
    case hlo::kDomain:
    case hlo::kAddDependency: return of(0);
    case hlo::kBitcast:
      if (!hlo::IsRowMajor(shape_of(0)) || !hlo::IsRowMajor(i.shape())) return {Undivided(i.shape())};
      [[fallthrough]];
    case hlo::kReshape: return {Reshaped(of(0)[0], shape_of(0), i.shape())};
    case hlo::kBroadcast:
      // A broadcast scalar can be computed on any chip.
      if (of(0)[0].free || shape_of(0).dims.empty()) return Free(i);
      return {OfBroadcast(i, of(0)[0])};
    case hlo::kTranspose: return {OfTranspose(i, of(0)[0])};
    case hlo::kGather: return {OfGather(i, of(1)[0])};
    case hlo::kDot: return {OfDot(i, of(0)[0], of(1)[0])};
    case hlo::kReduce: {
      Leaves leaves = Undivided(i);
      for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
        leaves[leaf] = OfReduce(i, of(static_cast<uint32_t>(leaf))[0]);
      return leaves;
    }
    case hlo::kSlice:
    case hlo::kPad:
    case hlo::kDynamicSlice: return {Kept(of(0)[0], shape_of(0), i.shape())};
    case hlo::kDynamicUpdateSlice:
      if (of(0)[0].free) return {Kept(of(1)[0], shape_of(1), i.shape())};
      return of(0);
    case hlo::kConcatenate: return {OfConcatenate(i, values)};
    default: return OfElementwise(i, values);
  }
}

}  // namespace hlod::analysis
