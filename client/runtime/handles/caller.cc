// The caller scope of each thread, to which its operations are attributed, and the tensor's name for its
// transfers.
#include "hlod/runtime/caller.h"

#include <utility>

#include "client/runtime/handles/own_lines.h"
#include "hlod/tensor/tensor_name.h"

namespace hlod {
namespace {

constinit thread_local const Caller* outermost = nullptr;
constinit thread_local const std::string* tensor_name = nullptr;

}  // namespace

CallerScope::CallerScope(const Caller& caller) : caller_(caller), outermost_(outermost == nullptr) {
  if (outermost_) outermost = &caller_;
}

CallerScope::~CallerScope() {
  if (outermost_) outermost = nullptr;
}

const Caller& CallerScope::Of(const Caller& own) { return outermost != nullptr ? *outermost : own; }

CallersOwnLines::CallersOwnLines() : scope_(std::exchange(outermost, nullptr)) {}
CallersOwnLines::~CallersOwnLines() { outermost = scope_; }

TensorName::TensorName(std::string name)
    : name_(std::move(name)), outer_(std::exchange(tensor_name, &name_)) {}
TensorName::~TensorName() { tensor_name = outer_; }

std::string_view TensorName::Current() {
  return tensor_name != nullptr ? std::string_view(*tensor_name) : std::string_view();
}

}  // namespace hlod
