// Bulk streams of the client library on a simulated connection. The thread that moves bytes plays the world's
// steps meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/runtime/connection/pipe.h"
#include "server/session/registry.h"
#include "tests/simulation/seed.h"
#include "tests/simulation/wire.h"

namespace hlod::simulation {

// The daemon's side of the stream of an upload. It may live on when the client has given it up: its bytes are
// under way, and the daemon does not know.
class UploadAtDaemon {
 public:
  UploadAtDaemon(const v1::TransferId& transfer, absl::Span<const std::byte> bytes)
      : transfer_(transfer), bytes_(bytes.begin(), bytes.end()) {}
  // Makes the next step of it. Returns the status with which it ends, if it does.
  std::optional<absl::Status> Advance(session::Registry& registry, Seed& seed);

 private:
  std::optional<absl::Status> Store(device::SessionUploads& uploads, Seed& seed);

  v1::TransferId transfer_;
  std::vector<std::byte> bytes_;
  // Set by the session, which may outlive this object.
  std::shared_ptr<std::optional<absl::Status>> declared_ = std::make_shared<std::optional<absl::Status>>();
  bool begun_ = false;
  std::weak_ptr<device::PendingUpload> upload_;
  uint64_t generation_ = 0;  // 0 before the upload is claimed.
  size_t stored_ = 0;
};

// The part of a world that bulk streams use. It outlives them.
struct BulkWorld {
  Seed& seed;
  std::function<void()> step;
  std::function<session::Registry&()> registry;
  std::function<uint64_t()> epoch;
  // The streams that the client has given up, and the daemon has not.
  std::vector<UploadAtDaemon> left;
  // Moves one of them on.
  void MoveLeft();
};

class SimulatedBulk : public runtime::BulkChannel {
 public:
  SimulatedBulk(std::shared_ptr<Wire> wire, BulkWorld& world) : wire_(std::move(wire)), world_(world) {}
  absl::Status Upload(const v1::TransferId& transfer, absl::Span<const std::byte> bytes, int64_t, absl::Time,
                      runtime::BulkWatch watch) override;
  absl::Status Download(const v1::TransferId& transfer, absl::Span<std::byte> out, absl::Time,
                        runtime::BulkWatch watch) override;

 private:
  // Plays the world until `advance` returns the stream's status, the connection is known to be broken, or the
  // watch gives the stream up.
  absl::Status Run(runtime::BulkWatch watch,
                   absl::FunctionRef<std::optional<absl::Status>(session::Registry&)> advance);

  const std::shared_ptr<Wire> wire_;
  BulkWorld& world_;
};

}  // namespace hlod::simulation
