// Observes gRPC's rules for one call: one write at a time, and Finish once, as the last operation.
#include "server/grpc/launches/outgoing_carry.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/rpc/grpc/status.h"

namespace hlod::grpc_server {

OutgoingCarry::OutgoingCarry(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                             v1::CarryFrame first, std::vector<absl::Span<const std::byte>> spans, Done done)
    : frame_(std::move(first)), spans_(std::move(spans)), done_(std::move(done)), stub_(channel) {
  if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
  for (const absl::Span<const std::byte> span : spans_) left_ += span.size();
  frame_.set_bytes(left_);
}

void OutgoingCarry::Start(grpc::CompletionQueue& queue) {
  stream_ = stub_.PrepareCall(&context_, "/hlod.v1.Carrier/Carry", &queue);
  stream_->StartCall(&start_);
}

Pieces OutgoingCarry::TakeNext(size_t wanted) {
  Pieces pieces;
  left_ -= wanted;
  while (wanted > 0) {
    const absl::Span<const std::byte> rest = spans_[span_].subspan(offset_);
    const size_t taken = std::min(rest.size(), wanted);
    if (taken > 0) pieces.push_back(rest.first(taken));
    wanted -= taken;
    offset_ += taken;
    if (offset_ == spans_[span_].size()) {
      ++span_;
      offset_ = 0;
    }
  }
  return pieces;
}

void OutgoingCarry::WriteNext() {
  grpc::WriteOptions options;
  Pieces pieces;
  if (named_) {
    pieces = TakeNext(std::min(left_, kCarryFrameBytes));
  } else if (left_ <= kCarryWholeBytes) {
    pieces = TakeNext(left_);
  } else {
    options.set_buffer_hint();  // The next frame follows at once.
  }
  if (left_ == 0) options.set_last_message();
  stream_->Write(EncodeCarryFrame(std::move(frame_), pieces), options, &write_);
  frame_ = {};  // The frames that follow do not name the message again.
  named_ = true;
}

void OutgoingCarry::Finish() { stream_->Finish(&status_, &finish_); }

bool OutgoingCarry::OnEvent(Event event, bool ok) {
  if (event == Event::kFinished) {
    done_(rpc::FromGrpc(status_));
    return true;
  }
  if (!ok || event == Event::kAnswered) {
    Finish();
  } else if (event == Event::kWritten && left_ == 0) {
    stream_->Read(&response_, &answer_);
  } else {
    try {
      WriteNext();
    } catch (const std::exception&) {  // No memory for the frame.
      context_.TryCancel();
      Finish();
    }
  }
  return false;
}

}  // namespace hlod::grpc_server
