// Errors, and the two entries that cannot fail.
#include "client/pjrt/errors.h"

#include <utility>

#include "client/pjrt/entry.h"
#include "common/base/text/strings.h"

namespace hlod::pjrt {
namespace {

const abi::ErrorFunctions& ErrorTable() {
  static const abi::ErrorFunctions functions = {
      .struct_size = sizeof(abi::ErrorFunctions),
      .instance_size = sizeof(Error),
      .extension_start = nullptr,
      .destroy = [](Error* error) { delete error; },
      .message =
          [](const Error* error, const char** message, size_t* message_size) {
            *message = error->message().data();
            *message_size = error->message().size();
          },
      .get_code = [](const Error* error) { return abi::ErrorCode(error->status().raw_code()); },
      // Frameworks print payloads after the message, which contains everything that hlod's payload does.
      .for_each_payload = [](const Error*, abi::ErrorPayloadVisitor, void*) {},
  };
  return functions;
}

}  // namespace

Error::Error(absl::Status status)
    : functions_(&ErrorTable()), status_(std::move(status)), message_(FromAbsl(status_.message())) {}

Error* ToError(absl::Status status) { return status.ok() ? nullptr : new Error(std::move(status)); }

absl::Status ToStatus(abi::ErrorCode code, const char* message, size_t message_size) {
  return absl::Status(static_cast<absl::StatusCode>(code),
                      message == nullptr ? absl::string_view() : absl::string_view(message, message_size));
}

void Answer(abi::Error_Destroy_Args* args) {
  if (args != nullptr) delete args->error;
}

void Answer(abi::Error_Message_Args* args) {
  if (args == nullptr || args->error == nullptr) return;
  const std::string_view message = args->error->message();
  args->message = message.data();
  args->message_size = message.size();
}

absl::Status Serve(abi::Error_GetCode_Args& args) {
  RETURN_IF_ERROR(Given(args.error, "error"));
  args.code = abi::ErrorCode(args.error->status().raw_code());
  return absl::OkStatus();
}

absl::Status Serve(abi::Error_ForEachPayload_Args& args) { return Given(args.error, "error"); }

}  // namespace hlod::pjrt
