// Programs over several daemons on the loopback interface: launches without work beside a bare round trip,
// and sums over all daemons beside a new bare stream of the bytes that a ring of daemons would send.
//
//   cluster_bench [--repeats N] [--daemons N]
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlod/hlod.h"
#include "hlod/testing.h"
#include "tests/bench/wire/bare_peer.h"
#include "tests/bench/wire/report.h"
#include "tests/support/must.h"

namespace hlod::bench {
namespace {

// A cluster whose members have `devices` devices each.
std::vector<testing::Daemon> StartCluster(int daemons, int devices) {
  std::vector<testing::Daemon> members;
  for (int rank = 0; rank < daemons; ++rank) {
    testing::DaemonOptions options;
    options.tcp = true;
    options.flags = {"--cluster", "bench", "--devices", absl::StrCat(devices), "--device-memory", "1GiB"};
    const std::vector<std::string> place =
        rank == 0
            ? std::vector<std::string>{"--cluster-size", absl::StrCat(daemons)}
            : std::vector<std::string>{"--join", members[0].tcp_address(), "--rank", absl::StrCat(rank)};
    options.flags.insert(options.flags.end(), place.begin(), place.end());
    members.push_back(Must(testing::Daemon::Start(options), "daemon"));
  }
  for (const testing::Daemon& member : members) {
    const Admin admin = Must(member.Administration(), "administration");
    for (;;) {
      const Cluster cluster = Must(admin.Cluster(), "cluster");
      size_t linked = 0;
      for (const ClusterMember& row : cluster.members)
        linked += row.state == "linked" || row.state == "here" ? 1 : 0;
      if (linked == members.size()) break;
      absl::SleepFor(absl::Milliseconds(5));
    }
  }
  return members;
}

double Microseconds(int count, const std::function<void()>& once) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const double start = Now();
    once();
    times.push_back((Now() - start) * 1e6);
  }
  return Median(times);
}

double EchoMicroseconds(BareStream& stream, int count) {
  const grpc::Slice slice(std::string(64, 'x'));
  const grpc::ByteBuffer message(&slice, 1);
  return Microseconds(count, [&] {
    stream.Read();
    stream.Write(message);
    stream.Next();
    stream.Next();
  });
}

// The time of one stream that sends `bytes` in chunks, until the receiver has copied all of them.
double PutMicroseconds(const std::string& address, int64_t bytes, int count) {
  static const std::vector<std::byte> from(kBareChunkBytes, std::byte{1});
  return Microseconds(count, [&] {
    BareStream stream(address, "/bare/Put");
    for (int64_t left = bytes; left > 0; left -= kBareChunkBytes) {
      const grpc::Slice slice(from.data(), static_cast<size_t>(std::min(left, kBareChunkBytes)),
                              grpc::Slice::STATIC_SLICE);
      stream.Write(grpc::ByteBuffer(&slice, 1));
      stream.Next();
    }
    stream.WritesDone();
    stream.Next();
    stream.Read();
    stream.Next();
  });
}

// One program over all daemons.
class Everywhere {
 public:
  Everywhere(const Client& client, const std::string& text, int participants, int64_t count)
      : program_(Must(client.CompileText(text), "compile")) {
    for (int i = 0; i < participants; ++i) {
      devices_.push_back(i);
      const Literal value(Shape::Array(hlo::kF32, {count}));
      arguments_.push_back({Must(client.device(i).Upload(value), "upload")});
    }
  }
  void Run() const {
    const auto results =
        Must(program_.ExecuteParticipants(arguments_, {.devices = devices_}), "execute of all participants");
    for (const std::vector<Buffer>& own : results) {
      const absl::Status status = own[0].ready().Await();
      if (status.ok()) continue;
      std::fprintf(stderr, "run: %s\n", status.ToString().c_str());
      std::exit(1);
    }
  }

 private:
  Executable program_;
  std::vector<int> devices_;
  std::vector<std::vector<Argument>> arguments_;
};

std::string Sum(int participants, int64_t count) {
  return absl::StrFormat(
      "HloModule sum, replica_count=%d\n"
      "add {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q)\n}\n"
      "ENTRY e {\n x = f32[%d] parameter(0)\n"
      " ROOT y = f32[%d] all-reduce(x), replica_groups={}, to_apply=add\n}\n",
      participants, count, count);
}

std::string Nothing(int participants) {
  return absl::StrFormat(
      "HloModule nothing, replica_count=%d\nENTRY e {\n x = f32[1] parameter(0)\n"
      " ROOT y = f32[1] negate(x)\n}\n",
      participants);
}

// Copies from the first daemon's device to the second one's: each is read once it is there.
void CompareCopies(const BarePeer& peer, const Client& client, int other, int repeats) {
  for (const int64_t bytes : {int64_t{4}, int64_t{1} << 20, int64_t{16} << 20}) {
    const int runs = bytes > (1 << 20) ? 4 : 30;
    const Buffer source =
        Must(client.device(0).Upload(Literal(Shape::Array(hlo::kF32, {bytes / 4}))), "upload");
    Print(absl::StrCat("copy of ", bytes, " B to another daemon"),
          Interleave(
              repeats,
              [&] {
                return Microseconds(runs, [&] {
                  const Buffer copy = Must(source.CopyTo(client.device(other)), "copy");
                  const absl::Status status = copy.ready().Await();
                  if (!status.ok()) std::exit(1);
                });
              },
              [&] { return PutMicroseconds(peer.address(), bytes, runs); }),
          "us", "bare stream of the bytes", "<= 2");
  }
}

void Compare(const BarePeer& peer, BareStream& echo, int daemons, int devices, int repeats) {
  const std::vector<testing::Daemon> members = StartCluster(daemons, devices);
  const Client client = Must(members[0].Connect(), "connect");
  const int participants = daemons * devices;
  const std::string where = absl::StrFormat(", %d daemons x %d", daemons, devices);
  const auto bare = [&] { return EchoMicroseconds(echo, 500); };
  bare();
  const Everywhere nothing(client, Nothing(participants), participants, 1);
  nothing.Run();
  Print("launch without work" + where,
        Interleave(
            repeats, [&] { return Microseconds(100, [&] { nothing.Run(); }); }, bare),
        "us", "bare stream echo", "<= 3");
  CompareCopies(peer, client, devices, repeats);
  struct Size {
    const char* name;
    int64_t count;
    int runs;
  };
  for (const Size& size : {Size{"4 B", 1, 100}, Size{"64 KiB", 16 << 10, 30}, Size{"256 KiB", 64 << 10, 10},
                           Size{"16 MiB", 4 << 20, 2}}) {
    const Everywhere sum(client, Sum(participants, size.count), participants, size.count);
    sum.Run();
    const int64_t bytes = 2 * (daemons - 1) * size.count * 4;
    Print(absl::StrCat("all-reduce of ", size.name, where),
          Interleave(
              repeats, [&] { return Microseconds(size.runs, [&] { sum.Run(); }); },
              [&] { return PutMicroseconds(peer.address(), bytes, size.runs); }),
          "us", absl::StrCat("bare stream of ", bytes, " B").c_str(), "<= 3");
  }
}

void Run(int repeats, int only) {
  const BarePeer peer(absl::StrCat("127.0.0.1:", 20000 + getpid() % 20000));
  BareStream echo(peer.address(), "/bare/Echo");
  for (const auto& [daemons, devices] : {std::pair{2, 1}, {4, 1}, {2, 4}}) {
    if (only == 0 || only == daemons) Compare(peer, echo, daemons, devices, repeats);
  }
}

}  // namespace
}  // namespace hlod::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--bare-server") == 0) {
    hlod::bench::RunBareServer(argv[2]);
    return 0;
  }
  int repeats = 3, only = 0;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0) repeats = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--daemons") == 0) only = std::atoi(argv[i + 1]);
  }
  hlod::bench::Run(repeats, only);
  return 0;
}
