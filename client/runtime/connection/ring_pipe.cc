// Follows the order of messages from the stream to the ring and back, in each direction.
#include "client/runtime/connection/ring_pipe.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/time/clock.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

// The number of messages after which RingUse::kOn takes the ring.
constexpr int kMessagesBefore = 16;
// The pauses between looks at the stream: for its end, and while a message is being written to it.
constexpr absl::Duration kLook = absl::Milliseconds(100), kWriteLook = absl::Microseconds(50);
// The pause when a caller only looks, which it may do often.
constexpr absl::Duration kGlance = absl::Milliseconds(10);

// The field `ring` of a ClientMessage, true. Fields may come in any order, except the checksum.
const std::shared_ptr<const std::string>& RingField() {
  static const auto* const field = new std::shared_ptr<const std::string>(
      std::make_shared<const std::string>(std::string{v1::ClientMessage::kRingFieldNumber << 3, 1}));
  return *field;
}

}  // namespace

RingPipe::RingPipe(std::shared_ptr<Pipe> stream, rpc::RingUse use) : stream_(std::move(stream)), use_(use) {}

void RingPipe::Cancel() {
  stream_->Cancel();
  look_ = true;
  if (Ring* const ring = taken_.load(std::memory_order_acquire); ring != nullptr) ring->reader.Interrupt();
}

// ------------------------------------------------------------------------------------------------- writing

bool RingPipe::TakeRing() {
  if (tried_ || !greeted_.load(std::memory_order_acquire)) return false;
  if (use_ != rpc::RingUse::kFirst && written_ < kMessagesBefore) return false;
  tried_ = true;
  if (offer_.bytes() != rpc::RingPair::kBytes) return false;
  absl::StatusOr<rpc::SharedMemory> memory =
      rpc::FetchSharedMemory(offer_.socket(), offer_.key(), static_cast<int64_t>(offer_.bytes()));
  if (!memory.ok()) return false;
  memory->TakeDescriptor();
  ring_ = std::make_unique<Ring>(*std::move(memory));
  taken_.store(ring_.get(), std::memory_order_release);
  return true;
}

bool RingPipe::WriteToRing(Ring& ring, const MessageParts& message) {
  if (!write_ring_) return false;
  size_t bytes = 0;
  absl::InlinedVector<absl::Span<const std::byte>, 8> parts;
  for (const std::shared_ptr<const std::string>& part : message) {
    parts.emplace_back(reinterpret_cast<const std::byte*>(part->data()), part->size());
    bytes += part->size();
  }
  absl::StatusOr<bool> written = false;
  if (bytes <= rpc::RingPair::kMessageBytes) written = ring.writer.Write(parts);
  if (written.ok() && *written) return true;
  if (!written.ok() || !ring.writer.WriteElsewhere().ok()) broken_ = true;
  return false;
}

bool RingPipe::StartWrite(MessageParts message) {
  if (ring_ != nullptr && WriteToRing(*ring_, message)) return true;
  const absl::StatusOr<bool> half_free = ring_ == nullptr ? TakeRing() : ring_->writer.IsHalfFree();
  if (!half_free.ok()) broken_ = true;
  write_ring_ = half_free.ok() && *half_free && !broken_;
  if (write_ring_) message.push_back(RingField());
  if (greeted_) ++written_;
  Ring* const ring = ring_.get();
  stream_writing_ = true;
  // Once the stream reports the end of this write, another thread may be here.
  if (stream_->StartWrite(std::move(message))) {
    stream_writing_ = false;
    return true;
  }
  // A thread that sleeps in the ring must look after the stream from now on.
  if (ring != nullptr) ring->reader.Interrupt();
  return false;
}

// ------------------------------------------------------------------------------------------------- polling

PipeEvent RingPipe::Break(const absl::Status& status) {
  if (why_.ok()) why_ = status;
  read_ring_ = false;
  stream_->Cancel();
  return {};
}

PipeEvent RingPipe::TakeHeld() {
  PipeEvent event = *std::exchange(held_, std::nullopt);
  if (event.kind == PipeEvent::Kind::kEnded && !why_.ok()) event.status = why_;
  if (event.kind != PipeEvent::Kind::kRead || !event.message.ring()) return event;
  if (taken_.load(std::memory_order_acquire) == nullptr)
    return Break(DataLoss("The daemon uses a ring that this client has not taken."));
  read_ring_ = true;
  return event;
}

PipeEvent RingPipe::PollStream(absl::Time deadline) {
  if (!held_.has_value()) {
    held_ = stream_->Poll(deadline);
    if (held_->kind == PipeEvent::Kind::kWritten) stream_writing_ = false;
    if (held_->kind == PipeEvent::Kind::kRead && held_->message.has_welcome() &&
        held_->message.welcome().has_ring()) {
      offer_ = held_->message.welcome().ring();
      greeted_.store(true, std::memory_order_release);
    }
  }
  return TakeHeld();
}

PipeEvent RingPipe::ReadRing(Ring& ring) {
  PipeEvent event;
  const absl::StatusOr<rpc::RingReader::Got> got = ring.reader.Read(bytes_);
  if (!got.ok()) return Break(got.status());
  if (*got == rpc::RingReader::Got::kElsewhere) read_ring_ = false;
  if (*got != rpc::RingReader::Got::kMessage) return event;
  if (!event.message.ParseFromString(bytes_))
    return Break(DataLoss("The bytes of a message are not a hlod.v1.ServerMessage."));
  event.kind = PipeEvent::Kind::kRead;
  return event;
}

PipeEvent RingPipe::LookAtStream() {
  PipeEvent event = stream_->Poll(absl::InfinitePast());
  if (event.kind == PipeEvent::Kind::kWritten) {
    stream_writing_ = false;
    return event;
  }
  // It waits for the messages that the daemon wrote into the ring before it.
  if (event.kind != PipeEvent::Kind::kNothing) held_ = std::move(event);
  return {};
}

PipeEvent RingPipe::Poll(absl::Time deadline) {
  for (;;) {
    if (broken_ && why_.ok()) Break(DataLoss("The ring in shared memory is broken."));
    if (!read_ring_) return PollStream(deadline);
    Ring& ring = *taken_.load(std::memory_order_acquire);
    // The end of the stream, or a message there, was seen before the ring is read: what the daemon wrote into
    // the ring before is there.
    const bool seen = held_.has_value();
    PipeEvent event = ReadRing(ring);
    if (event.kind != PipeEvent::Kind::kNothing) return event;
    if (!read_ring_) continue;
    if (seen) {
      if (held_->kind == PipeEvent::Kind::kEnded) return TakeHeld();
      Break(DataLoss("The daemon sent a message on the stream, and the ring does not say so."));
      continue;
    }
    const absl::Time now = absl::Now();
    const absl::Duration pause = stream_writing_ ? kWriteLook : deadline <= now ? kGlance : kLook;
    if (look_.exchange(false) || now - looked_ >= pause) {
      looked_ = now;
      if (event = LookAtStream(); event.kind != PipeEvent::Kind::kNothing) return event;
      if (held_.has_value()) continue;
    }
    if (now >= deadline) return event;
    ring.reader.Wait(absl::ToChronoMicroseconds(std::min(deadline - now, looked_ + pause - now)));
  }
}

}  // namespace hlod::runtime
