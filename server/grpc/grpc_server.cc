// The queue's thread, and the routing of methods.
#include "server/grpc/grpc_server.h"

#include <grpcpp/support/time.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/errors/status.h"
#include "common/base/system/time_slice.h"
#include "common/rpc/message_size.h"
#include "server/grpc/handlers/reflection.h"
#include "server/grpc/peer_links.h"
#include "server/session/admin.h"

namespace hlod::grpc_server {
namespace {

constexpr absl::string_view kAdminPrefix = "/hlod.v1.Admin/";

constexpr size_t kThreadNameMax = 15;
constexpr int kStreamsMax = 1024;  // Concurrent calls on one connection.
// The bytes that a client may send on a stream that is not being read, and the payload of one frame. While a
// message is being read, gRPC grants the rest of it, so that a small window does not slow down its client.
constexpr int kWindowBytes = 64 << 10;
constexpr int kFrameBytes = 1 << 20;
// The buffer to read from the socket, allocated before bytes arrive. By default gRPC takes half of the quota.
constexpr int kReadBytes = 1 << 20;
// Progress is reported at the latest after this number of events of other calls, or after kFlushDelay.
constexpr int kEventsPerFlush = 64;
constexpr absl::Duration kFlushDelay = absl::Microseconds(200);
// The pause after there was no memory for a further call.
constexpr std::chrono::milliseconds kAcceptAgain{100};

// For gRPC's arguments, where INT_MAX means never.
int Milliseconds(absl::Duration duration) {
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(duration), INT_MAX));
}

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

void PollByConnection() { setenv("GRPC_POLL_STRATEGY", "poll", /*overwrite=*/0); }

GrpcServer::GrpcServer(session::Registry& registry, Health& health, SilentCalls& silent, Options options)
    : registry_(registry),
      health_(health),
      silent_(silent),
      quota_(std::make_shared<ReceiveQuota>(options.peer.owner, options.received, std::move(options.memory),
                                            options.use)),
      options_(std::move(options)) {}

GrpcServer::~GrpcServer() { Shutdown(absl::Now(), absl::Now() + absl::Seconds(10)); }

bool GrpcServer::Start(ConnectedSocket socket) {
  // Starts the thread first, so that nothing has begun if the system refuses it.
  const auto held = std::make_shared<ConnectedSocket>(std::move(socket));
  try {
    thread_ = std::thread([this, held] { Run(std::move(*held)); });
  } catch (const std::system_error& e) {
    spdlog::error("There is no thread for a connection of {}: {}", options_.peer.owner, e.what());
    return false;
  }
  pthread_setname_np(thread_.native_handle(), options_.peer.owner.substr(0, kThreadNameMax).c_str());
  return true;
}

void GrpcServer::Run(ConnectedSocket socket) {
  SetTimeSlice(kMessageSlice);
  bool ok = false;
  try {
    ok = Build();
  } catch (const std::exception& e) {  // Shutdown waits for the notification below.
    spdlog::error("The server of a connection of {} could not be made: {}", options_.peer.owner, e.what());
  }
  if (ok) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = socket.Release();
    acceptor_->HandleNewConnection(&parameters);
  }
  built_.Notify();
  if (ok) Serve();
}

bool GrpcServer::Build() {
  grpc::ServerBuilder builder;
  builder.RegisterAsyncGenericService(&service_.emplace());
  builder.SetMaxReceiveMessageSize(static_cast<int>(rpc::MessageBytesMax(registry_.devices().limits())));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsMax);
  builder.SetResourceQuota(quota_->quota());
  // By default gRPC would grant each stream megabytes even if it is not read.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindowBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadBytes);
  // Closes a connection that sends nothing, or only HTTP.
  const int greeting_ms = Milliseconds(options_.greeting);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, greeting_ms);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, greeting_ms);
  // The kernel's keepalive (TCP) or the end of the socket (unix) reports peers that vanish, but not peers
  // behind a stalled tunnel that answers for itself: these get pings. A program that neither calls nor waits
  // still answers, because its library polls now and then (client/runtime/session/session.h). Peers may ping.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options_.question));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(options_.patience));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // No limit.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      Type::FROM_FD, options_.tls != nullptr ? options_.tls : grpc::InsecureServerCredentials());
  queue_ = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    spdlog::error("gRPC could not start a server for a connection of {}.", options_.peer.owner);
    return false;
  }
  return true;
}

bool GrpcServer::HasCalls() const {
  MutexLock lock(&calls_->mu);
  return calls_->count > 1;
}

void GrpcServer::Shutdown(absl::Time last_words, absl::Time patience) {
  if (!thread_.joinable()) return;
  built_.WaitForNotification();
  if (server_ != nullptr) {
    server_->Shutdown(absl::ToChronoTime(last_words));
    {
      // Jobs of the transfer thread may still hold calls, and an operation on a queue that has shut down
      // would abort.
      MutexLock lock(&calls_->mu);
      calls_->ending = true;
      while (calls_->count > 0 && absl::Now() < patience)
        calls_->changed.WaitFor(&calls_->mu, std::chrono::milliseconds(100));
      if (calls_->count > 0) spdlog::error("{} calls of {} did not end.", calls_->count, options_.peer.owner);
    }
    queue_->Shutdown();
  }
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

void GrpcServer::EnsureAccepting() {
  if (accepting_) return;
  try {
    AcceptNext();
    accepting_ = true;
  } catch (const std::exception& e) {
    spdlog::error("A connection of {} takes no further call for a moment: {}", options_.peer.owner, e.what());
  }
}

void GrpcServer::FlushDirty() {
  for (const std::shared_ptr<Call>& call : std::exchange(dirty_, {}))
    Guarded(*call, [&] { call->handler()->OnIdle(); });
}

bool GrpcServer::NextOperation(CallOperation** operation, bool* ok) {
  void* tag;
  for (;;) {
    EnsureAccepting();
    if (dirty_.empty() && accepting_) {
      if (!queue_->Next(&tag, ok)) return false;
      break;
    }
    // A call that keeps the queue busy must not delay the reports of other calls.
    if (++events_ >= kEventsPerFlush || absl::Now() - dirty_since_ > kFlushDelay) FlushDirty();
    const auto next = queue_->AsyncNext(
        &tag, ok,
        std::chrono::system_clock::now() + (accepting_ ? std::chrono::milliseconds(0) : kAcceptAgain));
    if (next == grpc::CompletionQueue::SHUTDOWN) return false;
    if (next == grpc::CompletionQueue::GOT_EVENT) break;
    FlushDirty();
  }
  *operation = static_cast<CallOperation*>(tag);
  return true;
}

void GrpcServer::OnOperation(const std::shared_ptr<Call>& call, CallOperation::Kind kind, bool ok) {
  call->OnOperation(kind, ok);
  if (kind == CallOperation::Kind::kDone && call->WasReset() && !resets_.Spend(absl::Now())) {
    spdlog::warn("A connection of {} is closed: it resets calls without end.", options_.peer.owner);
    options_.close();
  }
  const bool moved = ok && (kind == CallOperation::Kind::kRead || kind == CallOperation::Kind::kWrite);
  if (!moved || !call->handler()->HasNews() || std::find(dirty_.begin(), dirty_.end(), call) != dirty_.end())
    return;
  if (dirty_.empty()) {
    events_ = 0;
    dirty_since_ = absl::Now();
  }
  dirty_.push_back(call);
}

void GrpcServer::Serve() {
  CallOperation* operation;
  bool ok;
  while (NextOperation(&operation, &ok)) {
    const CallOperation::Kind kind = operation->kind;
    const std::shared_ptr<Call> call = std::move(operation->call);
    if (kind != CallOperation::Kind::kAccept) {
      Guarded(*call, [&] { OnOperation(call, kind, ok); });
    } else if (ok) {
      accepting_ = false;
      Guarded(*call, [&] { Route(call); });
    } else {  // The server is shutting down, so it never became a call.
      call->Abandon();
    }
  }
}

session::Peer GrpcServer::PeerOf(Call& call) const {
  session::Peer peer = options_.peer;
  peer.description = call.context().peer();
  return peer;
}

std::unique_ptr<CallHandler> GrpcServer::MakeLinkHandler(Call& call, PeerHandlerMaker* make,
                                                         std::function<void()> use) {
  absl::Status why;
  if (options_.peers == nullptr) {
    why =
        FailedPrecondition("The daemon that was called is in no cluster: it was started without --cluster.");
  } else if (options_.peer.local && !options_.administration) {
    why = MakeError(ErrorKind::kAuth,
                    "Only daemons of this daemon's user may link with it over its unix socket.");
  }
  if (!why.ok()) return MakeConstantHandler(call, why);
  return make(*options_.peers, call, /*trusted=*/options_.peer.local || options_.tls == nullptr,
              std::move(use));
}

void GrpcServer::UseForLaunches() {
  options_.use();
  // Without memory for it the room is a stranger's, in which small messages pass.
  if (quota_->Admit().ok()) quota_->OnLargeMessage(absl::Now());
}

std::unique_ptr<CallHandler> GrpcServer::MakeAdminHandler(Call& call, const std::string& name) {
  if (name != "GetCluster" && name != "TryLaunches") {
    return MakeAnswerHandler(
        call,
        [this, name](const std::string& request) { return session::AnswerAdmin(registry_, name, request); },
        false);
  }
  if (options_.peers == nullptr) {
    return MakeConstantHandler(
        call, FailedPrecondition("This daemon is in no cluster: it was started without --cluster."));
  }
  return MakeAnswerHandler(
      call,
      [peers = options_.peers, name](const std::string& bytes) -> absl::StatusOr<std::string> {
        if (name == "GetCluster") return peers->Describe().SerializeAsString();
        v1::TryLaunchesRequest request;
        if (!request.ParseFromString(bytes)) return InvalidArgument("The request cannot be parsed.");
        ASSIGN_OR_RETURN(const v1::TriedLaunches tried, peers->TryLaunches(request.count()));
        return tried.SerializeAsString();
      },
      false);
}

void GrpcServer::Route(const std::shared_ptr<Call>& call) {
  const std::string& method = call->method();
  const auto refuse = [&](const absl::Status& status) {
    call->Start(MakeConstantHandler(*call, status), options_.greeting);
  };
  const auto start = [&](std::unique_ptr<CallHandler> handler) {
    call->Start(std::move(handler), options_.greeting);
  };
  const bool stranger = !options_.token.empty() && !HasToken(*call, options_.token);
  absl::Status greeted;
  if (!stranger && !greeted_) {
    greeted = options_.greet();
    greeted_ = greeted.ok();
  }
  // These two are open to all, and do not read the request.
  if (method == "/grpc.health.v1.Health/Check") {
    return start(MakeConstantHandler(*call, health_.Response()));
  }
  if (method == "/grpc.health.v1.Health/Watch") {
    return start(MakeWatchHandler(*call, health_, options_.peer.owner, stranger));
  }
  if (stranger) return refuse(MakeError(ErrorKind::kAuth, "The call shows no token, or a wrong one."));
  if (!greeted.ok()) return refuse(greeted);
  std::shared_ptr<const void> silent = silent_.Count(options_.peer.owner);
  if (silent == nullptr) {
    return refuse(
        MakeError(ErrorKind::kLimit, absl::StrFormat("%d calls have sent no message yet; the limit is %d.",
                                                     SilentCalls::kPerOwnerMax, SilentCalls::kPerOwnerMax)));
  }
  call->HoldUntilHeard(std::move(silent));
  if (method == "/hlod.v1.Session/Connect")
    return start(MakeSessionHandler(registry_, *call, PeerOf(*call), quota_));
  if (method == "/hlod.v1.Bulk/Upload") return start(MakeUploadHandler(registry_, *call, quota_));
  if (method == "/hlod.v1.Bulk/Download") return start(MakeDownloadHandler(registry_, *call, quota_));
  if (method == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") {
    return start(MakeAnswerHandler(*call, AnswerReflection, true));
  }
  if (method.rfind(std::string(kAdminPrefix), 0) == 0) {
    if (!options_.administration) {
      return refuse(
          MakeError(ErrorKind::kAuth,
                    "Administration is for the user who runs the daemon, and root, over its unix socket."));
    }
    options_.use();
    return start(MakeAdminHandler(*call, method.substr(kAdminPrefix.size())));
  }
  if (method == "/hlod.v1.Peer/Link") return start(MakeLinkHandler(*call, MakePeerHandler, options_.use));
  if (method == "/hlod.v1.Carrier/Carry")
    return start(MakeLinkHandler(*call, MakeCarryHandler, [this] { UseForLaunches(); }));
  refuse(Unimplemented("This daemon has no method %s.", method));
}

}  // namespace hlod::grpc_server
