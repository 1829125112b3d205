// Writes XSpace, by the numbers of its fields:
//   XSpace {1: planes}
//   XPlane {1: id, 2: name, 3: lines, 4: event_metadata, 5: stat_metadata}
//   XLine {1: id, 2: name, 3: timestamp_ns, 4: events, 11: display_name}
//   XEvent {1: metadata_id, 2: offset_ps, 3: duration_ps, 4: stats}; XStat {1: metadata_id, 5: str_value}
//   XEventMetadata, XStatMetadata {1: id, 2: name}; both in maps {1: key, 2: value}
#include "client/pjrt/profiler/xspace.h"

#include <algorithm>

#include "client/pjrt/programs/wire.h"

namespace hlod::pjrt {
namespace {

constexpr int64_t kLocationStat = 1;

// Returns an entry of a map of metadata.
std::string Entry(int64_t id, std::string_view name) {
  std::string metadata, entry;
  AppendNumberField(metadata, 1, id);
  AppendBytesField(metadata, 2, name);
  AppendNumberField(entry, 1, id);
  AppendBytesField(entry, 2, metadata);
  return entry;
}

std::string LineOf(XSpace::Line kind, const std::vector<XSpace::Event>& events,
                   std::map<std::string, int64_t>& names) {
  absl::Time first = absl::InfiniteFuture();
  for (const XSpace::Event& event : events) first = std::min(first, event.start);
  std::string line;
  AppendNumberField(line, 1, static_cast<int64_t>(kind));
  AppendBytesField(line, 2, kind == XSpace::Line::kRuns ? "XLA Modules" : "Waiting for the device");
  AppendNumberField(line, 3, absl::ToUnixNanos(first));
  for (const XSpace::Event& event : events) {
    std::string bytes;
    AppendNumberField(bytes, 1,
                      names.try_emplace(event.name, static_cast<int64_t>(names.size()) + 1).first->second);
    AppendNumberField(bytes, 2, absl::ToInt64Nanoseconds(event.start - first) * 1000);
    AppendNumberField(bytes, 3, absl::ToInt64Nanoseconds(event.duration) * 1000);
    if (!event.location.empty()) {
      std::string stat;
      AppendNumberField(stat, 1, kLocationStat);
      AppendBytesField(stat, 5, event.location);
      AppendBytesField(bytes, 4, stat);
    }
    AppendBytesField(line, 4, bytes);
  }
  return line;
}

}  // namespace

std::string XSpace::Serialize() const {
  std::string space;
  for (const auto& [device, lines] : events_) {
    std::string plane;
    std::map<std::string, int64_t> names;
    AppendNumberField(plane, 1, device);
    AppendBytesField(plane, 2, "/device:CUSTOM:hlod:" + std::to_string(device));
    for (const auto& [kind, events] : lines) AppendBytesField(plane, 3, LineOf(kind, events, names));
    for (const auto& [name, id] : names) AppendBytesField(plane, 4, Entry(id, name));
    AppendBytesField(plane, 5, Entry(kLocationStat, "source"));
    AppendBytesField(space, 1, plane);
  }
  return space;
}

}  // namespace hlod::pjrt
