// The caller that a thread's operations stand at.
#include "hlod/caller.h"

namespace hlod {
namespace {

constinit thread_local const Caller* outermost = nullptr;

}  // namespace

CallerScope::CallerScope(const Caller& caller) : caller_(caller), outermost_(outermost == nullptr) {
  if (outermost_) outermost = &caller_;
}

CallerScope::~CallerScope() {
  if (outermost_) outermost = nullptr;
}

const Caller& CallerScope::Of(const Caller& own) { return outermost != nullptr ? *outermost : own; }

}  // namespace hlod
