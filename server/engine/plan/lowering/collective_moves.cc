// Finds the moves by the kind of collective.
#include "server/engine/plan/lowering/collective_moves.h"

#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

std::optional<CollectiveMoves::Results> ResultsOf(hlo::Opcode opcode) {
  using enum CollectiveMoves::Results;
  switch (opcode) {
    case hlo::kCollectivePermute:
    case hlo::kAllToAll: return kEach;
    case hlo::kCollectiveBroadcast:
    case hlo::kAllGather: return kShared;
    case hlo::kReduceScatter: return kReduced;
    default: return std::nullopt;
  }
}

int64_t SumOf(absl::Span<const CollectiveMove> moves, int64_t shortest,
              bool (CollectiveMove::*adjacent)() const) {
  int64_t sum = 0;
  for (const CollectiveMove& move : moves) {
    if (!(move.*adjacent)() && move.bytes < shortest) sum += ScratchAlign(move.size());
  }
  return sum;
}

}  // namespace

std::optional<CollectiveMoves> CollectiveMoves::Of(hlo::Instruction instruction,
                                                   const hlo::Collective& collective) {
  const std::optional<Results> results = ResultsOf(collective.opcode);
  if (!results.has_value() || collective.groups.empty()) return std::nullopt;
  CollectiveMoves moves(collective, *results);
  const bool exchanges = collective.opcode == hlo::kAllToAll;
  moves.has_operand_each_ = exchanges && instruction.shape().IsTuple();
  const bool gathers = collective.opcode == hlo::kAllGather;
  const bool divides = (exchanges && !moves.has_operand_each_) || *results == Results::kReduced;
  const auto participants = static_cast<int64_t>(collective.groups[0].size());
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const hlo::Shape& shape = instruction.operand(i).shape();
    CollectiveMove& move = moves.first_.emplace_back();
    int64_t& from_step = moves.from_step_.emplace_back(0);
    int64_t& to_step = moves.to_step_.emplace_back(0);
    move.operand = move.result = i;
    move.bytes = Bytes(shape);
    if (move.bytes == 0 || !(divides || gathers)) continue;
    const auto d = static_cast<size_t>(instruction.attributes<hlo::CollectiveAttributes>().dimensions[0]);
    // A program that does not state its groups may not fit them.
    if (divides && shape.dims[d] % participants != 0) return std::nullopt;
    for (size_t before = 0; before < d; ++before) move.rows *= shape.dims[before];
    move.bytes /= move.rows;
    move.from_row = move.to_row = move.bytes;
    if (gathers) {
      to_step = move.bytes;
      move.to_row = move.bytes * participants;
    } else {
      from_step = move.bytes /= participants;
      if (exchanges) {
        to_step = move.bytes;
      } else {
        move.to_row = move.bytes;
      }
    }
  }
  return moves;
}

std::vector<CollectiveMove> CollectiveMoves::Between(int sender, int receiver) const {
  std::vector<CollectiveMove> moves;
  if (!sources_.empty() && sources_[static_cast<size_t>(receiver)] != sender) return moves;
  const auto s = static_cast<size_t>(positions_[static_cast<size_t>(sender)]);
  const auto r = static_cast<size_t>(positions_[static_cast<size_t>(receiver)]);
  for (size_t i = 0; i < first_.size(); ++i) {
    CollectiveMove move = first_[i];
    if (move.bytes == 0 || (has_operand_each_ && i != r)) continue;
    if (has_operand_each_) move.result = s;
    move.from += from_step_[i] * static_cast<int64_t>(r);
    move.to += to_step_[i] * static_cast<int64_t>(s);
    moves.push_back(move);
  }
  return moves;
}

int64_t CollectiveMoves::ApartInOperands(int64_t shortest) const {
  return SumOf(first_, shortest, &CollectiveMove::TakesAdjacentBytes);
}

int64_t CollectiveMoves::ApartInResults(int64_t shortest) const {
  return SumOf(first_, shortest, &CollectiveMove::PutsAdjacentBytes);
}

}  // namespace hlod::engine
