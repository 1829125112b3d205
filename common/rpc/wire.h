// Shared by both sides of the wire: protocol versions, and errors and origins as messages.
#pragma once

#include "common/base/errors/error_proto.h"
#include "common/base/limits.h"
#include "proto/hlod/v1/common.pb.h"

namespace hlod::rpc {

// The protocol versions that this build supports; the largest common version is used.
inline constexpr uint32_t kVersionMin = 1, kVersionMax = 1;

using hlod::FromProto;
using hlod::ToProto;

}  // namespace hlod::rpc
