// Writing execute commands, and making the handles of their results.
#include "client/runtime/handles/execute_call.h"

#include <algorithm>
#include <utility>

#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/proto/codec.h"

namespace hlod::runtime {
namespace {

// Returns, per result of an abstract execute, true when it becomes a placeholder: because it depends on one
// or, in an abstract session, because it takes large arrays.
std::vector<bool> AbstractResults(ExecutableState& executable,
                                  const std::vector<bool>& placeholder_arguments) {
  std::vector<bool> abstract = executable.large_results;
  abstract.resize(executable.results.size(), false);
  if (std::none_of(placeholder_arguments.begin(), placeholder_arguments.end(), [](bool b) { return b; }))
    return abstract;
  const hlo::Dependences* const dependences = executable.Dependences();
  if (dependences == nullptr) return abstract;
  const std::vector<bool> computable = dependences->Computable(placeholder_arguments);
  for (size_t o = 0; o < abstract.size() && o < computable.size(); ++o)
    abstract[o] = abstract[o] || !computable[o];
  return abstract;
}

}  // namespace

ExecuteCall::ExecuteCall(std::shared_ptr<ExecutableState> executable, absl::Span<const Argument> arguments,
                         const ExecuteOptions& options, bool is_abstract, const std::vector<int>& devices)
    : executable_(std::move(executable)),
      arguments_(arguments),
      options_(options),
      is_abstract_(is_abstract),
      devices_(devices),
      donated_(options.donate),
      handles_(devices.size() * executable_->results.size()),
      filled_(handles_.size()) {
  std::sort(donated_.begin(), donated_.end());
  for (const auto& [index, placeholder] : options.fill) {
    if (index >= 0 && static_cast<size_t>(index) < filled_.size()) {
      filled_[static_cast<size_t>(index)] = placeholder;
    } else {
      unknown_.push_back(index);
    }
  }
}

void ExecuteCall::RequestProfile(bool measure_machine) {
  profile_ = true;
  measure_machine_ = measure_machine;
}

absl::Status ExecuteCall::Send(const Caller& caller) {
  ASSIGN_OR_RETURN(const Compilation compilation, executable_->Current(caller));
  v1::Command command;
  v1::Execute& execute = *command.mutable_execute();
  execute.set_executable(compilation.handle);
  AddOptions(execute);
  if (launch_.has_value()) *execute.mutable_launch() = *launch_;
  AddArguments(execute);
  return executable_->session->Transact(caller, [&](Session::Sender& sender) {
    for (const Caller& line : options_.result_callers) execute.add_result_origins(sender.OriginOf(line));
    AddResults(sender, execute);
    sent_ = sender.Add(std::move(command));
    ReadAhead(sender);
  });
}

void ExecuteCall::Cancel() const {
  if (sent_ != nullptr) executable_->session->Cancel(sent_->id);
}

Execution ExecuteCall::Finish(const Caller& caller) const {
  Execution execution;
  execution.executable = executable_;
  execution.command = sent_->id;
  execution.sent = sent_;
  execution.done = FutureOf(executable_->session, sent_);
  execution.results = Results();
  NoteDonations();
  if (AbstractSession* const log = executable_->session->options().abstract.get()) {
    RecordExecute(*log, execution.results, caller);
  }
  return execution;
}

void ExecuteCall::RecordExecute(AbstractSession& log, const std::vector<Buffer>& results,
                                const Caller& caller) const {
  const size_t takes = arguments_.size() / devices_.size(), gives = results.size() / devices_.size();
  std::vector<uint64_t> handles;
  for (const Argument& argument : arguments_.subspan(0, takes)) handles.push_back(HandleOf(argument));
  std::vector<int> donated;
  for (const int index : donated_) {
    if (index >= 0 && static_cast<size_t>(index) < takes) donated.push_back(index);
  }
  const std::vector<Buffer> own(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(gives));
  log.Executed(executable_->digest, devices_[0], handles, own, donated, options_.result_callers, caller);
}

uint64_t ExecuteCall::HandleOf(const Argument& argument) {
  const Buffer* const buffer = argument.buffer();
  return buffer != nullptr && buffer->valid() ? buffer->handle() : 0;
}

void ExecuteCall::AddOptions(v1::Execute& execute) const {
  const Session& session = *executable_->session;
  if (devices_.size() == 1) {
    execute.set_device(session.place().OrdinalOf(devices_[0]));
  } else {
    for (const int device : devices_) execute.add_devices(session.place().OrdinalOf(device));
  }
  for (const int index : donated_) execute.add_donated(static_cast<uint32_t>(index));
  execute.set_abstract(is_abstract_);
  execute.set_line(options_.line);
  execute.set_profile(profile_);
  execute.set_measure_machine(measure_machine_);
  if (options_.deadline > absl::ZeroDuration()) {
    execute.set_deadline_us(
        static_cast<uint64_t>(std::max<int64_t>(1, absl::ToInt64Microseconds(options_.deadline))));
  }
  for (size_t i = 0; i < executable_->large_results.size(); ++i) {
    if (executable_->large_results[i]) execute.add_absent(static_cast<uint32_t>(i));
  }
}

void ExecuteCall::AddArguments(v1::Execute& execute) {
  // By argument of the program, true when it is a placeholder for any participant: participants exchange
  // values, so that a result that depends on it has no value for any of them.
  std::vector<bool> placeholders(executable_->arguments.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    execute.add_arguments(HandleOf(argument));
    const Buffer* const buffer = argument.buffer();
    if (is_abstract_ && buffer != nullptr && buffer->valid() && buffer->is_placeholder() &&
        !placeholders.empty()) {
      placeholders[i % placeholders.size()] = true;
    }
    if (buffer != nullptr) continue;
    const Literal& literal = *argument.literal();
    v1::InlineLiteral& value = *execute.add_literals();
    *value.mutable_shape() = hlo::ToProto(literal.shape());
    value.set_data(reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size());
  }
  const std::vector<bool> abstract = AbstractResults(*executable_, placeholders);
  for (size_t i = 0; i < handles_.size(); ++i) abstract_.push_back(abstract[i % abstract.size()]);
}

void ExecuteCall::AddResults(Session::Sender& sender, v1::Execute& execute) {
  for (size_t i = 0; i < handles_.size(); ++i) {
    if (filled_[i].valid()) execute.add_fills(static_cast<uint32_t>(i));
    handles_[i] = filled_[i].valid() ? filled_[i].handle() : sender.NewHandle();
    execute.add_results(handles_[i]);
  }
  for (const int index : unknown_) execute.add_fills(static_cast<uint32_t>(index));
}

void ExecuteCall::ReadAhead(Session::Sender& sender) {
  const auto& patterns = executable_->read_patterns;
  if (patterns == nullptr || is_abstract_ || devices_.size() > 1) return;
  const Limits& limits = executable_->session->daemon().limits;
  int64_t room = std::min(limits.prefetch_bytes_max, limits.inline_bytes_max);
  for (size_t i = 0; i < handles_.size(); ++i) {
    if (!(*patterns)[i].Expected() || filled_[i].valid()) continue;
    const int64_t bytes = hlo::StoredByteSize(executable_->results[i]).value_or(INT64_MAX);
    if (bytes > room) continue;
    room -= bytes;
    prefetches_.resize(handles_.size());
    v1::Command command = MakeDownload(handles_[i], Cause::kPrefetch);
    command.mutable_download()->set_inline_(true);
    prefetches_[i] = sender.Add(std::move(command));
  }
}

void ExecuteCall::Watch(size_t i, BufferState& buffer) const {
  const auto& patterns = executable_->read_patterns;
  if (patterns == nullptr || is_abstract_ || devices_.size() > 1) return;
  absl::MutexLock lock(&buffer.mu);
  buffer.pattern = std::shared_ptr<ReadPattern>(patterns, &(*patterns)[i]);
  if (!prefetches_.empty()) buffer.prefetch = prefetches_[i];
}

std::vector<Buffer> ExecuteCall::Results() const {
  std::vector<Buffer> results;
  for (size_t i = 0; i < handles_.size(); ++i) {
    if (filled_[i].valid()) {
      BufferState& state = *filled_[i].internal_state();
      absl::MutexLock lock(&state.mu);
      state.producer = sent_;
      state.placeholder = abstract_[i];
      results.push_back(filled_[i]);
    } else {
      const size_t leaf = i % executable_->results.size(), participant = i / executable_->results.size();
      const auto state =
          std::make_shared<BufferState>(executable_->session, handles_[i], executable_->results[leaf],
                                        devices_[participant], sent_, abstract_[i]);
      Watch(i, *state);
      results.push_back(Buffer(state));
    }
  }
  return results;
}

void ExecuteCall::NoteDonations() const {
  for (const int index : donated_) {
    if (index < 0 || static_cast<size_t>(index) >= arguments_.size()) continue;  // The daemon refuses it.
    const Buffer* const buffer = arguments_[static_cast<size_t>(index)].buffer();
    if (buffer == nullptr || !buffer->valid()) continue;
    BufferState& state = *buffer->internal_state();
    absl::MutexLock lock(&state.mu);
    state.death = Death{ErrorKind::kDonated, sent_};
  }
}

}  // namespace hlod::runtime
