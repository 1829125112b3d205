// Work that waits for other work: what keeps the commands of a session in order although none of them blocks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace hlod::device {

// A step of work that waits for others: an execute, a download, an upload under way, a compile. Tasks depend
// on earlier ones only, so they form no cycle. Guarded by the session device's lock.
struct Task {
  int waits = 1;                // Tasks it depends on, and one until it is started.
  std::function<void()> ready;  // Called once, without the lock, when `waits` has come down to 0.
  bool finished = false;
  std::vector<std::shared_ptr<Task>> dependents;
  size_t purge_at = 8;  // How many dependents there are when those that have finished are taken out.
};

// The `ready` of tasks that wait for nothing any more, to be run when the lock is released.
using ReadyTasks = std::vector<std::function<void()>>;

// `task`, which has not been started, waits until `other` has finished. Null, a finished task and `task`
// itself are nothing to wait for.
void DependOn(const std::shared_ptr<Task>& task, const std::shared_ptr<Task>& other);
// All that `task` depends on is known: it is ready once that has finished, perhaps now.
void Start(const std::shared_ptr<Task>& task, ReadyTasks& ready_tasks);
// `task` has finished, in whichever way; again it does nothing. One that was never ready will not be.
void Finish(Task& task, ReadyTasks& ready_tasks);
// The task and what depends on it will not run: their session has ended.
void Abandon(Task& task);
// Runs the tasks and those that become ready meanwhile, in order. An exception is logged and ends only the
// task that let it out.
void RunReady(ReadyTasks& ready_tasks);

}  // namespace hlod::device
