// The extension by which frameworks register foreign functions, and their data.
#include "client/pjrt/devices/device.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/extensions/extensions.h"
#include "client/pjrt/ffi/registry.h"
#include "client/pjrt/run/execute_context.h"

namespace hlod::pjrt {
namespace {

absl::Status RegisterTypeOfData(abi::ForeignFunctions_TypeRegister_Args& args) {
  RETURN_IF_ERROR(Given(args.type_name, "type_name"));
  ASSIGN_OR_RETURN(args.type_id,
                   ffi::RegisterType({args.type_name, args.type_name_size}, args.type_id,
                                     args.type_info == nullptr ? nullptr : args.type_info->deleter));
  return absl::OkStatus();
}

absl::Status AddUserData(abi::ForeignFunctions_UserDataAdd_Args& args) {
  RETURN_IF_ERROR(Given(args.context, "context"));
  args.context->Add(args.type_id, args.data);
  return absl::OkStatus();
}

absl::Status RegisterFunction(abi::ForeignFunctions_Register_Args& args) {
  RETURN_IF_ERROR(Given(args.target_name, "target_name"));
  RETURN_IF_ERROR(Given(args.handler, "handler"));
  RETURN_IF_ERROR(Given(args.platform_name, "platform_name"));
  const ffi::Handlers handlers = {.instantiate = nullptr,
                                  .prepare = nullptr,
                                  .initialize = nullptr,
                                  .execute = reinterpret_cast<ffi::Handler*>(args.handler)};
  return ffi::Register({args.target_name, args.target_name_size}, handlers,
                       std::string_view(args.platform_name, args.platform_name_size) == kPlatformName);
}

}  // namespace

abi::Extension& ForeignFunctionsExtension() {
  static abi::ForeignFunctionsExtension extension = {
      .base = {sizeof(abi::ForeignFunctionsExtension), abi::kForeignFunctions, nullptr},
      .type_register = HLOD_PJRT_CALL("PJRT_FFI_Type_Register", RegisterTypeOfData),
      .user_data_add = HLOD_PJRT_CALL("PJRT_FFI_UserData_Add", AddUserData),
      .register_handler = HLOD_PJRT_CALL("PJRT_FFI_Register_Handler", RegisterFunction),
  };
  return extension.base;
}

}  // namespace hlod::pjrt
