// The common part of all entries: the functions that answer them, and how a call of the framework reaches
// one.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "client/pjrt/abi/api.h"
#include "client/pjrt/errors.h"
#include "client/pjrt/exceptions.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {

// One function per entry. It finds a whole struct, in which fields that the caller does not know are zero,
// reads its arguments and sets its results.
#define HLOD_PJRT_ENTRY(name) absl::Status Serve(abi::name##_Args& args);
#define HLOD_PJRT_MISSING(name)
#define HLOD_PJRT_VOID(name) void Answer(abi::name##_Args* args);
#include "client/pjrt/abi/entries.inc"
#undef HLOD_PJRT_ENTRY
#undef HLOD_PJRT_MISSING
#undef HLOD_PJRT_VOID

// The bytes of an argument struct that every caller must know: those of its first version. They are the whole
// struct if it has not grown since. The padding at its end does not count.
template <typename Arguments>
inline constexpr size_t kNeeded = sizeof(Arguments);
template <>
inline constexpr size_t kNeeded<abi::Client_Create_Args> = 72;
template <>
inline constexpr size_t kNeeded<abi::Device_MemoryStats_Args> = 32;
template <>
inline constexpr size_t kNeeded<abi::Executable_GetCompiledMemoryStats_Args> = 104;
template <>
inline constexpr size_t kNeeded<abi::Executable_DeserializeAndLoad_Args> = 48;
template <>
inline constexpr size_t kNeeded<abi::Client_CreateErrorBuffer_Args> = 96;

// A size that frameworks of some versions state although they know the whole struct, because their headers
// named the wrong field as its last one; else 0.
template <typename Arguments>
inline constexpr size_t kMisstated = 0;
template <>
inline constexpr size_t kMisstated<abi::Plugin_Attributes_Args> = 24;

// Copies the part of a struct that the caller knows; the rest of the copy is zero.
template <typename Struct>
Struct Widened(const Struct& given, size_t size) {
  Struct whole;
  std::memset(static_cast<void*>(&whole), 0, sizeof(whole));
  std::memcpy(static_cast<void*>(&whole), &given, std::min(size, sizeof(whole)));
  return whole;
}
template <typename Struct>
Struct Widened(const Struct& given) {
  return Widened(given, given.struct_size);
}

// Returns INVALID_ARGUMENT when a pointer that an entry needs is null.
inline absl::Status Given(const void* pointer, std::string_view field) {
  if (pointer != nullptr) return absl::OkStatus();
  return InvalidArgument("The field %s is null.", field);
}

absl::Status TooSmall(std::string_view entry, size_t struct_size, size_t needed);

// Answers a call: passes `serve` a whole struct, and copies the part that the caller knows back. Exceptions
// end here.
template <typename Arguments>
Error* Enter(std::string_view entry, Arguments* args, absl::Status (*serve)(Arguments&)) {
  if (args == nullptr) return ToError(InvalidArgument("%s was called without arguments.", entry));
  const size_t stated = args->struct_size;
  const size_t size = stated != 0 && stated == kMisstated<Arguments> ? sizeof(Arguments) : stated;
  // Padding at the end of a struct does not count.
  if (size + alignof(Arguments) - 1 < kNeeded<Arguments>)
    return ToError(TooSmall(entry, size, kNeeded<Arguments>));
  const size_t known = std::min(size, sizeof(Arguments));
  Arguments whole = Widened(*args, size);
  if (absl::Status status = Caught(entry, [&] { return serve(whole); }); !status.ok())
    return ToError(std::move(status));
  whole.struct_size = stated;
  std::memcpy(static_cast<void*>(args), &whole, known);
  return nullptr;
}

// An entry of an extension: `serve` is the name of a function or of a function template.
#define HLOD_PJRT_CALL(entry, serve)                                                              \
  [](auto* args) -> Error* {                                                                      \
    return Enter(                                                                                 \
        entry, args, +[](std::remove_pointer_t<decltype(args)>& whole) { return serve(whole); }); \
  }

}  // namespace hlod::pjrt
