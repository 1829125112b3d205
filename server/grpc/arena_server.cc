// Sends descriptors to several clients at once, so that a stalled one does not delay the others.
#include "server/grpc/arena_server.h"

#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "common/base/errors/status.h"
#include "common/rpc/secret.h"
#include "server/grpc/listener.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {
namespace {

// The time limit for 32 bytes that a client sends at once; it may wait long for a core.
constexpr absl::Duration kSecretTimeout = absl::Seconds(5);
// The number of clients at once; further clients wait to be accepted.
constexpr size_t kClientsMax = 64;
// The number per user; a further client replaces the one that has waited longest.
constexpr int64_t kClientsPerUserMax = 16;

// A client that has connected but not sent its whole secret yet.
struct Asking {
  rpc::Descriptor socket;
  uint32_t user = 0;
  absl::Time deadline;
  std::string secret;  // The received part of it.
};

// Makes room for one more client of this user.
void DropOldest(std::vector<Asking>& asking, uint32_t user) {
  const auto is_users = [user](const Asking& client) { return client.user == user; };
  if (std::count_if(asking.begin(), asking.end(), is_users) >= kClientsPerUserMax)
    asking.erase(std::find_if(asking.begin(), asking.end(), is_users));
}

// Sends the session's arena to a client that has shown the session's secret.
absl::Status HandOutArena(session::Session& session, int socket) {
  int arena = -1;
  RETURN_IF_ERROR(session.transfers().MapArena(&arena).status());
  return rpc::SendDescriptor(socket, arena);
}

absl::Status HandOutRing(session::Session& session, int socket) {
  ASSIGN_OR_RETURN(const rpc::Descriptor ring, session.transfers().MapRing());
  return rpc::SendDescriptor(socket, ring.get());
}

// Hands out an arena for a session's secret, and a ring for the key of a session's ring.
void HandOut(session::Registry& registry, const Asking& client) {
  const session::Registry::Sharing found = registry.FindByKey(client.secret);
  if (found.session == nullptr) return;
  const session::Session::Identity& identity = found.session->identity();
  if (identity.user.value_or(client.user) != client.user) return;
  const int socket = client.socket.get();
  const absl::Status sent =
      found.ring ? HandOutRing(*found.session, socket) : HandOutArena(*found.session, socket);
  if (!sent.ok())
    spdlog::warn("Session {} has no shared memory: {}", identity.id, std::string(sent.message()));
}

// Reads what has arrived, and answers once the secret is complete. Returns true when it is done with the
// client.
bool AnswerAsking(session::Registry& registry, Asking& client) {
  char bytes[rpc::kSecretBytes];
  const ssize_t n = recv(client.socket.get(), bytes, rpc::kSecretBytes - client.secret.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) return true;
  client.secret.append(bytes, static_cast<size_t>(n));
  if (client.secret.size() < rpc::kSecretBytes) return false;
  HandOut(registry, client);
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArenaServer>> ArenaServer::Create() {
  const std::string name =
      absl::StrCat("hlod-arena-", absl::BytesToHexString(rpc::Secret::Random().bytes().substr(0, 16)));
  ASSIGN_OR_RETURN(rpc::Descriptor socket, rpc::ListenAbstract(name));
  return std::unique_ptr<ArenaServer>(new ArenaServer(name, std::move(socket)));
}

void ArenaServer::Start(session::Registry& registry) {
  thread_ = std::thread([this, &registry] { Serve(registry); });
  pthread_setname_np(thread_.native_handle(), "arenas");
}

ArenaServer::~ArenaServer() {
  shutdown(socket_.get(), SHUT_RDWR);  // Wakes poll, and makes accept fail.
  if (thread_.joinable()) thread_.join();
}

void ArenaServer::Serve(session::Registry& registry) {
  std::vector<Asking> asking;
  std::vector<pollfd> polled;
  polled.reserve(kClientsMax + 1);  // The loop below needs no further memory.
  for (;;) {
    polled.clear();
    int timeout_ms = -1;
    for (const Asking& client : asking) {
      polled.push_back({client.socket.get(), POLLIN, 0});
      if (timeout_ms >= 0) continue;  // Clients are in the order of their deadlines.
      timeout_ms =
          std::max(0, static_cast<int>(absl::ToInt64Milliseconds(client.deadline - absl::Now())) + 1);
    }
    if (asking.size() < kClientsMax) polled.push_back({socket_.get(), POLLIN, 0});
    if (poll(polled.data(), polled.size(), timeout_ms) < 0) continue;
    // A secret that arrived in time is answered even when this thread is late.
    const absl::Time now = absl::Now();
    for (size_t i = 0; i < asking.size(); ++i) {
      if (polled[i].revents == 0) {
        if (asking[i].deadline <= now) asking[i].deadline = absl::InfinitePast();
        continue;
      }
      try {
        if (!AnswerAsking(registry, asking[i])) continue;
      } catch (const std::exception& e) {
        spdlog::error("An arena could not be handed out: {}", e.what());
      }
      asking[i].deadline = absl::InfinitePast();
    }
    const bool may_accept = polled.size() > asking.size() && polled.back().revents != 0;
    std::erase_if(asking, [](const Asking& client) { return client.deadline == absl::InfinitePast(); });
    if (!may_accept) continue;
    rpc::Descriptor client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client.valid()) {
      try {
        const absl::StatusOr<rpc::PeerCredentials> peer = rpc::ReadPeerCredentials(client.get());
        if (!peer.ok() || !registry.SharesWith(peer->uid)) continue;
        DropOldest(asking, peer->uid);
        asking.push_back({std::move(client), peer->uid, now + kSecretTimeout, ""});
      } catch (const std::exception& e) {  // Without memory, the client gets no arena, and works without one.
        spdlog::error("A client that asks for an arena is not heard: {}", e.what());
      }
    } else if (errno == EINVAL || errno == EBADF) {
      return;
    } else if (AcceptMustWait(errno)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

}  // namespace hlod::grpc_server
