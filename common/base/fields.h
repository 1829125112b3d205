// The fields of a structure by name, written once: what writes a structure, reads it or compares it visits
// them.
//
//   HLOD_NAMED_FIELDS(Amount, bytes, calls)
//
// makes Fields(visitor, amount), which calls visitor("bytes", amount.bytes) and visitor("calls",
// amount.calls). The visitor of a constant object gets constant fields. A field that the list forgets does
// not compile: fields are counted by how many initializers the structure takes in braces, in which a base
// class is one.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace hlod {

template <typename E, typename T>
concept MaybeConst = std::same_as<std::remove_const_t<E>, T>;

namespace fields_internal {

struct Anything {
  template <typename T>
  operator T() const;  // Declared only: the initializers below are not evaluated.
};

template <typename T, typename Indices>
inline constexpr bool kTakes = false;
template <typename T, size_t... I>
requires requires { T{(void(I), Anything())...}; }
inline constexpr bool kTakes<T, std::index_sequence<I...>> = true;

}  // namespace fields_internal

// Returns the number of initializers that aggregate T takes: of its bases and fields.
template <typename T, size_t N = 0>
constexpr size_t CountFields() {
  if constexpr (fields_internal::kTakes<T, std::make_index_sequence<N + 1>>) return CountFields<T, N + 1>();
  else return N;
}

}  // namespace hlod

// HLOD_EACH(macro, a, b, ...) is macro(a) macro(b) ... for up to 64 names. Each HLOD_RESCAN lets the
// preprocessor expand the next name, which a macro that named itself would not.
#define HLOD_RESCAN4(...) __VA_ARGS__
#define HLOD_RESCAN3(...) HLOD_RESCAN4(HLOD_RESCAN4(HLOD_RESCAN4(HLOD_RESCAN4(__VA_ARGS__))))
#define HLOD_RESCAN2(...) HLOD_RESCAN3(HLOD_RESCAN3(HLOD_RESCAN3(HLOD_RESCAN3(__VA_ARGS__))))
#define HLOD_RESCAN(...) HLOD_RESCAN2(HLOD_RESCAN2(HLOD_RESCAN2(HLOD_RESCAN2(__VA_ARGS__))))
#define HLOD_PARENTHESES ()
#define HLOD_EACH_NEXT() HLOD_EACH_STEP
#define HLOD_EACH_STEP(macro, name, ...) \
  macro(name) __VA_OPT__(HLOD_EACH_NEXT HLOD_PARENTHESES(macro, __VA_ARGS__))
#define HLOD_EACH(macro, ...) __VA_OPT__(HLOD_RESCAN(HLOD_EACH_STEP(macro, __VA_ARGS__)))

#define HLOD_FIELD_VISIT(name) visitor(#name, object.name);
#define HLOD_FIELD_COUNT(name) +1

// The fields of `Type` that are shown; it may have others.
#define HLOD_CHOSEN_FIELDS(Type, ...)               \
  template <typename V, ::hlod::MaybeConst<Type> E> \
  void Fields(V& visitor, E& object) {              \
    HLOD_EACH(HLOD_FIELD_VISIT, __VA_ARGS__)        \
  }
// All fields of `Type`.
#define HLOD_NAMED_FIELDS(Type, ...)                                                       \
  HLOD_CHOSEN_FIELDS(Type, __VA_ARGS__)                                                    \
  static_assert(::hlod::CountFields<Type>() == 0 HLOD_EACH(HLOD_FIELD_COUNT, __VA_ARGS__), \
                #Type " has other fields.");
// All fields of `Type`, those of its base class first.
#define HLOD_NAMED_FIELDS_AFTER(Base, Type, ...)                                                     \
  template <typename V, ::hlod::MaybeConst<Type> E>                                                  \
  void Fields(V& visitor, E& object) {                                                               \
    Fields(visitor, static_cast<std::conditional_t<std::is_const_v<E>, const Base, Base>&>(object)); \
    HLOD_EACH(HLOD_FIELD_VISIT, __VA_ARGS__)                                                         \
  }                                                                                                  \
  static_assert(::hlod::CountFields<Type>() == 1 HLOD_EACH(HLOD_FIELD_COUNT, __VA_ARGS__),           \
                #Type " has other fields.");
