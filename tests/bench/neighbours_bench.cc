// Measures a tiny execute and its read beside other sessions of the same user: alone, then beside each
// attack, in turns. Each attacker is a process of its own, like a real neighbour. Prints the median and the
// 99th percentile, and their ratios to those measured alone; the same of a bare echo, measured in turns with
// the executes, which is the machine's share.
//   neighbours_bench [ROUNDS [ATTACK]]
// ATTACK is the name of the only attack.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/system/temporary_folder.h"
#include "hlod/hlod.h"
#include "hlod/testing.h"
#include "tests/bench/wire/bare_peer.h"

extern char** environ;

namespace {

using hlod::Buffer;
using hlod::Client;
using hlod::Executable;

constexpr char kTiny[] = R"(HloModule tiny
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] add(x, x)
})";

// Returns a chain of fused loops and products that is not in any cache.
std::string ProgramToCompile(int number) {
  std::string text = absl::StrFormat(
      "HloModule storm\nENTRY main {\n  v0 = f32[64,64] parameter(0)\n  c = f32[] constant(%d.5)\n"
      "  b = f32[64,64] broadcast(c), dimensions={}\n",
      number);
  for (int i = 0; i < 300; ++i) {
    absl::StrAppendFormat(
        &text,
        i % 3 == 2 ? "  v%d = f32[64,64] dot(v%d, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                   : "  v%d = f32[64,64] add(v%d, b)\n",
        i + 1, i);
  }
  return text + "  ROOT r = f32[64,64] tanh(v300)\n}\n";
}

Client Connect(const std::string& address) { return Client::Connect({.address = address}).value(); }

void Storm(const std::string& address, int seed) {
  const Client client = Connect(address);
  for (int i = 0;; ++i) {
    std::vector<Executable> batch;
    for (int j = 0; j < 8; ++j)
      batch.push_back(client.CompileText(ProgramToCompile(seed * 1'000'000 + 8 * i + j)).value());
    for (const Executable& program : batch) program.ready().Await().IgnoreError();
  }
}

// Sends executes of `elements` numbers each, as fast as they are accepted.
void Executes(const std::string& address, int64_t elements) {
  const Client client = Connect(address);
  const Executable program =
      client
          .CompileText(absl::StrFormat(
              "HloModule attack\nENTRY main {\n  x = f32[%d] parameter(0)\n  ROOT y = f32[%d] add(x, x)\n}",
              elements, elements))
          .value();
  const Buffer x =
      client.device(0).Upload(hlod::Literal(hlod::Shape::Array(hlod::hlo::kF32, {elements}))).value();
  for (;;) {
    std::vector<Buffer> results;
    for (int i = 0; i < 64; ++i) results.push_back(program.Execute({x}).value()[0]);
    results.back().ready().Await().IgnoreError();
  }
}

// Uploads a new array of 15 MB for each execute.
void Uploads(const std::string& address) {
  const Client client = Connect(address);
  const hlod::Literal array(hlod::Shape::Array(hlod::hlo::kF32, {3'750'000}));
  const Executable program = client
                                 .CompileText(
                                     "HloModule attack\nENTRY main {\n  x = f32[3750000] parameter(0)\n  "
                                     "ROOT y = f32[3750000] add(x, x)\n}")
                                 .value();
  for (;;) {
    const Buffer x = client.device(0).Upload(array).value();
    program.Execute({x}).value()[0].ready().Await().IgnoreError();
  }
}

struct Attack {
  const char* name;
  int sessions;
};
constexpr Attack kAttacks[] = {
    {"compiles", 4}, {"tiny executes", 16}, {"15 MB executes", 4}, {"15 MB uploads", 4}};

[[noreturn]] void RunAttack(std::string_view name, const std::string& address, int seed) {
  if (name == "compiles") Storm(address, seed);
  if (name == "tiny executes") Executes(address, 4);
  if (name == "15 MB executes") Executes(address, 3'750'000);
  Uploads(address);
  std::abort();
}

// The processes of one attack; killed with the object.
class Attackers {
 public:
  Attackers(const Attack& attack, const std::string& address) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    for (int i = 0; i < attack.sessions; ++i) {
      std::vector<std::string> words = {self, "attack", attack.name, address, std::to_string(i + 1)};
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      pid_t pid = 0;
      if (posix_spawn(&pid, self.c_str(), nullptr, nullptr, arguments.data(), environ) == 0)
        pids_.push_back(pid);
    }
  }
  ~Attackers() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  }

 private:
  std::vector<pid_t> pids_;
};

// Times in milliseconds.
struct Times {
  std::vector<double> executes, echoes;
};

template <typename F>
void AppendTime(std::vector<double>& times, const F& once) {
  const absl::Time begin = absl::Now();
  once();
  times.push_back(absl::ToDoubleMilliseconds(absl::Now() - begin));
  absl::SleepFor(absl::Milliseconds(3));
}

// Appends the times of executes and of echoes, in turns, measured a few milliseconds apart.
void Measure(const Executable& tiny, const Buffer& x, hlod::bench::BareStream& echo, Times& times) {
  const grpc::Slice bytes(std::string(64, 'x'));
  const grpc::ByteBuffer message(&bytes, 1);
  for (int i = 0; i < 400; ++i) {
    AppendTime(times.executes, [&] {
      if (!tiny.Execute({x}).value()[0].ToLiteral().ok()) std::abort();
    });
    AppendTime(times.echoes, [&] {
      echo.Read();
      echo.Write(message);
      echo.Next();
      echo.Next();
    });
  }
}

double Quantile(std::vector<double>& times, double q) {
  std::sort(times.begin(), times.end());
  return times[static_cast<size_t>(q * static_cast<double>(times.size() - 1))];
}

void Print(const std::string& name, Times& of, Times& alone) {
  const auto line = [](const std::string& title, std::vector<double>& beside, std::vector<double>& quiet) {
    const double p50 = Quantile(beside, 0.5), p99 = Quantile(beside, 0.99);
    std::printf("%-24s %10.2f %10.2f %7.1fx %7.1fx\n", title.c_str(), p50, p99, p50 / Quantile(quiet, 0.5),
                p99 / Quantile(quiet, 0.99));
  };
  line(name, of.executes, alone.executes);
  line("  a bare echo", of.echoes, alone.echoes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--bare-server") hlod::bench::RunBareServer(argv[2]);
  if (argc == 5 && std::string_view(argv[1]) == "attack") RunAttack(argv[2], argv[3], std::atoi(argv[4]));
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2;
  const hlod::testing::Daemon daemon = hlod::testing::Daemon::Start().value();
  const hlod::TemporaryFolder folder = hlod::TemporaryFolder::Make("hlod-bench").value();
  const hlod::bench::BarePeer peer("unix:" + folder.path() + "/echo");
  hlod::bench::BareStream echo(peer.address(), "/bare/Echo");
  const Client client = Connect(daemon.address());
  const Executable tiny = client.CompileText(kTiny).value();
  const Buffer x = client.device(0).Upload(hlod::Literal::Vector<float>({1, 2, 3, 4})).value();
  std::map<std::string, Times> times;
  Times warm;
  Measure(tiny, x, echo, warm);
  for (int round = 0; round < rounds; ++round) {
    Measure(tiny, x, echo, times["alone"]);
    for (const Attack& attack : kAttacks) {
      if (argc > 2 && std::string_view(argv[2]) != attack.name) continue;
      const Attackers attackers(attack, daemon.address());
      absl::SleepFor(absl::Seconds(1));  // Gives them time to connect and fill all limits.
      Measure(tiny, x, echo, times[attack.name]);
    }
  }
  std::printf("%-24s %10s %10s %8s %8s\n", "beside", "p50 ms", "p99 ms", "p50", "p99");
  for (auto& [name, of] : times) Print(name, of, times["alone"]);
}
