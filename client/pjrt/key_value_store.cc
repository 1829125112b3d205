// Calls the framework's functions.
#include "client/pjrt/key_value_store.h"

#include <algorithm>
#include <climits>
#include <memory>

#include "client/pjrt/errors.h"

namespace hlod::pjrt {
namespace {

abi::CallbackError make_error = [](abi::ErrorCode code, const char* message, size_t message_size) {
  return ToError(ToStatus(code, message, message_size));
};

// Takes the error that a function of the framework made with `make_error`.
absl::Status Take(Error* error) {
  const std::unique_ptr<Error> owned(error);
  return owned == nullptr ? absl::OkStatus() : owned->status();
}

}  // namespace

absl::Status KeyValueStore::Put(const std::string& key, const std::string& value) {
  abi::KeyValuePutCallback_Args put = {};
  put.struct_size = sizeof(put);
  put.key = key.data();
  put.key_size = key.size();
  put.value = value.data();
  put.value_size = value.size();
  put.callback_error = &make_error;
  put.user_arg = args_.kv_put_user_arg;
  return Take(args_.kv_put_callback(&put));
}

absl::StatusOr<std::string> KeyValueStore::Get(const std::string& key, absl::Duration timeout) {
  abi::KeyValueGetCallback_Args get = {};
  get.struct_size = sizeof(get);
  get.key = key.data();
  get.key_size = key.size();
  get.timeout_in_ms = static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(timeout), 1, INT_MAX));
  get.callback_error = &make_error;
  get.user_arg = args_.kv_get_user_arg;
  if (const absl::Status status = Take(args_.kv_get_callback(&get)); !status.ok()) return status;
  std::string value(get.value, get.value_size);
  if (get.value_deleter_callback != nullptr) get.value_deleter_callback(get.value);
  return value;
}

}  // namespace hlod::pjrt
