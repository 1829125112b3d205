// Arguments of the entries about events.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt::abi {

// Called once, when an event is done. Takes over `error`, which is null for success.
using EventOnReadyCallback = void (*)(Error* error, void* user_arg);

struct Event_Destroy_Args : Args {
  Event* event;
};

struct Event_IsReady_Args : Args {
  Event* event;
  bool is_ready;  // out
};

struct Event_Error_Args : Args {
  Event* event;
};

struct Event_Await_Args : Args {
  Event* event;
};

struct Event_OnReady_Args : Args {
  Event* event;
  EventOnReadyCallback callback;
  void* user_arg;
};

struct Event_Create_Args : Args {
  Event* event;  // out
};

struct Event_Set_Args : Args {
  Event* event;
  ErrorCode error_code;
  const char* error_message;
  size_t error_message_size;
};

}  // namespace hlod::pjrt::abi
