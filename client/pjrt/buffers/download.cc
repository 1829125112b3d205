// The entries that read a buffer. None of them waits: frameworks hold locks that the end of the wait may
// need.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/strides.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/events/event.h"
#include "client/runtime/observe/events.h"
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

// Returns a sink that also counts the read, for metrics and profiles, when its value comes. It does not hold
// the buffer, which the framework may donate meanwhile.
Sink Counted(const hlod::Buffer& value, Sink sink) {
  return [sink = std::move(sink), session = SessionOf(value), handle = value.handle(), shape = value.shape(),
          bytes = value.byte_size(), device = value.device(), made_at = value.internal_state()->origin,
          line = CurrentLine(), watch = runtime::Stopwatch()](absl::Span<const std::byte> read) {
    runtime::EmitTransfer(*session, Cause::kDownload, line, handle, shape, bytes, device, made_at,
                          watch.us());
    return sink(read);
  };
}

// Requests a small value, unless it was read ahead. Returns null when no more commands may be in flight, so
// that the request would have to wait.
absl::StatusOr<std::shared_ptr<Completion>> AskInline(Client& client, const hlod::Buffer& value, Sink sink) {
  // A sink reads as many bytes as the buffer has.
  const auto deliver = [expected = value.byte_size()](const Sink& sink, const runtime::CommandState& command,
                                                      absl::Status status) {
    if (!status.ok()) return status;
    const std::string& bytes = command.reply.download().inline_();
    if (static_cast<int64_t>(bytes.size()) != expected) {
      return MakeError(ErrorKind::kCorrupt, absl::StrFormat("The daemon sent %d bytes of a buffer of %d.",
                                                            bytes.size(), expected));
    }
    return sink({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  };
  const std::shared_ptr<runtime::Session> session = SessionOf(value);
  sink = Counted(value, std::move(sink));
  if (runtime::Command ahead = runtime::TakePrefetch(*value.internal_state()); ahead != nullptr) {
    return client.AwaitedEndOf(session, std::move(ahead),
                               [sink = std::move(sink), deliver, session, line = CurrentLine()](
                                   const runtime::CommandState& command, absl::Status status) {
                                 if (status.ok())
                                   runtime::TellRead(*session, command, Cause::kDownload, line);
                                 return deliver(sink, command, std::move(status));
                               });
  }
  v1::Command command = runtime::MakeDownload(value.handle(), Cause::kDownload);
  command.mutable_download()->set_inline_(true);
  runtime::Command sent;
  const absl::Status status = session->Transact(
      CurrentLine(), [&](runtime::Session::Sender& sender) { sent = sender.Add(std::move(command)); },
      /*may_wait=*/false);
  if (absl::IsResourceExhausted(status)) return nullptr;
  RETURN_IF_ERROR(status);
  return client.AwaitedEndOf(
      session, std::move(sent),
      [sink = std::move(sink), deliver](const runtime::CommandState& command, absl::Status status) {
        return deliver(sink, command, std::move(status));
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

// Reads a value that does not exist before `end`, because it comes from an execution with callbacks, or
// because the buffer gets it later.
std::shared_ptr<Completion> ReadAtEnd(Client& client, const std::shared_ptr<Completion>& end,
                                      std::function<absl::StatusOr<hlod::Buffer>()> value_at_end,
                                      absl::Span<std::byte> out, Sink sink) {
  std::shared_ptr<Completion> completion = Completion::Open();
  end->OnReady([=, client = client.shared_from_this(), line = CurrentLine()](const absl::Status& ended) {
    const LineScope scope(line);
    const absl::StatusOr<hlod::Buffer> value = ended.ok() ? value_at_end() : ended;
    if (!value.ok()) {
      completion->Set(value.status());
    } else {
      ReadBeside(*client, *value, out, sink)->OnReady([=](const absl::Status& read) {
        completion->Set(read);
      });
    }
  });
  return completion;
}

// A buffer to read, which the framework may destroy meanwhile.
struct ReadSource {
  std::shared_ptr<Client> client;
  hlo::Shape shape;
  DimensionOrder order;
  std::shared_ptr<PromisedValue::Use> promised;  // Null unless the value is given later.
  hlod::Buffer value;                            // The value otherwise.
  std::shared_ptr<Completion> end;               // Null when the value is there with its command.
  std::shared_ptr<const Lineage> lineage;        // That of a placeholder; may be null.
};

absl::StatusOr<ReadSource> SourceOf(const Buffer& buffer) {
  ReadSource source = {buffer.client().shared_from_this(),
                       buffer.shape(),
                       buffer.minor_to_major(),
                       nullptr,
                       hlod::Buffer(),
                       buffer.end(),
                       buffer.lineage()};
  if (buffer.promised() != nullptr && !buffer.IsDeleted()) {
    source.promised = std::make_shared<PromisedValue::Use>(buffer.promised());
    return source;
  }
  ASSIGN_OR_RETURN(source.value, buffer.value());
  if (source.value.is_placeholder()) return source;
  RETURN_IF_ERROR(runtime::CheckReadable(*source.value.internal_state(), "a read", CurrentLine()));
  return source;
}

// Writes the stand-in for a value that does not exist. Without a stand-in, returns an error that says which
// placeholder the value comes from.
absl::Status ReadPlaceholder(const ReadSource& source, absl::Span<std::byte> out, Sink sink) {
  absl::StatusOr<Literal> asked = source.value.ToLiteral(Cause::kDownload, CurrentLine());
  if (!asked.ok()) {
    if (source.lineage == nullptr) return asked.status();
    absl::Status explained(asked.status().code(), absl::StrCat(asked.status().message(),
                                                               " It comes from:", ToString(*source.lineage)));
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

absl::StatusOr<std::shared_ptr<Completion>> Read(const ReadSource& source, absl::Span<std::byte> out,
                                                 Sink sink) {
  Client& client = *source.client;
  if (source.promised == nullptr && source.value.is_placeholder()) {
    RETURN_IF_ERROR(ReadPlaceholder(source, out, std::move(sink)));
    return Completion::Done(absl::OkStatus());
  }
  if (source.end != nullptr) {
    return ReadAtEnd(
        client, source.end,
        [promised = source.promised, value = source.value]() -> absl::StatusOr<hlod::Buffer> {
          return promised != nullptr ? (*promised)->Get() : value;
        },
        out, std::move(sink));
  }
  const hlod::Buffer& value = source.value;
  if (ComesInline(client, value.byte_size()) && !value.shape().HasDynamicDimension() &&
      client.session()->options().abstract == nullptr) {
    Sink take = sink != nullptr ? sink : [out](absl::Span<const std::byte> bytes) {
      if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
      return absl::OkStatus();
    };
    ASSIGN_OR_RETURN(std::shared_ptr<Completion> completion, AskInline(client, value, std::move(take)));
    if (completion != nullptr) return completion;
  }
  return ReadBeside(client, value, out, std::move(sink));
}

absl::Status CheckRange(const Buffer& buffer, int64_t offset, int64_t size) {
  // Such an array is read with its actual sizes, and then has fewer bytes than its bounds take.
  if (buffer.shape().HasDynamicDimension()) {
    return Unimplemented(
        "Raw bytes of %s, whose sizes are known when it is read: read it with PJRT_Buffer_ToHostBuffer.",
        hlo::ToStringNoLayout(buffer.shape()));
  }
  const int64_t bytes = hlo::ByteSize(buffer.shape()).value_or(0);
  if (offset >= 0 && size >= 0 && offset <= bytes && size <= bytes - offset) return absl::OkStatus();
  return InvalidArgument("%d bytes at %d are asked for of a buffer that has %d.", size, offset, bytes);
}

// Takes a range of a buffer's bytes, which lie in the order of its layout.
Sink RawSink(const ReadSource& source, int64_t offset, int64_t size, void* dst) {
  return [=, shape = source.shape, order = source.order](absl::Span<const std::byte> dense) {
    if (size == 0) return absl::OkStatus();
    std::vector<std::byte> ordered;
    if (shape.IsArray() && order != RowMajorOrder(order.size())) {
      ordered.resize(dense.size());
      CopyStrided(ordered.data(), StridesOf(order, shape), dense.data(), RowMajorStrides(shape), shape);
      dense = ordered;
    }
    std::memcpy(dst, dense.data() + offset, static_cast<size_t>(size));
    return absl::OkStatus();
  };
}

// A read whose destination is not known yet.
struct RawRead {
  const ReadSource source;
  const int64_t offset, size;
  const std::shared_ptr<Completion> end = Completion::Open();
};

void StartRawRead(const RawRead& read, absl::Status given, void* dst) {
  if (given.ok() && read.size > 0) given = Given(dst, "dst");
  if (!given.ok()) return (void)read.end->Set(std::move(given));
  const absl::StatusOr<std::shared_ptr<Completion>> started =
      Read(read.source, {}, RawSink(read.source, read.offset, read.size, dst));
  if (!started.ok()) return (void)read.end->Set(started.status());
  (*started)->OnReady([end = read.end](const absl::Status& done) { end->Set(done); });
}

// Copies a value of bounded dynamic dimensions, of which the destination has the actual sizes.
absl::Status CopyAtItsSizes(abi::Buffer_ToHostBuffer_Args& args) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Literal> value, args.src->AtItsSizes());
  const size_t bytes = value->bytes().size();
  if (args.dst == nullptr) {
    args.dst_size = bytes;
    return absl::OkStatus();
  }
  if (args.dst_size < bytes)
    return InvalidArgument("dst_size is %d; the value has %d bytes.", args.dst_size, bytes);
  Strides strides = StridesOf(args.src->minor_to_major(), value->shape());
  if (args.host_layout != nullptr) {
    ASSIGN_OR_RETURN(strides, StridesOf(*args.host_layout, value->shape()));
  }
  CopyStrided(static_cast<std::byte*>(args.dst), strides, value->bytes().data(),
              RowMajorStrides(value->shape()), value->shape());
  args.event = new Event(Completion::Done(absl::OkStatus()));
  return absl::OkStatus();
}

}  // namespace

absl::Status Serve(abi::Buffer_ToHostBuffer_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.src, "src"));
  const Buffer& buffer = *args.src;
  if (buffer.shape().HasDynamicDimension()) return CopyAtItsSizes(args);
  const auto bytes = static_cast<size_t>(hlo::ByteSize(buffer.shape()).value_or(0));
  if (args.dst == nullptr) {  // The caller asks for the size.
    args.dst_size = bytes;
    return absl::OkStatus();
  }
  if (args.dst_size < bytes)
    return InvalidArgument("dst_size is %d; the value has %d bytes.", args.dst_size, bytes);
  auto* const dst = static_cast<std::byte*>(args.dst);
  Sink sink;
  if (buffer.shape().IsArray()) {
    Strides strides = StridesOf(buffer.minor_to_major(), buffer.shape());
    if (args.host_layout != nullptr) {
      ASSIGN_OR_RETURN(strides, StridesOf(*args.host_layout, buffer.shape()));
    }
    if (strides != RowMajorStrides(buffer.shape())) {
      sink = [=, shape = buffer.shape()](absl::Span<const std::byte> dense) {
        CopyStrided(dst, strides, dense.data(), RowMajorStrides(shape), shape);
        return absl::OkStatus();
      };
    }
  }
  ASSIGN_OR_RETURN(const ReadSource source, SourceOf(buffer));
  ASSIGN_OR_RETURN(std::shared_ptr<Completion> completion, Read(source, {dst, bytes}, std::move(sink)));
  args.event = new Event(std::move(completion));
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_CopyRawToHost_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  const Buffer& buffer = *args.buffer;
  RETURN_IF_ERROR(CheckRange(buffer, args.offset, args.transfer_size));
  if (args.transfer_size > 0) RETURN_IF_ERROR(Given(args.dst, "dst"));
  ASSIGN_OR_RETURN(const ReadSource source, SourceOf(buffer));
  ASSIGN_OR_RETURN(std::shared_ptr<Completion> completion,
                   Read(source, {}, RawSink(source, args.offset, args.transfer_size, args.dst)));
  args.event = new Event(std::move(completion));
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_CopyRawToHostFuture_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  const Buffer& buffer = *args.buffer;
  RETURN_IF_ERROR(CheckRange(buffer, args.offset, args.transfer_size));
  ASSIGN_OR_RETURN(ReadSource source, SourceOf(buffer));
  auto read = std::make_unique<RawRead>(RawRead{std::move(source), args.offset, args.transfer_size});
  args.event = new Event(read->end);
  args.callback_data = read.release();
  args.future_ready_callback = [](abi::Buffer_CopyRawToHostFuture_Callback_Args* ready) {
    const std::unique_ptr<RawRead> read(static_cast<RawRead*>(ready->callback_data));
    StartRawRead(*read, ToStatus(ready->error_code, ready->error_message, ready->error_message_size),
                 ready->dst);
  };
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
