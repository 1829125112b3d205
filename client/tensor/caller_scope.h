// The line that the parts of a composed operation report: that of who called the whole.
#pragma once

#include "hlod/caller.h"

namespace hlod::lazy {

using hlod::CallerScope;

}  // namespace hlod::lazy
