// The graph of tasks: records which task waits for which, and runs tasks that are ready.
#include "server/device/execution/task.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <utility>

namespace hlod::device {
namespace {

void StopWaiting(Task& task, ReadyTasks& ready_tasks) {
  if (--task.waits == 0 && !task.finished && task.ready)
    ready_tasks.push_back(std::exchange(task.ready, nullptr));
}

}  // namespace

void DependOn(const std::shared_ptr<Task>& task, const std::shared_ptr<Task>& other) {
  if (other == nullptr || other->finished || other == task) return;
  std::vector<std::shared_ptr<Task>>& dependents = other->dependents;
  if (!dependents.empty() && dependents.back() == task) return;  // A command may name the task twice.
  // Removes cancelled tasks, which have finished. Purged only when the number has doubled.
  if (dependents.size() >= other->purge_at) {
    std::erase_if(dependents, [](const std::shared_ptr<Task>& dependent) { return dependent->finished; });
    other->purge_at = std::max<size_t>(8, 2 * dependents.size());
  }
  dependents.push_back(task);
  ++task->waits;
}

void Start(const std::shared_ptr<Task>& task, ReadyTasks& ready_tasks) { StopWaiting(*task, ready_tasks); }

void Finish(Task& task, ReadyTasks& ready_tasks) {
  if (std::exchange(task.finished, true)) return;
  task.ready = nullptr;  // The callback may own the object that owns the task.
  for (const std::shared_ptr<Task>& dependent : std::exchange(task.dependents, {}))
    StopWaiting(*dependent, ready_tasks);
}

void Abandon(Task& task) {
  task.finished = true;
  task.dependents.clear();
}

// A task that becomes ready through another one runs after it, not inside it: a client may send a chain of
// tasks of any length, and the stack is limited.
void RunReady(ReadyTasks& ready_tasks, const FailureMark* failed) {
  thread_local std::deque<std::function<void()>>* running = nullptr;
  if (running != nullptr) {
    for (std::function<void()>& ready : ready_tasks) running->push_back(std::move(ready));
    return;
  }
  if (ready_tasks.empty()) return;
  std::deque<std::function<void()>> queue;
  for (std::function<void()>& ready : ready_tasks) queue.push_back(std::move(ready));
  running = &queue;
  while (!queue.empty()) {
    const std::function<void()> ready = std::move(queue.front());
    queue.pop_front();
    try {
      ready();
    } catch (const std::exception& e) {  // For example bad_alloc. The other tasks run nevertheless.
      if (failed != nullptr) failed->Set();
      spdlog::error("A step of a session failed: {}", e.what());
    }
  }
  running = nullptr;
}

}  // namespace hlod::device
