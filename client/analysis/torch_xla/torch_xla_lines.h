// The lines of a dump, with a position, and errors that name file and line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"

namespace hlod::analysis::torch_xla {

class Lines {
 public:
  // `text` must outlive this object.
  Lines(std::string path, std::string_view text) : path_(std::move(path)), ended_(text.ends_with('\n')) {
    for (const absl::string_view split : absl::StrSplit(ToAbsl(text), '\n')) {
      std::string_view line = FromAbsl(split);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines_.push_back(line);
    }
    if (ended_) lines_.pop_back();
  }

  bool AtEnd() const { return next_ >= lines_.size(); }
  size_t remaining() const { return lines_.size() - next_; }
  // Returns the line `ahead` lines after the next one; empty beyond the end.
  std::string_view Peek(size_t ahead = 0) const {
    return next_ + ahead < lines_.size() ? lines_[next_ + ahead] : std::string_view();
  }
  std::string_view Take() { return lines_[next_++]; }
  // The number of the next line, from 1.
  size_t number() const { return next_ + 1; }
  // Returns true when the line taken last is the file's last one and has no newline: it may be truncated.
  bool cut() const { return AtEnd() && !ended_; }

  std::string At(size_t number) const { return absl::StrCat(path_, ":", number); }
  template <typename... Args>
  absl::Status ErrorAt(size_t number, const absl::FormatSpec<Args...>& format, const Args&... args) const {
    return InvalidArgument("%s: %s", At(number), absl::StrFormat(format, args...));
  }

 private:
  const std::string path_;
  const bool ended_;
  std::vector<std::string_view> lines_;
  size_t next_ = 0;
};

}  // namespace hlod::analysis::torch_xla
