// Dividing an execute among daemons, and sending the parts.
#include "client/runtime/cluster/launch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/handles/execute_checks.h"
#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"

namespace hlod::runtime {
namespace {

// The most bytes that are sent of the reason for which a part does not run.
constexpr size_t kRefusedTextMax = 1024;

// Gives each part its arguments and options. Indices that do not exist go to the first part as they are, and
// its daemon refuses them.
void DivideParts(const ExecutableState& state, absl::Span<const Argument> arguments,
                 const ExecuteOptions& options, std::vector<LaunchedPart>& parts, size_t participants) {
  const size_t takes = arguments.size() / participants, gives = state.results.size();
  std::vector<std::pair<LaunchedPart*, int>> places(
      participants);  // By participant, its part and its place there.
  for (LaunchedPart& part : parts) {
    part.options = options;
    part.options.devices = part.devices;
    part.options.device.reset();
    part.options.donate.clear();
    part.options.fill.clear();
    part.options.result_callers.clear();
    for (size_t i = 0; i < part.participants.size(); ++i) {
      const size_t m = part.participants[i];
      places[m] = {&part, static_cast<int>(i)};
      const auto own = arguments.subspan(m * takes, takes);
      part.arguments.insert(part.arguments.end(), own.begin(), own.end());
      for (size_t r = 0; r < gives; ++r) {
        const size_t result = m * gives + r;  // The list may end early.
        if (result < options.result_callers.size())
          part.options.result_callers.push_back(options.result_callers[result]);
      }
    }
  }
  const auto place = [&](int index, size_t each) -> std::pair<LaunchedPart*, int> {
    const auto i = static_cast<size_t>(index);
    if (index < 0 || each == 0 || i / each >= participants) return {&parts[0], -1};
    const auto& [part, at] = places[i / each];
    return {part, at * static_cast<int>(each) + static_cast<int>(i % each)};
  };
  for (const int index : options.donate) {
    const auto [part, own] = place(index, takes);
    part->options.donate.push_back(own);
  }
  for (const auto& [index, placeholder] : options.fill) {
    const auto [part, own] = place(index, gives);
    part->options.fill.emplace_back(own, placeholder);
  }
}

// Done when all parts are, with the error of the first part that has one.
class AllDone final : public Awaitable<void> {
 public:
  explicit AllDone(std::vector<Future<void>> parts) : parts_(std::move(parts)) {}
  bool Ready() override {
    return std::ranges::all_of(parts_, [](const Future<void>& part) { return part.Ready(); });
  }
  absl::Status Await(absl::Time deadline) override {
    absl::Status status;
    for (const Future<void>& part : parts_) {
      status.Update(
          part.Await(deadline == absl::InfiniteFuture() ? absl::InfiniteDuration() : deadline - absl::Now()));
    }
    return status;
  }

 private:
  const std::vector<Future<void>> parts_;
};

// Sends each daemon its part. All of them start, or none does. With an error as `refused` the parts only say
// so.
absl::Status SendParts(Daemons& daemons, const std::vector<int>& devices, std::vector<LaunchedPart>& parts,
                       const Caller& caller, const absl::Status& refused = absl::OkStatus()) {
  v1::Launch launch;
  launch.set_group(daemons.group());
  if (!refused.ok()) {
    const std::string why = ValidUtf8(FromAbsl(refused.message()));
    launch.set_refused(std::string(ClipUtf8(why, kRefusedTextMax)));
  }
  for (const int device : devices) {
    launch.add_ranks(daemons.RankOf(device));
    launch.add_devices(static_cast<uint32_t>(daemons.OrdinalOf(device)));
  }
  absl::MutexLock lock(&daemons.launching());
  launch.set_sequence(daemons.NextLaunch(devices));
  for (LaunchedPart& part : parts) {
    part.call->SetLaunch(launch);
    if (const absl::Status sent = part.call->Send(caller); !sent.ok()) {
      for (const LaunchedPart& other : parts) other.call->Cancel();
      return sent;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<LaunchedPart>> PartsOf(const ExecutableState& state,
                                                  const std::vector<int>& devices) {
  std::vector<LaunchedPart> parts;
  for (size_t m = 0; m < devices.size(); ++m) {
    ASSIGN_OR_RETURN(std::shared_ptr<Session> owner, SessionWith(state.session, devices[m]));
    auto part = std::ranges::find(parts, owner, &LaunchedPart::session);
    if (part == parts.end())
      part = parts.insert(part, LaunchedPart{.session = std::move(owner), .participants = {}});
    part->participants.push_back(m);
    part->devices.push_back(devices[m]);
  }
  return parts;
}

absl::StatusOr<Execution> StartLaunch(const std::shared_ptr<ExecutableState>& state,
                                      absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                      bool is_abstract, const std::vector<int>& devices,
                                      std::vector<LaunchedPart> parts,
                                      absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller) {
  if (is_abstract) {
    return MakeError(
        ErrorKind::kUnimplemented,
        absl::StrFormat("%s is to run on devices %d and %d, which are of different daemons; over "
                        "placeholders it must run on devices of one daemon.",
                        state->name, parts[0].devices[0], parts[1].devices[0]));
  }
  DivideParts(*state, arguments, options, parts, devices.size());
  for (LaunchedPart& part : parts) {
    std::shared_ptr<ExecutableState> there = state;
    if (part.session != state->session) {
      ASSIGN_OR_RETURN(there, state->On(part.session, caller));
    }
    part.call = std::make_unique<ExecuteCall>(there, part.arguments, part.options, /*is_abstract=*/false,
                                              part.devices);
  }
  prepare(*parts[0].call);
  RETURN_IF_ERROR(SendParts(*state->session->place().daemons, devices, parts, caller));
  const size_t gives = state->results.size();
  std::vector<Buffer> results(devices.size() * gives);
  std::vector<Future<void>> ends;
  Execution whole;
  auto others = std::make_unique<std::vector<std::pair<std::weak_ptr<Session>, uint64_t>>>();
  for (const LaunchedPart& part : parts) {
    Execution execution = part.call->Finish(caller);
    for (size_t i = 0; i < execution.results.size(); ++i)
      results[part.participants[i / gives] * gives + i % gives] = std::move(execution.results[i]);
    ends.push_back(execution.done);
    if (ends.size() == 1) {
      whole = std::move(execution);
    } else {
      others->emplace_back(part.session, execution.command);
    }
  }
  whole.sent->other_parts = std::move(others);
  whole.results = std::move(results);
  whole.done = Future<void>(std::make_shared<AllDone>(std::move(ends)));
  return whole;
}

absl::StatusOr<Execution> StartOwnPart(const std::shared_ptr<ExecutableState>& state,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       const std::vector<int>& devices, const std::vector<int>& own,
                                       absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller) {
  if (own.empty()) {
    return ArgumentError(caller,
                         absl::StrFormat("%s has no participant on this process's devices.", state->name));
  }
  std::vector<LaunchedPart> parts(1);
  parts[0].call = std::make_unique<ExecuteCall>(state, arguments, options, /*is_abstract=*/false, own);
  prepare(*parts[0].call);
  Daemons& daemons = *state->session->place().daemons;
  RETURN_IF_ERROR(SendParts(daemons, devices, parts, caller));
  Execution execution = parts[0].call->Finish(caller);
  RETURN_IF_ERROR(daemons.LimitAhead(*state->session, execution.sent));
  return execution;
}

void RefuseOwnPart(const std::shared_ptr<ExecutableState>& state, const std::vector<int>& devices,
                   const std::vector<int>& own, const absl::Status& why, const Caller& caller) {
  if (own.empty()) return;
  std::vector<LaunchedPart> parts(1);
  const ExecuteOptions options;
  // A daemon that does not know Launch.refused refuses the part for its wrong arguments.
  const Argument none[] = {Buffer()};
  const absl::Span<const Argument> wrong(none, state->arguments.empty() ? 1 : 0);
  parts[0].call = std::make_unique<ExecuteCall>(state, wrong, options, /*is_abstract=*/false, own);
  // If it cannot be sent, the session is lost, and they learn that.
  SendParts(*state->session->place().daemons, devices, parts, caller, why).IgnoreError();
  // Makes handles of the results, which are dropped, and so freed.
  if (parts[0].call->sent()) parts[0].call->Finish(caller);
}

}  // namespace hlod::runtime
