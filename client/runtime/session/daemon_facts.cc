// Reads a Welcome. An older daemon states fewer limits: what depends on a missing one is not used.
#include "client/runtime/session/daemon_facts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/base/errors/status.h"
#include "common/rpc/wire.h"

namespace hlod::runtime {
namespace {

absl::StatusOr<Limits> ReadLimits(const v1::Welcome& welcome) {
  Limits limits;
  limits.commands_per_message_max = 0;  // Without it, a daemon does not accept `commands`.
  limits.prefetch_bytes_max = 0;        // Without it, a daemon does not read ahead.
  for (const v1::Limit& limit : welcome.limits()) {
    ForEachLimit([&](std::string_view name, int64_t Limits::*field, std::string_view) {
      if (limit.name() == name) limits.*field = limit.value();
    });
  }
  constexpr int64_t kMost = int64_t{1} << 40;  // The limit keeps sums and products of it from overflowing.
  for (auto field : {&Limits::inline_bytes_max, &Limits::prefetch_bytes_max}) {
    limits.*field = std::clamp(limits.*field, int64_t{0}, kMost);
  }
  for (auto field : {&Limits::chunk_bytes_max, &Limits::commands_in_flight_max}) {
    if (limits.*field >= 1) {
      limits.*field = std::min(limits.*field, kMost);
      continue;
    }
    return ToStatus({.kind = ErrorKind::kVersion,
                     .text = absl::StrFormat(
                         "The daemon states limit %s (%d), with which nothing can be sent.",
                         field == &Limits::chunk_bytes_max ? "chunk_bytes_max" : "commands_in_flight_max",
                         limits.*field)});
  }
  return limits;
}

}  // namespace

absl::StatusOr<DaemonFacts> ReadFacts(const v1::Welcome& welcome) {
  if (welcome.version() < rpc::kVersionMin || welcome.version() > rpc::kVersionMax) {
    return ToStatus(
        {.kind = ErrorKind::kVersion,
         .text = absl::StrFormat("The daemon chose protocol version %d; this client speaks %d to %d.",
                                 welcome.version(), rpc::kVersionMin, rpc::kVersionMax)});
  }
  DaemonFacts facts{.name = welcome.daemon(),
                    .version = welcome.version(),
                    .epoch = welcome.epoch(),
                    .cluster = welcome.cluster(),
                    .arena = welcome.arena()};
  ASSIGN_OR_RETURN(facts.limits, ReadLimits(welcome));
  for (const v1::DeviceInfo& device : welcome.devices()) {
    facts.devices.push_back({static_cast<int>(device.ordinal()), device.kind(), device.memory_bytes()});
  }
  return facts;
}

}  // namespace hlod::runtime
