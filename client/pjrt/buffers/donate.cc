// The entry that donates a buffer once an event has happened.
#include <memory>
#include <utility>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"

namespace hlod::pjrt {
namespace {

// Gives the new buffer its value when the event that it waits for has happened.
struct Dependency {
  const std::shared_ptr<Completion> value_is_ready;
  const std::shared_ptr<PromisedValue> promised;
  const hlod::Buffer value;
};

}  // namespace

// The new buffer has the value when the dependency is ready. Programs that take it earlier wait for that.
absl::Status Serve(abi::Buffer_DonateWithControlDependency_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  Buffer& buffer = *args.buffer;
  ASSIGN_OR_RETURN(hlod::Buffer value, buffer.value());
  std::unique_ptr<Dependency> dependency(
      new Dependency{buffer.ready(), std::make_shared<PromisedValue>(), std::move(value)});
  args.out_buffer =
      new Buffer(buffer.memory(), buffer.shape(), dependency->promised, buffer.minor_to_major());
  args.callback_data = dependency.release();
  args.dependency_ready_callback = [](abi::Buffer_DonateWithControlDependency_Callback_Args* ready) {
    const std::unique_ptr<Dependency> held(static_cast<Dependency*>(ready->callback_data));
    absl::Status status = ToStatus(ready->error_code, ready->error_message, ready->error_message_size);
    // Neither call fails, because the buffer gets no other value.
    (void)(status.ok() ? held->promised->Give(held->value, held->value_is_ready)
                       : held->promised->Fail(std::move(status)));
  };
  buffer.Delete();
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
