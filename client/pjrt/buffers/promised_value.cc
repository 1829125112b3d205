// Values that come later.
#include "client/pjrt/buffers/promised_value.h"

#include <utility>

#include "common/base/errors/status.h"

namespace hlod::pjrt {

absl::StatusOr<hlod::Buffer> PromisedValue::Get() const {
  absl::MutexLock lock(&mu_);
  if (!value_.has_value()) return FailedPrecondition("The buffer was not given its value yet.");
  return *value_;
}

absl::Status PromisedValue::Set(absl::StatusOr<hlod::Buffer> value) {
  absl::MutexLock lock(&mu_);
  if (value_.has_value()) return FailedPrecondition("The buffer was given its value before.");
  value_ = dropped_ ? absl::StatusOr<hlod::Buffer>(InvalidArgument("Buffer has been deleted or donated."))
                    : std::move(value);
  return absl::OkStatus();
}

absl::Status PromisedValue::Give(hlod::Buffer value, const std::shared_ptr<Completion>& ready) {
  RETURN_IF_ERROR(Set(std::move(value)));
  ready->OnReady([end = end_](const absl::Status& status) { end->Set(status); });
  return absl::OkStatus();
}

absl::Status PromisedValue::Fail(absl::Status error) {
  RETURN_IF_ERROR(Set(error));
  end_->Set(std::move(error));
  return absl::OkStatus();
}

void PromisedValue::Drop() {
  std::optional<absl::StatusOr<hlod::Buffer>> gone;  // Destroyed after the lock is released.
  absl::MutexLock lock(&mu_);
  dropped_ = true;
  if (value_.has_value() && value_->ok()) {
    gone.swap(value_);
    value_ = InvalidArgument("Buffer has been deleted or donated.");
  }
}

}  // namespace hlod::pjrt
