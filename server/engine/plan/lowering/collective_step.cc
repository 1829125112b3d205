// The computation of a group is a plan of its own, which the participant that arrives last runs on the memory
// of all.
//
// When some participants are in other processes, the one that arrives last in a process acts for those of its
// group that are there. If results consist of a part of the operands, or of reductions of a part, it
// exchanges these parts only (collective_exchange.h). Otherwise it exchanges operands, and runs the same
// computation on all of them. In any case results have the same bits wherever the participants are.
//
// A large array is all-reduced in parts, one per process: each process gets its part of all operands, reduces
// it in the order of the participants, and sends the result to the others. Then a process receives, per
// process, a part of an operand for each participant there and a part of the result, instead of all operands.
#include "server/engine/plan/lowering/collective_step.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/base/system/rendezvous.h"
#include "common/base/text/utf8.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/collectives/group_program.h"
#include "server/engine/plan/lowering/collective_exchange.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

using hlo::Collective;
using Results = hlo::GroupProgram::Results;

constexpr size_t kNameMax = 256;  // The bytes of an instruction's name that errors state.
// The elements that the plan for parts reduces at once; a process's part has at least as many.
constexpr int64_t kBlock = 16 << 10;

using Part = CollectivePart;

const Part& PartOf(void* brought) { return *static_cast<const Part*>(brought); }

// The plans of the groups of one size.
struct GroupPlans {
  std::unique_ptr<const Plan> whole;
  // The plan for kBlock elements of a large array that is all-reduced; null for others.
  std::unique_ptr<const Plan> block;
};
// By the number of participants in a group. Empty if the results are copies of operands.
using PlansBySize = std::map<size_t, GroupPlans>;

class CollectiveStep final : public Step {
 public:
  CollectiveStep(hlo::Instruction instruction, std::string place, Collective collective,
                 std::optional<CollectiveExchange> exchange, Results results, PlansBySize plans)
      : Step(StepKind::kMovement, DescribeStep(instruction)),
        what_(absl::StrFormat("%s (%s)", Name(instruction.opcode()),
                              std::string(ClipUtf8(instruction.name(), kNameMax)))),
        place_(std::move(place)),
        collective_(std::move(collective)),
        exchange_(std::move(exchange)),
        results_(results),
        plans_(std::move(plans)) {
    for (uint32_t i = 0; i < instruction.operand_count(); ++i)
      operand_bytes_.push_back(Bytes(instruction.operand(i).shape()));
    for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape()))
      output_bytes_.push_back(Bytes(*leaf.shape));
    if (hlo::KeepsOperands(instruction.opcode())) first_result_ = operand_bytes_.size();
    result_count_ = first_result_ > 0 ? operand_bytes_.size() : output_bytes_.size();
    int64_t scratch = exchange_.has_value() ? exchange_->scratch_bytes() : 0;
    for (const auto& [size, plans] : plans_) {
      scratch = std::max(scratch, plans.whole->memory().temporary_bytes);
      if (plans.block == nullptr) continue;
      scratch = std::max(scratch, plans.block->memory().temporary_bytes);
      elements_ = Elements(instruction.operand(0).shape());
    }
    set_scratch_bytes(ScratchAlign(scratch));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    RunContext& run = context.run;
    if (run.rendezvous == nullptr)
      return Unimplemented("%s is of several participants, and this run is of one.", what_);
    for (size_t i = 0; i < first_result_; ++i)
      RETURN_IF_ERROR(CopyBytes(inputs[i], outputs[i], operand_bytes_[i], run));
    for (size_t i = first_result_ + result_count_; i < output_bytes_.size(); ++i)
      std::memset(outputs[i], 0, static_cast<size_t>(output_bytes_[i]));
    Part own{inputs, outputs + first_result_};
    const int group_number = collective_.group_of[static_cast<size_t>(run.participant)];
    if (group_number < 0) {
      Zero(own);
      return absl::OkStatus();
    }
    const std::vector<int>& group = collective_.groups[static_cast<size_t>(group_number)];
    const Elsewhere* const elsewhere = run.rendezvous->elsewhere();
    if (elsewhere != nullptr) return MeetOthers(group_number, *elsewhere, own, context);
    return run.rendezvous->Meet(
        run.participant, this, what_, group, &own, [&run] { return StopCheck::Verdict(run); },
        [&](absl::Span<void* const> brought) {
          return plans_.empty() ? Copy(group, brought, run) : Compute(brought, context);
        });
  }

  int64_t ReceiveBytes(int participant, absl::FunctionRef<bool(int)> here) const {
    const int group_number = collective_.group_of[static_cast<size_t>(participant)];
    if (group_number < 0) return 0;
    const std::vector<int>& group = collective_.groups[static_cast<size_t>(group_number)];
    if (*std::ranges::find_if(group, here) != participant) return 0;
    const auto size = static_cast<int64_t>(group.size());
    const int64_t own = std::ranges::count_if(group, here);
    if (own == size) return 0;
    return exchange_.has_value() ? exchange_->SpaceBytes(own, size - own) : (size - own) * SpaceOfMember();
  }

 private:
  // The memory for a participant of another process: its operands, and its results, which are of no use here.
  int64_t SpaceOfMember() const {
    int64_t bytes = 0;
    for (const int64_t operand : operand_bytes_) bytes += ScratchAlign(operand);
    for (size_t i = 0; i < result_count_ && HasOwnResults(); ++i)
      bytes += ScratchAlign(output_bytes_[first_result_ + i]);
    return bytes;
  }
  // True if the computation gives each participant a result of its own.
  bool HasOwnResults() const { return !plans_.empty() && results_ == Results::kEach; }

  absl::Status MeetOthers(int group_number, const Elsewhere& elsewhere, Part& own,
                          StepContext& context) const {
    RunContext& run = context.run;
    const std::vector<int>& group = collective_.groups[static_cast<size_t>(group_number)];
    std::vector<int> here;
    for (const int member : group) {
      if (elsewhere.IsHere(member)) here.push_back(member);
    }
    const auto stop = [&run] { return StopCheck::Verdict(run); };
    return run.rendezvous->Meet(
        run.participant, this, what_, here, &own, stop, [&](absl::Span<void* const> brought) -> absl::Status {
          if (here.size() < group.size() && exchange_.has_value())
            return ExchangeParts(group_number, elsewhere, here, brought, stop, context);
          // The same as above, with the parts of the participants elsewhere.
          std::vector<AbsentPart> absent(group.size() - here.size());
          std::vector<void*> all;
          std::byte* space = elsewhere.spaces[static_cast<size_t>(here[0])];
          size_t next_here = 0, next_absent = 0;
          for (const int member : group) {
            if (elsewhere.IsHere(member)) {
              all.push_back(brought[next_here++]);
            } else {
              all.push_back(&Place(absent[next_absent++], space));
            }
          }
          if (here.size() < group.size()) {
            const Parts parts(elsewhere, group, elements_);
            if (elements_ > 0 && parts.AreLarge())
              return ReduceParts(group_number, elsewhere, parts, all, stop, context);
            RETURN_IF_ERROR(Exchange(group_number, elsewhere, all, stop));
          }
          return plans_.empty() ? Copy(group, all, run) : Compute(all, context);
        });
  }

  // The parts of an array that the processes of a group reduce, in the order of their ranks.
  class Parts {
   public:
    Parts(const Elsewhere& elsewhere, absl::Span<const int> group, int64_t elements) : elements_(elements) {
      for (const int member : group) ranks_.push_back(elsewhere.ranks[static_cast<size_t>(member)]);
      std::sort(ranks_.begin(), ranks_.end());
      ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    }
    absl::Span<const uint32_t> ranks() const { return ranks_; }
    bool AreLarge() const { return elements_ / static_cast<int64_t>(ranks_.size()) >= kBlock; }
    // Return the first element of a process's part, and the one after its last.
    int64_t Begin(uint32_t rank) const { return Boundary(std::ranges::find(ranks_, rank) - ranks_.begin()); }
    int64_t End(uint32_t rank) const {
      return Boundary(std::ranges::find(ranks_, rank) - ranks_.begin() + 1);
    }

   private:
    int64_t Boundary(std::ptrdiff_t i) const {
      const auto count = static_cast<int64_t>(ranks_.size());
      return elements_ / count * i + std::min<int64_t>(i, elements_ % count);
    }
    const int64_t elements_;
    std::vector<uint32_t> ranks_;
  };

  absl::Status ReduceParts(int group_number, const Elsewhere& elsewhere, const Parts& parts,
                           absl::Span<void* const> all, hlod::Carrier::Stop stop,
                           StepContext& context) const {
    const std::vector<int>& group = collective_.groups[static_cast<size_t>(group_number)];
    const int64_t size = operand_bytes_[0] / elements_;
    const auto bytes_of = [&](auto* array, uint32_t rank) {
      return absl::MakeSpan(array + parts.Begin(rank) * size,
                            static_cast<size_t>((parts.End(rank) - parts.Begin(rank)) * size));
    };
    const auto meet = [&](absl::Span<const hlod::Carrier::Exchange> exchanges, const char* what) {
      return elsewhere.carrier->Meet(absl::StrFormat("%s, group %d, %s", place_, group_number, what),
                                     exchanges, stop);
    };
    std::byte* result = nullptr;  // That of the first participant here.
    std::vector<hlod::Carrier::Exchange> operands, results;
    for (void* const brought : all) {
      if (result == nullptr && PartOf(brought).here) result = PartOf(brought).outputs[0];
    }
    for (const uint32_t rank : parts.ranks()) {
      if (rank == elsewhere.rank) continue;
      hlod::Carrier::Exchange& exchange = operands.emplace_back();
      exchange.rank = rank;
      for (size_t i = 0; i < group.size(); ++i) {
        const std::byte* const operand = PartOf(all[i]).inputs[0];
        const uint32_t owner = elsewhere.ranks[static_cast<size_t>(group[i])];
        if (owner == elsewhere.rank) exchange.sent.push_back(bytes_of(operand, rank));
        if (owner == rank)
          exchange.received.push_back(bytes_of(const_cast<std::byte*>(operand), elsewhere.rank));
      }
      results.push_back(
          {.rank = rank, .sent = {bytes_of(result, elsewhere.rank)}, .received = {bytes_of(result, rank)}});
    }
    RETURN_IF_ERROR(meet(operands, "operands"));
    const int64_t begin = parts.Begin(elsewhere.rank), end = parts.End(elsewhere.rank);
    for (int64_t at = begin; at < end; at += kBlock)
      RETURN_IF_ERROR(ReduceBlock(all, result, std::min(at, end - kBlock) * size, context));
    RETURN_IF_ERROR(meet(results, "results"));
    for (void* const brought : all) {
      const Part& part = PartOf(brought);
      if (part.here && part.outputs[0] != result) RETURN_IF_ERROR(CopyTo(part, &result, context.run));
    }
    return absl::OkStatus();
  }

  // Reduces kBlock elements from byte `offset` on. Elements that were reduced before get the same value.
  absl::Status ReduceBlock(absl::Span<void* const> all, std::byte* result, int64_t offset,
                           StepContext& context) const {
    std::vector<const std::byte*> arguments;
    for (void* const brought : all) arguments.push_back(PartOf(brought).inputs[0] + offset);
    std::byte* const at[] = {result + offset};
    RunContext alone = context.run;
    alone.rendezvous = nullptr;
    return plans_.at(all.size()).block->Run(arguments, at, context.scratch, alone);
  }

  // The memory of a participant of another process.
  struct AbsentPart {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    Part part;
  };
  Part& Place(AbsentPart& absent, std::byte*& space) const {
    for (const int64_t operand : operand_bytes_) {
      absent.inputs.push_back(space);
      space += ScratchAlign(operand);
    }
    for (size_t i = 0; i < result_count_ && HasOwnResults(); ++i) {
      absent.outputs.push_back(space);
      space += ScratchAlign(output_bytes_[first_result_ + i]);
    }
    absent.part = {absent.inputs.data(), absent.outputs.empty() ? nullptr : absent.outputs.data(), false};
    return absent.part;
  }

  // Exchanges all operands.
  absl::Status Exchange(int group_number, const Elsewhere& elsewhere, absl::Span<void* const> all,
                        hlod::Carrier::Stop stop) const {
    const std::vector<int>& group = collective_.groups[static_cast<size_t>(group_number)];
    std::map<uint32_t, hlod::Carrier::Exchange> exchanges;  // By process.
    for (const int member : group) {
      const uint32_t rank = elsewhere.ranks[static_cast<size_t>(member)];
      if (rank != elsewhere.rank) exchanges[rank].rank = rank;
    }
    for (size_t i = 0; i < group.size(); ++i) {
      const Part& part = PartOf(all[i]);
      const uint32_t owner = elsewhere.ranks[static_cast<size_t>(group[i])];
      for (size_t o = 0; o < operand_bytes_.size(); ++o) {
        const auto bytes =
            absl::MakeSpan(const_cast<std::byte*>(part.inputs[o]), static_cast<size_t>(operand_bytes_[o]));
        if (owner != elsewhere.rank) {
          exchanges.at(owner).received.push_back(bytes);
          continue;
        }
        for (auto& [rank, exchange] : exchanges) exchange.sent.emplace_back(bytes);
      }
    }
    std::vector<hlod::Carrier::Exchange> list;
    for (auto& [rank, exchange] : exchanges) list.push_back(std::move(exchange));
    return elsewhere.carrier->Meet(absl::StrFormat("%s, group %d", place_, group_number), list, stop);
  }

  // Exchanges only the bytes that results consist of, or are reduced from.
  absl::Status ExchangeParts(int group_number, const Elsewhere& elsewhere, absl::Span<const int> here,
                             absl::Span<void* const> brought, hlod::Carrier::Stop stop,
                             StepContext& context) const {
    std::vector<const Part*> parts;
    for (size_t i = 0; i < here.size(); ++i) {
      parts.push_back(&PartOf(brought[i]));
      if (!collective_.sources.empty() && collective_.sources[static_cast<size_t>(here[i])] < 0)
        Zero(*parts.back());
    }
    RETURN_IF_ERROR(exchange_->Run({.place = absl::StrFormat("%s, group %d", place_, group_number),
                                    .group = collective_.groups[static_cast<size_t>(group_number)],
                                    .here = here,
                                    .parts = parts,
                                    .space = elsewhere.spaces[static_cast<size_t>(here[0])],
                                    .elsewhere = elsewhere,
                                    .stop = stop,
                                    .context = context}));
    for (size_t i = 1; i < parts.size() && exchange_->is_shared(); ++i) {
      for (size_t o = 0; o < result_count_; ++o)
        RETURN_IF_ERROR(CopyBytes(parts[0]->outputs[o], parts[i]->outputs[o],
                                  output_bytes_[first_result_ + o], context.run));
    }
    return absl::OkStatus();
  }

  void Zero(const Part& part) const {
    for (size_t i = 0; i < result_count_; ++i)
      std::memset(part.outputs[i], 0, static_cast<size_t>(output_bytes_[first_result_ + i]));
  }
  absl::Status CopyTo(const Part& part, const std::byte* const* from, const RunContext& run) const {
    for (size_t i = 0; i < result_count_; ++i)
      RETURN_IF_ERROR(CopyBytes(from[i], part.outputs[i], output_bytes_[first_result_ + i], run));
    return absl::OkStatus();
  }

  absl::Status Copy(absl::Span<const int> group, absl::Span<void* const> brought,
                    const RunContext& run) const {
    for (size_t rank = 0; rank < group.size(); ++rank) {
      const Part& part = PartOf(brought[rank]);
      if (!part.here) continue;
      const int source = collective_.sources[static_cast<size_t>(group[rank])];
      if (source < 0) {
        Zero(part);
      } else {
        const auto at = static_cast<size_t>(collective_.rank_of[static_cast<size_t>(source)]);
        RETURN_IF_ERROR(CopyTo(part, PartOf(brought[at]).inputs, run));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Compute(absl::Span<void* const> brought, StepContext& context) const {
    std::vector<const std::byte*> arguments;
    std::vector<std::byte*> results;
    size_t shown = brought.size();  // The participant whose memory gets the one result of all.
    for (size_t rank = 0; rank < brought.size(); ++rank) {
      const Part& part = PartOf(brought[rank]);
      if (part.here) shown = std::min(shown, rank);
      arguments.insert(arguments.end(), part.inputs, part.inputs + operand_bytes_.size());
      if (results_ == Results::kEach || rank == shown)
        results.insert(results.end(), part.outputs, part.outputs + result_count_);
    }
    if (results_ == Results::kForFirst && shown > 0) {  // The first one is elsewhere.
      for (void* const other : brought) {
        if (PartOf(other).here) Zero(PartOf(other));
      }
      return absl::OkStatus();
    }
    RunContext alone = context.run;
    alone.rendezvous = nullptr;
    RETURN_IF_ERROR(
        plans_.at(brought.size()).whole->Run(arguments, absl::MakeSpan(results), context.scratch, alone));
    for (size_t rank = shown + 1; rank < brought.size(); ++rank) {
      const Part& part = PartOf(brought[rank]);
      if (!part.here) continue;
      if (results_ == Results::kForFirst) Zero(part);
      if (results_ == Results::kShared) RETURN_IF_ERROR(CopyTo(part, results.data(), context.run));
    }
    return absl::OkStatus();
  }

  const std::string what_;   // For texts: several instructions may have one name.
  const std::string place_;  // The place at which processes meet.
  const Collective collective_;
  const std::optional<CollectiveExchange> exchange_;
  const Results results_;
  const PlansBySize plans_;
  int64_t elements_ = 0;  // The number of the elements of a large array that is all-reduced; 0 for others.
  std::vector<int64_t> operand_bytes_, output_bytes_;
  size_t first_result_ = 0, result_count_ = 0;  // Positions among the outputs.
};

// Returns a name that no other instruction of the module has, and that the module has in all processes. Names
// of instructions can be equal, and are made unique only where a module is written, for example into the
// cache.
std::string PlaceOf(const hlo::Module& module, hlo::Instruction instruction) {
  hlo::ComputationId computation = 0;
  while (computation < module.computation_count() &&
         &module.computation(computation) != &instruction.computation())
    ++computation;
  return absl::StrFormat("%s %d.%d", Name(instruction.opcode()), computation, instruction.id());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeCollectiveStep(const hlo::Module& module,
                                                         hlo::Instruction instruction,
                                                         const CompileOptions& options) {
  ASSIGN_OR_RETURN(Collective collective, hlo::ReadCollective(instruction, hlo::ParticipantsOf(module)));
  Results results = Results::kEach;
  PlansBySize by_size;
  // Blocks are reduced by participants in two or more processes.
  const bool in_parts = collective.opcode == hlo::kAllReduce && instruction.operand_count() == 1 &&
                        Elements(instruction.operand(0).shape()) >= 2 * kBlock;
  if (collective.sources.empty()) {
    for (const size_t size : hlo::GroupSizes(collective)) {
      ASSIGN_OR_RETURN(const hlo::GroupProgram group,
                       hlo::MakeGroupProgram(module, instruction, collective, size));
      results = group.results;
      GroupPlans& plans = by_size[size];
      ASSIGN_OR_RETURN(plans.whole, Compile(*group.module, options));
      if (!in_parts) continue;
      ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> part,
                       hlo::MakePartProgram(module, instruction, 0, size, kBlock));
      ASSIGN_OR_RETURN(plans.block, Compile(*part, options));
    }
  }
  ASSIGN_OR_RETURN(std::optional<CollectiveExchange> exchange,
                   CollectiveExchange::Of(module, instruction, collective, options));
  return std::make_unique<CollectiveStep>(instruction, PlaceOf(module, instruction), std::move(collective),
                                          std::move(exchange), results, std::move(by_size));
}

int64_t ReceiveBytes(const Step& step, int participant, absl::FunctionRef<bool(int)> here) {
  const auto* const collective = dynamic_cast<const CollectiveStep*>(&step);
  return collective == nullptr ? 0 : collective->ReceiveBytes(participant, here);
}

}  // namespace hlod::engine
