// Arguments of the entries about errors.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt::abi {

// Receives each payload of an error.
using ErrorPayloadVisitor = void (*)(const char* key, size_t key_size, const char* value, size_t value_size,
                                     void* user_arg);

struct Error_Destroy_Args : Args {
  Error* error;
};

struct Error_Message_Args : Args {
  const Error* error;
  const char* message;  // out
  size_t message_size;  // out
};

struct Error_GetCode_Args : Args {
  const Error* error;
  ErrorCode code;  // out
};

struct Error_ForEachPayload_Args : Args {
  const Error* error;
  ErrorPayloadVisitor visitor;
  void* user_arg;
};

// The table at which the first word of an error points.
struct ErrorFunctions {
  size_t struct_size;
  size_t instance_size;
  Extension* extension_start;
  void (*destroy)(Error* error);
  void (*message)(const Error* error, const char** message, size_t* message_size);
  ErrorCode (*get_code)(const Error* error);
  void (*for_each_payload)(const Error* error, ErrorPayloadVisitor visitor, void* user_arg);
};

}  // namespace hlod::pjrt::abi
