// Finds the channel of an instruction in one table of opcodes.
#include "common/hlo/collectives/channels.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"

namespace hlod::hlo {
namespace {

using Action = Transfer::Action;
using Kind = Channel::Kind;

struct Row {
  Opcode opcode;
  Action action;
  Kind host;  // The channel kind of a send or recv with is_host_transfer.
};
// A send's value leaves at the send, and a recv's value arrives at its recv-done; the program runs on in
// between.
constexpr Row kRows[] = {
    {kInfeed, Action::kTake, Kind::kInfeed},    {kOutfeed, Action::kPut, Kind::kOutfeed},
    {kSend, Action::kPut, Kind::kToHost},       {kSendDone, Action::kNothing, Kind::kToHost},
    {kRecv, Action::kNothing, Kind::kFromHost}, {kRecvDone, Action::kTake, Kind::kFromHost},
};

const Row* FindRow(Opcode opcode) {
  const auto* const row = std::ranges::find(kRows, opcode, &Row::opcode);
  return row == std::end(kRows) ? nullptr : row;
}

std::vector<Shape> Arrays(const Shape& shape) {
  std::vector<Shape> arrays;
  for (const ShapeLeaf& leaf : Leaves(shape)) {
    arrays.push_back(*leaf.shape);
    arrays.back().layout.reset();
  }
  return arrays;
}

constexpr char kPairs[] = "_xla_send_recv_source_target_pairs";

const std::string* PairsText(Instruction instruction) {
  const Notes* const notes = instruction.computation().notes(instruction.id());
  if (notes == nullptr) return nullptr;
  const auto found = notes->frontend_attributes.find(kPairs);
  return found == notes->frontend_attributes.end() ? nullptr : &found->second;
}

// Parses "{{0,1},{1,2}}".
absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ParsePairs(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const absl::string_view piece :
       absl::StrSplit(ToAbsl(text), absl::ByAnyChar("{}, "), absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(piece, &numbers.emplace_back()))
      return InvalidArgument("%s is %s, and not a list of pairs as {{0,1},{1,2}}.", kPairs, text);
  }
  if (numbers.size() % 2 != 0) return InvalidArgument("%s is %s, an odd number of ids.", kPairs, text);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < numbers.size(); i += 2) pairs.emplace_back(numbers[i], numbers[i + 1]);
  return pairs;
}

// Converts pairs of ids to pairs of participants. The ids are partitions (in each replica) when there are
// several partitions, otherwise replicas.
absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> MembersOfPairs(
    absl::Span<const std::pair<int64_t, int64_t>> ids, const Participants& participants) {
  const bool of_partitions = participants.partitions > 1;
  const int64_t count = of_partitions ? participants.partitions : participants.replicas;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto& [source, target] = ids[i];
    for (const int64_t id : {source, target}) {
      if (id < 0 || id >= count)
        return InvalidArgument("%s names (%d) of (%d) participants.", kPairs, id, count);
    }
    for (size_t before = 0; before < i; ++before) {
      if (ids[before].first == source || ids[before].second == target)
        return InvalidArgument("%s has two pairs with one source (%d) or one target (%d).", kPairs, source,
                               target);
    }
    for (int64_t replica = 0; replica < (of_partitions ? participants.replicas : 1); ++replica) {
      const int64_t first = replica * participants.partitions;
      pairs.emplace_back(first + source, first + target);
    }
  }
  return pairs;
}

}  // namespace

std::string Channel::ToString() const {
  switch (kind) {
    case Kind::kInfeed: return "infeed";
    case Kind::kOutfeed: return "outfeed";
    case Kind::kToHost: return absl::StrFormat("channel %d to the host", id);
    case Kind::kFromHost: return absl::StrFormat("channel %d from the host", id);
    case Kind::kPeer:
      return absl::StrFormat("channel %d from participant %d to participant %d", id, from, to);
  }
  return "";
}

absl::Status CheckTaken(const Channel& channel, absl::Span<const Shape> given,
                        absl::Span<const Shape> taken) {
  if (given.size() != taken.size()) {
    return InvalidArgument("A value of %s is given as %d arrays and taken as %d.", channel.ToString(),
                           given.size(), taken.size());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (Compatible(given[i], taken[i])) continue;
    return InvalidArgument("Array %d of a value of %s is given as %s and taken as %s.", i, channel.ToString(),
                           ToStringNoLayout(given[i]), ToStringNoLayout(taken[i]));
  }
  return absl::OkStatus();
}

std::optional<Channel> Transfer::Of(int participant) const {
  Channel own = channel;
  if (own.kind != Kind::kPeer) return own;
  own.from = own.to = participant;
  if (pairs.empty()) return own;
  for (const auto& [source, target] : pairs) {
    if ((action == Action::kTake ? target : source) != participant) continue;
    own.from = static_cast<int>(source);
    own.to = static_cast<int>(target);
    return own;
  }
  return std::nullopt;
}

bool IsTransfer(Opcode opcode) { return FindRow(opcode) != nullptr; }

bool HasTransfers(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (IsTransfer(computation[id].opcode())) return true;
    }
  }
  return false;
}

absl::StatusOr<Transfer> ReadTransfer(Instruction instruction, const Participants& participants) {
  const Row& row = *FindRow(instruction.opcode());
  Transfer transfer;
  transfer.action = row.action;
  transfer.channel.kind = row.host;
  if (const auto* ends = std::get_if<ChannelAttributes>(&instruction.attributes())) {
    transfer.channel.id = ends->channel_id;
    if (!ends->is_host_transfer) transfer.channel.kind = Kind::kPeer;
  }
  if (row.action == Action::kPut) transfer.shapes = Arrays(instruction.operand(0).shape());
  if (row.action == Action::kTake) transfer.shapes = Arrays(instruction.shape().tuple[0]);
  if (transfer.channel.kind != Kind::kPeer) return transfer;
  const std::string* text = PairsText(instruction);
  // A send-done or recv-done may leave the pairs to the send or recv that it ends.
  if (text == nullptr && IsTransfer(instruction.operand(0).opcode()))
    text = PairsText(instruction.operand(0));
  if (text == nullptr) return transfer;
  ASSIGN_OR_RETURN(const auto ids, ParsePairs(*text));
  ASSIGN_OR_RETURN(transfer.pairs, MembersOfPairs(ids, participants));
  return transfer;
}

}  // namespace hlod::hlo
