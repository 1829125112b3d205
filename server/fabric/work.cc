// Messages and texts that both sides of a launch use.
#include "server/fabric/work.h"

#include <algorithm>
#include <set>

#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"
#include "common/rpc/wire.h"
#include "server/fabric/membership.h"

namespace hlod::fabric {
namespace {

constexpr int kDigestBytes = 32;
constexpr int kDevicesMax = 1024;
// The lengths beyond which messages, and the shapes, files and functions of errors, are truncated.
constexpr size_t kTextMax = 4096, kPlaceMax = 1024;

ErrorDetails Clipped(ErrorDetails error) {
  ClipWithDots(error.text, kTextMax);
  for (std::string* const place : {&error.shape, &error.origin.file, &error.origin.function,
                                   &error.root_origin.file, &error.root_origin.function})
    ClipWithDots(*place, kPlaceMax);
  return error;
}

}  // namespace

void LaunchCounts::Add(uint64_t group, const std::string& user) {
  ++clients_[group];
  size_t& count = users_[user];
  by_count_.erase({count, user});
  by_count_.emplace(++count, user);
  ++all_;
}

void LaunchCounts::Remove(uint64_t group, const std::string& user) {
  const auto client = clients_.find(group);
  if (--client->second == 0) clients_.erase(client);
  const auto owner = users_.find(user);
  by_count_.erase({owner->second, user});
  if (--owner->second == 0) {
    users_.erase(owner);
  } else {
    by_count_.emplace(owner->second, user);
  }
  --all_;
}

size_t LaunchCounts::OfClient(uint64_t group) const {
  const auto found = clients_.find(group);
  return found == clients_.end() ? 0 : found->second;
}

size_t LaunchCounts::OfUser(const std::string& user) const {
  const auto found = users_.find(user);
  return found == users_.end() ? 0 : found->second;
}

v1::Error ErrorFor(const absl::Status& error) { return rpc::ToProto(Clipped(ErrorOf(error))); }

v1::PeerMessage MakeStep(const v1::LaunchId& launch, v1::LaunchStep::Kind kind, const absl::Status& error) {
  v1::PeerMessage message;
  v1::LaunchStep& step = *message.mutable_step();
  *step.mutable_launch() = launch;
  step.set_kind(kind);
  if (!error.ok()) *step.mutable_error() = ErrorFor(error);
  return message;
}

v1::PeerMessage MakeOfferRefused(const LaunchKey& launch, const absl::Status& why) {
  v1::PeerMessage message;
  v1::LaunchOfferRefused& refused = *message.mutable_offer_refused();
  refused.set_group(launch.first);
  refused.set_sequence(launch.second);
  *refused.mutable_error() = ErrorFor(why);
  return message;
}

absl::Status ReasonOf(const v1::Error& error) {
  const absl::Status status = ToStatus(Clipped(rpc::FromProto(error)));
  return status.ok() ? Internal("A member sent no reason.") : status;
}

std::string Describe(const v1::LaunchId& launch, const NameOf& name_of) {
  return absl::StrCat("launch ", launch.number(), " of ", name_of(launch.leader()));
}

std::string SecondsOf(int64_t us) { return absl::StrFormat("%.1f s", static_cast<double>(us) / 1e6); }

absl::Status CheckUser(const std::string& user) {
  if (user.size() <= kNameMax) return absl::OkStatus();
  return InvalidArgument("The name of a user has %d bytes; the limit is %d.", user.size(), kNameMax);
}

bool SameParts(const google::protobuf::RepeatedPtrField<v1::LaunchPart>& a,
               const google::protobuf::RepeatedPtrField<v1::LaunchPart>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& first, const auto& second) {
    return first.SerializeAsString() == second.SerializeAsString();
  });
}

absl::Status CheckParts(const std::string& digest,
                        const google::protobuf::RepeatedPtrField<v1::LaunchPart>& parts, bool offered) {
  if (digest.size() != kDigestBytes) {
    return InvalidArgument("A launch's digest has %d bytes instead of %d.", digest.size(), kDigestBytes);
  }
  if (parts.empty() || static_cast<uint32_t>(parts.size()) > kMembersMax)
    return InvalidArgument("A launch has %d parts; it has from 1 to %d.", parts.size(), kMembersMax);
  for (int i = 0; i < parts.size(); ++i) {
    if (i > 0 && parts[i].rank() <= parts[i - 1].rank())
      return InvalidArgument("The parts of a launch are not in the order of ranks.");
    // Before they are copied.
    if (parts[i].devices_size() > kDevicesMax ||
        (parts[i].participants_size() != 0 && parts[i].participants_size() != parts[i].devices_size())) {
      return InvalidArgument("A launch names %d devices and %d participants of rank %d; the limit is %d.",
                             parts[i].devices_size(), parts[i].participants_size(), parts[i].rank(),
                             kDevicesMax);
    }
    const std::set<uint32_t> devices(parts[i].devices().begin(), parts[i].devices().end());
    if ((devices.empty() && offered) || static_cast<int>(devices.size()) != parts[i].devices_size()) {
      return InvalidArgument(
          "A launch names %d devices of rank %d, %d of them different; it needs from 1 to %d.",
          parts[i].devices_size(), parts[i].rank(), devices.size(), kDevicesMax);
    }
  }
  return absl::OkStatus();
}

}  // namespace hlod::fabric
