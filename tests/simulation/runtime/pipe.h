// The client library's view of a simulated connection. Nobody else moves the world: a thread of the library
// that polls plays its steps until there is an event for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/connection/pipe.h"
#include "tests/simulation/seed.h"
#include "tests/simulation/wire.h"

namespace hlod::simulation {

class SimulatedPipe : public runtime::Pipe {
 public:
  SimulatedPipe(std::shared_ptr<Wire> wire, Seed& seed, std::function<void()> step)
      : wire_(std::move(wire)), seed_(seed), step_(std::move(step)) {}
  ~SimulatedPipe() override { wire_->client_knows = true; }

  bool StartWrite(runtime::MessageParts message) override {
    std::string bytes;
    for (const std::shared_ptr<const std::string>& part : message) bytes += *part;
    wire_->up.Write(bytes);
    if (seed_.OneIn(2)) return true;
    writing_ = true;
    return false;
  }
  runtime::PipeEvent Poll(absl::Time deadline) override {
    for (;;) {
      if (runtime::PipeEvent event = Next(); event.kind != runtime::PipeEvent::Kind::kNothing) return event;
      if (deadline == absl::InfinitePast()) return {};
      step_();
    }
  }
  void FinishWrites() override {}
  void Cancel() override {
    wire_->Cut();
    cancelled_ = true;
  }

 private:
  runtime::PipeEvent Next() {
    using Kind = runtime::PipeEvent::Kind;
    if (writing_ && seed_.OneIn(2)) {
      writing_ = false;
      return {.kind = Kind::kWritten};
    }
    if (const std::optional<std::string> bytes = wire_->stream->down.Read(); bytes.has_value()) {
      runtime::PipeEvent event{.kind = Kind::kRead};
      event.message.ParseFromString(*bytes);
      return event;
    }
    if (cancelled_) return {.kind = Kind::kEnded, .status = absl::CancelledError("cancelled")};
    if (wire_->stream->cut) {  // The connection is noticed to be broken some time after it broke.
      if (!seed_.OneIn(3)) return {};
      return {.kind = Kind::kEnded, .status = absl::UnavailableError("cut")};
    }
    if (wire_->stream->end.has_value() && wire_->stream->down.in_flight() == 0)
      return {.kind = Kind::kEnded, .status = *wire_->stream->end};
    return {};
  }

  const std::shared_ptr<Wire> wire_;
  Seed& seed_;
  const std::function<void()> step_;
  bool writing_ = false, cancelled_ = false;
};

class SimulatedConnector : public runtime::Connector {
 public:
  // `connect` opens a connection with the daemon that runs now.
  SimulatedConnector(std::function<std::shared_ptr<Wire>()> connect, Seed& seed, std::function<void()> step)
      : connect_(std::move(connect)), seed_(seed), step_(std::move(step)) {}
  absl::StatusOr<std::shared_ptr<runtime::Pipe>> Connect(absl::Time) override {
    return std::make_shared<SimulatedPipe>(connect_(), seed_, step_);
  }
  std::shared_ptr<runtime::BulkChannel> bulk() override { return nullptr; }  // All transfers are inline.
  const std::string& address() const override { return address_; }
  bool local() const override { return false; }

 private:
  const std::function<std::shared_ptr<Wire>()> connect_;
  Seed& seed_;
  const std::function<void()> step_;
  const std::string address_ = "simulated";
};

}  // namespace hlod::simulation
