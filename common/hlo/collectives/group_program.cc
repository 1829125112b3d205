// A group's collective as instructions of one device.
#include "common/hlo/collectives/group_program.h"

#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "common/hlo/instruction_cloner.h"

namespace hlod::hlo {
namespace {

// Copies a computation and those that it calls.
class Extraction {
 public:
  Extraction(const Module& from, Module& to)
      : from_(from), to_(to), translation_(from.tables(), to.tables()) {}

  ComputationId Copy(ComputationId id) {
    if (const auto found = copies_.find(id); found != copies_.end()) return found->second;
    const Computation& from = from_.computation(id);
    for (NodeId node = 0; node < from.size(); ++node) {
      for (const ComputationId called : from[node].called()) Copy(called);  // Callees first.
    }
    Computation& to = to_.AddComputation(from.name());
    InstructionCloner(from, to,
                      {.callee = [this](ComputationId callee) { return copies_.at(callee); },
                       .translation = &translation_,
                       .notes = false})
        .CloneAll();
    const auto copy = static_cast<ComputationId>(to_.computation_count() - 1);
    copies_.emplace(id, copy);
    return copy;
  }

 private:
  const Module& from_;
  Module& to_;
  Translation translation_;
  std::map<ComputationId, ComputationId> copies_;
};

// Builds a group's program. Its parameters are the operands of the first participant, then those of the
// second, and so on.
class GroupBuilder {
 public:
  // A vector in place of one of the operands; the others are left out.
  struct OperandPart {
    uint32_t operand;
    int64_t elements;
  };

  GroupBuilder(const Module& module, Instruction instruction, int64_t size,
               std::optional<OperandPart> part = std::nullopt)
      : instruction_(instruction),
        is_part_(part.has_value()),
        module_(std::make_unique<Module>("group")),
        reducer_(instruction.called().empty() ? 0
                                              : Extraction(module, *module_).Copy(instruction.called()[0])),
        b_(*module_, "group") {
    int64_t number = 0;
    for (int64_t m = 0; m < size; ++m) {
      std::vector<Op>& operands = operands_.emplace_back();
      for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
        Shape shape = instruction.operand(i).shape();
        shape.layout.reset();
        if (part.has_value() && i != part->operand) continue;
        if (part.has_value()) shape = Shape::Array(shape.type, {part->elements});
        operands.push_back(b_.Parameter(number++, shape));
      }
    }
  }

  // Combines each element of the first participant's operands with the second's, then with the third's, and
  // so on.
  std::vector<Op> Reduced() {
    std::vector<Op> results;
    for (size_t i = 0; i < operands_[0].size(); ++i) {
      const PrimitiveType type = b_.shape(operands_[0][i]).type;
      const std::optional<Opcode> wide = IsAddedInF32(type) ? SumOrProduct() : std::nullopt;
      const auto operand = [&](size_t m) {
        return wide.has_value() ? b_.Convert(operands_[m][i], kF32) : operands_[m][i];
      };
      Op sum = operand(0);
      Dims every(b_.shape(sum).dims.size());
      std::iota(every.begin(), every.end(), 0);
      for (size_t m = 1; m < operands_.size(); ++m) {
        sum = wide.has_value() ? b_.Binary(*wide, sum, operand(m))
                               : b_.Add(kMap, {sum, operand(m)}, DimensionsAttributes{every}, {reducer_});
      }
      results.push_back(wide.has_value() ? b_.Convert(sum, type) : sum);
    }
    return results;
  }
  std::vector<Op> Gathered() {
    std::vector<Op> results;
    for (size_t i = 0; i < operands_[0].size(); ++i) {
      std::vector<Op> pieces;
      for (const std::vector<Op>& participant : operands_) pieces.push_back(participant[i]);
      results.push_back(b_.Concatenate(pieces, Dimension()));
    }
    return results;
  }
  std::vector<Op> Scattered() {
    const std::vector<Op> sums = Reduced();
    std::vector<Op> results;
    for (size_t m = 0; m < operands_.size(); ++m) {
      for (const Op sum : sums) results.push_back(Piece(sum, m));
    }
    return results;
  }
  // Returns for participant m the piece number m of each participant's operand, or each participant's operand
  // number m.
  std::vector<Op> Exchanged() {
    std::vector<Op> results;
    for (size_t m = 0; m < operands_.size(); ++m) {
      std::vector<Op> pieces;
      for (const std::vector<Op>& participant : operands_)
        pieces.push_back(instruction_.shape().IsTuple() ? participant[m] : Piece(participant[0], m));
      if (instruction_.shape().IsTuple()) {
        results.insert(results.end(), pieces.begin(), pieces.end());
      } else {
        results.push_back(b_.Concatenate(pieces, Dimension()));
      }
    }
    return results;
  }

  // Returns, per participant, its second operand after the participants of its group have written rows of
  // their first operands into it, at the offsets and sizes that their other operands specify for it.
  std::vector<Op> Sent() {
    std::vector<Op> results;
    const int64_t count = static_cast<int64_t>(operands_.size());
    for (int64_t receiver = 0; receiver < count; ++receiver) {
      Op result = operands_[static_cast<size_t>(receiver)][1];
      for (const std::vector<Op>& sender : operands_) {
        const int64_t each = b_.shape(sender[2]).dims[0] / count;
        for (int64_t i = receiver * each; i < (receiver + 1) * each; ++i)
          result =
              WithRows(result, sender[0], Number(sender[2], i), Number(sender[3], i), Number(sender[4], i));
      }
      results.push_back(result);
    }
    return results;
  }

  absl::StatusOr<std::unique_ptr<Module>> Finish(const std::vector<Op>& results) {
    for (size_t i = 0; i < results.size(); ++i) RETURN_IF_ERROR(CheckResult(i, b_.shape(results[i])));
    RETURN_IF_ERROR(b_.Build(b_.Tuple(results)));
    return std::move(module_);
  }

 private:
  int64_t Dimension() const { return instruction_.attributes<CollectiveAttributes>().dimensions[0]; }
  // Returns true for the types whose sums XLA's CPU computes in f32 and rounds once, so that they do not lose
  // a bit with every participant: bf16 and the floats of 8 bits and less, not f16.
  static bool IsAddedInF32(PrimitiveType type) {
    return IsFloat(type) && type != kF16 && type != kF32 && type != kF64;
  }
  // Returns the opcode of a reducer that adds or multiplies its two parameters, and nullopt for others.
  std::optional<Opcode> SumOrProduct() const {
    const Instruction root = module_->computation(reducer_).root();
    if (root.opcode() != kAdd && root.opcode() != kMultiply) return std::nullopt;
    const Instruction x = root.operand(0), y = root.operand(1);
    const bool plain =
        x.opcode() == kParameter && y.opcode() == kParameter && x.parameter_number() != y.parameter_number();
    return plain ? std::optional<Opcode>(root.opcode()) : std::nullopt;
  }
  // When a program does not state groups, its stated result shapes have not been compared with the groups
  // yet.
  absl::Status CheckResult(size_t i, const Shape& made) const {
    if (!b_.status().ok() || is_part_) return b_.status();
    const Shape* stated = &GivenShape(instruction_);
    if (stated->IsTuple()) stated = &stated->tuple[i % stated->tuple.size()];
    if (Compatible(*stated, made)) return absl::OkStatus();
    return InvalidArgument("Collective %s (%s) of a group of (%d) gives %s, and the program states %s.",
                           Name(instruction_.opcode()), instruction_.name(), operands_.size(),
                           ToStringNoLayout(made), ToStringNoLayout(*stated));
  }
  Op Number(Op list, int64_t i) { return b_.Convert(b_.Reshape(b_.Slice(list, {i}, {i + 1}), {}), kS64); }
  // Copies rows [from, from + rows) of `source` to row `to` of `target`; rows outside either array are left
  // out.
  Op WithRows(Op target, Op source, Op from, Op rows, Op to) {
    const Shape whole = b_.shape(target);
    const int64_t to_rows = whole.dims[0], from_rows = b_.shape(source).dims[0];
    if (to_rows == 0 || from_rows == 0) return target;
    const auto number = [&](int64_t value) { return b_.Constant(Literal::Scalar<int64_t>(value)); };
    const Op zero = number(0);
    // Row i of the result is row i - to + from of the source, which is padded with enough zeros to hold the
    // window at any position.
    std::vector<PadDimension> padding(whole.dims.size());
    padding[0].low = padding[0].high = to_rows;
    const Op padded = b_.Pad(source, b_.Constant(Literal(Shape::Array(whole.type, {}))), padding);
    std::vector<Op> starts(whole.dims.size(), zero);
    starts[0] = from - to + number(to_rows);
    const Op window = b_.DynamicSlice(padded, starts, whole.dims);
    const Op row = b_.Iota(Shape::Array(kS64, {to_rows}), 0) - to;
    const Op left = b_.Add(kMinimum, {rows, number(from_rows) - from});
    const auto both = [&](Op x, Op y) { return b_.Binary(kAnd, x, y); };
    const Op inside = both(b_.Compare(from, zero, ComparisonDirection::kGe),
                           b_.Compare(to, zero, ComparisonDirection::kGe));
    const Op moves = both(both(b_.Compare(row, zero, ComparisonDirection::kGe),
                               b_.Compare(row, left, ComparisonDirection::kLt)),
                          inside);
    return b_.Select(b_.Broadcast(moves, whole.dims, {0}), window, target);
  }
  Op Piece(Op whole, size_t number) {
    const Dims dims = b_.shape(whole).dims;
    Dims start(dims.size(), 0), limit = dims;
    const auto d = static_cast<size_t>(Dimension());
    const int64_t size = dims.empty() ? 0 : dims[d] / static_cast<int64_t>(operands_.size());
    start[d] = size * static_cast<int64_t>(number);
    limit[d] = start[d] + size;
    return b_.Slice(whole, start, limit);
  }

  const Instruction instruction_;
  const bool is_part_;
  std::unique_ptr<Module> module_;
  const ComputationId reducer_;
  Builder b_;
  std::vector<std::vector<Op>> operands_;
};

// Returns the approximate number of instructions of the program of `participants`.
int64_t ProgramSize(Instruction instruction, const Collective& collective, int64_t participants) {
  constexpr int64_t kOfRowRun = 40;  // The number of instructions that Sent() appends per run.
  const int64_t operands = participants * instruction.operand_count();
  switch (collective.opcode) {
    case kAllToAll: return operands + participants * participants;
    case kReduceScatter: return 3 * operands;
    case kRaggedAllToAll: return operands + participants * instruction.operand(2).shape().dims[0] * kOfRowRun;
    default: return 2 * operands;
  }
}

// The maximum number of runs of rows of all participants in a group; each run becomes instructions of the
// group's program.
constexpr int64_t kRunsOfRowsMax = 1 << 14;

absl::Status CheckRagged(Instruction instruction, int64_t participants) {
  const int64_t runs = instruction.operand(2).shape().dims[0];
  if (runs % participants != 0) {
    return InvalidArgument(
        "Collective %s (%s) has (%d) runs of rows, which do not divide among its (%d) participants.",
        Name(instruction.opcode()), instruction.name(), runs, participants);
  }
  if (runs <= kRunsOfRowsMax / participants) return absl::OkStatus();
  return Unimplemented(
      "Collective %s (%s) has (%d) runs of rows for each of its (%d) participants; the limit of all is (%d).",
      Name(instruction.opcode()), instruction.name(), runs, participants, kRunsOfRowsMax);
}

}  // namespace

int64_t GroupProgramSize(Instruction instruction, const Collective& collective) {
  int64_t sum = 0;
  if (!collective.sources.empty()) return sum;
  for (const size_t size : GroupSizes(collective))
    sum += ProgramSize(instruction, collective, static_cast<int64_t>(size));
  return sum;
}

absl::StatusOr<GroupProgram> MakeGroupProgram(const Module& module, Instruction instruction,
                                              const Collective& collective, size_t size) {
  GroupBuilder builder(module, instruction, static_cast<int64_t>(size));
  GroupProgram program;
  std::vector<Op> results;
  switch (collective.opcode) {
    case kAllReduce:
      results = builder.Reduced();
      program.results = GroupProgram::Results::kShared;
      break;
    case kCollectiveReduce:
      results = builder.Reduced();
      program.results = GroupProgram::Results::kForFirst;
      break;
    case kAllGather:
      results = builder.Gathered();
      program.results = GroupProgram::Results::kShared;
      break;
    case kReduceScatter: results = builder.Scattered(); break;
    case kAllToAll: results = builder.Exchanged(); break;
    case kRaggedAllToAll:
      RETURN_IF_ERROR(CheckRagged(instruction, static_cast<int64_t>(size)));
      results = builder.Sent();
      break;
    default:
      return Unimplemented(
          "Collective %s (%s) of more than one participant has no implementation in this build.",
          Name(collective.opcode), instruction.name());
  }
  ASSIGN_OR_RETURN(program.module, builder.Finish(results));
  return program;
}

absl::StatusOr<std::unique_ptr<Module>> MakePartProgram(const Module& module, Instruction instruction,
                                                        uint32_t operand, size_t size, int64_t elements) {
  GroupBuilder builder(module, instruction, static_cast<int64_t>(size),
                       GroupBuilder::OperandPart{operand, elements});
  return builder.Finish(builder.Reduced());
}

}  // namespace hlod::hlo
