// Bytes that an entry returns with a deleter: the holder is a string under the interface's own type.
#pragma once

#include <string>
#include <utility>

namespace hlod::pjrt {

template <typename Holder>
void ReturnBytes(std::string bytes, const char** data, size_t* size, Holder** holder,
                 void (**deleter)(Holder*)) {
  auto* const owned = new std::string(std::move(bytes));
  *data = owned->data();
  *size = owned->size();
  *holder = reinterpret_cast<Holder*>(owned);
  *deleter = [](Holder* held) { delete reinterpret_cast<std::string*>(held); };
}

}  // namespace hlod::pjrt
