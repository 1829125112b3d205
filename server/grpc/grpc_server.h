// A gRPC server that takes connections which others accepted: its queue, its one thread, its table of
// methods.
#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "server/grpc/call.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {

// gRPC tells a call neither its socket nor its user, so connections are sorted before: those of
// administrators go to a face of their own. A face starts with its first connection, because each has a
// thread that polls, and two pollers in one process disturb each other: usually there is but one.
class GrpcServer {
 public:
  struct Options {
    std::string name;                              // For logs and threads: "users", "admins".
    bool administration = false;                   // Whether its connections may administer.
    std::string token;                             // What calls over TCP must show; empty: nothing.
    std::shared_ptr<grpc::ServerCredentials> tls;  // For HandleTls; null when there is no TLS.
    // How long a call may take to send its first message.
    absl::Duration first_message_timeout = absl::Seconds(10);
  };
  GrpcServer(session::Registry& registry, Options options);
  ~GrpcServer();

  // Takes a connected socket; closes it when the server cannot.
  void HandleConnection(int fd) { Handle(fd, /*tls=*/false); }
  void HandleTls(int fd) { Handle(fd, /*tls=*/true); }
  // Ends all calls and the thread. No connections after it.
  void Shutdown();

 private:
  using Acceptor = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;
  bool Start();
  void Handle(int fd, bool tls);
  void Serve();
  void AcceptNext();
  void Route(const std::shared_ptr<Call>& call);

  // The calls that there are: the queue must not end before the last of them.
  struct Calls {
    Mutex mu;
    CondVar changed;
    int64_t count ABSL_GUARDED_BY(mu) = 0;
  };

  session::Registry& registry_;
  const Options options_;
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  Mutex mu_;
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  Acceptor plain_, tls_;
  std::thread thread_;
};

// The methods. Each makes the handler of a call.
std::unique_ptr<CallHandler> MakeSessionHandler(session::Registry& registry,
                                                Call& call);  // session_handler.cc
std::unique_ptr<CallHandler> MakeUploadHandler(session::Registry& registry, Call& call);  // upload_handler.cc
std::unique_ptr<CallHandler> MakeDownloadHandler(session::Registry& registry,
                                                 Call& call);  // download_handler.cc
// A method of one request and one answer (or, for reflection, an answer a request). `answer` gives the bytes,
// or an error.
using Answer = std::function<absl::StatusOr<std::string>(const std::string& request)>;
std::unique_ptr<CallHandler> MakeAnswerHandler(Call& call, Answer answer,
                                               bool streaming);  // answer_handler.cc
// grpc.health.v1.Health/Watch: `health` gives the serialized response, and is asked again and again.
std::unique_ptr<CallHandler> MakeWatchHandler(Call& call,
                                              std::function<std::string()> health);  // answer_handler.cc

// Bytes to and from gRPC's buffers.
std::string ToString(grpc::ByteBuffer& buffer);
grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message);
grpc::ByteBuffer ToByteBuffer(const std::string& bytes);
// Where the call comes from, and whether over a unix socket.
session::Peer PeerOf(Call& call);

}  // namespace hlod::grpc_server
