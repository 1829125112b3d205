// Prints warnings, each once.
#include "client/runtime/observe/warnings.h"

#include <cstdio>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/observe/debug_analysis.h"
#include "common/base/text/printable.h"

namespace hlod::runtime {
namespace {

struct Said {
  absl::Mutex mu;
  std::set<std::string> texts ABSL_GUARDED_BY(mu);
};

}  // namespace

void Warn(const std::string& text) {
  if (!WarningsAreOn()) return;
  static auto* const said = new Said;  // Never destroyed, because threads may warn while the program ends.
  {
    absl::MutexLock lock(&said->mu);
    if (said->texts.size() >= kWarningsMax || !said->texts.insert(text).second) return;
  }
  std::fprintf(stderr, "hlod: %s\n", Printable(text).c_str());
}

}  // namespace hlod::runtime
