// Attackers are processes of their own, stopped (SIGSTOP) while the bystander is measured alone.
#include "tests/bench/wire/bystander.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "common/hlo/builder.h"
#include "common/hlo/proto/codec.h"
#include "common/rpc/grpc/chunk.h"
#include "hlod/hlod.h"
#include "hlod/testing.h"
#include "proto/hlod/v1/session.grpc.pb.h"
#include "tests/bench/wire/bare_peer.h"
#include "tests/bench/wire/report.h"

namespace hlod::bench {
namespace {

template <typename T>
T Have(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
  std::exit(1);
}

Executable Doubling(const Client& client, int64_t n, int seed = 0) {
  hlo::Module module("double" + std::to_string(seed));
  hlo::Builder b(module, "main");
  hlo::Op x = b.Parameter(0, Shape::Array(hlo::kF32, {n}));
  for (int i = 0; i <= seed % 100; ++i) x = x + x;
  if (!b.Build(x).ok()) std::exit(1);
  return Have(client.Compile(module));
}

// A session without the library. It reads answers and acknowledges none.
struct RawClient {
  explicit RawClient(const std::string& address)
      : channel(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), OwnConnection())),
        stub(v1::Session::NewStub(channel)),
        stream(stub->Connect(&context)) {
    v1::ClientMessage hello;
    hello.mutable_hello()->set_version_min(1);
    hello.mutable_hello()->set_version_max(1);
    stream->Write(hello);
    v1::ServerMessage answer;
    stream->Read(&answer);
    welcome = answer.welcome();
  }
  static grpc::ChannelArguments OwnConnection() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return arguments;
  }
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Session::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream;
  v1::Welcome welcome;
};

void HoardUploads(const std::string& address) {
  const RawClient client(address);
  grpc::GenericStub stub(client.channel);
  grpc::CompletionQueue queue;
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
    v1::TransferId id;
    int chunks = 0;
  };
  const std::vector<std::byte> chunk(1 << 20);
  std::vector<std::unique_ptr<Call>> calls;
  for (uint64_t i = 0; i < 500; ++i) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    call.id.set_session(client.welcome.session());
    call.id.set_secret(client.welcome.secret());
    call.id.set_command(1000 + i);
    call.call = stub.PrepareCall(&call.context, "/hlod.v1.Bulk/Upload", &queue);
    call.call->StartCall(&call);
  }
  void* tag;
  bool ok;
  while (queue.Next(&tag, &ok)) {
    Call& call = *static_cast<Call*>(tag);
    if (ok) call.call->Write(rpc::EncodeChunk(call.chunks++ == 0 ? &call.id : nullptr, chunk), &call);
  }
}

void HoardAnswers(const std::string& address) {
  RawClient client(address);
  v1::ClientMessage message;
  v1::Command& upload = *message.mutable_command();
  upload.set_id(1);
  upload.mutable_upload()->set_handle(1);
  *upload.mutable_upload()->mutable_shape() = hlo::ToProto(Shape::Array(hlo::kU8, {60'000}));
  upload.mutable_upload()->set_bytes(60'000);
  upload.mutable_upload()->set_cause(static_cast<int>(Cause::kUpload));
  upload.mutable_upload()->set_inline_(std::string(60'000, 'x'));
  client.stream->Write(message);
  std::thread reader([&] {
    v1::ServerMessage answer;
    while (client.stream->Read(&answer)) {
    }
  });
  for (uint64_t id = 2;; ++id) {
    message.mutable_command()->set_id(id);
    message.mutable_command()->mutable_download()->set_handle(1);
    message.mutable_command()->mutable_download()->set_cause(static_cast<int>(Cause::kDownload));
    message.mutable_command()->mutable_download()->set_inline_(true);
    if (!client.stream->Write(message)) break;
  }
  reader.join();
}

void ExecuteForever(const std::string& address, int64_t n) {
  const Client client = Have(Client::Connect(address));
  const Executable program = Doubling(client, n);
  Buffer x = Have(client.device(0).Upload(Literal(Shape::Array(hlo::kF32, {n}))));
  for (;;) Have(program.Execute({x}))[0].ready().Await().IgnoreError();
}

void CompileForever(const std::string& address) {
  const Client client = Have(Client::Connect(address));
  for (int seed = getpid();; ++seed) Doubling(client, 16 + seed, seed);
}

struct Kind {
  const char* name;
  int processes;
  void (*run)(const std::string& address);
};
constexpr Kind kKinds[] = {
    {"500 bulk uploads that are never declared", 1, HoardUploads},
    {"10 sessions that acknowledge no download", 10, HoardAnswers},
    {"tiny executes of 16 sessions", 16, [](const std::string& address) { ExecuteForever(address, 16); }},
    {"executes of 15 MB", 2, [](const std::string& address) { ExecuteForever(address, 15 << 18); }},
    {"compiles without an end", 2, CompileForever},
};

pid_t Begin(const Kind& kind, const std::string& address) {
  std::string words[] = {"wire_bench", "--attack", kind.name, address};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0) std::exit(1);
  return pid;
}

// The bystander, and beside it a bare echo: the part of its times that is the machine's and not the daemon's.
class Watched {
 public:
  Watched(const testing::Daemon& daemon, BareStream& echo)
      : client_(Have(daemon.Connect())),
        tiny_(Doubling(client_, 1)),
        x_(Have(client_.device(0).Upload(Literal(Shape::Array(hlo::kF32, {1}))))),
        echo_(echo) {}

  // The 99th percentiles of 500 times each, in milliseconds.
  struct P99 {
    double execute, echo;
  };
  P99 Measure() {
    std::vector<double> executes, echoes;
    for (int i = 0; i < 500; ++i) {
      executes.push_back(Timed([&] {
        if (!Have(tiny_.Execute({x_}))[0].ready().Await().ok()) std::exit(1);
      }));
      echoes.push_back(Timed([&] {
        echo_.Read();
        echo_.Write(message_);
        echo_.Next();
        echo_.Next();
      }));
    }
    return {P99Of(executes), P99Of(echoes)};
  }

 private:
  template <typename F>
  static double Timed(const F& once) {
    const double start = Now();
    once();
    return (Now() - start) * 1e3;
  }
  static double P99Of(std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    return times[times.size() * 99 / 100];
  }
  const Client client_;
  const Executable tiny_;
  const Buffer x_;
  BareStream& echo_;
  const grpc::Slice bytes_{std::string(64, 'x')};
  const grpc::ByteBuffer message_{&bytes_, 1};
};

void BesideAttack(const Kind& kind, int repeats, BareStream& echo) {
  const testing::Daemon daemon = Have(testing::Daemon::Start());
  Watched watched(daemon, echo);
  std::vector<pid_t> attackers;
  for (int i = 0; i < kind.processes; ++i) attackers.push_back(Begin(kind, daemon.address()));
  const auto tell = [&](int signal) {
    for (const pid_t pid : attackers) kill(pid, signal);
    absl::SleepFor(absl::Milliseconds(300));
  };
  tell(SIGCONT);
  watched.Measure();
  std::vector<double> echoes_beside, echoes_alone;
  const auto measure = [&](int signal, std::vector<double>& echoes) {
    tell(signal);
    const Watched::P99 p99 = watched.Measure();
    echoes.push_back(p99.echo);
    return p99.execute;
  };
  const Pair executes = Interleave(
      repeats, [&] { return measure(SIGCONT, echoes_beside); },
      [&] { return measure(SIGSTOP, echoes_alone); });
  Print(kind.name, executes, "ms", "alone, p99 of a tiny execute", "<= 3");
  std::vector<double> ratios;
  for (size_t i = 0; i < echoes_alone.size(); ++i) ratios.push_back(echoes_beside[i] / echoes_alone[i]);
  Print("  a bare echo", {Median(echoes_beside), Median(echoes_alone), Median(ratios)}, "ms",
        "alone, p99 of a bare echo", "the machine's share");
  tell(SIGKILL);
  for (const pid_t pid : attackers) waitpid(pid, nullptr, 0);
}

}  // namespace

void Attack(const std::string& name, const std::string& address) {
  for (const Kind& kind : kKinds)
    if (name == kind.name) kind.run(address);
}

void Bystander(int repeats, const std::string& only) {
  const std::string path = "/tmp/hlod-bench-" + std::to_string(getpid()) + ".sock";
  {
    const BarePeer peer("unix:" + path);
    BareStream echo(peer.address(), "/bare/Echo");
    for (const Kind& kind : kKinds)
      if (std::string_view(kind.name).find(only) != std::string_view::npos) BesideAttack(kind, repeats, echo);
  }
  unlink(path.c_str());
}

}  // namespace hlod::bench
