// Runs a divided program: turns each whole argument into one per participant, and the participants' results
// into whole ones. Indices of arguments and results in the options are those of the whole.
#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/runtime/handles/execute_checks.h"
#include "client/runtime/mesh/divided_program.h"
#include "common/base/errors/status.h"
#include "hlod/runtime/device.h"

namespace hlod::runtime {
namespace {

// The arguments of all participants, one list after another.
class ParticipantArguments {
 public:
  ParticipantArguments(const DividedProgram& program, size_t leaves)
      : program_(program), leaves_(leaves), lists_(program.mesh.devices().size() * leaves) {}

  absl::Status Add(size_t leaf, const Argument& argument, bool donate, const Caller& caller) {
    const Division& division = program_.arguments[leaf];
    const Buffer* const buffer = argument.buffer();
    if (buffer == nullptr) {
      const Literal& literal = *argument.literal();
      for (size_t m = 0; m < Participants(); ++m) {
        At(m, leaf) =
            hlo::CutTile(literal.bytes(), division.whole, division.tiling, division.tiling.tiles[m]);
      }
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Placed placed, Place(*buffer, division, caller));
    const absl::Span<const Buffer> parts = placed.buffer.shards();
    for (size_t m = 0; m < Participants(); ++m) {
      At(m, leaf) = parts[m];
      if (donate) donate_.push_back(static_cast<int>(m * leaves_ + leaf));
    }
    // Nobody can use a donated array afterwards, whether or not the program got the array's own memory.
    const bool was_cut = std::ranges::all_of(placed.is_temporary, [](bool temporary) { return temporary; });
    const auto is_same = [&](const Buffer& other) {
      return other.internal_state() == buffer->internal_state();
    };
    if (donate && was_cut && std::ranges::none_of(consumed_, is_same)) consumed_.push_back(*buffer);
    return absl::OkStatus();
  }

  std::vector<Argument> Take() {
    std::vector<Argument> all;
    for (std::optional<Argument>& argument : lists_) all.push_back(*std::move(argument));
    return all;
  }
  const std::vector<int>& donate() const { return donate_; }
  const std::vector<Buffer>& consumed() const { return consumed_; }

 private:
  size_t Participants() const { return program_.mesh.devices().size(); }
  std::optional<Argument>& At(size_t participant, size_t leaf) {
    return lists_[participant * leaves_ + leaf];
  }

  const DividedProgram& program_;
  const size_t leaves_;
  std::vector<std::optional<Argument>> lists_;
  std::vector<int> donate_;
  std::vector<Buffer> consumed_;
};

// Returns the bytes of the literals in an execute, which has a tile per participant.
int64_t LiteralBytes(const DividedProgram& program, absl::Span<const Argument> arguments) {
  int64_t bytes = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].buffer() != nullptr) continue;
    const Division& division = program.arguments[i];
    const int64_t tile = hlo::ByteSize(hlo::TileShape(division.whole, division.tiling)).value_or(0);
    bytes += tile * static_cast<int64_t>(program.mesh.devices().size());
  }
  return bytes;
}

absl::Status CheckArgument(const ExecutableState& executable, size_t leaf, const Argument& argument,
                           const Caller& caller) {
  const Shape& wanted = executable.divided->arguments[leaf].whole;
  const Buffer* const buffer = argument.buffer();
  const Use use(executable, leaf);
  if (buffer != nullptr && !buffer->valid())
    return ArgumentError(caller, "The buffer given as " + use.ToString() + " names nothing.");
  BufferState* const state = buffer == nullptr ? nullptr : buffer->internal_state().get();
  if (state != nullptr && state->session != executable.session) {
    return MakeError(ErrorKind::kUnknownHandle,
                     "The buffer given as " + use.ToString() + " belongs to another session.");
  }
  const Shape& given = buffer == nullptr ? argument.literal()->shape() : buffer->shape();
  if (hlo::Compatible(given, wanted)) return absl::OkStatus();
  return ArgumentError(
      caller,
      absl::StrFormat("%s, given as %s at %s: the program takes %s.",
                      state == nullptr ? "A literal " + hlo::ToStringNoLayout(given) : Describe(*state),
                      use.ToString(), hlod::ToString(OriginOf(caller)), hlo::ToStringNoLayout(wanted)),
      state);
}

// The compile put the program on the devices of its mesh. Returns an error when the options name others.
absl::Status CheckDevices(const ExecutableState& executable, const ExecuteOptions& options,
                          const Caller& caller) {
  const std::vector<int>& own = executable.divided->mesh.devices();
  std::vector<int> named = options.devices;
  if (named.empty() && options.device.has_value()) named.push_back(*options.device);
  if (named.empty() || named == own) return absl::OkStatus();
  return ArgumentError(
      caller,
      absl::StrFormat("%s is divided among the devices %s; the options at %s name %s. Compile it for a "
                      "mesh of these, or name none.",
                      executable.name, absl::StrJoin(own, ", "), hlod::ToString(OriginOf(caller)),
                      absl::StrJoin(named, ", ")));
}

// Returns the options for the participants.
absl::StatusOr<ExecuteOptions> OptionsOf(const ExecutableState& executable, const ExecuteOptions& whole,
                                         const ParticipantArguments& arguments, const Caller& caller) {
  const DividedProgram& program = *executable.divided;
  const size_t results = program.results.size(), participants = program.mesh.devices().size();
  ExecuteOptions options;
  options.donate = arguments.donate();
  options.abstract = whole.abstract;
  options.deadline = whole.deadline;
  options.devices = program.mesh.devices();
  options.line = whole.line;
  for (size_t m = 0; m < participants && !whole.result_callers.empty(); ++m) {
    for (size_t i = 0; i < results; ++i)
      options.result_callers.push_back(i < whole.result_callers.size() ? whole.result_callers[i] : caller);
  }
  for (const auto& [index, placeholder] : whole.fill) {
    const auto result = static_cast<size_t>(index);
    if (index < 0 || result >= results || !placeholder.valid()) {
      return ArgumentError(caller,
                           absl::StrFormat("Result %d of %s cannot fill a placeholder: the program has %d "
                                           "results, and the buffer given must be valid.",
                                           index, executable.name, results));
    }
    const Shards* const shards = placeholder.internal_state()->shards.get();
    if (shards == nullptr || !(shards->division == program.results[result])) {
      return ArgumentError(
          caller, absl::StrFormat("Result %d of %s cannot fill %s, which is not divided as it is.", index,
                                  executable.name, placeholder.ToString()));
    }
    for (size_t m = 0; m < participants; ++m)
      options.fill.emplace_back(static_cast<int>(m * results + result), shards->parts[m]);
  }
  return options;
}

}  // namespace

absl::StatusOr<Execution> StartDivided(const std::shared_ptr<ExecutableState>& executable,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       const Caller& caller) {
  const DividedProgram& program = *executable->divided;
  const size_t leaves = program.arguments.size(), results = program.results.size();
  if (arguments.size() != leaves) {
    return ArgumentError(
        caller, absl::StrFormat("%s takes %d arguments; %d were given at %s.", executable->name, leaves,
                                arguments.size(), hlod::ToString(OriginOf(caller))));
  }
  RETURN_IF_ERROR(CheckDevices(*executable, options, caller));
  for (const int index : options.donate)
    RETURN_IF_ERROR(CheckDonation(*executable, arguments, index, caller));
  ParticipantArguments lists(program, leaves);
  const bool uploads =
      LiteralBytes(program, arguments) > executable->session->daemon().limits.inline_bytes_max;
  for (size_t i = 0; i < leaves; ++i) {
    RETURN_IF_ERROR(CheckArgument(*executable, i, arguments[i], caller));
    const bool donate = std::ranges::find(options.donate, static_cast<int>(i)) != options.donate.end();
    if (uploads && arguments[i].buffer() == nullptr) {
      const Device first(executable->session, program.mesh.devices()[0]);
      ASSIGN_OR_RETURN(const Buffer sent, first.Upload(*arguments[i].literal(), Cause::kUpload, caller));
      RETURN_IF_ERROR(lists.Add(i, sent, donate, caller));
      continue;
    }
    RETURN_IF_ERROR(lists.Add(i, arguments[i], donate, caller));
  }
  ASSIGN_OR_RETURN(const ExecuteOptions own, OptionsOf(*executable, options, lists, caller));
  ASSIGN_OR_RETURN(Execution execution, StartParticipants(executable, lists.Take(), own, caller));
  for (const Buffer& buffer : lists.consumed()) RETURN_IF_ERROR(buffer.Delete(caller));
  const std::vector<Buffer> parts = std::move(execution.results);
  execution.results.clear();
  for (size_t i = 0; i < results; ++i) {
    std::vector<Buffer> own_parts;
    for (size_t m = 0; m < program.mesh.devices().size(); ++m) own_parts.push_back(parts[m * results + i]);
    execution.results.push_back(FromParts(program.results[i], std::move(own_parts)));
  }
  return execution;
}

}  // namespace hlod::runtime
