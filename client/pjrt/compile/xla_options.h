// XLA's debug options as overrides of a compilation.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/xla/compile_options.pb.h"

namespace hlod::pjrt {

// Returns OK for an option that XLA has, with a value of its type, that changes nothing here.
// INVALID_ARGUMENT for other names and values, in XLA's words; UNIMPLEMENTED for an option whose effect hlod
// does not have.
absl::Status CheckXlaOption(const std::string& name, const xla::OptionOverrideProto& value);

}  // namespace hlod::pjrt
