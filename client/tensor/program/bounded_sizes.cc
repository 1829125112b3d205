// Makes one program of the many that a growing view gives.
//
// A decoder reads `cache.Slice(1, 0, pos)` in every step. Its trace has other shapes in each, and compiled as
// it is, every length would be another program. Two such traces have the same form: the same instructions, of
// which some have other sizes, limits or constants. Their differences say what grows. For example, with pos 5
// before and 6 now:
//
//   %0 = f32[2,64] parameter(0)                                  # the cache
//   %1 = f32[2,6]  slice(%0), limit={2,6}                        # limit and size were 5
//   %2 = f32[2]    reduce(%1), dimensions={1}, to_apply=add
//   %3 = f32[]     constant(6)                                   # was 5: the divisor of the mean
//   %4 = f32[2]    divide(%2, broadcast(%3))
//
// All sizes that differ are expressed by the one that changes least, the root: k * root + c. At the bound 32
// of the root the program becomes
//
//   %0 = f32[2,64]   parameter(0)
//   %n = s32[]       parameter(1)                                # 6
//   %1 = f32[2,<=32] set-dimension-size(slice(%0), %n)           # limit={2,32}
//   %2 = f32[2]      reduce(%1), dimensions={1}, to_apply=add
//   %3 = f32[]       parameter(2)                                # 6.0
//   %4 = f32[2]      divide(%2, broadcast(%3))
//
// which is the same for pos 7. Gradients need no rules: they are instructions of the trace. Where an array
// begins to grow (slice, broadcast, iota) its size is set; elsewhere it follows from the operands, and
// ExpandDynamic (common/passes/dynamic) masks what is beyond it, or refuses. A pad back to a size that does
// not grow, the gradient of a slice, becomes an update of an array of the pad's value.
#include "client/tensor/program/bounded_sizes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/trace/size_bounds.h"
#include "client/tensor/trace/trace_tables.h"
#include "common/base/errors/status.h"
#include "common/evaluator/custom_calls.h"
#include "common/passes/copy.h"
#include "common/passes/dynamic/expand_dynamic.h"

namespace hlod::lazy {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// Returns true when the attributes may contain sizes, or a number.
bool MayGrow(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case hlo::kSlice:
    case hlo::kDynamicSlice:
    case hlo::kPad: return true;
    case hlo::kConstant: return instruction.shape().IsScalar();
    default: return false;
  }
}

// Returns true for opcodes whose growing dimensions follow from their operands, and whose attributes do not
// contain sizes of them.
bool Follows(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kReshape:
    case hlo::kTranspose:
    case hlo::kConcatenate:
    case hlo::kReduce:
    case hlo::kDot:
    case hlo::kConvolution:
    case hlo::kSort:
    case hlo::kReverse:
    case hlo::kGather:
    case hlo::kScatter:
    case hlo::kDynamicUpdateSlice:
    case hlo::kCopy: return true;
    default: return hlo::HasTrait(opcode, hlo::kElementwise);
  }
}

// A size before and now.
using Change = std::pair<int64_t, int64_t>;

// Builds the bounded program. An instruction without a rule clears `ok_`.
class Bounding {
 public:
  Bounding(const hlo::Computation& earlier, const Canonical& now)
      : was_(earlier), source_(now), now_(*now.computation), nodes_(now_.size()) {}

  std::optional<BoundedSizes> Run() {
    if (!FindRoot() || !FindRoom()) return std::nullopt;
    bounded_.canonical.computation = std::make_unique<hlo::Computation>(now_.shared_tables(), now_.name());
    bounded_.canonical.parameters = source_.parameters;
    bounded_.bound = root_.second + room_;
    for (NodeId node = 0; node < now_.size() && ok_; ++node) nodes_[node] = Add(node);
    if (!ok_) return std::nullopt;
    for (const NodeId output : source_.outputs) {
      if (to()[nodes_[output]].shape().HasDynamicDimension()) return std::nullopt;
      bounded_.canonical.outputs.push_back(nodes_[output]);
    }
    return std::move(bounded_);
  }

 private:
  hlo::Computation& to() { return *bounded_.canonical.computation; }

  bool Fail() { return ok_ = false; }

  // Calls `body` with the dimension and the change of each size of the instruction that differs.
  template <typename Body>
  void ForChanged(NodeId node, Body body) const {
    const Instruction was = was_[node], is = now_[node];
    if (was.shape_id() == is.shape_id()) return;
    for (int64_t d = 0; d < is.shape().rank(); ++d) {
      if (was.shape().dims[d] != is.shape().dims[d]) body(d, Change(was.shape().dims[d], is.shape().dims[d]));
    }
  }
  bool Grows(NodeId node, int64_t d) const {
    return was_[node].shape().dims[d] != now_[node].shape().dims[d];
  }
  bool Grows(NodeId node) const { return was_[node].shape_id() != now_[node].shape_id(); }

  // Finds the size that changes least, of which all others are multiples.
  bool FindRoot() {
    std::set<Change> changes;
    for (NodeId node = 0; node < now_.size(); ++node) {
      ForChanged(node, [&](int64_t, Change change) { changes.insert(change); });
    }
    const auto step = [](Change change) { return change.second - change.first; };
    for (const Change& change : changes) {
      if (root_.first == root_.second || std::abs(step(change)) < std::abs(step(root_))) root_ = change;
    }
    return !changes.empty() && std::ranges::all_of(changes, [&](Change change) {
      return step(change) % step(root_) == 0 && step(change) / step(root_) > 0;
    });
  }

  // Returns how many times a size changes as much as the root does; 0 if it does not change.
  int64_t Factor(Change change) {
    const int64_t step = change.second - change.first, unit = root_.second - root_.first;
    if (step % unit != 0 || step / unit < 0) Fail();
    return step / unit;
  }
  int64_t AtBound(Change change) { return change.second + Factor(change) * room_; }

  // Limits the room, by which the bound exceeds the root, to that of an array in which `change` ends `rest`
  // before its end.
  void Limit(Change change, int64_t rest) {
    if (const int64_t factor = Factor(change); factor > 0) room_ = std::min(room_, rest / factor);
  }
  bool FindRoom() {
    room_ = BoundOf(root_.second) - root_.second;
    for (NodeId node = 0; node < now_.size(); ++node) {
      const Instruction was = was_[node], is = now_[node];
      const absl::Span<const NodeId> operands = is.operands();
      if (is.opcode() == hlo::kSlice && Grows(node)) {
        const auto &before = was.attributes<hlo::SliceAttributes>(),
                   &after = is.attributes<hlo::SliceAttributes>();
        ForChanged(node, [&](int64_t d, Change) {
          if (Grows(operands[0], d)) return;
          Limit({before.limit[d], after.limit[d]}, now_[operands[0]].shape().dims[d] - after.limit[d]);
        });
      } else if (is.opcode() == hlo::kPad || is.opcode() == hlo::kDynamicUpdateSlice) {
        const NodeId part = operands[is.opcode() == hlo::kPad ? 0 : 1];
        // A pad that cuts has a part of its operand.
        if (is.opcode() == hlo::kPad) {
          ForChanged(node, [&](int64_t d, Change change) {
            if (!Grows(part, d)) Limit(change, now_[part].shape().dims[d] - change.second);
          });
        }
        ForChanged(part, [&](int64_t d, Change change) {
          if (Grows(node, d)) return;
          const int64_t low = is.opcode() == hlo::kPad
                                  ? is.attributes<hlo::PadAttributes>().dimensions[static_cast<size_t>(d)].low
                                  : 0;
          Limit(change, is.shape().dims[d] - change.second - std::max<int64_t>(low, 0));
        });
      }
    }
    return ok_ && room_ >= 0 && FitsAtBound();
  }
  // Returns false when a size at the bound is larger than its own bound would be, and has more room for its
  // size than the root has. Such a size does not grow with the root: the change from 100 to 300 beside one
  // from 20 to 21 would have room for 200 times what the root has.
  bool FitsAtBound() {
    const double root_room =
        static_cast<double>(room_) / static_cast<double>(std::max<int64_t>(1, root_.second));
    for (NodeId node = 0; node < now_.size(); ++node) {
      ForChanged(node, [&](int64_t, Change change) {
        const double now = static_cast<double>(change.second);
        const double at_bound = now + static_cast<double>(Factor(change)) * static_cast<double>(room_);
        const double own_bound = 2 * static_cast<double>(BoundOf(change.second));
        if (at_bound > std::max(own_bound, now * (1 + root_room))) Fail();
      });
    }
    return ok_;
  }

  NodeId Append(NodeId like, hlo::Opcode opcode, const Shape& shape, hlo::AttributesId attributes,
                absl::Span<const NodeId> operands, absl::Span<const hlo::ComputationId> called = {}) {
    const NodeId added = to().Append(opcode, to().tables().Intern(shape), attributes, operands, called);
    bounded_.canonical.nodes.push_back(like);
    return added;
  }

  // Appends a parameter after those of the trace.
  NodeId Number(Literal literal) {
    const auto number = static_cast<uint32_t>(source_.parameters.size() + bounded_.numbers.size());
    const Shape shape = literal.shape();
    bounded_.numbers.push_back(std::make_shared<const Literal>(std::move(literal)));
    return Append(hlo::Computation::kNoNode, hlo::kParameter, shape,
                  TraceTables::Get().ParameterNumber(number), {});
  }
  NodeId SizeNow(Change change) {
    const auto [found, added] = sizes_.try_emplace({change.first, Factor(change)});
    if (added) found->second = Number(Literal::Scalar(static_cast<int32_t>(change.second)));
    return found->second;
  }

  // Returns the shape at the bound, of which no dimension is dynamic yet.
  Shape AtBound(NodeId node) {
    Shape shape = now_[node].shape();
    ForChanged(node, [&](int64_t d, Change change) { shape.dims[d] = AtBound(change); });
    return shape;
  }
  static void MakeDynamic(Shape& shape, int64_t d) {
    shape.dynamic.resize(shape.dims.size());
    shape.dynamic[d] = true;
  }
  // Returns the shape at the bound, with all growing dimensions dynamic.
  Shape Bounded(NodeId node) {
    Shape shape = AtBound(node);
    ForChanged(node, [&](int64_t d, Change) { MakeDynamic(shape, d); });
    return shape;
  }

  // Appends an instruction with which arrays begin to grow. The growing dimensions for which `follows` is
  // true are dynamic as those of an operand are; those for which `begins` is true get their sizes.
  template <typename Extends, typename Begins>
  NodeId Begin(NodeId node, hlo::Opcode opcode, const hlo::Attributes& attributes,
               absl::Span<const NodeId> operands, Extends follows, Begins begins) {
    Shape shape = AtBound(node);
    ForChanged(node, [&](int64_t d, Change) {
      if (follows(d)) MakeDynamic(shape, d);
    });
    const NodeId like = source_.nodes[node];
    NodeId result = Append(like, opcode, shape, to().tables().Intern(attributes), operands);
    ForChanged(node, [&](int64_t d, Change change) {
      if (!begins(d)) return;
      MakeDynamic(shape, d);
      const NodeId size = SizeNow(change);
      result = Append(like, hlo::kSetDimensionSize, shape,
                      to().tables().Intern(hlo::Attributes(hlo::DimensionsAttributes{{d}})), {result, size});
    });
    return result;
  }

  NodeId Broadcast(NodeId node, absl::Span<const NodeId> operands) {
    const NodeId from = now_[node].operands()[0];
    std::vector<bool> follows(now_[node].shape().dims.size());
    const Dims& dimensions = now_[node].dimensions();
    for (size_t i = 0; i < dimensions.size(); ++i) {
      follows[static_cast<size_t>(dimensions[i])] = Grows(from, static_cast<int64_t>(i));
    }
    return Begin(
        node, hlo::kBroadcast, now_[node].attributes(), operands,
        [&](int64_t d) { return follows[static_cast<size_t>(d)]; },
        [&](int64_t d) { return !follows[static_cast<size_t>(d)]; });
  }

  NodeId Slice(NodeId node, absl::Span<const NodeId> operands) {
    const auto &was = was_[node].attributes<hlo::SliceAttributes>(),
               &is = now_[node].attributes<hlo::SliceAttributes>();
    const NodeId from = now_[node].operands()[0];
    hlo::SliceAttributes slice = is;
    for (int64_t d = 0; d < now_[node].shape().rank(); ++d) {
      const bool grows = Grows(node, d);
      if (was.start[d] != is.start[d] || was.stride[d] != is.stride[d]) Fail();
      if (Grows(from, d) && !grows) return Part(node, operands[0]);
      if (grows && is.stride[d] != 1) Fail();
      if (!grows && was.limit[d] != is.limit[d]) Fail();
      slice.limit[d] = AtBound(Change(was.limit[d], is.limit[d]));
    }
    // A slice that ends where a growing array ends has its size by that; one that ends before it is cut.
    const auto ends = [&](int64_t d) {
      return was.limit[d] == was_[from].shape().dims[d] && is.limit[d] == now_[from].shape().dims[d];
    };
    return Begin(
        node, hlo::kSlice, hlo::Attributes(slice), operands, [&](int64_t d) { return Grows(from, d); },
        [&](int64_t d) { return !(Grows(from, d) && ends(d)); });
  }

  // A slice of a size that stays, of an array that grows: that many elements at a start exist in it.
  NodeId Part(NodeId node, NodeId from) {
    const Instruction is = now_[node];
    const auto& slice = is.attributes<hlo::SliceAttributes>();
    std::vector<NodeId> operands = {from};
    for (size_t d = 0; d < slice.start.size(); ++d) {
      if (slice.stride[d] != 1 || slice.limit[d] != was_[node].attributes<hlo::SliceAttributes>().limit[d])
        Fail();
      operands.push_back(ScalarConstant(source_.nodes[node], hlo::kS32, slice.start[d]));
    }
    if (Grows(node)) return Fail();
    const hlo::DynamicSliceAttributes sizes{is.shape().dims};
    return Append(source_.nodes[node], hlo::kDynamicSlice, is.shape(),
                  to().tables().Intern(hlo::Attributes(sizes)), operands);
  }

  // A pad that cuts the end of an array that does not grow, as the gradient of a pad does, is a slice.
  NodeId Cut(NodeId node, absl::Span<const NodeId> operands) {
    for (const Instruction& pad : {was_[node], now_[node]}) {
      for (const hlo::PadDimension& dimension : pad.attributes<hlo::PadAttributes>().dimensions) {
        if (dimension.low != 0 || dimension.high > 0 || dimension.interior != 0) return Fail();
      }
    }
    const Dims limit = AtBound(node).dims;
    const hlo::SliceAttributes slice{Dims(limit.size(), 0), limit, Dims(limit.size(), 1)};
    return Begin(
        node, hlo::kSlice, hlo::Attributes(slice), {operands[0]}, [](int64_t) { return false; },
        [](int64_t) { return true; });
  }

  NodeId ScalarConstant(NodeId like, hlo::PrimitiveType type, int64_t value) {
    const auto literal = std::make_shared<const Literal>(NumberLiteral(type, value));
    const hlo::ConstantAttributes constant{to().tables().Intern(literal)};
    return Append(like, hlo::kConstant, literal->shape(), to().tables().Intern(hlo::Attributes(constant)),
                  {});
  }

  // A slice whose start the program takes as a number and whose size grows, as that of the end of a cache
  // shrinks. At the bound it would go past the end, so that the array gets room there; the start is clamped
  // by the size that the slice has.
  NodeId DynamicSlice(NodeId node, absl::Span<const NodeId> operands) {
    const Instruction is = now_[node];
    if (was_[node].attributes_id() == is.attributes_id()) return Same(node, operands);
    const NodeId like = source_.nodes[node], from = is.operands()[0];
    const hlo::AttributesId none = to().tables().Intern(hlo::Attributes(hlo::NoAttributes()));
    if (Grows(from)) return Fail();
    hlo::PadAttributes room;
    Shape padded = now_[from].shape();
    room.dimensions.resize(padded.dims.size());
    hlo::DynamicSliceAttributes slice = is.attributes<hlo::DynamicSliceAttributes>();
    std::vector<NodeId> starts(operands.begin() + 1, operands.end());
    ForChanged(node, [&](int64_t d, Change change) {
      const Shape start = now_[is.operands()[static_cast<size_t>(1 + d)]].shape();
      const NodeId size = Append(like, hlo::kConvert, start, none, {SizeNow(change)});
      const NodeId end = ScalarConstant(like, start.type, padded.dims[d]);
      const NodeId last = Append(like, hlo::kSubtract, start, none, {end, size});
      starts[static_cast<size_t>(d)] =
          Append(like, hlo::kClamp, start, none,
                 {ScalarConstant(like, start.type, 0), starts[static_cast<size_t>(d)], last});
      slice.sizes[d] = AtBound(change);
      room.dimensions[static_cast<size_t>(d)].high = slice.sizes[d];
    });
    for (size_t d = 0; d < padded.dims.size(); ++d) padded.dims[d] += room.dimensions[d].high;
    const NodeId zero = ScalarConstant(like, padded.type, 0);
    std::vector<NodeId> parts = {
        Append(like, hlo::kPad, padded, to().tables().Intern(hlo::Attributes(room)), {operands[0], zero})};
    parts.insert(parts.end(), starts.begin(), starts.end());
    return Begin(
        node, hlo::kDynamicSlice, hlo::Attributes(slice), parts, [](int64_t) { return false; },
        [](int64_t) { return true; });
  }

  NodeId Pad(NodeId node, absl::Span<const NodeId> operands) {
    const Instruction was = was_[node], is = now_[node];
    if (was.attributes_id() == is.attributes_id()) return Same(node, operands);
    const NodeId like = source_.nodes[node];
    const auto &before = was.attributes<hlo::PadAttributes>().dimensions,
               &after = is.attributes<hlo::PadAttributes>().dimensions;
    if (Grows(node)) return Grows(is.operands()[0]) ? Fail() : Cut(node, operands);
    std::vector<NodeId> update = {0, operands[0]};
    for (size_t d = 0; d < after.size(); ++d) {
      if (before[d].low != after[d].low || after[d].interior != 0 || after[d].low < 0 || after[d].high < 0)
        Fail();
    }
    if (!ok_) return 0;
    const hlo::AttributesId none = to().tables().Intern(hlo::Attributes(hlo::NoAttributes()));
    update[0] = Append(like, hlo::kBroadcast, is.shape(),
                       to().tables().Intern(hlo::Attributes(hlo::DimensionsAttributes())), {operands[1]});
    for (const hlo::PadDimension& dimension : after)
      update.push_back(ScalarConstant(like, hlo::kS32, dimension.low));
    return Append(like, hlo::kDynamicUpdateSlice, is.shape(), none, update);
  }

  NodeId ElementOf(const Instruction& get) {
    const Instruction tuple = get.operand(0);
    if (tuple.opcode() != hlo::kTuple) return Fail();
    return nodes_[tuple.operands()[get.attributes<hlo::TupleIndexAttributes>().index]];
  }

  NodeId Same(NodeId node, absl::Span<const NodeId> operands) {
    const Instruction is = now_[node];
    if (was_[node].attributes_id() != is.attributes_id()) Fail();
    return Append(source_.nodes[node], is.opcode(), Bounded(node), is.attributes_id(), operands, is.called());
  }

  NodeId Add(NodeId node) {
    const Instruction was = was_[node], is = now_[node];
    absl::InlinedVector<NodeId, 8> operands;
    bool grows = Grows(node);
    for (const NodeId operand : is.operands()) {
      operands.push_back(nodes_[operand]);
      grows |= Grows(operand);
    }
    if (!grows) {
      if (was.attributes_id() == is.attributes_id()) return Same(node, operands);
      if (is.opcode() == hlo::kConstant) return Number(is.literal());
      return Fail();
    }
    switch (is.opcode()) {
      case hlo::kBroadcast: return Broadcast(node, operands);
      case hlo::kIota:
        return Begin(
            node, hlo::kIota, is.attributes(), operands, [](int64_t) { return false; },
            [](int64_t) { return true; });
      case hlo::kSlice: return Slice(node, operands);
      case hlo::kDynamicSlice: return DynamicSlice(node, operands);
      case hlo::kPad: return Pad(node, operands);
      // The tuples of a trace group values (hlo/own_derivative.h), and are not needed in a program.
      case hlo::kTuple: return hlo::Computation::kNoNode;
      case hlo::kGetTupleElement: return ElementOf(is);
      default:
        if (!Follows(is.opcode())) return Fail();
        return Same(node, operands);
    }
  }

  const hlo::Computation& was_;
  const Canonical& source_;
  const hlo::Computation& now_;
  std::vector<NodeId> nodes_;  // By node of `now_`: its node in the bounded program.
  BoundedSizes bounded_;
  Change root_ = {0, 0};
  int64_t room_ = 0;
  std::map<std::pair<int64_t, int64_t>, NodeId> sizes_;  // Parameters by the size before, and its factor.
  bool ok_ = true;
};

}  // namespace

std::vector<uint32_t> FormWords(const hlo::Computation& program) {
  std::vector<uint32_t> words;
  words.reserve(program.words().size());
  for (NodeId node = 0; node < program.size(); ++node) {
    const Instruction is = program[node];
    words.push_back(static_cast<uint32_t>(is.opcode()) | static_cast<uint32_t>(is.called().size()) << 8);
    words.push_back(is.operand_count());
    const bool sizes = is.shape().IsArray() && is.opcode() != hlo::kParameter;
    if (is.opcode() == hlo::kTuple) words.push_back(0);
    else
      words.push_back(sizes ? static_cast<uint32_t>(is.shape().type) |
                                  static_cast<uint32_t>(is.shape().rank()) << 8
                            : is.shape_id());
    words.push_back(MayGrow(is) ? 0 : is.attributes_id());
    words.insert(words.end(), is.operands().begin(), is.operands().end());
    words.insert(words.end(), is.called().begin(), is.called().end());
  }
  return words;
}

std::optional<BoundedSizes> BoundSizes(const hlo::Computation& earlier, const Canonical& now) {
  return Bounding(earlier, now).Run();
}

absl::StatusOr<std::unique_ptr<Module>> WithStaticShapes(const Module& bounded) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> expanded, passes::ExpandDynamic(bounded));
  // The shapes of the trace fit each other, so that sizes need no check at run time.
  return passes::Rewritten(*expanded, nullptr, [](passes::ComputationCopy& copy, Instruction instruction) {
    if (instruction.opcode() != hlo::kCustomCall) return copy.Clone(instruction);
    const std::string& target = instruction.attributes<hlo::CustomCallAttributes>().target;
    const bool checks = target == kCheckDimensionSizeTarget || target == kCheckSameSizeTarget;
    return checks ? copy.node(instruction.operands()[0]) : copy.Clone(instruction);
  });
}

}  // namespace hlod::lazy
