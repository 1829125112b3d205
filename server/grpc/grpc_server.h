// A gRPC server that takes connections which others accepted: its queue, its one thread, its table of
// methods.
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

#include "absl/container/flat_hash_map.h"
#include "server/grpc/call.h"
#include "server/grpc/connections.h"
#include "server/grpc/health.h"
#include "server/grpc/reset_budget.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {

// Of one owner: calls whose first message has not come.
inline constexpr int64_t kSilentCallsMax = 1024;

// gRPC reports neither the socket nor the user of a call, so connections are sorted before: those of each
// local user go to a server of their own, those over TCP to another. A server starts with its first
// connection, because each has a thread that polls, and two of them in one process disturb each other:
// usually there is but one.
class GrpcServer {
 public:
  struct Options {
    std::string name;                              // For logs and threads: "user 1000", "tcp".
    bool administration = false;                   // Whether its connections may administer.
    std::optional<uint32_t> user;                  // Whose connections it takes; nothing: those over TCP.
    std::string token;                             // What calls over TCP must show; empty: nothing.
    std::shared_ptr<grpc::ServerCredentials> tls;  // For HandleTls; null when there is no TLS.
    // Of a connection without a call, of a call without a message, of a client that reads no answer.
    absl::Duration greeting = absl::Seconds(10);
    // What gRPC keeps of messages that have not come to their end, of all connections together. Beyond it, it
    // reads less, and then ends calls.
    size_t received_bytes_max = 512 << 20;
    // Called when clients reset more calls than they may, with the owner and gRPC's name of the last one's
    // peer: closes the connection.
    std::function<void(const session::Peer& peer)> close_resetting = [](const session::Peer&) {};
  };
  GrpcServer(session::Registry& registry, Health& health, Options options);
  ~GrpcServer();

  // Takes a connected socket; closes it when the server cannot.
  void HandleConnection(ConnectedSocket socket) { Handle(std::move(socket), /*tls=*/false); }
  void HandleTls(ConnectedSocket socket) { Handle(std::move(socket), /*tls=*/true); }
  // Whether there is a call that has not ended, or that something of ours still refers to.
  bool HasCalls() const;
  // Ends all calls and the thread. No connections after it.
  void Shutdown();

 private:
  using Acceptor = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;
  // Makes the thread, and the server that it serves. False: there is neither.
  bool Start();
  bool Build();
  void Handle(ConnectedSocket socket, bool tls);
  void Serve();
  // Asks for the next call, unless the server is ending.
  void AcceptNext();
  void Route(const std::shared_ptr<Call>& call);
  // Counts a call of this owner that has sent nothing yet, for as long as what is returned lives; null when
  // there are too many.
  std::shared_ptr<const void> CountSilent(const std::string& owner);
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
  const Options options_;
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  Mutex mu_;
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<grpc::AsyncGenericService> service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  Acceptor plain_, tls_;
  // Of the thread.
  ResetBudget resets_;
  // By owner, shared by its silent calls.
  absl::flat_hash_map<std::string, std::weak_ptr<const int>> silent_;
  std::thread thread_;
};

// The methods. Each makes the handler of a call.
std::unique_ptr<CallHandler> MakeSessionHandler(session::Registry& registry, Call& call,
                                                session::Peer peer);  // session_handler.cc
std::unique_ptr<CallHandler> MakeUploadHandler(session::Registry& registry, Call& call);  // upload_handler.cc
std::unique_ptr<CallHandler> MakeDownloadHandler(session::Registry& registry,
                                                 Call& call);  // download_handler.cc
// A method of one request and one answer (or, for reflection, an answer a request). `answer` gives the bytes,
// or an error.
using Answer = std::function<absl::StatusOr<std::string>(const std::string& request)>;
std::unique_ptr<CallHandler> MakeAnswerHandler(Call& call, Answer answer,
                                               bool streaming);  // answer_handler.cc

// Bytes to and from gRPC's buffers.
std::string ToString(grpc::ByteBuffer& buffer);
grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message);
grpc::ByteBuffer ToByteBuffer(const std::string& bytes);

}  // namespace hlod::grpc_server
