// Implements completions of commands, and completions that are set.
#include "client/pjrt/events/completion.h"

#include <utility>

#include "client/pjrt/exceptions.h"

namespace hlod::pjrt {

std::shared_ptr<Completion> Completion::Open() { return std::shared_ptr<Completion>(new Completion); }

std::shared_ptr<Completion> Completion::Done(absl::Status status) {
  std::shared_ptr<Completion> completion = Open();
  completion->Set(std::move(status));
  return completion;
}

std::shared_ptr<Completion> Completion::Of(std::shared_ptr<runtime::Session> session,
                                           std::shared_ptr<runtime::Completions> completions,
                                           runtime::Command command, Urgency urgency, Finish finish) {
  std::shared_ptr<Completion> completion = Open();
  completion->session_ = std::move(session);
  completion->completions_ = std::move(completions);
  completion->command_ = std::move(command);
  completion->urgency_ = urgency;
  absl::MutexLock lock(&completion->mu_);
  completion->finish_ = std::move(finish);
  return completion;
}

bool Completion::IsReady() {
  if (ready_.load(std::memory_order_acquire)) return true;
  if (command_ == nullptr) return false;
  if (!session_->owner().IsThisOne()) return true;
  if (!command_->done.load(std::memory_order_acquire)) session_->Drain();
  if (command_->done.load(std::memory_order_acquire)) {
    SetFromCommand(command_->status);
  } else if (absl::Status lost = session_->status(); !lost.ok()) {
    SetFromCommand(std::move(lost));
  }
  absl::MutexLock lock(&mu_);
  return done_;
}

absl::Status Completion::Await() {
  if (command_ != nullptr) {
    {
      absl::MutexLock lock(&mu_);
      if (done_) return status_;
    }
    SetFromCommand(session_->Wait(*command_));
  }
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&done_));
  return status_;
}

void Completion::OnReady(Callback callback) {
  absl::Status status;
  bool ask = false;
  {
    absl::MutexLock lock(&mu_);
    if (!done_) {
      callbacks_.push_back(std::move(callback));
      if (command_ == nullptr || std::exchange(asked_, true)) return;
      ask = true;
    } else {
      status = status_;
    }
  }
  if (!ask) return callback(status);
  completions_->WhenDone(
      command_, [self = shared_from_this()](const absl::Status& ended) { self->SetFromCommand(ended); },
      urgency_);
}

void Completion::SetFromCommand(absl::Status status) {
  Finish finish;
  {
    absl::MutexLock lock(&mu_);
    if (done_ || finishing_) return;
    finishing_ = true;
    finish = std::move(finish_);
  }
  if (finish != nullptr) {
    status = Caught("The end of a command", [&] { return finish(*command_, std::move(status)); });
  }
  Set(std::move(status));
}

bool Completion::Set(absl::Status status) {
  std::vector<Callback> callbacks;
  {
    absl::MutexLock lock(&mu_);
    if (done_) return false;
    done_ = true;
    status_ = status;
    ready_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
  }
  for (const Callback& callback : callbacks) callback(status);
  return true;
}

}  // namespace hlod::pjrt
