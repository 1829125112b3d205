// Reads profiles of runs from the daemon's message.
#pragma once

#include "hlod/runtime/step_profile.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

ExecuteProfile FromProto(const v1::ExecuteProfile& proto);

}  // namespace hlod::runtime
