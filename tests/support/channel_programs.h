// Programs that exchange values with the host while they run.
#pragma once

#include <string>
#include <string_view>

namespace hlod {

// f32[2] sum -> sum + the infeeds' vectors. Their numbers, from 0 up to 3, count the iterations; each
// iteration sends its sum to the outfeed.
inline constexpr std::string_view kRunningSum = R"(
HloModule running_sum
body {
  s = (s32[], f32[2], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  sum = f32[2] get-tuple-element(s), index=1
  t = token[] get-tuple-element(s), index=2
  in = ((f32[2], s32[]), token[]) infeed(t)
  pair = (f32[2], s32[]) get-tuple-element(in), index=0
  x = f32[2] get-tuple-element(pair), index=0
  k = s32[] get-tuple-element(pair), index=1
  after = token[] get-tuple-element(in), index=1
  next = f32[2] add(sum, x)
  out = token[] outfeed(next, after), outfeed_shape=f32[2]{0}
  j = s32[] add(i, k)
  ROOT r = (s32[], f32[2], token[]) tuple(j, next, out)
}
condition {
  s = (s32[], f32[2], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT less = pred[] compare(i, three), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  sum = f32[2] parameter(0)
  t = token[] after-all()
  s = (s32[], f32[2], token[]) tuple(zero, sum, t)
  w = (s32[], f32[2], token[]) while(s), condition=condition, body=body
  ROOT r = f32[2] get-tuple-element(w), index=1
}
)";

// f32[2] x -> the host's answer on channel 8 to x, which is sent on channel 7.
inline constexpr std::string_view kAsk = R"(
HloModule ask
ENTRY main {
  x = f32[2] parameter(0)
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=7, is_host_transfer=true
  sd = token[] send-done(s), channel_id=7, is_host_transfer=true
  r = (f32[3], u32[], token[]) recv(sd), channel_id=8, is_host_transfer=true
  rd = (f32[3], token[]) recv-done(r), channel_id=8, is_host_transfer=true
  ROOT got = f32[3] get-tuple-element(rd), index=0
}
)";

}  // namespace hlod
