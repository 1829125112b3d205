// Warnings, each once.
#include "client/runtime/warnings.h"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/base/printable.h"
#include "common/base/strings.h"

namespace hlod::internal {
namespace {

bool IsOn() {
  const char* const value = std::getenv("HLOD_WARNINGS");
  return value == nullptr || std::string_view(value) != "0";
}

struct Said {
  absl::Mutex mu;
  std::set<std::string> texts ABSL_GUARDED_BY(mu);
};

}  // namespace

void Warn(const std::string& text) {
  static const bool on = IsOn();
  if (!on) return;
  static auto* const said = new Said;  // Never destroyed: threads may warn while the program ends.
  {
    absl::MutexLock lock(&said->mu);
    if (said->texts.size() >= kWarningsMax || !said->texts.insert(text).second) return;
  }
  std::fprintf(stderr, "hlod: %s\n", Printable(text).c_str());
}

}  // namespace hlod::internal
