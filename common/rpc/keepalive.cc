// Uses SO_KEEPALIVE and TCP_INFO.
#include "common/rpc/keepalive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

namespace hlod::rpc {

void EnableKeepalive(int socket, absl::Duration silence) {
  // Half of the time passes without a probe; three probes share the other half.
  const int64_t seconds = absl::ToInt64Seconds(std::max(silence, kSilenceMin));
  const int on = 1, probes = 3;
  const int interval = static_cast<int>(std::clamp<int64_t>(seconds / 6, 1, 32767));
  const int idle = static_cast<int>(std::clamp<int64_t>(seconds - int64_t{probes} * interval, 1, 32767));
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

bool IsUnreachable(int socket, absl::Duration silence) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  // Both counts return to zero with each answer. A single probe of a closed window may just be on its way.
  const bool unanswered = info.tcpi_retransmits > 0 || info.tcpi_probes > 1;
  return unanswered && absl::Milliseconds(info.tcpi_last_ack_recv) >= silence;
}

}  // namespace hlod::rpc
