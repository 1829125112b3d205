// Observes gRPC's rules for one call: one write at a time, and Finish once, as the last operation.
#include "server/grpc/launches/outgoing_carry.h"

#include <algorithm>

#include "common/base/text/strings.h"
#include "common/rpc/crc32c.h"
#include "common/rpc/grpc/status.h"

namespace hlod::grpc_server {

OutgoingCarry::OutgoingCarry(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                             v1::CarryFrame first, std::vector<absl::Span<const std::byte>> spans, Done done)
    : frame_(std::move(first)),
      spans_(std::move(spans)),
      done_(std::move(done)),
      stub_(v1::Carrier::NewStub(channel)) {
  if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
  for (const absl::Span<const std::byte> span : spans_) left_ += span.size();
  frame_.set_bytes(left_);
}

void OutgoingCarry::Start(grpc::CompletionQueue& queue) {
  stream_ = stub_->PrepareAsyncCarry(&context_, &response_, &queue);
  stream_->StartCall(&start_);
}

void OutgoingCarry::WriteNext() {
  std::string& data = *frame_.mutable_data();
  data.clear();
  const size_t wanted = std::min(left_, kCarryFrameBytes);
  while (data.size() < wanted) {
    const absl::Span<const std::byte> rest = spans_[span_].subspan(offset_);
    const size_t taken = std::min(rest.size(), wanted - data.size());
    data.append(reinterpret_cast<const char*>(rest.data()), taken);
    offset_ += taken;
    if (offset_ == spans_[span_].size()) {
      ++span_;
      offset_ = 0;
    }
  }
  left_ -= wanted;
  frame_.set_crc32c(rpc::Crc32c({reinterpret_cast<const std::byte*>(data.data()), data.size()}));
  grpc::WriteOptions options;
  if (left_ == 0) options.set_last_message();
  stream_->Write(frame_, options, &write_);
  // The frames that follow do not name the message again.
  frame_.clear_launch();
  frame_.clear_rank();
  frame_.clear_place();
  frame_.clear_turn();
  frame_.clear_bytes();
}

void OutgoingCarry::Finish() {
  finishing_ = true;
  stream_->Finish(&status_, &finish_);
}

bool OutgoingCarry::OnEvent(Event event, bool ok) {
  if (event == Event::kFinished) {
    done_(rpc::FromGrpc(status_));
    return true;
  }
  if (!ok || (event == Event::kWritten && left_ == 0)) {
    Finish();
  } else {
    WriteNext();
  }
  return false;
}

}  // namespace hlod::grpc_server
