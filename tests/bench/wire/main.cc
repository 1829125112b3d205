// The wire's benchmarks: round trips, pipelined commands, training steps, bulk bytes, footprint.
//
//   wire_bench [--repeats N] [--messages | --profile | --bystander [ATTACK]]
//
// --messages: without bulk bytes and footprint. --profile: the parts of a round trip's time. --bystander:
// tiny executes beside other clients that attack; ATTACK is a part of the name of one of the attacks.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/hlo/builder.h"
#include "common/rpc/shared_memory.h"
#include "hlod/hlod.h"
#include "hlod/testing.h"
#include "tests/bench/wire/bare_peer.h"
#include "tests/bench/wire/bystander.h"
#include "tests/bench/wire/profile.h"
#include "tests/bench/wire/report.h"
#include "tests/support/must.h"

namespace hlod::bench {
namespace {

constexpr int64_t kBulkBytes = int64_t{256} << 20;

grpc::ByteBuffer Message(size_t bytes) {
  const std::string text(bytes, 'x');
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

// Returns the median time of `count` echoes on a bare stream, in microseconds.
double EchoMicroseconds(BareStream& stream, int count) {
  const grpc::ByteBuffer message = Message(64);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const double start = Now();
    stream.Read();
    stream.Write(message);
    stream.Next();
    stream.Next();
    times.push_back((Now() - start) * 1e6);
  }
  return Median(times);
}

// Returns the messages of `bytes` bytes per second with `window` in flight, each answered.
double EchoesPerSecond(BareStream& stream, int count, int window, size_t bytes = 64) {
  const grpc::ByteBuffer message = Message(bytes);
  int sent = 0, got = 0;
  bool writing = false;
  const double start = Now();
  stream.Read();
  while (got < count) {
    if (!writing && sent < count && sent - got < window) {
      stream.Write(message);
      writing = true;
      ++sent;
    }
    const char what = stream.Next();
    if (what == 'w') writing = false;
    if (what == 'r' && ++got < count) stream.Read();
  }
  return count / (Now() - start);
}

Executable TinyProgram(const Client& client) {
  hlo::Module module("tiny");
  hlo::Builder b(module, "main");
  const hlo::Op x = b.Parameter(0, Shape::Scalar(hlo::kF32));
  Must(b.Build(x + x), "tiny program");
  return Must(client.Compile(module), "compile");
}

// While it exists, all threads of the given processes and of this one run on one core. With several cores the
// scheduler chooses a woken thread's core, and an idle core takes tens of microseconds to wake: on one core
// only the work is measured.
class OnOneCore {
 public:
  explicit OnOneCore(std::vector<int> pids) : pids_(std::move(pids)) {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    }
    Set(one);
  }
  ~OnOneCore() { Set(before_); }
  OnOneCore(const OnOneCore&) = delete;

 private:
  void Set(const cpu_set_t& cpus) const {
    for (const int pid : pids_) {
      const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
      for (const auto& task : std::filesystem::directory_iterator(tasks)) {
        sched_setaffinity(std::stoi(task.path().filename()), sizeof(cpus), &cpus);
      }
    }
  }
  const std::vector<int> pids_;
  cpu_set_t before_;
};

void RoundTrips(const testing::Daemon& daemon, BareStream& echo, const std::string& place, int repeats) {
  const Client client = Must(daemon.Connect(), "connect");
  const Executable tiny = TinyProgram(client);
  const Buffer x = Must(client.device(0).Upload(Literal::Scalar(1.0f)), "upload");
  const auto timed = [&](const std::function<void(const Buffer&)>& wait) {
    std::vector<double> times;
    for (int i = 0; i < 2000; ++i) {
      const double start = Now();
      wait(Must(tiny.Execute({x}), "execute")[0]);
      times.push_back((Now() - start) * 1e6);
    }
    return Median(times);
  };
  const auto execute = [&] { return timed([](const Buffer& y) { Must(y.ready().Await(), "execute"); }); };
  const auto execute_and_read = [&] { return timed([](const Buffer& y) { Must(y.Item<float>(), "read"); }); };
  const auto ping = [&] {
    std::vector<double> times;
    for (int i = 0; i < 2000; ++i) times.push_back(absl::ToDoubleMicroseconds(Must(client.Ping(), "ping")));
    return Median(times);
  };
  execute();
  const auto bare = [&] { return EchoMicroseconds(echo, 2000); };
  bare();
  Print("tiny execute, unix" + place, Interleave(repeats, execute, bare), "us", "bare stream echo", "<= 1.5");
  Print("tiny execute and read, unix" + place, Interleave(repeats, execute_and_read, bare), "us",
        "bare stream echo", "<= 1.5");
  Print("ping, unix" + place, Interleave(repeats, ping, bare), "us", "bare stream echo", "<= 1.5");
}

// Prints the cost of a round trip on each side, beside a bare echo of the same number of bytes. Processor
// times exclude the time until a woken thread gets a core, which is the rest of the wall time.
void Profile(const testing::Daemon& daemon, BareStream& echo, int echo_pid) {
  constexpr int kCount = 20'000;
  const Client client = Must(daemon.Connect(), "connect");
  const Executable tiny = TinyProgram(client);
  const Buffer x = Must(client.device(0).Upload(Literal::Scalar(1.0f)), "upload");
  std::printf("%-22s %8s | %-29s | %-29s\n", "of one round trip", "wall us", "client: cpu us, late us, waits",
              "server: cpu us, late us, waits");
  const auto row = [&](const char* what, int pid, const std::function<void()>& once) {
    for (int i = 0; i < 1000; ++i) once();
    const Work client_before = WorkOf(getpid()), server_before = WorkOf(pid);
    const double start = Now();
    for (int i = 0; i < kCount; ++i) once();
    const double wall = (Now() - start) * 1e6;
    const Work ours = WorkOf(getpid()) - client_before, theirs = WorkOf(pid) - server_before;
    std::printf("%-22s %8.1f", what, wall / kCount);
    for (const Work& work : {ours, theirs}) {
      std::printf(" | %9.1f %9.1f %9.2f", work.cpu_us / kCount, work.late_us / kCount,
                  static_cast<double>(work.waits) / kCount);
    }
    std::printf("\n");
  };
  row("bare echo", echo_pid, [&] { EchoMicroseconds(echo, 1); });
  row("ping", daemon.pid(), [&] { Must(client.Ping(), "ping"); });
  row("execute", daemon.pid(),
      [&] { Must(Must(tiny.Execute({x}), "execute")[0].ready().Await(), "execute"); });
  row("execute and read", daemon.pid(),
      [&] { Must(Must(tiny.Execute({x}), "execute")[0].Item<float>(), "read"); });
}

void Pipelined(const testing::Daemon& daemon, BareStream& echo, int repeats) {
  const Client client = Must(daemon.Connect(), "connect");
  const Executable tiny = TinyProgram(client);
  const Buffer x = Must(client.device(0).Upload(Literal::Scalar(1.0f)), "upload");
  constexpr int kCount = 20000;
  // Dropping a value is a command, too: a chain that keeps its values has commands of one kind.
  const auto chain = [&](bool keep) {
    std::vector<Buffer> kept;
    const double start = Now();
    Buffer value = x;
    for (int i = 0; i < kCount; ++i) {
      if (keep) kept.push_back(value);
      value = Must(tiny.Execute({value}), "execute")[0];
    }
    Must(client.Sync(), "sync");
    return kCount / (Now() - start) / 1e3;
  };
  const auto bare = [&] { return EchoesPerSecond(echo, kCount, 64) / 1e3; };
  chain(false);
  Print("pipelined executes, values kept, unix",
        Interleave(repeats, [&] { return chain(true); }, bare), "k/s", "bare echoes, window 64", ">= 0.5");
  Print("pipelined executes, each value dropped, unix",
        Interleave(repeats, [&] { return chain(false); }, bare), "k/s", "bare echoes, window 64", ">= 0.5");
}

// The shape of deploy/quickstart's training: each step uploads a batch of images and their labels, executes,
// and drops the results of the step before. The program is tiny, so that the wire's time dominates.
void TrainingSteps(const testing::Daemon& daemon, const std::string& peer, int repeats) {
  const Client client = Must(daemon.Connect(), "connect");
  hlo::Module module("step");
  hlo::Builder b(module, "main");
  const hlo::Op state = b.Parameter(0, Shape::Array(hlo::kF32, {16}));
  b.Parameter(1, Shape::Array(hlo::kU8, {64, 64}));
  b.Parameter(2, Shape::Array(hlo::kS32, {64}));
  Must(b.Build(state + state), "step program");
  const Executable step = Must(client.Compile(module), "compile");
  const std::vector<uint8_t> images(64 * 64, 1);
  const std::vector<int32_t> labels(64, 2);
  constexpr int kCount = 5000;
  const auto train = [&] {
    const Device device = client.device(0);
    Buffer value = Must(device.Upload(Literal(Shape::Array(hlo::kF32, {16}))), "upload");
    ExecuteOptions options;
    options.donate = {0};
    const double start = Now();
    for (int i = 0; i < kCount; ++i) {
      value = Must(step.Execute({value, Must(device.Upload<uint8_t>(images, {64, 64}), "upload"),
                                 Must(device.Upload<int32_t>(labels, {64}), "upload")},
                                options),
                   "execute")[0];
    }
    Must(client.Sync(), "sync");
    return kCount / (Now() - start) / 1e3;
  };
  BareStream answer(peer, "/bare/Answer");
  const size_t bytes = images.size() + labels.size() * sizeof(int32_t) + 64;
  const auto bare = [&] { return EchoesPerSecond(answer, kCount, 64, bytes) / 1e3; };
  train();
  Print("training steps (2 uploads, 1 execute), unix", Interleave(repeats, train, bare), "k/s",
        "bare messages of as many bytes", ">= 0.5");
}

// The arena's limit: one thread copies pieces in while another copies them out.
double PipelinedCopies(std::vector<std::byte>& from, std::vector<std::byte>& to) {
  static rpc::SharedMemory arena = Must(rpc::SharedMemory::Create(64 << 20), "arena");
  constexpr size_t kPiece = 2 << 20;
  const size_t slots = arena.bytes().size() / kPiece;
  std::atomic<size_t> written{0}, read{0};
  const size_t pieces = from.size() / kPiece;
  const double start = Now();
  std::thread reader([&] {
    for (size_t i = 0; i < pieces; ++i) {
      while (written.load(std::memory_order_acquire) <= i) {
      }
      std::memcpy(to.data() + i * kPiece, arena.bytes().data() + i % slots * kPiece, kPiece);
      read.store(i + 1, std::memory_order_release);
    }
  });
  for (size_t i = 0; i < pieces; ++i) {
    while (i >= read.load(std::memory_order_acquire) + slots) {
    }
    std::memcpy(arena.bytes().data() + i % slots * kPiece, from.data() + i * kPiece, kPiece);
    written.store(i + 1, std::memory_order_release);
  }
  reader.join();
  return static_cast<double>(from.size()) / (Now() - start) / 1e9;
}

double BarePut(const std::string& address, const std::vector<std::byte>& from) {
  BareStream stream(address, "/bare/Put");
  const double start = Now();
  Put(stream, from);
  return static_cast<double>(from.size()) / (Now() - start) / 1e9;
}

double BareGet(const std::string& address, std::vector<std::byte>& to) {
  BareStream stream(address, "/bare/Get");
  const double start = Now();
  const int64_t bytes = static_cast<int64_t>(to.size());
  const grpc::Slice slice(&bytes, sizeof(bytes));
  stream.Write(grpc::ByteBuffer(&slice, 1));
  stream.Next();
  for (size_t at = 0; at < to.size();) {
    stream.Read();
    stream.Next();
    std::vector<grpc::Slice> slices;
    stream.received().Dump(&slices);
    for (const grpc::Slice& part : slices) {
      std::memcpy(to.data() + at, part.begin(), part.size());
      at += part.size();
    }
  }
  return static_cast<double>(to.size()) / (Now() - start) / 1e9;
}

void Transfers(const Client& client, const char* name, int repeats, const std::function<double()>& put_limit,
               const std::function<double()>& get_limit, const char* limit, const char* aim) {
  const Shape shape = Shape::Array(hlo::kU8, {kBulkBytes});
  std::vector<std::byte> host(kBulkBytes, std::byte{7});
  const auto upload = [&] {
    const double start = Now();
    const Buffer buffer = Must(client.device(0).Upload(host, shape), "upload");
    Must(buffer.ready().Await(), "upload");
    return kBulkBytes / (Now() - start) / 1e9;
  };
  const Buffer source = Must(client.device(0).Upload(host, shape), "upload");
  const auto download = [&] {
    const double start = Now();
    Must(source.Download(absl::MakeSpan(host)), "download");
    return kBulkBytes / (Now() - start) / 1e9;
  };
  upload();
  download();
  Print(std::string("upload 256 MiB, ") + name, Interleave(repeats, upload, put_limit), "GB/s", limit, aim);
  Print(std::string("download 256 MiB, ") + name, Interleave(repeats, download, get_limit), "GB/s", limit,
        aim);
}

// Returns a process's resident memory in MiB.
double ResidentMiB(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

void Footprint(int repeats) {
  std::vector<double> starts;
  for (int i = 0; i < repeats; ++i) {
    const double start = Now();
    const testing::Daemon daemon = Must(testing::Daemon::Start(), "daemon");
    const Client client = Must(daemon.Connect(), "connect");
    Must(client.Ping(), "ping");
    starts.push_back((Now() - start) * 1e3);
  }
  std::printf("%-44s %10.2f ms\n", "daemon start to first answer", Median(starts));
  const testing::Daemon daemon = Must(testing::Daemon::Start(), "daemon");
  const double idle = ResidentMiB(daemon.pid());
  std::vector<Client> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(Must(daemon.Connect(), "connect"));
    Must(clients.back().Ping(), "ping");
  }
  const double busy = ResidentMiB(daemon.pid());
  std::printf("%-44s %10.2f MiB, and %.2f MiB for each client\n", "daemon resident, idle", idle,
              (busy - idle) / 16);
}

void Run(int repeats, bool messages_only, bool profile) {
  const std::string path = "/tmp/hlod-bench-" + std::to_string(getpid()) + ".sock";
  const BarePeer unix_peer("unix:" + path);
  const std::string tcp = "127.0.0.1:" + std::to_string(20000 + getpid() % 20000);
  const BarePeer tcp_peer(tcp);
  testing::DaemonOptions options;
  options.flags = {"--device-memory", "4GiB"};
  {
    // Listens on a Unix socket alone: with a second listener, gRPC's pollers wake one another.
    const testing::Daemon daemon = Must(testing::Daemon::Start(options), "daemon");
    BareStream echo(unix_peer.address(), "/bare/Echo");
    if (profile) {
      Profile(daemon, echo, unix_peer.pid());
    } else {
      RoundTrips(daemon, echo, "", repeats);
      {
        const OnOneCore one({getpid(), daemon.pid(), unix_peer.pid()});
        RoundTrips(daemon, echo, ", one core", repeats);
      }
      Pipelined(daemon, echo, repeats);
      TrainingSteps(daemon, unix_peer.address(), repeats);
    }
  }
  if (messages_only || profile) {
    unlink(path.c_str());
    return;
  }
  {
    options.tcp = true;
    const testing::Daemon daemon = Must(testing::Daemon::Start(options), "daemon");
    std::vector<std::byte> from(kBulkBytes, std::byte{3}), to(kBulkBytes, std::byte{4});
    const auto copies = [&] { return PipelinedCopies(from, to); };
    Transfers(Must(daemon.Connect(), "connect"), "shared arena", repeats, copies, copies,
              "two pipelined memcpys", ">= 0.8");
    ConnectOptions stream_only;
    stream_only.shared_memory = false;
    Transfers(
        Must(daemon.ConnectTcp(stream_only), "connect"), "TCP stream", repeats,
        [&] { return BarePut(tcp, from); }, [&] { return BareGet(tcp, to); }, "bare chunk stream", ">= 0.9");
  }
  Footprint(repeats);
  unlink(path.c_str());
}

}  // namespace
}  // namespace hlod::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--bare-server") == 0) {
    hlod::bench::RunBareServer(argv[2]);
    return 0;
  }
  if (argc == 4 && std::strcmp(argv[1], "--attack") == 0) {
    hlod::bench::Attack(argv[2], argv[3]);
    return 0;
  }
  int repeats = 5;
  bool bystander = false, messages_only = false, profile = false;
  std::string attack;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) repeats = std::atoi(argv[++i]);
    if (std::strcmp(argv[i], "--messages") == 0) messages_only = true;
    if (std::strcmp(argv[i], "--profile") == 0) profile = true;
    if (std::strcmp(argv[i], "--bystander") == 0) {
      bystander = true;
      if (i + 1 < argc && argv[i + 1][0] != '-') attack = argv[++i];
    }
  }
  if (bystander) {
    hlod::bench::Bystander(repeats, attack);
    return 0;
  }
  hlod::bench::Run(repeats, messages_only, profile);
  return 0;
}
