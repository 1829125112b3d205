// The gRPC server of one connection that others accepted: its queue, its one thread, its quota of memory, its
// table of methods.
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
#include "server/grpc/health.h"
#include "server/grpc/receive_quota.h"
#include "server/grpc/reset_budget.h"
#include "server/grpc/silent_calls.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {

// Has gRPC poll each connection on the thread of its own server: by default one thread of the process polls
// for all of them, handles what comes for any, and wakes the one that it is for. To be called before anything
// of gRPC is, by a program with servers of many connections; $GRPC_POLL_STRATEGY, if set, is left alone.
void PollByConnection();

// Each connection has a server of its own, because gRPC shares within a server what peers should not: the
// quota of memory, at whose end it resets the calls of any, and the thread, which is busy for all
// as long as it is for one. It also reports neither the socket nor the user of a call; here they are known.
class GrpcServer {
 public:
  struct Options {
    session::Peer peer;                            // But for its description, which gRPC knows.
    bool administration = false;                   // Whether the connection may administer.
    std::string token;                             // What calls must show; empty: nothing.
    std::shared_ptr<grpc::ServerCredentials> tls;  // Null when the connection has no TLS.
    // Of a connection without a call, of a call without a message, of a client that reads no answer.
    absl::Duration greeting = absl::Seconds(10);
    ReceiveLimits received;
    device::MemoryCharge memory;  // With what strangers may take of it.
    // After `question` without a byte the peer is asked whether it is there, and given up when it says
    // nothing for `patience`: that is long, for a client that is stopped in a debugger is silent as well.
    absl::Duration question = absl::InfiniteDuration(), patience = absl::InfiniteDuration();
    // Called when the client resets more calls than it may: closes the connection.
    std::function<void()> close = [] {};
    // Called with each call that shows what it has to, until it succeeds: such calls are refused until then.
    std::function<absl::Status()> greet = [] { return absl::OkStatus(); };
    // Called when a session is opened or named with its secret, and when an administrator calls.
    std::function<void()> use = [] {};
  };
  // References outlive it.
  GrpcServer(session::Registry& registry, Health& health, SilentCalls& silent, Options options);
  ~GrpcServer();

  // Takes the connected socket, once. False: there is no thread for it, and the connection ends.
  bool Start(ConnectedSocket socket);
  // Whether there is a call that has not ended, or that something of ours still refers to.
  bool HasCalls() const;
  // Ends all calls and the thread. Calls that are finished may send what they have until `last_words`, and
  // what holds calls is waited for until `patience`.
  void Shutdown(absl::Time last_words, absl::Time patience);

 private:
  using Acceptor = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;
  void Run(ConnectedSocket socket);
  bool Build();
  void Serve();
  // Asks for the next call, unless the server is ending.
  void AcceptNext();
  void Route(const std::shared_ptr<Call>& call);
  session::Peer PeerOf(Call& call) const;

  // The calls that there are: the queue must not end before the last of them.
  struct Calls {
    Mutex mu;
    CondVar changed;
    // With the one that waits to be accepted.
    int64_t count ABSL_GUARDED_BY(mu) = 0;
    bool ending ABSL_GUARDED_BY(mu) = false;  // None is asked for any more: the queue may have shut down.
  };

  session::Registry& registry_;
  Health& health_;
  SilentCalls& silent_;
  const std::shared_ptr<ReceiveQuota> quota_;
  const Options options_;
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  // Made by the thread, constant once built_ is notified.
  std::optional<grpc::AsyncGenericService> service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  Acceptor acceptor_;
  absl::Notification built_;
  ResetBudget resets_;    // Of the thread.
  bool greeted_ = false;  // Of the thread.
  std::thread thread_;
};

// The methods. Each makes the handler of a call.
// `quota` is the connection's; each admits it when a session is opened or named with its secret.
std::unique_ptr<CallHandler> MakeSessionHandler(session::Registry& registry, Call& call, session::Peer peer,
                                                std::shared_ptr<ReceiveQuota> quota);  // session_handler.cc
std::unique_ptr<CallHandler> MakeUploadHandler(session::Registry& registry, Call& call,
                                               std::shared_ptr<ReceiveQuota> quota);  // upload_handler.cc
std::unique_ptr<CallHandler> MakeDownloadHandler(session::Registry& registry, Call& call,
                                                 std::shared_ptr<ReceiveQuota> quota);  // download_handler.cc
// A method of one request and one answer (or, for reflection, an answer a request). `answer` gives the bytes,
// or an error.
using Answer = std::function<absl::StatusOr<std::string>(const std::string& request)>;
std::unique_ptr<CallHandler> MakeAnswerHandler(Call& call, Answer answer,
                                               bool streaming);  // answer_handler.cc

// A method whose answer is the same whatever it is asked, so that it reads nothing: not even the messages of
// strangers. An error, or the bytes.
std::unique_ptr<CallHandler> MakeConstantHandler(Call& call,
                                                 absl::StatusOr<std::string> answer);  // answer_handler.cc

// Bytes to and from gRPC's buffers.
std::string ToString(grpc::ByteBuffer& buffer);
grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message);
grpc::ByteBuffer ToByteBuffer(const std::string& bytes);

}  // namespace hlod::grpc_server
