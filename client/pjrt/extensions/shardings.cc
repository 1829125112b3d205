// The extension about the shardings of a program's arguments and results. Programs of one partition have
// none.
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/extensions/extensions.h"
#include "client/pjrt/programs/executable.h"

namespace hlod::pjrt {
namespace {

// Null lists say that the program has none.
absl::Status Give(const ListOfBytes& shardings, abi::Shardings_Args& args) {
  const bool none = shardings.data.empty();
  args.num_shardings = shardings.data.size();
  args.shardings = none ? nullptr : shardings.data.data();
  args.sharding_sizes = none ? nullptr : shardings.sizes.data();
  return absl::OkStatus();
}

absl::Status ShardingsOfParameters(abi::Shardings_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  return Give(args.executable->argument_shardings(), args);
}

absl::Status ShardingsOfOutputs(abi::Shardings_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  return Give(args.executable->result_shardings(), args);
}

}  // namespace

abi::Extension& ShardingsExtension() {
  static abi::ShardingsExtension extension = {
      .base = {sizeof(abi::ShardingsExtension), abi::kShardings, nullptr},
      .of_parameters = HLOD_PJRT_CALL("PJRT_Shardings_Executable_ParameterShardings", ShardingsOfParameters),
      .of_outputs = HLOD_PJRT_CALL("PJRT_Shardings_Executable_OutputShardings", ShardingsOfOutputs),
  };
  return extension.base;
}

}  // namespace hlod::pjrt
