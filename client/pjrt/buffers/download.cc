// The entries that read a buffer. None of them waits: frameworks hold locks that the end of the wait may
// need.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/strides.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/events/event.h"
#include "client/pjrt/programs/call_location.h"
#include "client/runtime/session/state.h"
#include "client/runtime/transfer/transfer.h"

namespace hlod::pjrt {
namespace {

// Takes the dense row-major bytes of a value.
using Sink = std::function<absl::Status(absl::Span<const std::byte>)>;

// Small values come with the reply to a command.
bool ComesInline(const Client& client, int64_t bytes) {
  return bytes <= client.runtime().limits().inline_bytes_max;
}

// Asks for a small value. Null when as many commands are under way as may be, so that asking would wait.
absl::StatusOr<std::shared_ptr<Completion>> AskInline(Client& client, const hlod::Buffer& value, Sink sink) {
  v1::Command command = runtime::MakeDownload(value.handle(), Cause::kDownload);
  command.mutable_download()->set_inline_(true);
  runtime::Command sent;
  const absl::Status status = client.session()->Transact(
      CurrentLine(), [&](runtime::Session::Sender& sender) { sent = sender.Add(std::move(command)); },
      /*may_wait=*/false);
  if (absl::IsResourceExhausted(status)) return nullptr;
  RETURN_IF_ERROR(status);
  return client.AwaitedEndOf(
      std::move(sent), [sink = std::move(sink)](const runtime::CommandState& command, absl::Status status) {
        if (!status.ok()) return status;
        const std::string& bytes = command.reply.download().inline_();
        return sink({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
      });
}

// Reads a value on a thread that may wait.
std::shared_ptr<Completion> ReadBeside(Client& client, const hlod::Buffer& value, absl::Span<std::byte> out,
                                       Sink sink) {
  std::shared_ptr<Completion> completion = Completion::Open();
  client.transfers().Run([=, held = value, line = CurrentLine()]() mutable {
    absl::Status status = Caught("A download", [&] {
      if (sink == nullptr) return held.Download(out, Cause::kDownload, line);
      const absl::StatusOr<Literal> literal = held.ToLiteral(Cause::kDownload, line);
      return literal.ok() ? sink(literal->bytes()) : literal.status();
    });
    held = hlod::Buffer();
    completion->Set(std::move(status));
  });
  return completion;
}

// Reads a value that is not there before its execution's callbacks have ended.
std::shared_ptr<Completion> ReadAtEnd(Client& client, const Buffer& buffer, const hlod::Buffer& value,
                                      absl::Span<std::byte> out, Sink sink) {
  std::shared_ptr<Completion> completion = Completion::Open();
  buffer.end()->OnReady(
      [=, client = client.shared_from_this(), line = CurrentLine()](const absl::Status& ended) {
        const LineScope scope(line);
        if (!ended.ok()) {
          completion->Set(ended);
        } else {
          ReadBeside(*client, value, out, sink)->OnReady([=](const absl::Status& read) {
            completion->Set(read);
          });
        }
      });
  return completion;
}

// Gives the stand-in for a value that does not exist. Without one the error says what the placeholder comes
// from.
absl::Status ReadPlaceholder(const Buffer& buffer, const hlod::Buffer& value, absl::Span<std::byte> out,
                             Sink sink) {
  absl::StatusOr<Literal> asked = value.ToLiteral(Cause::kDownload, CurrentLine());
  if (!asked.ok()) {
    if (buffer.lineage() == nullptr) return asked.status();
    absl::Status explained(
        asked.status().code(),
        absl::StrCat(asked.status().message(), " It comes from:", ToString(*buffer.lineage())));
    asked.status().ForEachPayload(
        [&](absl::string_view type, const absl::Cord& payload) { explained.SetPayload(type, payload); });
    return explained;
  }
  if (sink != nullptr) return sink(asked->bytes());
  if (asked->bytes().size() != out.size())
    return Internal("The stand-in for a value of %d bytes has %d.", out.size(), asked->bytes().size());
  std::copy(asked->bytes().begin(), asked->bytes().end(), out.begin());
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Completion>> Read(const Buffer& buffer, absl::Span<std::byte> out, Sink sink) {
  Client& client = buffer.client();
  ASSIGN_OR_RETURN(const hlod::Buffer value, buffer.value());
  if (value.is_placeholder()) {
    RETURN_IF_ERROR(ReadPlaceholder(buffer, value, out, std::move(sink)));
    return Completion::Done(absl::OkStatus());
  }
  RETURN_IF_ERROR(runtime::CheckReadable(*value.internal_state(), "a read", CurrentLine()));
  if (buffer.end() != nullptr) return ReadAtEnd(client, buffer, value, out, std::move(sink));
  if (ComesInline(client, value.byte_size()) && !value.shape().HasDynamicDimension() &&
      client.session()->options().abstract == nullptr) {
    Sink take = sink != nullptr ? sink : [out](absl::Span<const std::byte> bytes) {
      if (bytes.size() != out.size())
        return Internal("The daemon sent %d bytes of a buffer of %d.", bytes.size(), out.size());
      if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
      return absl::OkStatus();
    };
    ASSIGN_OR_RETURN(std::shared_ptr<Completion> completion, AskInline(client, value, std::move(take)));
    if (completion != nullptr) return completion;
  }
  return ReadBeside(client, value, out, std::move(sink));
}

}  // namespace

absl::Status Serve(abi::Buffer_ToHostBuffer_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.src, "src"));
  const Buffer& buffer = *args.src;
  const auto bytes = static_cast<size_t>(hlo::ByteSize(buffer.shape()).value_or(0));
  if (args.dst == nullptr) {  // The caller asks for the size.
    args.dst_size = bytes;
    return absl::OkStatus();
  }
  if (args.dst_size < bytes)
    return InvalidArgument("dst_size is %d; the value has %d bytes.", args.dst_size, bytes);
  auto* const dst = static_cast<std::byte*>(args.dst);
  Sink sink;
  if (args.host_layout != nullptr && buffer.shape().IsArray()) {
    ASSIGN_OR_RETURN(Strides strides, StridesOf(*args.host_layout, buffer.shape()));
    if (strides != RowMajorStrides(buffer.shape())) {
      sink = [=, shape = buffer.shape()](absl::Span<const std::byte> dense) {
        CopyStrided(dst, strides, dense.data(), RowMajorStrides(shape), shape);
        return absl::OkStatus();
      };
    }
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Completion> completion, Read(buffer, {dst, bytes}, std::move(sink)));
  args.event = new Event(std::move(completion));
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_CopyRawToHost_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  const Buffer& buffer = *args.buffer;
  const int64_t bytes = hlo::ByteSize(buffer.shape()).value_or(0);
  if (args.offset < 0 || args.transfer_size < 0 || args.offset > bytes ||
      args.transfer_size > bytes - args.offset) {
    return InvalidArgument("Bytes %d to %d are asked for of a buffer that has %d.", args.offset,
                           args.offset + args.transfer_size, bytes);
  }
  if (args.transfer_size > 0) RETURN_IF_ERROR(Given(args.dst, "dst"));
  Sink sink = [dst = args.dst, offset = args.offset,
               size = args.transfer_size](absl::Span<const std::byte> dense) {
    if (size > 0) std::memcpy(dst, dense.data() + offset, static_cast<size_t>(size));
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(std::shared_ptr<Completion> completion, Read(buffer, {}, std::move(sink)));
  args.event = new Event(std::move(completion));
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
