// A program that does not end, for tests and for the client that they kill.
#pragma once

#include <string_view>

namespace hlod {

// s32[] x -> x, after an endless loop.
inline constexpr std::string_view kForever = R"(HloModule forever

cond {
  p = s32[] parameter(0)
  ROOT t = pred[] constant(true)
}

body {
  p = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT n = s32[] add(p, one)
}

ENTRY main {
  x = s32[] parameter(0)
  ROOT w = s32[] while(x), condition=cond, body=body
}
)";

}  // namespace hlod
