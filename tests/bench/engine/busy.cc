// Measures the engine on a quiet machine and beside busy neighbours, for several lengths of the OpenMP team's
// spinning. Its figures settled `kSpinCount` of server/engine/run/team_policy.cc.
//
//     busy_bench [SECONDS_PER_FIGURE]
//
// Neighbours are processes of this program that only loop. For each kernel it prints the medians and means of
// a team as large as the machine and of one thread, measured in turn: with a good policy the team is never
// much slower.
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/hlo/text/text.h"
#include "server/engine/plan/plan.h"

namespace hlod::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Starts a process of this program with `spin_count` in its environment ("" for libgomp's default).
pid_t Start(const std::vector<std::string>& arguments, const std::string& spin_count) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.substr(0, 5) != "GOMP_" && text.substr(0, 4) != "OMP_") environment.emplace_back(text);
  }
  if (!spin_count.empty()) environment.push_back("GOMP_SPINCOUNT=" + spin_count);
  std::vector<char*> argv, envp;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  for (const std::string& entry : environment) envp.push_back(const_cast<char*>(entry.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  pid_t pid = -1;
  return posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), envp.data()) == 0 ? pid : -1;
}

[[noreturn]] void BeBusy(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (volatile uint64_t turn = 0; getppid() == parent;) {
    for (int i = 0; i < 1'000'000; ++i) turn = turn + 1;
  }
  std::_Exit(0);
}

struct Kernel {
  const char* name;
  const char* text;
};
constexpr Kernel kKernels[] = {
    {"multiply, 64 Ki f32", R"(HloModule m
      ENTRY e { a = f32[65536] parameter(0)
        b = f32[65536] parameter(1)
        ROOT r = f32[65536] multiply(a, b) })"},
    {"multiply, 1 Mi f32", R"(HloModule m
      ENTRY e { a = f32[1048576] parameter(0)
        b = f32[1048576] parameter(1)
        ROOT r = f32[1048576] multiply(a, b) })"},
    {"tanh, 1 Mi f32", R"(HloModule m
      ENTRY e { a = f32[1048576] parameter(0)
        b = f32[1048576] parameter(1)
        t = f32[1048576] tanh(a)
        ROOT r = f32[1048576] add(t, b) })"},
    {"dot, 256 f32", R"(HloModule m
      ENTRY e { a = f32[256,256] parameter(0)
        b = f32[256,256] parameter(1)
        ROOT r = f32[256,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })"},
    {"30 multiplies, 128 Ki f32", R"(HloModule m
      body { s = (s32[], f32[131072]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        x = f32[131072] get-tuple-element(s), index=1
        one = s32[] constant(1)
        j = s32[] add(i, one)
        y = f32[131072] multiply(x, x)
        ROOT t = (s32[], f32[131072]) tuple(j, y) }
      more { s = (s32[], f32[131072]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(30)
        ROOT p = pred[] compare(i, n), direction=LT }
      ENTRY e { a = f32[131072] parameter(0)
        b = f32[131072] parameter(1)
        zero = s32[] constant(0)
        s = (s32[], f32[131072]) tuple(zero, a)
        w = (s32[], f32[131072]) while(s), condition=more, body=body
        ROOT r = f32[131072] get-tuple-element(w), index=1 })"},
};

struct AlignedFree {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Bytes = std::unique_ptr<std::byte, AlignedFree>;
Bytes MakeBytes(int64_t size) {
  const size_t rounded = (static_cast<size_t>(size) + 64) / 64 * 64;
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(64, rounded));
  std::memset(bytes, 0, rounded);
  return Bytes(bytes);
}

// A plan with memory of its own.
class Runner {
 public:
  Runner(const hlo::Module& module, int threads)
      : plan_(engine::Compile(module, {.threads = threads}).value()) {
    for (const hlo::Shape& shape : plan_->arguments())
      arguments_.push_back(Take(hlo::ByteSize(shape).value_or(0)));
    for (const hlo::Shape& shape : plan_->results())
      results_.push_back(Take(hlo::ByteSize(shape).value_or(0)));
    temporary_ = Take(plan_->memory().temporary_bytes);
  }
  double Microseconds() {
    const auto start = Clock::now();
    if (!plan_->Run(arguments_, results_, temporary_, context_).ok()) std::abort();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }

 private:
  std::byte* Take(int64_t bytes) { return memory_.emplace_back(MakeBytes(bytes)).get(); }

  std::unique_ptr<engine::Plan> plan_;
  std::vector<Bytes> memory_;
  std::vector<const std::byte*> arguments_;
  std::vector<std::byte*> results_;
  std::byte* temporary_ = nullptr;
  engine::RunContext context_;
};

struct Times {
  std::vector<double> us;
  double median() {
    std::nth_element(us.begin(), us.begin() + us.size() / 2, us.end());
    return us[us.size() / 2];
  }
  double mean() const {
    double sum = 0;
    for (double t : us) sum += t;
    return sum / static_cast<double>(us.size());
  }
};

void Measure(double seconds) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const Kernel& kernel : kKernels) {
    const auto module = hlo::ParseModule(kernel.text).value();
    Runner team(*module, cores), alone(*module, 1);
    Times of_team, of_one;
    const auto begin = Clock::now();
    while (of_team.us.size() < 20 || std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
      of_team.us.push_back(team.Microseconds());
      of_one.us.push_back(alone.Microseconds());
    }
    std::printf(
        "    %-28s team: median %8.0f us, mean %8.0f   one thread: %8.0f, %8.0f   ratio %6.2f, %6.2f\n",
        kernel.name, of_team.median(), of_team.mean(), of_one.median(), of_one.mean(),
        of_team.median() / of_one.median(), of_team.mean() / of_one.mean());
  }
}

int Main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--busy") BeBusy(std::atoi(argv[2]));
  if (argc == 3 && std::string_view(argv[1]) == "--measure") {
    Measure(std::atof(argv[2]));
    return 0;
  }
  const std::string seconds = argc > 1 ? argv[1] : "1";
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const int neighbours : {0, cores}) {
    std::vector<pid_t> busy;
    for (int i = 0; i < neighbours; ++i)
      busy.push_back(Start({argv[0], "--busy", std::to_string(getpid())}, ""));
    for (const char* spin_count : {"", "0", "100", "300", "1000", "10000"}) {
      std::printf("%d busy neighbours, GOMP_SPINCOUNT %s\n", neighbours,
                  *spin_count == '\0' ? "unset" : spin_count);
      std::fflush(stdout);
      int status = 0;
      waitpid(Start({argv[0], "--measure", seconds}, spin_count), &status, 0);
    }
    for (pid_t pid : busy) {
      if (pid <= 0) continue;
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  return 0;
}

}  // namespace
}  // namespace hlod::bench

int main(int argc, char** argv) { return hlod::bench::Main(argc, argv); }
