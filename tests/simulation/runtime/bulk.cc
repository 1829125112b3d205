// Streams that stop for ever without telling the client: only its watch ends them.
#include "tests/simulation/runtime/bulk.h"

#include <algorithm>
#include <cstring>

#include "common/base/errors/status.h"

namespace hlod::simulation {

std::optional<absl::Status> UploadAtDaemon::Advance(session::Registry& registry, Seed& seed) {
  const absl::StatusOr<std::shared_ptr<session::Session>> session =
      registry.Authenticate(transfer_.session(), transfer_.secret());
  if (!session.ok()) return session.status();
  if (!begun_) {
    begun_ = true;
    (*session)->transfers().AwaitUpload(
        transfer_.command(), [declared = declared_](const absl::Status& status) { *declared = status; });
  }
  if (!declared_->has_value()) return std::nullopt;
  if (!(*declared_)->ok()) return **declared_;
  return Store((*session)->session_device().uploads(), seed);
}

std::optional<absl::Status> UploadAtDaemon::Store(device::SessionUploads& uploads, Seed& seed) {
  if (generation_ == 0) {
    const absl::StatusOr<device::UploadPart> part = uploads.Claim(transfer_.command());
    if (!part.ok()) return part.status();
    upload_ = part->upload;
    generation_ = part->generation;
  }
  const std::shared_ptr<device::PendingUpload> upload = upload_.lock();
  if (upload == nullptr || !uploads.Owns({upload, generation_, upload->target}))
    return Aborted("The upload of command %d has ended or was taken over.", transfer_.command());
  const size_t bytes = std::min(bytes_.size() - stored_, 1 + seed.Below(bytes_.size()));
  std::memcpy(upload->target.data() + stored_, bytes_.data() + stored_, bytes);
  stored_ += bytes;
  uploads.AddReceived(transfer_.command(), generation_, static_cast<int64_t>(bytes));
  if (stored_ < bytes_.size()) return std::nullopt;
  return absl::OkStatus();
}

void BulkWorld::MoveLeft() {
  if (left.empty()) return;
  const auto any = left.begin() + static_cast<ptrdiff_t>(seed.Below(left.size()));
  if (any->Advance(registry(), seed).has_value() || seed.OneIn(8)) left.erase(any);
}

absl::Status SimulatedBulk::Run(runtime::BulkWatch watch,
                                absl::FunctionRef<std::optional<absl::Status>(session::Registry&)> advance) {
  // gRPC carries a call over a connection of its own when the session's has broken before.
  const bool own_connection = wire_->stream->cut;
  const uint64_t epoch = world_.epoch();
  const bool told = world_.seed.OneIn(2);  // The reset of a broken connection may reach only the daemon.
  bool broken = false;
  for (;;) {
    world_.step();
    broken =
        broken || world_.epoch() != epoch || (own_connection ? world_.seed.OneIn(100) : wire_->stream->cut);
    if (!broken && world_.seed.OneIn(2)) {
      const std::optional<absl::Status> status = advance(world_.registry());
      if (status.has_value()) return *status;
    }
    if (broken && told && world_.seed.OneIn(4)) return Unavailable("The bulk stream was reset.");
    if (!world_.seed.OneIn(4)) continue;
    const absl::Duration still = world_.seed.OneIn(2) ? absl::ZeroDuration() : absl::Seconds(3);
    if (!watch(still)) return Unavailable("The bulk stream was given up.");
  }
}

absl::Status SimulatedBulk::Upload(const v1::TransferId& transfer, absl::Span<const std::byte> bytes, int64_t,
                                   absl::Time, runtime::BulkWatch watch) {
  UploadAtDaemon upload(transfer, bytes);
  const absl::Status status =
      Run(watch, [&](session::Registry& registry) { return upload.Advance(registry, world_.seed); });
  if (absl::IsUnavailable(status)) world_.left.push_back(std::move(upload));
  return status;
}

absl::Status SimulatedBulk::Download(const v1::TransferId& transfer, absl::Span<std::byte> out, absl::Time,
                                     runtime::BulkWatch watch) {
  return Run(watch, [&](session::Registry& registry) -> std::optional<absl::Status> {
    const auto session = registry.Authenticate(transfer.session(), transfer.secret());
    if (!session.ok()) return session.status();
    const auto kept = (*session)->transfers().FindDownload(transfer.command());
    if (!kept.ok()) return kept.status();
    std::memcpy(out.data(), (*kept)->bytes.data, out.size());
    // The bytes have arrived, but perhaps not yet the status.
    if (world_.seed.OneIn(2)) return std::nullopt;
    (*session)->transfers().CountDownload(**kept);
    return absl::OkStatus();
  });
}

}  // namespace hlod::simulation
