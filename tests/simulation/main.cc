// Plays simulated worlds, one per seed:
//
//   simulate --seeds 1-400            those seeds; a failure is printed with its seed, the fewest steps that
//                                       still show it, and the last steps
//   simulate --seconds 3600           seeds from --from on, for so long
//   simulate --seed 17 [--steps 90] [--show]   one seed, twice: it must happen the same both times
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/simulation/world.h"

namespace hlod::simulation {
namespace {

// The number of commands whose cancellation shows whether cancels work.
constexpr int64_t kCancels = 500;

struct Arguments {
  uint64_t from = 1, to = 100;
  int steps = 400;
  double seconds = 0;
  bool one = false, show = false;
};

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--show") {
      arguments.show = true;
      continue;
    }
    if (i + 1 == argc) break;
    const char* const value = argv[++i];
    if (name == "--seed") {
      arguments.from = arguments.to = std::strtoull(value, nullptr, 10);
      arguments.one = true;
    } else if (name == "--seeds") {
      char* rest;
      arguments.from = std::strtoull(value, &rest, 10);
      arguments.to = std::strtoull(rest + (*rest == '-'), nullptr, 10);
    } else if (name == "--from") {
      arguments.from = std::strtoull(value, nullptr, 10);
    } else if (name == "--steps") {
      arguments.steps = std::atoi(value);
    } else if (name == "--seconds") {
      arguments.seconds = std::atof(value);
    }
  }
  return arguments;
}

std::string PlayOnce(uint64_t seed, int steps) { return World({.seed = seed, .steps = steps}).Play(); }

// Prints a failure with the fewest steps that show one.
void Report(uint64_t seed, int steps, const std::string& wrong) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
  int fewest = steps;
  for (int fewer = fewest / 2; fewer > 0; fewer /= 2) {
    while (fewest - fewer > 0 && !PlayOnce(seed, fewest - fewer).empty()) fewest -= fewer;
  }
  World world({.seed = seed, .steps = fewest});
  const std::string again = world.Play();
  std::printf("  with --seed %llu --steps %d: %s; the last of %zu events:\n",
              static_cast<unsigned long long>(seed), fewest, again.c_str(), world.trace().size());
  const size_t first = world.trace().size() > 12 ? world.trace().size() - 12 : 0;
  for (size_t i = first; i < world.trace().size(); ++i) std::printf("    %s\n", world.trace()[i].c_str());
}

int PlayOne(const Arguments& arguments) {
  World world({.seed = arguments.from, .steps = arguments.steps, .show = arguments.show});
  const std::string wrong = world.Play();
  World again({.seed = arguments.from, .steps = arguments.steps});
  const std::string wrong_again = again.Play();
  std::printf("seed %llu: %s after %lld steps, trace %016llx\n",
              static_cast<unsigned long long>(arguments.from),
              wrong.empty() ? "nothing wrong" : wrong.c_str(), static_cast<long long>(world.steps()),
              static_cast<unsigned long long>(world.trace_hash()));
  if (world.trace_hash() != again.trace_hash() || world.steps() != again.steps() || wrong != wrong_again) {
    std::printf("seed %llu does not repeat: trace %016llx after %lld steps the second time\n",
                static_cast<unsigned long long>(arguments.from),
                static_cast<unsigned long long>(again.trace_hash()), static_cast<long long>(again.steps()));
    return 1;
  }
  return wrong.empty() ? 0 : 1;
}

int PlayMany(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  int64_t steps = 0, seeds = 0, cancels = 0, cancelled = 0;
  for (uint64_t seed = arguments.from; arguments.seconds > 0 || seed <= arguments.to; ++seed) {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (arguments.seconds > 0 && passed > arguments.seconds) break;
    World world({.seed = seed, .steps = arguments.steps});
    const std::string wrong = world.Play();
    steps += world.steps();
    ++seeds;
    for (const std::unique_ptr<Client>& client : world.clients()) {
      cancels += client->cancels();
      cancelled += client->cancelled();
    }
    // One cancel may come too late, but not all of them.
    if (cancels >= kCancels && cancelled == 0) {
      std::printf("seeds to %llu: of %lld cancelled commands, none failed with the kind cancelled\n",
                  static_cast<unsigned long long>(seed), static_cast<long long>(cancels));
      return 1;
    }
    if (wrong.empty()) continue;
    Report(seed, arguments.steps, wrong);
    return 1;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%lld seeds from %llu on, %lld steps, nothing wrong, in %.1f s\n",
              static_cast<long long>(seeds), static_cast<unsigned long long>(arguments.from),
              static_cast<long long>(steps), seconds);
  return 0;
}

}  // namespace
}  // namespace hlod::simulation

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  spdlog::set_level(spdlog::level::off);
  const hlod::simulation::Arguments arguments = hlod::simulation::Parse(argc, argv);
  return arguments.one ? PlayOne(arguments) : PlayMany(arguments);
}
