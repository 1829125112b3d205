// Client processes, and the loop of one.
#include "tests/soak/fleet.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tests/soak/kinds.h"
#include "tests/soak/samples.h"

extern char** environ;

namespace hlod::soak {
namespace {

constexpr char kJax[] = "jax";

// Waits for SIGTERM, at most `time`. Returns true when it came.
bool IsToldToEnd(const sigset_t& terminate, double seconds) {
  timespec time = {
      .tv_sec = static_cast<time_t>(seconds),
      .tv_nsec = static_cast<long>(1e9 * (seconds - static_cast<double>(static_cast<time_t>(seconds))))};
  return sigtimedwait(&terminate, nullptr, &time) == SIGTERM;
}

const Kind* FindKind(const std::string& name) {
  const auto at = std::ranges::find_if(Kinds(), [&](const Kind& kind) { return kind.name == name; });
  return at == Kinds().end() ? nullptr : &*at;
}

}  // namespace

int RunClient(const std::vector<std::string>& words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  sigprocmask(SIG_BLOCK, &terminate, nullptr);  // Before the library's threads, which inherit it.
  const Kind* const kind = words.size() == 7 ? FindKind(words[0]) : nullptr;
  if (kind == nullptr) return 2;
  Place place{.unix_address = words[2], .tcp_address = words[3], .folder = words[4]};
  place.random.seed(static_cast<unsigned>(std::atoi(words[1].c_str())));
  const double pause = 1 / std::atof(words[5].c_str());
  const int rounds = std::atoi(words[6].c_str());
  int done = 0;
  try {
    std::filesystem::create_directories(place.folder);
    const Round round = kind->open(place);
    do {
      round();
    } while (++done != rounds && !IsToldToEnd(terminate, pause));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: round %d: %s\n", kind->name, done, e.what());
    return 1;
  }
  return 0;
}

Fleet::Fleet(FleetOptions options) : options_(std::move(options)) {}

Fleet::~Fleet() {
  for (Member& member : members_) {
    if (member.pid <= 0) continue;
    kill(member.pid, SIGKILL);
    waitpid(member.pid, nullptr, 0);
  }
}

int Fleet::kinds() const { return static_cast<int>(Kinds().size()) + (options_.jax_command.empty() ? 0 : 1); }

std::string Fleet::KindOf(int number) const {
  const auto at = static_cast<size_t>(number % kinds());
  return at < Kinds().size() ? Kinds()[at].name : kJax;
}

Fleet::Member Fleet::Launch(int number, int rounds) {
  Member member{.kind = KindOf(number), .number = number};
  std::vector<std::string> words;
  if (member.kind == kJax) {
    words = options_.jax_command;
    words.insert(words.end(),
                 {options_.unix_address, absl::StrFormat("%g", options_.rate), std::to_string(rounds)});
  } else {
    member.mortal = FindKind(member.kind)->mortal;
    words = {std::filesystem::read_symlink("/proc/self/exe"),
             "--client",
             member.kind,
             std::to_string(number + 1000 * generations_++),
             options_.unix_address,
             options_.tcp_address,
             options_.folder + "/" + std::to_string(number),
             absl::StrFormat("%g", options_.rate),
             std::to_string(rounds)};
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (posix_spawnp(&member.pid, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    std::perror(arguments[0]);
    std::exit(1);
  }
  return member;
}

void Fleet::Start(int count, int rounds) {
  members_.clear();
  for (int i = 0; i < count; ++i) members_.push_back(Launch(i, rounds));
}

void Fleet::KillOne(std::mt19937& random) {
  std::vector<Member*> mortal;
  for (Member& member : members_) {
    if (member.mortal && member.number >= kinds()) mortal.push_back(&member);
  }
  if (mortal.empty()) return;
  Member& member = *mortal[random() % mortal.size()];
  kill(member.pid, SIGKILL);
  waitpid(member.pid, nullptr, 0);
  ++killed_;
  member = Launch(member.number, 0);
}

// Returns "" while it runs and after exit code 0; sets its pid to -1 when it has ended.
std::string Fleet::Reap(Member& member, int options) {
  int status = 0;
  if (member.pid <= 0 || waitpid(member.pid, &status, options) != member.pid) return "";
  member.pid = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return absl::StrFormat("client %d (%s) ended with status %d", member.number, member.kind, status);
}

std::vector<std::string> Fleet::Died() {
  std::vector<std::string> sentences;
  for (Member& member : members_) {
    const bool lived = member.pid > 0;
    std::string why = Reap(member, WNOHANG);
    if (lived && member.pid <= 0)
      sentences.push_back(
          why.empty() ? absl::StrFormat("client %d (%s) ended early", member.number, member.kind) : why);
  }
  return sentences;
}

std::vector<std::string> Fleet::AwaitAll(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::vector<std::string> sentences;
  for (Member& member : members_) {
    std::string why;
    while (member.pid > 0 && absl::Now() < deadline) {
      why = Reap(member, WNOHANG);
      if (member.pid > 0) absl::SleepFor(absl::Milliseconds(5));  // tidy: waitpid has no deadline.
    }
    if (member.pid > 0) why = absl::StrFormat("client %d (%s) did not end", member.number, member.kind);
    if (!why.empty()) sentences.push_back(why);
  }
  return sentences;
}

std::vector<std::string> Fleet::EndAll(absl::Duration timeout) {
  for (const Member& member : members_) {
    if (member.pid > 0) kill(member.pid, SIGTERM);
  }
  return AwaitAll(timeout);
}

std::map<std::string, int64_t> Fleet::OwnMemoryOfFirst() const {
  std::map<std::string, int64_t> bytes;
  for (const Member& member : members_) {
    if (member.number < kinds() && member.pid > 0)
      bytes["client " + member.kind] = StatusBytes(member.pid, "RssAnon");
  }
  return bytes;
}

}  // namespace hlod::soak
