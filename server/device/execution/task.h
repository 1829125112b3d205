// Work that waits for other work. Tasks keep the commands of a session in order without blocking a thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/device/failed_sessions.h"

namespace hlod::device {

// A step of work that waits for others: an execute, a download, a pending upload, a compile. Tasks depend
// only on earlier ones, so they form no cycle. Guarded by the session device's lock.
struct Task {
  int waits = 1;                // The number of tasks that it depends on, plus one until it is started.
  std::function<void()> ready;  // Called once, without the lock, when `waits` has reached 0.
  bool finished = false;
  std::vector<std::shared_ptr<Task>> dependents;
  size_t purge_at = 8;  // The number of dependents at which finished ones are removed.
};

// The `ready` callbacks of tasks that wait for no other task, to be called after the lock is released.
using ReadyTasks = std::vector<std::function<void()>>;

// Makes `task`, which has not been started, wait until `other` has finished. Has no effect when `other` is
// null, finished, or `task` itself.
void DependOn(const std::shared_ptr<Task>& task, const std::shared_ptr<Task>& other);
// Starts a task whose dependencies are all known. It becomes ready when they have finished, perhaps now.
void Start(const std::shared_ptr<Task>& task, ReadyTasks& ready_tasks);
// Finishes a task, whatever its outcome; a second call has no effect. A task that was never ready will not
// become ready.
void Finish(Task& task, ReadyTasks& ready_tasks);
// Abandons a task and its dependents, which will not run because their session has ended.
void Abandon(Task& task);
// Runs the tasks, and those that become ready meanwhile, in order. An exception is logged and ends only the
// task that threw it; then `failed` is set, unless it is null.
void RunReady(ReadyTasks& ready_tasks, const FailureMark* failed = nullptr);

}  // namespace hlod::device
