// The states of a buffer, and the order of its readers and consumers.
#include "server/device/buffers/buffer.h"

#include <algorithm>

namespace hlod::device {

std::string_view Name(BufferState state) {
  switch (state) {
    case BufferState::kPendingUpload:
    case BufferState::kPendingExecute: return "pending";
    case BufferState::kReady: return "ready";
    case BufferState::kPlaceholder: return "placeholder";
    case BufferState::kFailed: return "failed";
  }
  return "unknown";
}

void AddReader(Buffer& buffer, const std::shared_ptr<Task>& reader) {
  // A command may name the buffer twice.
  if (!buffer.readers.empty() && buffer.readers.back() == reader) return;
  DependOn(reader, buffer.donor);
  // Purged only when the number has doubled, because thousands may wait and each command adds one.
  if (buffer.readers.size() >= buffer.purge_readers_at) {
    std::erase_if(buffer.readers, [](const std::shared_ptr<Task>& task) { return task->finished; });
    buffer.purge_readers_at = std::max<size_t>(8, 2 * buffer.readers.size());
  }
  buffer.readers.push_back(reader);
}

void AddConsumer(Buffer& buffer, const std::shared_ptr<Task>& consumer) {
  DependOn(consumer, buffer.donor);
  for (const std::shared_ptr<Task>& reader : buffer.readers) DependOn(consumer, reader);
  buffer.readers.clear();
  buffer.donor = consumer;
}

}  // namespace hlod::device
