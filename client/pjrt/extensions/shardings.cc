// The extension about the shardings of a program's arguments and results. Programs of one device have none.
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/extensions/extensions.h"
#include "client/pjrt/programs/executable.h"

namespace hlod::pjrt {
namespace {

absl::Status NoShardings(abi::Shardings_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.num_shardings = 0;
  args.shardings = nullptr;
  args.sharding_sizes = nullptr;
  return absl::OkStatus();
}

}  // namespace

abi::Extension& ShardingsExtension() {
  static abi::ShardingsExtension extension = {
      .base = {sizeof(abi::ShardingsExtension), abi::kShardings, nullptr},
      .of_parameters = HLOD_PJRT_CALL("PJRT_Shardings_Executable_ParameterShardings", NoShardings),
      .of_outputs = HLOD_PJRT_CALL("PJRT_Shardings_Executable_OutputShardings", NoShardings),
  };
  return extension.base;
}

}  // namespace hlod::pjrt
