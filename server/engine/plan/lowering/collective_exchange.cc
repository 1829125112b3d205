// Both sides of an exchange list the bytes in one order: senders and receivers in the order of the group,
// then moves, then runs.
#include "server/engine/plan/lowering/collective_exchange.h"

#include <algorithm>
#include <tuple>

#include "common/base/errors/status.h"
#include "common/hlo/collectives/group_program.h"
#include "server/engine/run/copy_kernels.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// Shorter runs that lie apart are copied side by side before they are sent: each run on the wire costs time,
// too.
constexpr int64_t kShortestRun = 512;
// The elements that are reduced at once.
constexpr int64_t kFoldElements = 16 << 10;
// The bytes that are copied between two checks for a stop.
constexpr int64_t kCopyBytes = 1 << 20;

using Move = CollectiveMove;

bool IsPacked(const Move& move, bool adjacent) { return !adjacent && move.bytes < kShortestRun; }

// Copies `rows` runs, each `from_row` behind the last in `from`, and `to_row` in `to`.
absl::Status CopyRows(const std::byte* from, int64_t from_row, std::byte* to, int64_t to_row, int64_t rows,
                      int64_t bytes, const RunContext& run) {
  if (rows == 1 || (from_row == bytes && to_row == bytes)) return CopyBytes(from, to, rows * bytes, run);
  if (bytes >= kCopyBytes) {
    for (int64_t row = 0; row < rows; ++row)
      RETURN_IF_ERROR(CopyBytes(from + row * from_row, to + row * to_row, bytes, run));
    return absl::OkStatus();
  }
  const int64_t rows_each = kCopyBytes / bytes;
  for (int64_t row = 0; row < rows; row += rows_each) {
    CopyRuns(from + row * from_row, to + row * to_row, std::min(rows_each, rows - row), from_row, to_row,
             bytes);
    RETURN_IF_ERROR(StopCheck::Verdict(run));
  }
  return absl::OkStatus();
}

// Copies the bytes [begin, end) of a move, as if its runs lay side by side.
void Gather(const std::byte* operand, const Move& move, int64_t begin, int64_t end, std::byte* to) {
  while (begin < end) {
    const int64_t row = begin / move.bytes, skipped = begin % move.bytes;
    const std::byte* const from = operand + move.from + row * move.from_row;
    int64_t rows = 1, bytes = std::min(move.bytes - skipped, end - begin);
    if (skipped == 0 && end - begin >= move.bytes) rows = (end - begin) / move.bytes;
    CopyRuns(from + skipped, to, rows, move.from_row, bytes, bytes);
    begin += rows * bytes;
    to += rows * bytes;
  }
}

// Appends the runs of a move, which begin at `first` and are `row` apart.
template <typename Byte>
void AddRuns(Byte* first, int64_t row, const Move& move, bool adjacent,
             std::vector<absl::Span<Byte>>& spans) {
  if (adjacent) return spans.push_back(absl::MakeSpan(first, static_cast<size_t>(move.size())));
  for (int64_t i = 0; i < move.rows; ++i)
    spans.push_back(absl::MakeSpan(first + i * row, static_cast<size_t>(move.bytes)));
}

}  // namespace

absl::StatusOr<std::optional<CollectiveExchange>> CollectiveExchange::Of(const hlo::Module& module,
                                                                         hlo::Instruction instruction,
                                                                         const hlo::Collective& collective,
                                                                         const CompileOptions& options) {
  std::optional<CollectiveMoves> moves = CollectiveMoves::Of(instruction, collective);
  if (!moves.has_value()) return std::optional<CollectiveExchange>();
  CollectiveExchange exchange(*std::move(moves));
  if (exchange.moves_.results() == CollectiveMoves::Results::kReduced)
    RETURN_IF_ERROR(exchange.MakeFolds(module, instruction, collective.groups[0].size(), options));
  return std::optional<CollectiveExchange>(std::move(exchange));
}

absl::Status CollectiveExchange::MakeFolds(const hlo::Module& module, hlo::Instruction instruction,
                                           size_t group, const CompileOptions& options) {
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const hlo::Shape& shape = instruction.operand(i).shape();
    const int64_t piece = Elements(shape) / static_cast<int64_t>(group);
    Fold& fold = folds_.emplace_back();
    fold.width = Width(shape);
    fold.elements = std::min(piece, kFoldElements);
    if (fold.elements == 0) continue;
    std::unique_ptr<const Plan>& plan = plans_[{shape.type, fold.elements}];
    if (plan == nullptr) {
      ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> part,
                       hlo::MakePartProgram(module, instruction, i, group, fold.elements));
      ASSIGN_OR_RETURN(plan, Compile(*part, options));
    }
    fold.plan = plan.get();
    scratch_bytes_ = std::max(scratch_bytes_, plan->memory().temporary_bytes);
    piece_bytes_ += ScratchAlign(piece * fold.width);
    gather_bytes_ = std::max(gather_bytes_, ScratchAlign(fold.elements * fold.width));
  }
  if (moves_.ApartInOperands(INT64_MAX) == 0) gather_bytes_ = 0;
  return absl::OkStatus();
}

int64_t CollectiveExchange::SpaceBytes(int64_t here, int64_t elsewhere) const {
  switch (moves_.results()) {
    case CollectiveMoves::Results::kShared: return elsewhere * moves_.ApartInResults(kShortestRun);
    case CollectiveMoves::Results::kEach:
      return here * elsewhere * (moves_.ApartInOperands(kShortestRun) + moves_.ApartInResults(kShortestRun));
    case CollectiveMoves::Results::kReduced: break;
  }
  return here * elsewhere * (moves_.ApartInOperands(kShortestRun) + piece_bytes_) + here * gather_bytes_;
}

// One call of Run.
class CollectiveExchange::Running {
 public:
  Running(const CollectiveExchange& exchange, const Meeting& meeting)
      : exchange_(exchange), moves_(exchange.moves_), meeting_(meeting), space_(meeting.space) {}

  absl::Status Run() {
    std::map<uint32_t, std::vector<int>> receivers;  // By process.
    for (const int member : meeting_.group) {
      std::vector<int>& there = receivers[RankOf(member)];
      if (there.empty() || results() != Results::kShared) there.push_back(member);
    }
    const std::vector<int> own = receivers.extract(meeting_.elsewhere.rank).mapped();
    std::map<uint32_t, hlod::Carrier::Exchange> exchanges;
    for (const auto& [rank, there] : receivers) exchanges[rank].rank = rank;
    for (const int sender : meeting_.group) {
      if (!meeting_.elsewhere.IsHere(sender)) {
        Receive(sender, own, exchanges.at(RankOf(sender)));
        continue;
      }
      for (auto& [rank, exchange] : exchanges) RETURN_IF_ERROR(Send(sender, receivers.at(rank), exchange));
    }
    std::vector<hlod::Carrier::Exchange> list;
    for (auto& [rank, exchange] : exchanges) list.push_back(std::move(exchange));
    RETURN_IF_ERROR(meeting_.elsewhere.carrier->Meet(meeting_.place, list, meeting_.stop));
    if (results() == Results::kReduced) {
      for (const int receiver : own) RETURN_IF_ERROR(Reduce(receiver));
      return absl::OkStatus();
    }
    for (const Unpacked& u : unpacked_)
      RETURN_IF_ERROR(CopyRows(u.from, u.move.bytes, u.to, u.move.to_row, u.move.rows, u.move.bytes, run()));
    for (const int sender : meeting_.here) {
      for (const int receiver : own) RETURN_IF_ERROR(CopyHere(sender, receiver));
    }
    return absl::OkStatus();
  }

 private:
  using Results = CollectiveMoves::Results;
  // Runs that have arrived side by side, and belong apart.
  struct Unpacked {
    const std::byte* from;
    std::byte* to;
    Move move;
  };

  Results results() const { return moves_.results(); }
  RunContext& run() const { return meeting_.context.run; }
  uint32_t RankOf(int member) const { return meeting_.elsewhere.ranks[static_cast<size_t>(member)]; }
  const CollectivePart& PartOf(int member) const {
    return *meeting_
                .parts[static_cast<size_t>(std::ranges::find(meeting_.here, member) - meeting_.here.begin())];
  }
  std::byte* Take(int64_t bytes) {
    std::byte* const taken = space_;
    space_ += ScratchAlign(bytes);
    return taken;
  }

  absl::Status Send(int sender, absl::Span<const int> receivers, hlod::Carrier::Exchange& exchange) {
    for (const int receiver : receivers) {
      for (const Move& move : moves_.Between(sender, receiver)) {
        const std::byte* const first = PartOf(sender).inputs[move.operand] + move.from;
        const bool adjacent = move.TakesAdjacentBytes();
        if (!IsPacked(move, adjacent)) {
          AddRuns(first, move.from_row, move, adjacent, exchange.sent);
          continue;
        }
        std::byte* const packed = Take(move.size());
        RETURN_IF_ERROR(CopyRows(first, move.from_row, packed, move.bytes, move.rows, move.bytes, run()));
        exchange.sent.emplace_back(packed, static_cast<size_t>(move.size()));
      }
    }
    return absl::OkStatus();
  }

  void Receive(int sender, absl::Span<const int> receivers, hlod::Carrier::Exchange& exchange) {
    for (const int receiver : receivers) {
      for (const Move& move : moves_.Between(sender, receiver)) {
        const bool adjacent = move.PutsAdjacentBytes();
        if (results() != Results::kReduced && !IsPacked(move, adjacent)) {
          AddRuns(PartOf(receiver).outputs[move.result] + move.to, move.to_row, move, adjacent,
                  exchange.received);
          continue;
        }
        std::byte* const taken = Take(move.size());
        exchange.received.push_back(absl::MakeSpan(taken, static_cast<size_t>(move.size())));
        if (results() == Results::kReduced) {
          pieces_[{sender, receiver, move.operand}] = taken;
        } else {
          unpacked_.push_back({taken, PartOf(receiver).outputs[move.result] + move.to, move});
        }
      }
    }
  }

  absl::Status CopyHere(int sender, int receiver) const {
    for (const Move& move : moves_.Between(sender, receiver)) {
      RETURN_IF_ERROR(CopyRows(PartOf(sender).inputs[move.operand] + move.from, move.from_row,
                               PartOf(receiver).outputs[move.result] + move.to, move.to_row, move.rows,
                               move.bytes, run()));
    }
    return absl::OkStatus();
  }

  // A sender's bytes for a reduction: side by side, or where the move says.
  struct Source {
    const std::byte* bytes;
    std::optional<Move> apart;
    std::byte* gathered = nullptr;
  };

  absl::Status Reduce(int receiver) {
    std::map<size_t, std::vector<Source>> sources;  // By operand, in the order of the group.
    std::byte* gathered = space_;
    for (const int sender : meeting_.group) {
      const bool here = meeting_.elsewhere.IsHere(sender);
      for (const Move& move : moves_.Between(sender, receiver)) {
        std::vector<Source>& list = sources[move.operand];
        if (!here) {
          list.push_back({pieces_.at({sender, receiver, move.operand}), std::nullopt});
        } else if (const std::byte* const operand = PartOf(sender).inputs[move.operand];
                   move.TakesAdjacentBytes()) {
          list.push_back({operand + move.from, std::nullopt});
        } else {
          list.push_back({operand, move, gathered});
        }
      }
      if (here) gathered += exchange_.gather_bytes_;
    }
    for (const auto& [operand, list] : sources) {
      const std::vector<CollectiveMove> own = moves_.Between(receiver, receiver);
      const auto move = std::ranges::find(own, operand, &Move::operand);
      RETURN_IF_ERROR(
          ReduceOperand(exchange_.folds_[operand], list, move->size(), PartOf(receiver).outputs[operand]));
    }
    return absl::OkStatus();
  }

  // Elements that two blocks share get the same value twice.
  absl::Status ReduceOperand(const Fold& fold, absl::Span<const Source> sources, int64_t bytes,
                             std::byte* result) const {
    RunContext alone = run();
    alone.rendezvous = nullptr;
    const int64_t block = fold.elements * fold.width;
    std::vector<const std::byte*> arguments(sources.size());
    for (int64_t at = 0; at < bytes; at += block) {
      const int64_t begin = std::min(at, bytes - block);
      for (size_t i = 0; i < sources.size(); ++i) {
        const Source& source = sources[i];
        arguments[i] = source.apart.has_value() ? source.gathered : source.bytes + begin;
        if (source.apart.has_value())
          Gather(source.bytes, *source.apart, begin, begin + block, source.gathered);
      }
      std::byte* const at_result[] = {result + begin};
      RETURN_IF_ERROR(fold.plan->Run(arguments, at_result, meeting_.context.scratch, alone));
    }
    return absl::OkStatus();
  }

  const CollectiveExchange& exchange_;
  const CollectiveMoves& moves_;
  const Meeting& meeting_;
  std::byte* space_;  // The rest of Meeting::space.
  std::vector<Unpacked> unpacked_;
  // The bytes that have arrived for a reduction, by sender, receiver and operand.
  std::map<std::tuple<int, int, size_t>, const std::byte*> pieces_;
};

absl::Status CollectiveExchange::Run(const Meeting& meeting) const { return Running(*this, meeting).Run(); }

}  // namespace hlod::engine
