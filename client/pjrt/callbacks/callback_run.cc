// Serves the callbacks of an execution.
#include "client/pjrt/callbacks/callback_run.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/callbacks/to_device_stream.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {
namespace {

// A channel to the host, and the request for its next value.
struct Listener {
  const ParticipantCallbacks* participant = nullptr;
  const abi::SendCallbackInfo* send = nullptr;
  bool calls = true;  // False when another participant calls back with the same value.
  hlo::Shape shape;
  hlod::Buffer value;
  Future<Literal> read;      // Not valid when the read is requested later.
  runtime::Command command;  // Null without a command.
};

class CallbackRun {
 public:
  CallbackRun(const HostChannels& channels, std::vector<ParticipantCallbacks> participants,
              const Execution& execution)
      : channels_(channels),
        participants_(std::move(participants)),
        client_(participants_.front().device->client().shared_from_this()),
        run_(WithoutResults(execution)),
        execution_(execution.sent) {
    for (const ParticipantCallbacks& participant : participants_) devices_.push_back(participant.device);
  }

  const std::shared_ptr<Completion>& end() const { return end_; }

  // Ends an execution whose callbacks cannot be served.
  void GiveUp(const absl::Status& error) {
    run_.Cancel();
    end_->Set(error);
  }

  void Run() {
    Listen();
    while (!execution_->done.load(std::memory_order_acquire) && lost_.ok()) {
      std::vector<runtime::Command> awaited = {execution_};
      for (const Listener& listener : listeners_) {
        if (listener.command != nullptr) awaited.push_back(listener.command);
      }
      lost_ = run_.executable->session->WaitAny(awaited);
      for (Listener& listener : listeners_) {
        if (listener.command != nullptr && listener.command->done.load(std::memory_order_acquire))
          Take(listener);
      }
    }
    for (Listener& listener : listeners_) TakeRest(listener);
    End();
  }

 private:
  // Returns the execution without its results, because the framework owns these and may release them.
  static Execution WithoutResults(const Execution& execution) {
    Execution run;
    run.executable = execution.executable;
    run.command = execution.command;
    run.sent = execution.sent;
    return run;
  }

  void Listen() {
    for (const ParticipantCallbacks& participant : participants_) {
      for (const abi::SendCallbackInfo& send : participant.sends) {
        const auto channel = channels_.to_host.find(send.channel_id);
        if (channel == channels_.to_host.end()) continue;  // The program does not use it.
        const bool calls =
            &participant == &participants_.front() || !channels_.once.contains(send.channel_id);
        listeners_.push_back({&participant, &send, calls, channel->second, {}, {}, nullptr});
        Ask(listeners_.back());
      }
    }
  }

  void Ask(Listener& listener) {
    listener.command = nullptr;
    absl::StatusOr<std::vector<hlod::Buffer>> asked =
        run_.Receive(listener.participant->device->runtime(), {&listener.shape, 1}, listener.send->channel_id,
                     CurrentLine());
    if (!asked.ok()) return Note(asked.status());
    listener.value = asked->front();
    listener.command = ProducerOf(listener.value);
    // A small value comes with the news that it is there, without a round trip of its own.
    const int64_t bytes = hlo::ByteSize(listener.shape).value_or(0);
    if (listener.calls && bytes <= client_->runtime().limits().inline_bytes_max)
      listener.read = listener.value.ToLiteralAsync(Cause::kImplicitDownload, CurrentLine());
  }

  // Passes the received value to the callback, and requests the next one.
  void Take(Listener& listener) {
    const hlod::Buffer value = std::exchange(listener.value, hlod::Buffer());
    const Future<Literal> read = std::exchange(listener.read, Future<Literal>());
    const absl::Status come = listener.command->status;
    listener.command = nullptr;
    if (absl::IsCancelled(come)) return;  // The program has ended.
    if (!come.ok()) return Note(come);
    if (!listener.calls) return Ask(listener);
    absl::StatusOr<Literal> literal =
        read.valid() ? read.Await() : value.ToLiteral(Cause::kImplicitDownload, CurrentLine());
    if (!literal.ok()) return Note(literal.status());
    Note(Call(*listener.send, *std::move(literal)));
    if (!first_error_.ok()) return;  // The program is being stopped: it must not get a result.
    Answer(*listener.participant, listener.send->channel_id);
    Ask(listener);
  }

  // Takes the values that are left in the channel after the program's end. The last request fails.
  void TakeRest(Listener& listener) {
    while (listener.command != nullptr && lost_.ok()) {
      const absl::Status come = run_.executable->session->Wait(*listener.command);
      if (!listener.command->done.load(std::memory_order_acquire)) {
        lost_ = come;
      } else if (!come.ok()) {
        return;
      } else {
        Take(listener);
      }
    }
  }

  absl::Status Call(const abi::SendCallbackInfo& send, Literal value) {
    auto* const owned = new Literal(std::move(value));
    const size_t size = owned->bytes().size();
    // The callback owns the chunk. One without bytes has an address, too.
    abi::Chunk chunk = {size > 0 ? static_cast<void*>(owned->bytes().data()) : owned, size,
                        [](void*, void* literal) { delete static_cast<Literal*>(literal); }, owned};
    Error* (*make_error)(abi::ErrorCode, const char*, size_t) = [](abi::ErrorCode code, const char* message,
                                                                   size_t message_size) {
      return ToError(ToStatus(code, message, message_size));
    };
    const LineScope line(CurrentLine());  // The user's callback may set others.
    return Caught("A send_callback", [&] {
      const std::unique_ptr<Error> error(
          send.send_callback(&chunk, &make_error, size, /*done=*/true, send.user_arg));
      return error == nullptr ? absl::OkStatus() : error->status();
    });
  }

  // Opens the streams for a callback's results after its last operand. The last operand's channel has the
  // number before theirs.
  void Answer(const ParticipantCallbacks& participant, int64_t channel) {
    while (channel < INT64_MAX) {
      ++channel;
      const auto info = std::find_if(participant.receives.begin(), participant.receives.end(),
                                     [&](const auto& each) { return each.channel_id == channel; });
      const auto found = channels_.from_host.find(channel);
      if (info == participant.receives.end() || found == channels_.from_host.end()) return;
      std::vector<Device*> devices = {participant.device};
      if (channels_.once.contains(channel)) devices = devices_;
      const LineScope line(CurrentLine());
      Note(Caught("A recv_callback", [&] {
        info->recv_callback(new CopyToDeviceStream(std::move(devices), channel, found->second, run_, end_),
                            info->user_arg);
        return absl::OkStatus();
      }));
    }
  }

  // Keeps the first error, and stops the program, so that everything that depends on its results fails, too.
  void Note(absl::Status status) {
    if (status.ok() || !first_error_.ok()) return;
    first_error_ = std::move(status);
    run_.Cancel();
  }

  void End() {
    const bool done = execution_->done.load(std::memory_order_acquire);
    if (!first_error_.ok()) {
      end_->Set(first_error_);
    } else {
      end_->Set(done ? execution_->status : lost_);
    }
  }

  const HostChannels channels_;
  const std::vector<ParticipantCallbacks> participants_;
  std::vector<Device*> devices_;  // The devices of all participants.
  const std::shared_ptr<Client> client_;
  const Execution run_;
  const runtime::Command execution_;
  const std::shared_ptr<Completion> end_ = Completion::Open();
  std::vector<Listener> listeners_;
  absl::Status lost_, first_error_;
};

// The number of executions, one within the other, whose callbacks this thread serves.
thread_local size_t executions_served_here = 0;

}  // namespace

uint64_t LineOfThisThread() {
  static std::atomic<uint64_t> last = 0;
  // An execution that a callback starts must not wait for the one that the callback belongs to.
  thread_local std::vector<uint64_t> lines;
  while (lines.size() <= executions_served_here) lines.push_back(++last);
  return lines[executions_served_here];
}

std::shared_ptr<Completion> ServeCallbacks(const HostChannels& channels,
                                           std::vector<ParticipantCallbacks> participants,
                                           const Execution& execution) {
  const auto run = std::make_shared<CallbackRun>(channels, std::move(participants), execution);
  const absl::Status started = Caught("The thread of a program's callbacks", [&] {
    std::thread([run, line = CurrentLine()] {
      SetCurrentLine(line);
      run->Run();
    }).detach();
    return absl::OkStatus();
  });
  if (!started.ok()) run->GiveUp(started);
  return run->end();
}

absl::Status ServeCallbacksHere(const HostChannels& channels, std::vector<ParticipantCallbacks> participants,
                                const Execution& execution) {
  CallbackRun run(channels, std::move(participants), execution);
  ++executions_served_here;
  const auto served = absl::MakeCleanup([] { --executions_served_here; });
  run.Run();
  return run.end()->Await();
}

}  // namespace hlod::pjrt
