// The bare server and its client.
#include "tests/bench/wire/bare_peer.h"

#include <grpcpp/generic/async_generic_service.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace hlod::bench {
namespace {

// One call: a small state machine driven by the completion queue.
class BareCall {
 public:
  BareCall(grpc::AsyncGenericService* service, grpc::ServerCompletionQueue* queue, std::vector<char>* memory)
      : service_(service), queue_(queue), memory_(memory), stream_(&context_) {
    service_->RequestCall(&context_, &stream_, queue_, queue_, this);
  }

  void Proceed(bool ok) {
    switch (state_) {
      case State::kAccept:
        if (!ok) {
          delete this;
          return;
        }
        new BareCall(service_, queue_, memory_);
        state_ = State::kRead;
        stream_.Read(&message_, this);
        return;
      case State::kRead:
        if (!ok) return Finish();
        OnMessage();
        return;
      case State::kWrite:
        if (!ok) return Finish();
        if (left_ > 0) return SendChunk();
        state_ = State::kRead;
        stream_.Read(&message_, this);
        return;
      case State::kFinish: delete this; return;
    }
  }

 private:
  enum class State { kAccept, kRead, kWrite, kFinish };

  void OnMessage() {
    if (context_.method() == "/bare/Echo") {
      state_ = State::kWrite;
      stream_.Write(message_, this);
      return;
    }
    if (context_.method() == "/bare/Answer") {
      static constexpr char kAnswer[8] = {};
      const grpc::Slice slice(kAnswer, sizeof(kAnswer), grpc::Slice::STATIC_SLICE);
      state_ = State::kWrite;
      stream_.Write(grpc::ByteBuffer(&slice, 1), this);
      return;
    }
    std::vector<grpc::Slice> slices;
    message_.Dump(&slices);
    if (context_.method() == "/bare/Get") {
      std::memcpy(&left_, slices[0].begin(), sizeof(left_));
      at_ = 0;
      SendChunk();
      return;
    }
    for (const grpc::Slice& slice : slices) {
      if (at_ + slice.size() > memory_->size()) at_ = 0;
      std::memcpy(memory_->data() + at_, slice.begin(), slice.size());
      at_ += slice.size();
    }
    stream_.Read(&message_, this);
  }
  void SendChunk() {
    const int64_t n = std::min<int64_t>(left_, kBareChunkBytes);
    const grpc::Slice slice(memory_->data() + at_, static_cast<size_t>(n), grpc::Slice::STATIC_SLICE);
    const grpc::ByteBuffer buffer(&slice, 1);
    left_ -= n;
    at_ += static_cast<size_t>(n);
    state_ = State::kWrite;
    stream_.Write(buffer, this);
  }
  void Finish() {
    state_ = State::kFinish;
    stream_.Finish(grpc::Status::OK, this);
  }

  grpc::AsyncGenericService* service_;
  grpc::ServerCompletionQueue* queue_;
  std::vector<char>* memory_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_;
  grpc::ByteBuffer message_;
  State state_ = State::kAccept;
  int64_t left_ = 0;
  size_t at_ = 0;
};

}  // namespace

void RunBareServer(const std::string& address, const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  std::vector<char> memory(size_t{512} << 20, 1);
  grpc::AsyncGenericService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, credentials);
  builder.RegisterAsyncGenericService(&service);
  const std::unique_ptr<grpc::ServerCompletionQueue> queue = builder.AddCompletionQueue();
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) std::exit(1);
  new BareCall(&service, queue.get(), &memory);
  void* tag;
  bool ok;
  while (queue->Next(&tag, &ok)) static_cast<BareCall*>(tag)->Proceed(ok);
}

BarePeer::BarePeer(std::string address) : address_(std::move(address)) {
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl("/proc/self/exe", "wire_bench", "--bare-server", address_.c_str(), nullptr);
    _exit(127);
  }
}

BarePeer::~BarePeer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

BareStream::BareStream(const std::string& address, const std::string& method,
                       const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(address, credentials, arguments);
  context_.set_wait_for_ready(true);
  grpc::GenericStub stub(channel_);
  call_ = stub.PrepareCall(&context_, method, &queue_);
  call_->StartCall(reinterpret_cast<void*>('s'));
  Next();
}

BareStream::~BareStream() {
  context_.TryCancel();
  queue_.Shutdown();
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
  }
}

void BareStream::Write(const grpc::ByteBuffer& message) {
  call_->Write(message, reinterpret_cast<void*>('w'));
}
void BareStream::Read() { call_->Read(&received_, reinterpret_cast<void*>('r')); }
void BareStream::WritesDone() { call_->WritesDone(reinterpret_cast<void*>('w')); }

char BareStream::Next() {
  void* tag;
  bool ok;
  if (!queue_.Next(&tag, &ok)) return 'x';
  const char what = static_cast<char>(reinterpret_cast<intptr_t>(tag));
  return ok ? what : 'x';
}

void Put(BareStream& stream, absl::Span<const std::byte> bytes) {
  for (size_t at = 0; at < bytes.size(); at += kBareChunkBytes) {
    const grpc::Slice slice(bytes.data() + at, kBareChunkBytes, grpc::Slice::STATIC_SLICE);
    stream.Write(grpc::ByteBuffer(&slice, 1));
    stream.Next();
  }
  stream.WritesDone();
  stream.Next();
  stream.Read();
  stream.Next();  // The end of the stream: all bytes were stored.
}

}  // namespace hlod::bench
