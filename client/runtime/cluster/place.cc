// Without a cluster, a session is its own home and has every device.
#include "client/runtime/cluster/place.h"

#include "client/runtime/cluster/daemons.h"
#include "client/runtime/session/session.h"

namespace hlod::runtime {

absl::StatusOr<std::shared_ptr<Session>> SessionWith(const std::shared_ptr<Session>& session, int device) {
  const Place& place = session->place();
  const int own = device - place.first_device;
  const bool exists = device >= 0 && device < static_cast<int>(session->daemon().devices.size());
  // A client that skips its own checks gets the daemon's answer about a device that does not exist.
  if (place.daemons == nullptr || !exists || (own >= 0 && own < place.devices)) return session;
  return place.daemons->Owner(device);
}

std::shared_ptr<Session> HomeOf(const std::shared_ptr<Session>& session) {
  const std::shared_ptr<Daemons>& daemons = session->place().daemons;
  std::shared_ptr<Session> home = daemons == nullptr ? nullptr : daemons->home();
  return home != nullptr ? home : session;
}

bool AreOfOneClient(const Session& a, const Session& b) {
  return &a == &b || (a.place().daemons != nullptr && a.place().daemons == b.place().daemons);
}

}  // namespace hlod::runtime
