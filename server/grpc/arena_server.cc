// Handing out descriptors, one client at a time: each has a moment to say its secret.
#include "server/grpc/arena_server.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/base/status.h"
#include "common/rpc/secret.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {
namespace {

constexpr timeval kPatience{0, 500'000};  // For 32 bytes that a client sends at once.

// Whether a session may be this user's.
bool MayAsk(const session::Registry& registry, uint32_t user) {
  const std::vector<std::shared_ptr<session::Session>> sessions = registry.List();
  return std::any_of(
      sessions.begin(), sessions.end(), [user](const std::shared_ptr<session::Session>& session) {
        return session->identity().offers_arena && session->identity().user.value_or(user) == user;
      });
}

void Answer(session::Registry& registry, const rpc::Descriptor& client) {
  // Whoever has no session here takes nobody's time.
  const absl::StatusOr<rpc::PeerCredentials> peer = rpc::ReadPeerCredentials(client.get());
  if (!peer.ok() || !MayAsk(registry, peer->uid)) return;
  setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  char secret[rpc::kSecretBytes];
  if (recv(client.get(), secret, sizeof(secret), MSG_WAITALL) != sizeof(secret)) return;
  const std::shared_ptr<session::Session> session = registry.FindBySecret({secret, sizeof(secret)});
  if (session == nullptr || !session->identity().offers_arena) return;
  if (session->identity().user.has_value() && *session->identity().user != peer->uid) return;
  int fd = -1;
  const absl::Status mapped = session->MapArena(&fd).status();
  const absl::Status sent = mapped.ok() ? rpc::SendDescriptor(client.get(), fd) : mapped;
  if (!sent.ok())
    spdlog::warn("Session {} has no shared arena: {}", session->identity().id, std::string(sent.message()));
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
  shutdown(socket_.get(), SHUT_RDWR);  // Wakes accept.
  if (thread_.joinable()) thread_.join();
}

void ArenaServer::Serve(session::Registry& registry) {
  for (;;) {
    const rpc::Descriptor client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.valid()) {
      try {
        Answer(registry, client);
      } catch (const std::exception& e) {
        spdlog::error("An arena could not be handed out: {}", e.what());
      }
    } else if (errno == EINVAL || errno == EBADF) {
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // No descriptors left, say.
    }
  }
}

}  // namespace hlod::grpc_server
