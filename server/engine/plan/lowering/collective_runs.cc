// Finds the runs by the kind of collective.
#include "server/engine/plan/lowering/collective_runs.h"

#include <algorithm>

#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// Operands whose pieces are shorter than this, and not contiguous, are sent whole: each run costs time, too.
constexpr int64_t kShortestRun = 512;

// Returns false if the reduction may loop. The group's computation reduces the pieces that this process does
// not use, too, whose memory has any bytes: a loop might not end on them.
bool EndsOnAnyBytes(const hlo::Module& module, hlo::Instruction instruction) {
  if (instruction.called().empty()) return true;
  const hlo::Computation& reducer = module.computation(instruction.called()[0]);
  for (hlo::NodeId node = 0; node < reducer.size(); ++node) {
    if (!reducer[node].called().empty()) return false;
  }
  return true;
}

}  // namespace

CollectiveRuns::CollectiveRuns(const hlo::Module& module, hlo::Instruction instruction,
                               const hlo::Collective& collective)
    : positions_(collective.rank_of), sources_(collective.sources) {
  const auto participants = static_cast<int64_t>(collective.groups.empty() ? 0 : collective.groups[0].size());
  const bool exchanges = collective.opcode == hlo::kAllToAll;
  has_operand_each_ = exchanges && instruction.shape().IsTuple();
  const bool divides = (exchanges && !has_operand_each_) ||
                       (collective.opcode == hlo::kReduceScatter && EndsOnAnyBytes(module, instruction));
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const hlo::Shape& shape = instruction.operand(i).shape();
    operand_bytes_.push_back(Bytes(shape));
    if (!divides) continue;
    const auto d = static_cast<size_t>(instruction.attributes<hlo::CollectiveAttributes>().dimensions[0]);
    Pieces& pieces = pieces_.emplace_back();
    for (size_t before = 0; before < d; ++before) pieces.rows *= shape.dims[before];
    const int64_t count = pieces.rows * participants;
    if (count == 0 || shape.dims[d] % participants != 0 || Bytes(shape) % count != 0) continue;
    const int64_t bytes = Bytes(shape) / count;
    if (pieces.rows == 1 || bytes >= kShortestRun) pieces.bytes = bytes;
  }
}

std::vector<CollectiveRuns::Run> CollectiveRuns::Needed(int sender, absl::Span<const int> receivers) const {
  std::vector<Run> runs;
  const auto add = [&](size_t operand, int64_t offset, int64_t bytes) {
    if (bytes == 0) return;
    if (!runs.empty() && runs.back().operand == operand && runs.back().offset + runs.back().bytes == offset) {
      runs.back().bytes += bytes;
    } else {
      runs.push_back({operand, offset, bytes});
    }
  };
  const auto position = [&](int receiver) { return positions_[static_cast<size_t>(receiver)]; };
  const auto takes_all = [&](int receiver) {
    return sources_.empty() || sources_[static_cast<size_t>(receiver)] == sender;
  };
  if (std::ranges::none_of(receivers, takes_all)) return runs;
  for (size_t o = 0; o < operand_bytes_.size(); ++o) {
    const Pieces pieces = pieces_.empty() ? Pieces() : pieces_[o];
    if (has_operand_each_) {
      for (const int receiver : receivers) {
        if (static_cast<size_t>(position(receiver)) == o) add(o, 0, operand_bytes_[o]);
      }
    } else if (pieces.bytes == 0) {
      add(o, 0, operand_bytes_[o]);
    } else {
      const int64_t row_bytes = operand_bytes_[o] / pieces.rows;
      for (int64_t row = 0; row < pieces.rows; ++row) {
        for (const int receiver : receivers)
          add(o, row * row_bytes + position(receiver) * pieces.bytes, pieces.bytes);
      }
    }
  }
  return runs;
}

}  // namespace hlod::engine
