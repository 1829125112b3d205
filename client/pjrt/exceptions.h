// Turns exceptions into statuses at the interface, because frameworks call, and are called, through C.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {

// Returns the status that `function` returns, or INTERNAL with the text of the exception that it throws.
// `what` names the function in that text. The end of a thread by pthread_exit, by which Python ends threads
// that ask for its lock while it exits, is not an exception: it passes.
template <typename Function>
absl::Status Caught(std::string_view what, Function&& function) {
  try {
    return function();
  } catch (const std::exception& exception) {
    return Internal("%s failed: %s.", what, exception.what());
  } catch (__cxxabiv1::__forced_unwind&) {
    throw;
  } catch (...) {
    return Internal("%s failed with an exception of an unknown type.", what);
  }
}

}  // namespace hlod::pjrt
