// Progress by command, reduced to the few latest times that a pending upload can still depend on.
#include "server/device/buffers/upload_deadlines.h"

#include <algorithm>
#include <iterator>

namespace hlod::device {

void UploadDeadlines::Progress(uint64_t command, absl::Time now) {
  // An upload up to `command` has made progress, which extends the wait of later ones: older entries are not
  // needed.
  progress_.erase(progress_.lower_bound(command), progress_.end());
  // An entry is needed only by the uploads from its command up to that of the next entry.
  while (!progress_.empty()) {
    const auto last = std::prev(progress_.end());
    const auto user = declared_.lower_bound(last->first);
    if (user != declared_.end() && user->first < command) break;
    progress_.erase(last);
  }
  progress_[command] = now;
}

std::vector<uint64_t> UploadDeadlines::Late(absl::Time now, absl::Time heard) const {
  std::vector<uint64_t> late;
  for (const auto& [command, declared] : declared_) {
    const auto after = progress_.upper_bound(command);
    absl::Time last = std::max(declared, restarted_);
    if (after != progress_.begin()) last = std::max(last, std::prev(after)->second);
    if (last + (last + wait_ <= heard ? wait_ : wait_ + grace_) <= now) late.push_back(command);
  }
  return late;
}

}  // namespace hlod::device
