// The limit to compare with: a gRPC server with one completion-queue thread and no work, in a process of its
// own, and a client that polls by itself. The benchmark shows the time that hlod adds to it.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/types/span.h"

namespace hlod::bench {

// Runs the server on `address` ("unix:PATH" or "HOST:PORT") until the process is killed. Methods:
// "/bare/Echo" sends every message back; "/bare/Answer" sends eight bytes per message; "/bare/Put" copies the
// messages into one piece of touched memory and answers at the end; "/bare/Get" sends, in chunks, the number
// of bytes that the first message states.
void RunBareServer(const std::string& address, const std::shared_ptr<grpc::ServerCredentials>& credentials =
                                                   grpc::InsecureServerCredentials());

inline constexpr int64_t kBareChunkBytes = 1 << 20;

// The server as a child process, which is killed with the object.
class BarePeer {
 public:
  // Starts this same program with --bare-server.
  explicit BarePeer(std::string address);
  ~BarePeer();
  BarePeer(const BarePeer&) = delete;
  const std::string& address() const { return address_; }
  int pid() const { return pid_; }

 private:
  std::string address_;
  int pid_ = -1;
};

// One stream to a bare server.
class BareStream {
 public:
  BareStream(
      const std::string& address, const std::string& method,
      const std::shared_ptr<grpc::ChannelCredentials>& credentials = grpc::InsecureChannelCredentials());
  ~BareStream();
  // Starts a write; at most one at a time.
  void Write(const grpc::ByteBuffer& message);
  // Starts a read; at most one at a time.
  void Read();
  // Waits for the next finished operation: 'w' or 'r'. 'x' when the stream is over.
  char Next();
  grpc::ByteBuffer& received() { return received_; }
  void WritesDone();

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::ByteBuffer received_;
};

// Sends `bytes`, a multiple of kBareChunkBytes, by a stream to "/bare/Put", and waits until all of them are
// stored.
void Put(BareStream& stream, absl::Span<const std::byte> bytes);

}  // namespace hlod::bench
