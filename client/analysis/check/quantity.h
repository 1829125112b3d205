// Numbers as reports print them.
#pragma once

#include <string>

namespace hlod::analysis {

std::string BytesText(double bytes);      // "1.50 GiB"
std::string SecondsText(double seconds);  // "12.3 ms"
std::string CountText(double count);      // "1.37e+11", "1089600"

}  // namespace hlod::analysis
