// Implements values that are given later.
#include "client/pjrt/buffers/promised_value.h"

#include <utility>

#include "common/base/errors/status.h"

namespace hlod::pjrt {

absl::StatusOr<hlod::Buffer> PromisedValue::Get() const {
  absl::MutexLock lock(&mu_);
  if (!value_.has_value()) return FailedPrecondition("The buffer was not given its value yet.");
  return *value_;
}

bool PromisedValue::IsGiven() const {
  absl::MutexLock lock(&mu_);
  return value_.has_value();
}

bool PromisedValue::IsSoleUser(const hlod::Buffer& value) const {
  absl::MutexLock lock(&mu_);
  return users_ == 1 && value.internal_state().use_count() <= 2;
}

void PromisedValue::OnGiven(std::function<void()> callback) {
  {
    absl::MutexLock lock(&mu_);
    if (!value_.has_value()) {
      when_given_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

absl::Status PromisedValue::Set(absl::StatusOr<hlod::Buffer> value) {
  absl::MutexLock lock(&mu_);
  if (value_.has_value()) return FailedPrecondition("The buffer was given its value before.");
  value_ = users_ == 0 ? absl::StatusOr<hlod::Buffer>(InvalidArgument("Buffer has been deleted or donated."))
                       : std::move(value);
  return absl::OkStatus();
}

void PromisedValue::TellUsers() {
  std::vector<std::function<void()>> callbacks;
  {
    absl::MutexLock lock(&mu_);
    callbacks.swap(when_given_);
  }
  for (const std::function<void()>& callback : callbacks) callback();
}

absl::Status PromisedValue::Give(hlod::Buffer value, const std::shared_ptr<Completion>& ready) {
  RETURN_IF_ERROR(Set(std::move(value)));
  ready->OnReady([end = end_](const absl::Status& status) { end->Set(status); });
  TellUsers();
  return absl::OkStatus();
}

absl::Status PromisedValue::Fail(absl::Status error) {
  RETURN_IF_ERROR(Set(error));
  end_->Set(std::move(error));
  TellUsers();
  return absl::OkStatus();
}

void PromisedValue::AddUser() {
  absl::MutexLock lock(&mu_);
  ++users_;
}

void PromisedValue::RemoveUser() {
  std::optional<absl::StatusOr<hlod::Buffer>> gone;  // Destroyed after the lock is released.
  absl::MutexLock lock(&mu_);
  if (--users_ == 0 && value_.has_value() && value_->ok()) {
    gone.swap(value_);
    value_ = InvalidArgument("Buffer has been deleted or donated.");
  }
}

PromisedValue::Use::Use(std::shared_ptr<PromisedValue> promised) : promised_(std::move(promised)) {
  promised_->AddUser();
}

PromisedValue::Use& PromisedValue::Use::operator=(Use&& other) {
  std::swap(promised_, other.promised_);
  return *this;
}

PromisedValue::Use::~Use() {
  if (promised_ != nullptr) promised_->RemoveUser();
}

}  // namespace hlod::pjrt
