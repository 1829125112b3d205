// Conversions of errors and origins to and from their messages.
#pragma once

#include "common/base/errors/error.h"
#include "proto/hlod/v1/common.pb.h"

namespace hlod {

v1::Error ToProto(const ErrorDetails& error);
ErrorDetails FromProto(const v1::Error& proto);
v1::Origin ToProto(const Origin& origin);
Origin FromProto(const v1::Origin& proto);

}  // namespace hlod
