// Errors, limits and origins to and from their messages; protocol versions.
#pragma once

#include "common/base/error.h"
#include "common/base/limits.h"
#include "proto/hlod/v1/common.pb.h"

namespace hlod::rpc {

// Protocol versions this build speaks; the largest common one is used.
inline constexpr uint32_t kVersionMin = 1, kVersionMax = 1;

v1::Error ToProto(const ErrorDetails& error);
ErrorDetails FromProto(const v1::Error& proto);
v1::Origin ToProto(const Origin& origin);
Origin FromProto(const v1::Origin& proto);

}  // namespace hlod::rpc
