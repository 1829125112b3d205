// Reads, fills and makes divided buffers through those of their parts.
#include "client/runtime/mesh/shards.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/connection/process.h"
#include "client/runtime/preflight/abstract_session.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/tiling.h"
#include "common/hlo/text/sharding.h"
#include "hlod/runtime/shards.h"

namespace hlod {
namespace runtime {
namespace {

// Joins the tiles that other futures bring.
class JoinedLiteral : public Awaitable<Literal> {
 public:
  JoinedLiteral(std::shared_ptr<const Shards> shards, Cause cause, const Caller& caller)
      : shards_(std::move(shards)), holders_(hlo::FirstHolders(shards_->division.tiling)) {
    for (const size_t holder : holders_)
      tiles_.push_back(shards_->parts[holder].ToLiteralAsync(cause, caller));
  }

  bool Ready() override {
    return std::ranges::all_of(tiles_, [](const Future<Literal>& tile) { return tile.Ready(); });
  }
  absl::StatusOr<Literal> Await(absl::Time deadline) override {
    RETURN_IF_ERROR(owner_.Check());  // The lock may have been held at the time of the fork.
    const Division& division = shards_->division;
    absl::MutexLock lock(&mu_);
    if (taken_) return FailedPrecondition("The value of this future was taken already.");
    while (arrived_.size() < tiles_.size()) {
      const absl::Duration left =
          deadline == absl::InfiniteFuture() ? absl::InfiniteDuration() : deadline - absl::Now();
      ASSIGN_OR_RETURN(Literal tile, tiles_[arrived_.size()].Await(left));
      arrived_.push_back(std::move(tile));
    }
    taken_ = true;
    std::vector<Literal> tiles = std::exchange(arrived_, {});
    if (tiles.size() == 1) return std::move(tiles[0]);
    Literal whole(division.whole);
    for (size_t i = 0; i < holders_.size(); ++i)
      hlo::PlaceTile(tiles[i], division.tiling.tiles[holders_[i]], whole);
    return whole;
  }

 private:
  const OwnerProcess owner_;
  const std::shared_ptr<const Shards> shards_;
  const std::vector<size_t> holders_;
  std::vector<Future<Literal>> tiles_;
  absl::Mutex mu_;
  std::vector<Literal> arrived_ ABSL_GUARDED_BY(mu_);
  bool taken_ ABSL_GUARDED_BY(mu_) = false;
};

class AllEnds : public Awaitable<void> {
 public:
  explicit AllEnds(std::vector<Future<void>> ends) : ends_(std::move(ends)) {}
  bool Ready() override {
    return std::ranges::all_of(ends_, [](const Future<void>& end) { return end.Ready(); });
  }
  absl::Status Await(absl::Time deadline) override {
    for (const Future<void>& end : ends_) {
      RETURN_IF_ERROR(
          end.Await(deadline == absl::InfiniteFuture() ? absl::InfiniteDuration() : deadline - absl::Now()));
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<Future<void>> ends_;
};

}  // namespace

absl::StatusOr<Division> DivisionOf(const Shape& whole, std::string sharding,
                                    const std::vector<int>& devices) {
  Division division{.whole = whole, .sharding = std::move(sharding), .devices = devices};
  division.whole.layout.reset();
  ASSIGN_OR_RETURN(division.tiling,
                   hlo::TilingOf(division.sharding, whole.dims.size(), static_cast<int64_t>(devices.size())));
  return division;
}

std::vector<std::string> ShardingTexts(const std::vector<Division>& divisions) {
  std::vector<std::string> texts;
  for (const Division& division : divisions) {
    const std::string text = hlo::ShardingToText(division.sharding);
    texts.push_back(text.empty() ? "{replicated}" : text);
  }
  return texts;
}

absl::StatusOr<Division> ReadDivision(const Mesh& mesh, const std::string& sharding, const Shape& whole) {
  RETURN_IF_ERROR(mesh.status());
  if (mesh.devices().empty()) return InvalidArgument("The mesh has no axes, and so no devices.");
  if (!whole.IsArray())
    return InvalidArgument("Only arrays are divided; %s is not one.", hlo::ToString(whole));
  ASSIGN_OR_RETURN(std::string parsed, hlo::ParseSharding(sharding, whole.dims.size()));
  return DivisionOf(whole, std::move(parsed), mesh.devices());
}

Buffer FromParts(Division division, std::vector<Buffer> parts) {
  auto shards = std::make_shared<Shards>();
  shards->division = std::move(division);
  shards->parts = std::move(parts);
  // A preflight follows the first device.
  if (AbstractSession* const log = shards->parts[0].internal_state()->session->options().abstract.get())
    log->Elsewhere(absl::MakeSpan(shards->parts).subspan(1));
  return Buffer(std::make_shared<BufferState>(std::move(shards)));
}

Future<Literal> ReadShards(const std::shared_ptr<const Shards>& shards, Cause cause, const Caller& caller) {
  return Future<Literal>(std::make_shared<JoinedLiteral>(shards, cause, caller));
}

Future<void> ShardsReady(const Shards& shards) {
  std::vector<Future<void>> ends;
  for (const Buffer& part : shards.parts) ends.push_back(part.ready());
  return Future<void>(std::make_shared<AllEnds>(std::move(ends)));
}

absl::Status FillShards(const Shards& shards, absl::Span<const std::byte> bytes, const Caller& caller) {
  const Division& division = shards.division;
  for (size_t i = 0; i < shards.parts.size(); ++i) {
    RETURN_IF_ERROR(shards.parts[i].Fill(
        hlo::CutTile(bytes, division.whole, division.tiling, division.tiling.tiles[i]), caller));
  }
  return absl::OkStatus();
}

}  // namespace runtime

absl::Span<const Buffer> Buffer::shards() const {
  if (state_->shards == nullptr) return {};
  return state_->shards->parts;
}

std::string Buffer::sharding() const {
  if (state_->shards == nullptr) return "";
  return runtime::ShardingTexts({state_->shards->division})[0];
}

absl::StatusOr<Shape> ShardShape(const Shape& shape, const Mesh& mesh, const std::string& sharding) {
  ASSIGN_OR_RETURN(const runtime::Division division, runtime::ReadDivision(mesh, sharding, shape));
  return hlo::TileShape(division.whole, division.tiling);
}

absl::StatusOr<Buffer> UploadShards(const Client& client, const Literal& value, const Mesh& mesh,
                                    const std::string& sharding, Cause cause, Caller caller) {
  ASSIGN_OR_RETURN(runtime::Division division, runtime::ReadDivision(mesh, sharding, value.shape()));
  std::vector<Buffer> parts;
  for (size_t i = 0; i < division.devices.size(); ++i) {
    const Literal tile =
        hlo::CutTile(value.bytes(), division.whole, division.tiling, division.tiling.tiles[i]);
    ASSIGN_OR_RETURN(parts.emplace_back(), client.device(division.devices[i]).Upload(tile, cause, caller));
  }
  return runtime::FromParts(std::move(division), std::move(parts));
}

absl::StatusOr<Buffer> PlaceholderShards(const Client& client, const Shape& shape, const Mesh& mesh,
                                         const std::string& sharding, Caller caller) {
  ASSIGN_OR_RETURN(runtime::Division division, runtime::ReadDivision(mesh, sharding, shape));
  const Shape tile = hlo::TileShape(division.whole, division.tiling);
  std::vector<Buffer> parts;
  for (const int device : division.devices) {
    ASSIGN_OR_RETURN(parts.emplace_back(), client.device(device).Placeholder(tile, caller));
  }
  return runtime::FromParts(std::move(division), std::move(parts));
}

absl::StatusOr<Buffer> JoinShards(std::vector<Buffer> parts, const Shape& shape, const Mesh& mesh,
                                  const std::string& sharding) {
  ASSIGN_OR_RETURN(runtime::Division division, runtime::ReadDivision(mesh, sharding, shape));
  if (parts.size() != division.devices.size())
    return InvalidArgument("A mesh of %d devices is given %d shards.", division.devices.size(), parts.size());
  const Shape tile = hlo::TileShape(division.whole, division.tiling);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].valid()) return InvalidArgument("Shard %d names no buffer.", i);
    if (!parts[i].shards().empty()) return InvalidArgument("Shard %d is divided itself.", i);
    if (!AreOfOneClient(*parts[i].internal_state()->session, *parts[0].internal_state()->session))
      return InvalidArgument("Shard %d belongs to another session than shard 0.", i);
    if (parts[i].device() != division.devices[i]) {
      return InvalidArgument("Shard %d is on device %d; the mesh has device %d there.", i, parts[i].device(),
                             division.devices[i]);
    }
    if (!hlo::Compatible(parts[i].shape(), tile)) {
      return InvalidArgument("Shard %d is %s; a part of %s under %s is %s.", i,
                             hlo::ToStringNoLayout(parts[i].shape()), hlo::ToStringNoLayout(shape), sharding,
                             hlo::ToStringNoLayout(tile));
    }
  }
  return runtime::FromParts(std::move(division), std::move(parts));
}

absl::StatusOr<Buffer> Divide(const Buffer& array, const Mesh& mesh, const std::string& sharding,
                              Caller caller) {
  ASSIGN_OR_RETURN(const runtime::Division division, runtime::ReadDivision(mesh, sharding, array.shape()));
  ASSIGN_OR_RETURN(runtime::Placed placed, runtime::Place(array, division, caller));
  return std::move(placed.buffer);
}

}  // namespace hlod
