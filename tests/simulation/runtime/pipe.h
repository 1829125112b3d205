// The client library's view of a simulated connection. Nobody else moves the world: a thread of the library
// that polls plays its steps until there is an event for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/connection/pipe.h"
#include "tests/simulation/runtime/bulk.h"
#include "tests/simulation/seed.h"
#include "tests/simulation/wire.h"

namespace hlod::simulation {

class SimulatedPipe : public runtime::Pipe {
 public:
  SimulatedPipe(std::shared_ptr<Wire> wire, Seed& seed, std::function<void()> step)
      : wire_(std::move(wire)), seed_(seed), step_(std::move(step)), forgotten_(seed.OneIn(2)) {}
  ~SimulatedPipe() override { wire_->client_knows = true; }

  bool StartWrite(runtime::MessageParts message) override {
    std::string bytes;
    for (const std::shared_ptr<const std::string>& part : message) bytes += *part;
    wire_->up.Write(bytes);
    forgotten_ = forgotten_ && !wire_->stream->cut;
    if (seed_.OneIn(2)) return true;
    writing_ = true;
    return false;
  }
  runtime::PipeEvent Poll(absl::Time deadline) override {
    for (;;) {
      if (runtime::PipeEvent event = Next(deadline); event.kind != runtime::PipeEvent::Kind::kNothing)
        return event;
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
  runtime::PipeEvent Next(absl::Time deadline) {
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
      // Only a wait asks by itself (session/silence.h), which the reset answers.
      if (forgotten_ && deadline == absl::InfinitePast()) return {};
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
  // True if a cut of this connection is one of a peer that has forgotten it, and says so only when something
  // is sent to it.
  bool forgotten_;
};

class SimulatedConnector : public runtime::Connector {
 public:
  // `connect` opens a connection with the daemon that runs now.
  SimulatedConnector(std::function<std::shared_ptr<Wire>()> connect, BulkWorld& world)
      : connect_(std::move(connect)), world_(world) {}
  absl::StatusOr<std::shared_ptr<runtime::Pipe>> Connect(absl::Time) override {
    const std::shared_ptr<Wire> wire = connect_();
    bulk_ = std::make_shared<SimulatedBulk>(wire, world_);
    return std::make_shared<SimulatedPipe>(wire, world_.seed, world_.step);
  }
  std::shared_ptr<runtime::BulkChannel> bulk() override { return bulk_; }
  const std::string& address() const override { return address_; }
  bool local() const override { return false; }

 private:
  const std::function<std::shared_ptr<Wire>()> connect_;
  BulkWorld& world_;
  std::shared_ptr<SimulatedBulk> bulk_;
  const std::string address_ = "simulated";
};

}  // namespace hlod::simulation
