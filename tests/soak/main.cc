// Runs clients of every kind against one daemon for a given time, kills and cuts some, and tells what grows:
//   soak_daemon [--seconds N] [--clients N] [--rate ROUNDS-PER-SECOND] [--kills-per-minute N] [--seed N]
//        [--jax PYTHON PLUGIN PACKAGE-FOLDERS]
// It fails when a client saw a wrong value or another error than it provoked, or when the daemon does not
// give everything back at the end. README.md has the figures of a long run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/system/temporary_folder.h"
#include "tests/soak/fleet.h"
#include "tests/soak/kinds.h"
#include "tests/soak/regression.h"
#include "tests/soak/samples.h"

namespace hlod::soak {
namespace {

constexpr int kBins = 30;             // The samples of a quantity are averaged in as many bins.
constexpr double kSamplesMax = 4000;  // In a run of any length.
constexpr absl::Duration kPatience = absl::Seconds(60);

struct Options {
  double seconds = 20, rate = 1, kills_per_minute = 20;
  int clients = 20;
  unsigned seed = 1;
  std::vector<std::string> jax;
};

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] {
      if (++i == argc) throw std::runtime_error(name + " needs a value");
      return argv[i];
    };
    if (name == "--seconds") options.seconds = std::atof(value());
    else if (name == "--clients") options.clients = std::atoi(value());
    else if (name == "--rate") options.rate = std::max(0.001, std::atof(value()));
    else if (name == "--kills-per-minute") options.kills_per_minute = std::atof(value());
    else if (name == "--seed") options.seed = static_cast<unsigned>(std::atoi(value()));
    else if (name == "--jax")
      for (int j = 0; j < 3; ++j) options.jax.push_back(value());
    else throw std::runtime_error(name + " is not an option: see the head of tests/soak/main.cc");
  }
  return options;
}

// A client in this process that does a tiny execute now and then and takes its time.
class Bystander {
 public:
  explicit Bystander(const testing::Daemon& daemon)
      : client_(Expect(daemon.Connect())),
        program_(Expect(client_.CompileText("HloModule tiny\nENTRY main {\n  x = f32[4] parameter(0)\n"
                                            "  ROOT y = f32[4] add(x, x)\n}"))),
        x_(Expect(client_.device(0).Upload(Literal::Vector<float>({1, 2, 3, 4})))) {}
  void Measure() {
    const absl::Time begin = absl::Now();
    Expect(Expect(Expect(program_.Execute({x_}))[0].ToLiteral()).data<float>()[3] == 8, "4 + 4 is not 8");
    milliseconds_.push_back(absl::ToDoubleMilliseconds(absl::Now() - begin));
  }
  void Print() const {
    std::printf("A bystander's tiny execute and read, %zu of them, in ms: p50 %.2f, p99 %.2f, max %.1f\n",
                milliseconds_.size(), Quantile(milliseconds_, 0.5), Quantile(milliseconds_, 0.99),
                Quantile(milliseconds_, 1));
  }

 private:
  Client client_;
  Executable program_;
  Buffer x_;
  std::vector<double> milliseconds_;
};

using Series = std::map<std::string, std::vector<Sample>>;

void PrintTable(const Series& series) {
  std::printf("%-22s %14s %14s %16s %14s %16s %14s  %s\n", "quantity", "first", "last", "slope per hour",
              "error", "of last half", "error", "verdict on the last half");
  for (const auto& [name, samples] : series) {
    const Line all = Fit(samples, kBins);
    const std::vector<Sample> half = LastHalf(samples);
    const Line last = Fit(half, kBins);
    std::printf("%-22s %14.0f %14.0f %16.1f %14.1f %16.1f %14.1f  %s\n", name.c_str(), samples.front().value,
                samples.back().value, all.slope_per_hour, all.error_per_hour, last.slope_per_hour,
                last.error_per_hour, Verdict(last, Mean(half)).c_str());
  }
}

// The threads that gRPC's executor makes when it has much to do, keeps for a while and ends when it has
// little: two per core. When they come and go is gRPC's decision, so they are neither lost nor leaked.
int64_t ThreadsOfGrpc() { return 2 * std::max<int64_t>(1, std::thread::hardware_concurrency()); }

// Waits until the daemon holds what it held before. Returns a sentence for each difference that stays.
std::vector<std::string> AwaitHeld(const testing::Daemon& daemon, const Quantities& before) {
  const Admin admin = Expect(daemon.Administration());  // One at a time, as when `before` was read.
  const absl::Time deadline = absl::Now() + kPatience;
  for (;;) {
    std::vector<std::string> differences;
    for (const auto& [name, value] : Held(daemon, admin)) {
      const int64_t earlier = before.at(name), tolerance = name == "threads" ? ThreadsOfGrpc() : 0;
      if (std::abs(value - earlier) > tolerance)
        differences.push_back(absl::StrFormat("%s: %d, and before the run %d", name, value, earlier));
    }
    if (differences.empty() || absl::Now() > deadline) return differences;
    absl::SleepFor(absl::Milliseconds(20));  // tidy: the daemon tells nobody when threads have ended.
  }
}

class Soak {
 public:
  explicit Soak(const Options& options)
      : options_(options),
        folder_(Expect(TemporaryFolder::Make("hlod-soak"))),
        cache_(folder_.path() + "/cache"),
        daemon_(Expect(testing::Daemon::Start({.tcp = true, .flags = DaemonFlags(cache_)}))),
        fleet_({daemon_.address(), daemon_.tcp_address(), folder_.path(), options.rate, JaxCommand(options)}),
        random_(options.seed) {}

  int Run() {
    // Each kind once, so that all threads and caches that the daemon keeps exist before it is compared.
    fleet_.Start(fleet_.kinds(), 1);
    Collect(fleet_.AwaitAll(3 * kPatience));
    before_ = Settled();
    if (problems_.empty()) Work();
    Collect(fleet_.EndAll(3 * kPatience));
    Collect(AwaitHeld(daemon_, before_));
    if (const std::string ledger = testing::CheckLedger(Expect(daemon_.Stats()).totals); !ledger.empty())
      problems_.push_back(ledger);
    PrintTable(series_);
    std::printf("%d sessions ended, %d clients were killed.\n",
                static_cast<int>(Expect(daemon_.Stats()).sessions_ended), fleet_.killed());
    for (const std::string& problem : problems_) std::printf("FAILED: %s\n", problem.c_str());
    if (problems_.empty()) std::printf("Everything was given back.\n");
    if (!problems_.empty()) std::printf("The daemon's log:\n%s\n", daemon_.log().c_str());
    return problems_.empty() ? 0 : 1;
  }

 private:
  // Tables that a session may fill up to a limit are small, so that they are full soon, and what grows after
  // that has no limit.
  static std::vector<std::string> DaemonFlags(const std::string& cache) {
    return {"--devices",       "2",   "--device-memory",       "1GiB", "--log-level",    "warn",
            "--compile-cache", cache, "--compile-cache-bytes", "4MiB", "--reasons-kept", "1024"};
  }
  static std::vector<std::string> JaxCommand(const Options& options) {
    if (options.jax.empty()) return {};
    const std::vector<std::string> variables = {"HLOD_PJRT_LIBRARY=" + options.jax[1],
                                                "PYTHONPATH=" + options.jax[2], "JAX_PLATFORMS=hlod",
                                                "PYTHONDONTWRITEBYTECODE=1"};
    std::vector<std::string> words = {"env"};
    words.insert(words.end(), variables.begin(), variables.end());
    const std::string package = options.jax[2].substr(0, options.jax[2].find(':'));
    words.insert(words.end(), {options.jax[0], package + "/../../tests/soak/jax_client.py"});
    return words;
  }

  void Collect(const std::vector<std::string>& sentences) {
    problems_.insert(problems_.end(), sentences.begin(), sentences.end());
  }

  // Returns what the daemon holds when all sessions have ended and its threads with them.
  Quantities Settled() {
    const Admin admin = Expect(daemon_.Administration());
    Quantities held = Held(daemon_, admin);
    const absl::Time deadline = absl::Now() + kPatience;
    for (int same = 0; same < 50 && absl::Now() < deadline;) {
      absl::SleepFor(absl::Milliseconds(20));  // tidy: nothing tells that no thread will end any more.
      const Quantities now = Held(daemon_, admin);
      same = now == held && now.at("sessions") == 0 ? same + 1 : 0;
      held = now;
    }
    for (const char* name :
         {"sessions", "rings", "host memory", "device memory", "live handles", "queued executes"}) {
      if (held.at(name) != 0)
        problems_.push_back(absl::StrFormat("without a session, %s: %d", name, held.at(name)));
    }
    return held;
  }

  void Work() {
    fleet_.Start(std::max(options_.clients, fleet_.kinds()), 0);
    Bystander bystander(daemon_);
    const Admin admin = Expect(daemon_.Administration());
    const absl::Time begin = absl::Now(), end = begin + absl::Seconds(options_.seconds);
    const absl::Duration between_samples = absl::Seconds(std::max(0.5, options_.seconds / kSamplesMax));
    const absl::Duration between_kills = absl::Seconds(60) / std::max(options_.kills_per_minute, 1e-6);
    absl::Time next_sample = begin, next_kill = begin + between_kills;
    while (absl::Now() < end && problems_.empty()) {
      bystander.Measure();
      if (absl::Now() >= next_sample) {
        Take(admin, absl::ToDoubleSeconds(absl::Now() - begin));
        next_sample += between_samples;
        Collect(fleet_.Died());
      }
      if (absl::Now() >= next_kill) {
        fleet_.KillOne(random_);
        next_kill += between_kills;
      }
      absl::SleepFor(absl::Milliseconds(25));  // tidy: the pace of the bystander.
    }
    bystander.Print();
  }

  void Take(const Admin& admin, double seconds) {
    Quantities sample = SampleDaemon(daemon_, admin, cache_);
    sample.merge(fleet_.OwnMemoryOfFirst());
    for (const auto& [name, value] : sample) series_[name].push_back({seconds, static_cast<double>(value)});
  }

  const Options options_;
  const TemporaryFolder folder_;
  const std::string cache_;
  const testing::Daemon daemon_;
  Fleet fleet_;
  std::mt19937 random_;
  Quantities before_;
  Series series_;
  std::vector<std::string> problems_;
};

int Main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--client") == 0)
    return RunClient(std::vector<std::string>(argv + 2, argv + argc));
  try {
    return Soak(ParseOptions(argc, argv)).Run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "soak_daemon: %s\n", e.what());
    return 1;
  }
}

}  // namespace
}  // namespace hlod::soak

int main(int argc, char** argv) { return hlod::soak::Main(argc, argv); }
