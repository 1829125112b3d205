// The gRPC server of one accepted connection: its queue, its thread, its memory quota, its table of methods.
#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "server/grpc/call.h"
#include "server/grpc/connections.h"
#include "server/grpc/handlers/health.h"
#include "server/grpc/receive_quota.h"
#include "server/grpc/reset_budget.h"
#include "server/grpc/silent_calls.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {

class PeerLinks;

// Makes gRPC poll each connection on the thread of its own server. By default one thread of the process polls
// for all, handles all events, and wakes the thread of each. Must be called before any other function of
// gRPC, by a program with servers for many connections. Respects $GRPC_POLL_STRATEGY.
void PollByConnection();

// Each connection has its own server, because within a server gRPC shares resources that peers should not
// share: the memory quota, at whose end it resets calls of any peer, and the thread, which cannot serve
// others while it serves one. gRPC also does not report the socket or the user of a call; here they are
// known.
class GrpcServer {
 public:
  struct Options {
    session::Peer peer;                            // Without its description, which gRPC provides.
    bool administration = false;                   // True when the connection may administer.
    std::string token;                             // The token that calls must show; empty for none.
    std::shared_ptr<grpc::ServerCredentials> tls;  // Null when the connection has no TLS.
    // The time limit for the first call of a connection, the first message of a call, and a client that reads
    // no answer.
    absl::Duration greeting = absl::Seconds(10);
    ReceiveLimits received;
    // The charge for the connection, including the memory that strangers may use.
    device::MemoryCharge memory;
    // After `question` without a byte the peer gets a ping. It is given up when it does not answer for
    // `patience`, which is long, because a client that is stopped in a debugger is silent as well.
    absl::Duration question = absl::InfiniteDuration(), patience = absl::InfiniteDuration();
    // Called when the client resets more calls than allowed: closes the connection.
    std::function<void()> close = [] {};
    // Called with each call that shows the required token, until it returns OK; such calls are refused until
    // then.
    std::function<absl::Status()> greet = [] { return absl::OkStatus(); };
    // Called when a session is opened or named with its secret, and when an administrator calls.
    std::function<void()> use = [] {};
    PeerLinks* peers = nullptr;  // Null for a daemon without a cluster.
  };
  // The references must outlive this object.
  GrpcServer(session::Registry& registry, Health& health, SilentCalls& silent, Options options);
  ~GrpcServer();

  // Takes the connected socket, once. Returns false when there is no thread for it; then the connection ends.
  bool Start(ConnectedSocket socket);
  // Returns true while a call has not ended or is still held by a job of the daemon.
  bool HasCalls() const;
  // Gives back memory that the connection does not need any more. To be called a few times a second.
  void Tick(absl::Time now) { quota_->Tick(now); }
  // Ends all calls and the thread. Finished calls may send their pending messages until `last_words`; holders
  // of calls are awaited until `patience`.
  void Shutdown(absl::Time last_words, absl::Time patience);

 private:
  using Acceptor = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;
  void Run(ConnectedSocket socket);
  bool Build();
  void Serve();
  // Waits for the next operation of the queue that has finished, and flushes calls meanwhile. Returns false
  // at the end of the queue.
  bool NextOperation(CallOperation** operation, bool* ok);
  void OnOperation(const std::shared_ptr<Call>& call, CallOperation::Kind kind, bool ok);
  // Asks for the next call, unless the server is ending.
  void AcceptNext();
  // Calls AcceptNext unless a call is awaited already. If there is no memory for one, it is tried again
  // later.
  void EnsureAccepting();
  // Reports the progress of the dirty calls.
  void FlushDirty();
  void Route(const std::shared_ptr<Call>& call);
  session::Peer PeerOf(Call& call) const;
  // The handlers of links between daemons, and of administration.
  using PeerHandlerMaker = std::unique_ptr<CallHandler>(PeerLinks& links, Call& call, bool trusted,
                                                        std::function<void()> use);
  // `use` is called when the caller is accepted.
  std::unique_ptr<CallHandler> MakeLinkHandler(Call& call, PeerHandlerMaker* make, std::function<void()> use);
  // Makes room for the bytes of launches, which come in large messages.
  void UseForLaunches();
  std::unique_ptr<CallHandler> MakeAdminHandler(Call& call, const std::string& name);

  // The existing calls: the queue must not end before the last of them.
  struct Calls {
    Mutex mu;
    CondVar changed;
    // Includes the call that waits to be accepted.
    int64_t count ABSL_GUARDED_BY(mu) = 0;
    // No further call is requested, because the queue may have shut down.
    bool ending ABSL_GUARDED_BY(mu) = false;
  };

  session::Registry& registry_;
  Health& health_;
  SilentCalls& silent_;
  const std::shared_ptr<ReceiveQuota> quota_;
  const Options options_;
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  // Made by the thread; constant after built_ is notified.
  std::optional<grpc::AsyncGenericService> service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  Acceptor acceptor_;
  absl::Notification built_;
  // Used only by the thread.
  ResetBudget resets_;
  bool greeted_ = false;
  bool accepting_ = false;  // True while a call is awaited.
  // Calls with unreported progress, which are flushed when no event waits, or after a while: after the first
  // of them, at the time dirty_since_, there were events_ further events.
  std::vector<std::shared_ptr<Call>> dirty_;
  int events_ = 0;
  absl::Time dirty_since_;
  std::thread thread_;
};

// The methods. Each function makes the handler of a call. `quota` is the connection's; a handler calls Admit
// when a session is opened or named with its secret.
std::unique_ptr<CallHandler> MakeSessionHandler(session::Registry& registry, Call& call, session::Peer peer,
                                                // Defined in session_handler.cc.
                                                std::shared_ptr<ReceiveQuota> quota);
std::unique_ptr<CallHandler> MakeUploadHandler(session::Registry& registry, Call& call,
                                               // Defined in upload_handler.cc.
                                               std::shared_ptr<ReceiveQuota> quota);
std::unique_ptr<CallHandler> MakeDownloadHandler(session::Registry& registry, Call& call,
                                                 // Defined in download_handler.cc.
                                                 std::shared_ptr<ReceiveQuota> quota);
// A method of one request and one answer or, when `streaming`, of an answer per request (reflection).
// `answer` returns the bytes or an error.
using Answer = std::function<absl::StatusOr<std::string>(const std::string& request)>;
std::unique_ptr<CallHandler> MakeAnswerHandler(Call& call, Answer answer,
                                               bool streaming);  // Defined in answer_handler.cc.

// A method whose answer does not depend on the request, so that it reads no message, not even one of a
// stranger. `answer` is the bytes or an error.
std::unique_ptr<CallHandler> MakeConstantHandler(Call& call,
                                                 // Defined in answer_handler.cc.
                                                 absl::StatusOr<std::string> answer);

// Convert to and from gRPC's buffers.
std::string ToString(grpc::ByteBuffer& buffer);
grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message);
grpc::ByteBuffer ToByteBuffer(const std::string& bytes);

}  // namespace hlod::grpc_server
