// Shared by both sides of the wire: protocol versions, and errors and origins as messages.
#pragma once

#include "common/base/errors/error_proto.h"
#include "common/base/limits.h"
#include "proto/hlod/v1/common.pb.h"

namespace hlod::rpc {

// The protocol versions that this build supports; the largest common version is used. A daemon ends a session
// whose client sends a command that it does not know, so a new command needs a new version, or a limit by
// which the daemon states that it knows the command.
inline constexpr uint32_t kVersionMin = 1, kVersionMax = 2;
// The first version with Copy, and with Execute.line and the executes of Infeed and Outfeed.
inline constexpr uint32_t kVersionOfCopy = 2;

using hlod::FromProto;
using hlod::ToProto;

}  // namespace hlod::rpc
