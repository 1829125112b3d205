// The queue's thread, and which method goes where.
#include "server/grpc/grpc_server.h"

#include <grpcpp/resource_quota.h>
#include <grpcpp/support/time.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/rpc/message_size.h"
#include "server/grpc/peer_names.h"
#include "server/grpc/reflection.h"
#include "server/session/admin.h"

namespace hlod::grpc_server {
namespace {

constexpr absl::string_view kAdminPrefix = "/hlod.v1.Admin/";

constexpr int kStreamsMax = 1024;  // Calls at once on one connection.
// Progress is reported at the latest after so many events of other calls, or so much time.
constexpr int kEventsPerFlush = 64;
constexpr absl::Duration kFlushDelay = absl::Microseconds(200);
// After there was no memory for a further call.
constexpr std::chrono::milliseconds kAcceptAgain{100};

bool HasToken(Call& call, const std::string& token) {
  const auto& metadata = call.context().client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return false;
  const std::string expected = "Bearer " + token;
  return found->second.size() == expected.size() &&
         CRYPTO_memcmp(found->second.data(), expected.data(), expected.size()) == 0;
}

}  // namespace

std::string ToString(grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer ToByteBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

GrpcServer::GrpcServer(session::Registry& registry, Health& health, Options options)
    : registry_(registry), health_(health), options_(std::move(options)) {}

GrpcServer::~GrpcServer() { Shutdown(); }

bool GrpcServer::Start() {
  // The thread first: when the system refuses it, nothing has begun.
  std::promise<bool> built;
  try {
    thread_ = std::thread([this, built = built.get_future()]() mutable {
      if (built.get()) Serve();
    });
  } catch (const std::system_error& e) {
    spdlog::error("There is no thread for the server of {}: {}", options_.name, e.what());
    return false;
  }
  pthread_setname_np(thread_.native_handle(), options_.name.c_str());
  bool ok = false;
  try {
    ok = Build();
  } catch (const std::exception& e) {  // The thread waits for an answer.
    spdlog::error("The server of {} could not be made: {}", options_.name, e.what());
  }
  built.set_value(ok);
  if (!ok) thread_.join();
  return ok;
}

bool GrpcServer::Build() {
  grpc::ServerBuilder builder;
  builder.RegisterAsyncGenericService(&service_.emplace());
  builder.SetMaxReceiveMessageSize(static_cast<int>(rpc::MessageBytesMax(registry_.devices().limits())));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsMax);
  grpc::ResourceQuota received(options_.name);
  builder.SetResourceQuota(received.Resize(options_.received_bytes_max));
  // A connection that says nothing, or nothing but HTTP, does not keep its descriptor.
  const int greeting_ms =
      static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(options_.greeting), INT_MAX));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, greeting_ms);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, greeting_ms);
  // The daemon sends no pings: a client that neither calls nor waits does not answer them, and is well. Peers
  // that vanish are noticed by the kernel's keepalive (TCP) or their end of the socket (unix). Peers may
  // ping.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, INT_MAX);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  plain_ =
      builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, grpc::InsecureServerCredentials());
  if (options_.tls != nullptr)
    tls_ = builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, options_.tls);
  queue_ = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    spdlog::error("gRPC could not start a server for {}.", options_.name);
    return false;
  }
  return true;
}

void GrpcServer::Handle(ConnectedSocket socket, bool tls) {
  {
    MutexLock lock(&mu_);
    if (shut_down_ || (!started_ && !(started_ = Start()))) return;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.fd = socket.Release();
  (tls ? tls_ : plain_)->HandleNewConnection(&parameters);
}

bool GrpcServer::HasCalls() const {
  MutexLock lock(&calls_->mu);
  return calls_->count > 1;
}

void GrpcServer::Shutdown() {
  {
    MutexLock lock(&mu_);
    if (std::exchange(shut_down_, true) || !started_) return;
  }
  // Streams that were finished get a moment to send what is queued.
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  {
    // Jobs of the transfer thread may still hold calls: an operation on a queue that has shut down would
    // abort.
    const absl::Time deadline = absl::Now() + absl::Seconds(10);
    MutexLock lock(&calls_->mu);
    calls_->ending = true;
    while (calls_->count > 0 && absl::Now() < deadline)
      calls_->changed.WaitFor(&calls_->mu, std::chrono::milliseconds(100));
    if (calls_->count > 0) spdlog::error("{} calls of the {} did not end.", calls_->count, options_.name);
  }
  queue_->Shutdown();
  thread_.join();
}

void GrpcServer::AcceptNext() {
  auto fresh = std::make_unique<Call>();
  {
    MutexLock lock(&calls_->mu);
    if (calls_->ending) return;
    ++calls_->count;
  }
  const std::shared_ptr<Call> call(fresh.release(), [calls = calls_](Call* over) {
    delete over;
    MutexLock lock(&calls->mu);
    if (--calls->count == 0) calls->changed.SignalAll();
  });
  call->Accept(*service_, *queue_);
}

void GrpcServer::Serve() {
  bool accepting = false;  // A call is asked for. False when there was no memory for one: it is tried again.
  const auto accept = [&] {
    if (accepting) return;
    try {
      AcceptNext();
      accepting = true;
    } catch (const std::exception& e) {
      spdlog::error("The server of {} takes no further call for a moment: {}", options_.name, e.what());
    }
  };
  // Sessions whose progress was not told yet: they are flushed when no event is waiting, or after a while.
  std::vector<std::shared_ptr<Call>> dirty;
  int events = 0;
  absl::Time since;
  const auto flush = [&] {
    for (const std::shared_ptr<Call>& call : std::exchange(dirty, {}))
      Guarded(*call, [&] { call->handler()->OnIdle(); });
  };
  void* tag;
  bool ok;
  for (;;) {
    accept();
    if (dirty.empty() && accepting) {
      if (!queue_->Next(&tag, &ok)) return;
    } else {
      // A call that keeps the queue busy does not delay the reports of others.
      if (++events >= kEventsPerFlush || absl::Now() - since > kFlushDelay) flush();
      const auto next = queue_->AsyncNext(
          &tag, &ok,
          std::chrono::system_clock::now() + (accepting ? std::chrono::milliseconds(0) : kAcceptAgain));
      if (next == grpc::CompletionQueue::SHUTDOWN) return;
      if (next == grpc::CompletionQueue::TIMEOUT) {
        flush();
        continue;
      }
    }
    CallOperation& operation = *static_cast<CallOperation*>(tag);
    const CallOperation::Kind kind = operation.kind;
    const std::shared_ptr<Call> call = std::move(operation.call);
    if (kind == CallOperation::Kind::kAccept) {
      if (!ok) {  // Shutting down: it never became a call.
        call->Abandon();
        continue;
      }
      accepting = false;
      Guarded(*call, [&] { Route(call); });
      continue;
    }
    Guarded(*call, [&] {
      call->OnOperation(kind, ok);
      if (kind == CallOperation::Kind::kDone && call->WasReset() && !resets_.Spend(absl::Now()))
        options_.close_resetting(PeerOf(*call));
      const bool moved = ok && (kind == CallOperation::Kind::kRead || kind == CallOperation::Kind::kWrite);
      if (!moved || !call->handler()->HasNews() || std::find(dirty.begin(), dirty.end(), call) != dirty.end())
        return;
      if (dirty.empty()) {
        events = 0;
        since = absl::Now();
      }
      dirty.push_back(call);
    });
  }
}

session::Peer GrpcServer::PeerOf(Call& call) const {
  session::Peer peer;
  peer.description = call.context().peer();
  peer.local = options_.user.has_value();
  peer.user = options_.user;
  peer.owner = peer.local ? OwnerOfUser(*peer.user) : OwnerOfPeerName(peer.description);
  return peer;
}

std::shared_ptr<const void> GrpcServer::CountSilent(const std::string& owner) {
  std::shared_ptr<const int> silent = silent_[owner].lock();
  if (silent == nullptr) {
    absl::erase_if(silent_, [](const auto& entry) { return entry.second.expired(); });
    silent = std::make_shared<const int>();
    silent_[owner] = silent;
  }
  return silent.use_count() > kSilentCallsMax ? nullptr : silent;
}

void GrpcServer::Route(const std::shared_ptr<Call>& call) {
  const std::string& method = call->method();
  const auto refuse = [&](const absl::Status& status) {
    call->Start(MakeAnswerHandler(*call, nullptr, false), options_.greeting);
    call->Finish(status);
  };
  const auto start = [&](std::unique_ptr<CallHandler> handler) {
    call->Start(std::move(handler), options_.greeting);
  };
  std::shared_ptr<const void> silent = CountSilent(PeerOf(*call).owner);
  if (silent == nullptr) {
    return refuse(
        MakeError(ErrorKind::kLimit, absl::StrFormat("%d calls have sent no message yet; the limit is %d.",
                                                     kSilentCallsMax, kSilentCallsMax)));
  }
  call->HoldUntilHeard(std::move(silent));
  if (method == "/grpc.health.v1.Health/Check") {
    return start(MakeAnswerHandler(
        *call, [this](const std::string&) { return health_.Response(); }, false));
  }
  if (method == "/grpc.health.v1.Health/Watch") {
    return start(MakeWatchHandler(*call, health_));
  }
  if (!options_.user.has_value() && !options_.token.empty() && !HasToken(*call, options_.token)) {
    return refuse(MakeError(ErrorKind::kAuth, "The call shows no token, or a wrong one."));
  }
  if (method == "/hlod.v1.Session/Connect") return start(MakeSessionHandler(registry_, *call, PeerOf(*call)));
  if (method == "/hlod.v1.Bulk/Upload") return start(MakeUploadHandler(registry_, *call));
  if (method == "/hlod.v1.Bulk/Download") return start(MakeDownloadHandler(registry_, *call));
  if (method == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") {
    return start(MakeAnswerHandler(*call, AnswerReflection, true));
  }
  if (method.rfind(std::string(kAdminPrefix), 0) == 0) {
    if (!options_.administration) {
      return refuse(
          MakeError(ErrorKind::kAuth,
                    "Administration is for the user who runs the daemon, and root, over its unix socket."));
    }
    const std::string name = method.substr(kAdminPrefix.size());
    return start(MakeAnswerHandler(
        *call,
        [this, name](const std::string& request) { return session::AnswerAdmin(registry_, name, request); },
        false));
  }
  refuse(Unimplemented("This daemon has no method %s.", method));
}

}  // namespace hlod::grpc_server
