// Assigns files to the values of channels, by the shapes that the program states.
#include "client/cli/run/run_channels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/channels.h"
#include "common/hlo/elements/npy.h"

namespace hlod::cli {
namespace {

// Splits "5=FILE" into channel 5 and the rest. Without a number the channel is nullopt: infeed or outfeed.
std::pair<std::optional<int64_t>, std::string> Split(const std::string& text) {
  const std::vector<std::string> sides = absl::StrSplit(text, absl::MaxSplits('=', 1));
  int64_t channel = 0;
  if (sides.size() == 2 && absl::SimpleAtoi(sides[0], &channel)) return {channel, sides[1]};
  return {std::nullopt, text};
}

}  // namespace

void RunChannels::Add(std::vector<Ends>& ends, std::optional<int64_t> channel, std::vector<Shape> shapes) {
  auto found = std::ranges::find(ends, channel, &Ends::channel);
  if (found == ends.end()) found = ends.insert(found, Ends{channel, {}, {}, 0});
  found->shapes.push_back(std::move(shapes));
}

absl::StatusOr<RunChannels> RunChannels::Make(const hlo::Module& module, const RunOptions& options) {
  using Kind = hlo::Channel::Kind;
  RunChannels channels;
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& computation = module.computation(c);
    for (hlo::NodeId id = 0; id < computation.size(); ++id) {
      if (!hlo::IsTransfer(computation[id].opcode())) continue;
      ASSIGN_OR_RETURN(hlo::Transfer transfer,
                       hlo::ReadTransfer(computation[id], hlo::ParticipantsOf(module)));
      if (transfer.action == hlo::Transfer::Action::kNothing || transfer.channel.kind == Kind::kPeer)
        continue;
      const Kind kind = transfer.channel.kind;
      const bool numbered = kind == Kind::kToHost || kind == Kind::kFromHost;
      const bool takes = transfer.action == hlo::Transfer::Action::kTake;
      Add(takes ? channels.to_program_ : channels.from_program_,
          numbered ? std::optional(transfer.channel.id) : std::nullopt, std::move(transfer.shapes));
    }
  }
  const auto find = [](std::vector<Ends>& ends, std::optional<int64_t> channel, const std::string& option,
                       std::string_view opcode) -> absl::StatusOr<Ends*> {
    const auto found = std::ranges::find(ends, channel, &Ends::channel);
    if (found != ends.end()) return &*found;
    if (!channel.has_value())
      return UsageError(absl::StrFormat("%s: the program has no %s.", option, opcode));
    return UsageError(absl::StrFormat("%s: the program has no %s of channel %d with the host.", option,
                                      opcode == "infeed" ? "recv" : "send", *channel));
  };
  for (const std::string& text : options.infeed) {
    auto [channel, file] = Split(text);
    ASSIGN_OR_RETURN(Ends* const ends, find(channels.to_program_, channel, "--infeed " + text, "infeed"));
    ends->files.push_back(std::move(file));
  }
  for (const std::string& text : options.outfeed) {
    const auto [channel, count] = Split(text);
    ASSIGN_OR_RETURN(Ends* const ends, find(channels.from_program_, channel, "--outfeed " + text, "outfeed"));
    if (!absl::SimpleAtoi(count, &ends->values) || ends->values < 0)
      return UsageError("--outfeed " + text + " is not a number of values.");
  }
  return channels;
}

absl::Status RunChannels::Open(const Device& device, const Caller& caller) {
  for (const Ends& ends : to_program_) {
    size_t file = 0;
    for (size_t i = 0; file < ends.files.size(); ++i) {
      std::vector<Buffer> arrays;
      for (const Shape& shape : ends.Value(i)) {
        if (file == ends.files.size()) {
          return UsageError(
              absl::StrFormat("Value %d of --infeed has %d arrays, but only %d files are left for it.", i,
                              ends.Value(i).size(), arrays.size()));
        }
        const std::string& path = ends.files[file++];
        const absl::StatusOr<Literal> literal = hlo::ReadNpy(path, shape);
        if (!literal.ok()) {
          return Annotate(literal.status(),
                          absl::StrFormat("reading array %d of value %d of --infeed", arrays.size(), i));
        }
        ASSIGN_OR_RETURN(arrays.emplace_back(),
                         device.Upload(*literal, Cause::kUpload, Caller{.file = path.c_str()}));
      }
      RETURN_IF_ERROR(device.TransferToInfeed(arrays, ends.channel, caller));
      if (arrays.empty()) break;  // A value without arrays needs no file.
    }
  }
  given_.clear();
  for (const Ends& ends : from_program_) {
    for (int i = 0; i < ends.values; ++i) {
      const std::vector<Shape>& shapes = ends.Value(static_cast<size_t>(i));
      ASSIGN_OR_RETURN(std::vector<Buffer> buffers, device.TransferFromOutfeed(shapes, ends.channel, caller));
      for (size_t a = 0; a < buffers.size(); ++a) {
        const std::string number = ends.channel.has_value() ? absl::StrFormat("send%d.%d", *ends.channel, i)
                                                            : absl::StrFormat("outfeed%d", i);
        given_.push_back(
            {buffers.size() == 1 ? number : absl::StrFormat("%s.%d", number, a), std::move(buffers[a])});
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunChannels::CheckGiven() const {
  // The time to wait after a run for the values that the program has sent, which arrive shortly before its
  // end.
  constexpr absl::Duration kGrace = absl::Seconds(2);
  for (size_t i = 0; i < given_.size(); ++i) {
    const absl::Status status = given_[i].buffer.ready().Await(kGrace);
    if (!absl::IsDeadlineExceeded(status)) continue;
    return UsageError(absl::StrFormat(
        "The program ended without sending %s, which --outfeed asks for (it sent %d of %d arrays).",
        given_[i].name, i, given_.size()));
  }
  return absl::OkStatus();
}

}  // namespace hlod::cli
