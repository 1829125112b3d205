// The entries about buffers that later get the value of another buffer.
#include <memory>
#include <utility>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/shape_from.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"

namespace hlod::pjrt {

// The right to give an alias its value. The caller gives it up with PJRT_Client_FulfillAliasBuffer.
class AliasRight {
 public:
  AliasRight(Memory& memory, hlo::Shape shape) : memory(memory), shape(std::move(shape)) {}

  Memory& memory;
  const hlo::Shape shape;
  const std::shared_ptr<PromisedValue> value = std::make_shared<PromisedValue>();
};

namespace {

absl::Status Fulfill(const AliasRight& alias, const Buffer& buffer) {
  if (!hlo::Compatible(alias.shape, buffer.shape())) {
    return InvalidArgument("The alias is of %s; the buffer is of %s.", hlo::ToStringNoLayout(alias.shape),
                           hlo::ToStringNoLayout(buffer.shape()));
  }
  RETURN_IF_ERROR(buffer.client().CheckOwn(alias.memory.device()));
  ASSIGN_OR_RETURN(hlod::Buffer value, buffer.value());
  if (&buffer.device() == &alias.memory.device()) return alias.value->Give(std::move(value), buffer.ready());
  ASSIGN_OR_RETURN(value, value.CopyTo(alias.memory.device().runtime(), CurrentLine()));
  const std::shared_ptr<Completion> ready = buffer.client().AwaitedEndOf(SessionOf(value), ProducerOf(value));
  return alias.value->Give(std::move(value), ready);
}

}  // namespace

absl::Status Serve(abi::Client_CreateAliasBuffer_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  RETURN_IF_ERROR(args.client->CheckOwn(args.memory->device()));
  ASSIGN_OR_RETURN(const hlo::Shape shape, ShapeFrom(args));
  ASSIGN_OR_RETURN(DimensionOrder order, OrderFrom(args.shape_layout, shape));
  auto alias = std::make_unique<AliasRight>(*args.memory, shape);
  args.alias_buffer = new Buffer(*args.memory, shape, alias->value, std::move(order));
  args.fulfill_alias_buffer_cb = alias.release();
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_FulfillAliasBuffer_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.fulfill_alias_buffer_cb, "fulfill_alias_buffer_cb"));
  const std::unique_ptr<AliasRight> alias(args.fulfill_alias_buffer_cb);
  absl::Status status = ToStatus(args.status_code, args.error_message, args.error_message_size);
  if (status.ok()) status = Given(args.buffer, "buffer");
  const bool is_stated = !status.ok() && args.buffer == nullptr && static_cast<int>(args.status_code) != 0;
  if (status.ok()) {
    status = Fulfill(*alias, *args.buffer);
    if (status.ok()) return absl::OkStatus();
  }
  // The framework fulfils an alias once, so nothing else can give it a value now.
  RETURN_IF_ERROR(alias->value->Fail(status));
  return is_stated ? absl::OkStatus() : status;
}

}  // namespace hlod::pjrt
