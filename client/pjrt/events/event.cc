// The entries about events.
#include "client/pjrt/events/event.h"

#include "client/pjrt/entry.h"
#include "client/pjrt/exceptions.h"
#include "client/runtime/observe/warnings.h"

namespace hlod::pjrt {

absl::Status Serve(abi::Event_Destroy_Args& args) {
  delete args.event;
  return absl::OkStatus();
}

absl::Status Serve(abi::Event_IsReady_Args& args) {
  RETURN_IF_ERROR(Given(args.event, "event"));
  // A callback that runs meanwhile may destroy the event.
  const std::shared_ptr<Completion> completion = args.event->completion();
  args.is_ready = completion->IsReady();
  return absl::OkStatus();
}

absl::Status Serve(abi::Event_Error_Args& args) {
  RETURN_IF_ERROR(Given(args.event, "event"));
  const std::shared_ptr<Completion> completion = args.event->completion();
  if (!completion->IsReady())
    return FailedPrecondition("The event's error was asked for before the event was ready.");
  return completion->Await();
}

absl::Status Serve(abi::Event_Await_Args& args) {
  RETURN_IF_ERROR(Given(args.event, "event"));
  const std::shared_ptr<Completion> completion = args.event->completion();
  return completion->Await();
}

absl::Status Serve(abi::Event_OnReady_Args& args) {
  RETURN_IF_ERROR(Given(args.event, "event"));
  if (args.callback == nullptr) return InvalidArgument("The field callback is null.");
  const std::shared_ptr<Completion> completion = args.event->completion();
  // An exception must not end the thread, nor keep other callbacks from being called.
  completion->OnReady([callback = args.callback, user_arg = args.user_arg](const absl::Status& status) {
    const absl::Status called = Caught("A callback of an event", [&] {
      callback(ToError(status), user_arg);
      return absl::OkStatus();
    });
    if (!called.ok()) runtime::Warn(std::string(called.message()));
  });
  return absl::OkStatus();
}

absl::Status Serve(abi::Event_Create_Args& args) {
  args.event = new Event(Completion::Open());
  return absl::OkStatus();
}

absl::Status Serve(abi::Event_Set_Args& args) {
  RETURN_IF_ERROR(Given(args.event, "event"));
  if (args.event->completion()->Set(ToStatus(args.error_code, args.error_message, args.error_message_size)))
    return absl::OkStatus();
  return FailedPrecondition("The event was set before.");
}

}  // namespace hlod::pjrt
