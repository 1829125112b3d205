// Infeed, outfeed, and the host's side of send and recv, of a device or of one execute.
#include <utility>

#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"
#include "hlod/runtime/device.h"
#include "hlod/runtime/executable.h"

namespace hlod {
namespace {

using runtime::ArgumentError;
using runtime::BufferState;

absl::Status CheckArrays(const std::shared_ptr<runtime::Session>& session, int device,
                         absl::Span<const Buffer> arrays, const Caller& caller) {
  for (const Buffer& array : arrays) {
    if (!array.valid()) return ArgumentError(caller, "A buffer given to an infeed names nothing.");
    BufferState& state = *array.internal_state();
    if (state.session != session) {
      return MakeError(ErrorKind::kUnknownHandle,
                       array.ToString() + ", given to an infeed, belongs to another session.");
    }
    RETURN_IF_ERROR(CheckReadable(state, "an infeed", caller));
    if (state.device == device) continue;
    return ArgumentError(caller,
                         absl::StrFormat("%s, given to the infeed of device %d, is on device %d.",
                                         Describe(state), device, state.device),
                         &state);
  }
  return absl::OkStatus();
}

// A channel of a device, or of one execute on it.
struct Channel {
  std::optional<int64_t> id;  // nullopt: the infeed or the outfeed.
  // The command of the execute that the channel belongs to; 0: it belongs to the device.
  uint64_t execute = 0;
};

absl::Status Give(const Device& device, absl::Span<const Buffer> arrays, const Channel& channel,
                  const Caller& caller) {
  if (device.is_host()) return ArgumentError(caller, "The host is not a device that has an infeed.");
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Session> session,
                   SessionWith(device.internal_session(), device.ordinal()));
  RETURN_IF_ERROR(session->status());
  RETURN_IF_ERROR(CheckArrays(session, device.ordinal(), arrays, caller));
  v1::Command command;
  v1::Infeed& infeed = *command.mutable_infeed();
  infeed.set_device(session->place().OrdinalOf(device.ordinal()));
  for (const Buffer& array : arrays) infeed.add_arguments(array.handle());
  if (channel.id.has_value()) infeed.set_channel(*channel.id);
  infeed.set_execute(channel.execute);
  return session->Send(caller, std::move(command)).status();
}

absl::StatusOr<std::vector<Buffer>> Take(const Device& device, absl::Span<const Shape> shapes,
                                         const Channel& channel, const Caller& caller) {
  if (device.is_host()) return ArgumentError(caller, "The host is not a device that has an outfeed.");
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Session> session,
                   SessionWith(device.internal_session(), device.ordinal()));
  RETURN_IF_ERROR(session->status());
  v1::Command command;
  v1::Outfeed& outfeed = *command.mutable_outfeed();
  outfeed.set_device(session->place().OrdinalOf(device.ordinal()));
  for (const Shape& shape : shapes) {
    if (!shape.IsArray())
      return ArgumentError(caller, "An outfeed has arrays; given is a " + hlo::ToString(shape) + ".");
    RETURN_IF_ERROR(WithKind(hlo::ValidateShape(shape), ErrorKind::kArgument));
    *outfeed.add_shapes() = hlo::ToProto(shape);
  }
  if (channel.id.has_value()) outfeed.set_channel(*channel.id);
  outfeed.set_execute(channel.execute);
  std::vector<uint64_t> handles;
  runtime::Command sent;
  RETURN_IF_ERROR(session->Transact(caller, [&](runtime::Session::Sender& sender) {
    for (size_t i = 0; i < shapes.size(); ++i) outfeed.add_results(handles.emplace_back(sender.NewHandle()));
    sent = sender.Add(std::move(command));
  }));
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < shapes.size(); ++i) {
    Shape dense = shapes[i];
    dense.layout.reset();
    buffers.push_back(Buffer(std::make_shared<BufferState>(session, handles[i], std::move(dense),
                                                           device.ordinal(), sent, /*placeholder=*/false)));
  }
  return buffers;
}

}  // namespace

absl::Status Device::TransferToInfeed(absl::Span<const Buffer> arrays, std::optional<int64_t> channel,
                                      Caller caller) const {
  return Give(*this, arrays, {channel}, caller);
}

absl::StatusOr<std::vector<Buffer>> Device::TransferFromOutfeed(absl::Span<const Shape> shapes,
                                                                std::optional<int64_t> channel,
                                                                Caller caller) const {
  return Take(*this, shapes, {channel}, caller);
}

absl::Status Execution::Send(const Device& device, absl::Span<const Buffer> arrays, int64_t channel,
                             Caller caller) const {
  return Give(device, arrays, {channel, command}, caller);
}

absl::StatusOr<std::vector<Buffer>> Execution::Receive(const Device& device, absl::Span<const Shape> shapes,
                                                       int64_t channel, Caller caller) const {
  return Take(device, shapes, {channel, command}, caller);
}

}  // namespace hlod
