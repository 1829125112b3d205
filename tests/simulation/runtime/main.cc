// Plays programs that use the client library, one per seed: simulate_runtime --seeds 1-200, or --seed 17,
// which plays one twice and compares.
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/simulation/runtime/world.h"

namespace hlod::simulation {
namespace {

constexpr int kCalls = 120;

int PlayOne(uint64_t seed) {
  RuntimeWorld world(seed), again(seed);
  const std::string wrong = world.Play(kCalls), wrong_again = again.Play(kCalls);
  const bool same =
      wrong == wrong_again && world.trace_hash() == again.trace_hash() && world.steps() == again.steps();
  std::printf("seed %llu: %s after %lld steps%s\n", static_cast<unsigned long long>(seed),
              wrong.empty() ? "nothing wrong" : wrong.c_str(), static_cast<long long>(world.steps()),
              same ? "" : "; it does not repeat");
  return wrong.empty() && same ? 0 : 1;
}

int PlayMany(uint64_t from, uint64_t to) {
  int64_t steps = 0, resumed = 0, lost = 0;
  for (uint64_t seed = from; seed <= to; ++seed) {
    RuntimeWorld world(seed);
    const std::string wrong = world.Play(kCalls);
    steps += world.steps();
    resumed += world.resumed();
    lost += world.lost();
    if (wrong.empty()) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    return 1;
  }
  std::printf("seeds %llu to %llu: %lld steps, %lld connections resumed, %lld sessions lost, nothing wrong\n",
              static_cast<unsigned long long>(from), static_cast<unsigned long long>(to),
              static_cast<long long>(steps), static_cast<long long>(resumed), static_cast<long long>(lost));
  return 0;
}

}  // namespace
}  // namespace hlod::simulation

int main(int argc, char** argv) {
  // The library resumes a session on a thread of its own, or, when the system refuses one, on the thread that
  // waits. The latter makes a world of one thread, in which a seed repeats
  // (tests/support/refused_threads.cc).
  setenv("HLOD_TEST_NO_THREADS", "/", /*overwrite=*/1);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  spdlog::set_level(spdlog::level::off);
  const std::string name = argc > 2 ? argv[1] : "";
  char* rest = nullptr;
  const uint64_t from = argc > 2 ? std::strtoull(argv[2], &rest, 10) : 1;
  if (name == "--seed") return hlod::simulation::PlayOne(from);
  const uint64_t to = rest != nullptr && *rest == '-' ? std::strtoull(rest + 1, nullptr, 10) : 200;
  return hlod::simulation::PlayMany(from, to);
}
