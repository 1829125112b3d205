// Reads lines of programs, and keeps the names of their files.
#include "client/pjrt/call_location.h"

#include <atomic>
#include <charconv>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace hlod::pjrt {
namespace {

const char* Kept(std::string_view file) {
  static absl::Mutex mu(absl::kConstInit);
  static auto* const files = new std::set<std::string, std::less<>>;
  absl::MutexLock lock(&mu);
  auto found = files->find(file);
  if (found == files->end()) found = files->emplace(file).first;
  return found->c_str();
}

thread_local Caller current;
std::atomic<bool> stated = false;
std::atomic<const LineFinder*> line_finder = nullptr;

}  // namespace

const Caller& CurrentLine() { return current; }

void SetCurrentLine(const Caller& line) {
  current = line;
  stated.store(true, std::memory_order_relaxed);
}

bool LinesAreStated() { return stated.load(std::memory_order_relaxed); }

// Keeps each finder until the process ends, because a thread may still use the previous one.
void SetLineFinder(std::optional<LineFinder> finder) {
  static absl::Mutex mu(absl::kConstInit);
  static auto* const finders = new std::deque<LineFinder>;
  absl::MutexLock lock(&mu);
  line_finder = finder.has_value() ? &finders->emplace_back(*finder) : nullptr;
}

Caller FoundLine() {
  const LineFinder* const finder = line_finder;
  if (current.line != 0 || finder == nullptr || finder->python() == nullptr) return current;
  finder->find();
  return std::exchange(current, Caller{});
}

namespace {

struct Compiling {
  absl::Mutex mu;
  Caller line ABSL_GUARDED_BY(mu);

  static Compiling& Get() {
    static auto* const compiling = new Compiling;
    return *compiling;
  }
};

}  // namespace

void SetCompileLine(const Caller& line) {
  absl::MutexLock lock(&Compiling::Get().mu);
  Compiling::Get().line = line;
}

Caller CompileLine() {
  if (current.line != 0) return current;
  absl::MutexLock lock(&Compiling::Get().mu);
  return Compiling::Get().line;
}

LineScope::LineScope(const Caller& line) : before_(current) {
  if (line.line != 0) current = line;
}

LineScope::~LineScope() { current = before_; }

Caller ReadCallLocation(const char* location) {
  if (location == nullptr || *location == '\0') return Caller{};
  const std::string_view text(location);
  // A loop runs its program from one line, so the last line is often the next one.
  thread_local struct {
    std::string text;
    Caller caller;
  } last;
  if (text == last.text) return last.caller;
  const size_t colon = text.rfind(':');
  int line = 0;
  if (colon == std::string_view::npos ||
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), line).ec != std::errc()) {
    return Caller{};
  }
  last.caller = Caller{Kept(text.substr(0, colon)), line, ""};
  last.text = text;
  return last.caller;
}

}  // namespace hlod::pjrt
