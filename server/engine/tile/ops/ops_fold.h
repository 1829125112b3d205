// Combines elements into accumulators. Included only by ops_impl.h, inside its namespace.

// Sums and products of floats are combined in double, so that the result hardly depends on the order. A sum
// of f32 first adds a few elements of each lane in f32, which takes half the time.
template <typename F, typename T>
using Accumulator =
    std::conditional_t<kIsFloat<T> && (std::is_same_v<F, Add> || std::is_same_v<F, Multiply>), double, T>;

template <typename F, typename T>
HLOD_TARGET void FoldAll(void* accumulator, const void* a, int n) {
  using A = Accumulator<F, T>;
  // The elements of a lane that are combined in T.
  constexpr int kUnits = std::is_same_v<F, Add> && std::is_same_v<T, float> ? 16 : 1;
  // Independent chains, so that the loop can be vectorised and does not wait for one addition after another.
  constexpr int kLanes = 16;
  const T* x = static_cast<const T*>(a);
  A total = *static_cast<A*>(accumulator);
  int i = 0;
  if (n >= kLanes) {
    A lanes[kLanes];
    T part[kLanes];
    const auto add_up = [&]() HLOD_TARGET {
      for (int lane = 0; lane < kLanes; ++lane) part[lane] = x[i + lane];
      i += kLanes;
      for (int unit = 1; unit < kUnits && i + kLanes <= n; ++unit, i += kLanes) {
        for (int lane = 0; lane < kLanes; ++lane) part[lane] = F::Do(part[lane], x[i + lane], 0);
      }
    };
    add_up();
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = static_cast<A>(part[lane]);
    while (i + kLanes <= n) {
      add_up();
      for (int lane = 0; lane < kLanes; ++lane)
        lanes[lane] = F::Do(lanes[lane], static_cast<A>(part[lane]), 0);
    }
    // Pairwise: four combinations in sequence instead of sixteen.
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) lanes[lane] = F::Do(lanes[lane], lanes[lane + half], 0);
    }
    total = F::Do(total, lanes[0], 0);
  }
  for (; i < n; ++i) total = F::Do(total, static_cast<A>(x[i]), 0);
  *static_cast<A*>(accumulator) = total;
}
// Minima and maxima of floats use integers in the same order, with -0 before 0; a NaN makes the result NaN. A
// comparison of floats that handles both cannot be vectorised.
template <typename T>
HLOD_INLINE SignedOf<T> OrderedKey(T value) {
  const auto bits = __builtin_bit_cast(SignedOf<T>, value);
  return bits ^ static_cast<SignedOf<T>>(static_cast<UnsignedOf<T>>(bits >> (sizeof(T) * 8 - 1)) >> 1);
}
template <bool kMaximum, typename T>
HLOD_TARGET void FoldOrdered(void* accumulator, const void* a, int n) {
  using Key = SignedOf<T>;
  constexpr int kLanes = 128 / sizeof(T);
  const T* x = static_cast<const T*>(a);
  Key lanes[kLanes], nan[kLanes];
  const T before = *static_cast<T*>(accumulator);
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes[lane] = OrderedKey(before);
    nan[lane] = before != before;
  }
  const auto join = [&](int lane, T value) HLOD_TARGET {
    const Key key = OrderedKey(value);
    lanes[lane] = (kMaximum ? key > lanes[lane] : key < lanes[lane]) ? key : lanes[lane];
    nan[lane] |= value != value;
  };
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) join(lane, x[i + lane]);
  }
  for (; i < n; ++i) join(0, x[i]);
  Key best = lanes[0], any = nan[0];
  for (int lane = 1; lane < kLanes; ++lane) {
    best = (kMaximum ? lanes[lane] > best : lanes[lane] < best) ? lanes[lane] : best;
    any |= nan[lane];
  }
  const T value = __builtin_bit_cast(T, OrderedKey(__builtin_bit_cast(T, best)));  // OrderedKey is its own
                                                                                   // inverse.
  *static_cast<T*>(accumulator) = any != 0 ? std::numeric_limits<T>::quiet_NaN() : value;
}

// Combines element k of row i into accumulator i, in the order of FoldAll. For rows of less than kShortRow
// elements: a row takes no call, and the chains of several rows overlap.
template <typename F, typename T>
HLOD_TARGET void FoldShortRows(void* accumulators, const void* a, int rows, int n) {
  using A = Accumulator<F, T>;
  constexpr int kInSequence = 16;  // FoldAll combines more elements in lanes.
  A* out = static_cast<A*>(accumulators);
  const T* x = static_cast<const T*>(a);
  if (n >= kInSequence) {
    for (int row = 0; row < rows; ++row, x += n) FoldAll<F, T>(out + row, x, n);
    return;
  }
  for (int row = 0; row < rows; ++row, x += n) {
    A total = out[row];
    for (int i = 0; i < n; ++i) total = F::Do(total, static_cast<A>(x[i]), 0);
    out[row] = total;
  }
}
template <bool kMaximum, typename T>
HLOD_TARGET void FoldShortRowsOrdered(void* accumulators, const void* a, int rows, int n) {
  T* out = static_cast<T*>(accumulators);
  const T* x = static_cast<const T*>(a);
  for (int row = 0; row < rows; ++row, x += n) {
    auto best = OrderedKey(out[row]);
    bool nan = out[row] != out[row];
    for (int i = 0; i < n; ++i) {
      const auto key = OrderedKey(x[i]);
      best = (kMaximum ? key > best : key < best) ? key : best;
      nan |= x[i] != x[i];
    }
    const T value = __builtin_bit_cast(T, OrderedKey(__builtin_bit_cast(T, best)));
    out[row] = nan ? std::numeric_limits<T>::quiet_NaN() : value;
  }
}
template <typename F, typename T>
HLOD_TARGET void FoldEach(void* accumulators, const void* a, int n) {
  using A = Accumulator<F, T>;
  A* out = static_cast<A*>(accumulators);
  const T* x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) out[i] = F::Do(out[i], static_cast<A>(x[i]), 0);
}
// Does the same for the columns of several small matrices. A loop over less than a vector of columns is not
// worth its beginning and end: then the columns' chains overlap instead.
template <typename F, typename T>
HLOD_TARGET void FoldGroups(void* accumulators, const void* a, int groups, int rows, int n) {
  using A = Accumulator<F, T>;
  constexpr int kFew = 8;
  A* out = static_cast<A*>(accumulators);
  const T* x = static_cast<const T*>(a);
  for (int group = 0; group < groups; ++group, out += n, x += rows * n) {
    if (n >= kFew) {
      for (int row = 0; row < rows; ++row) FoldEach<F, T>(out, x + row * n, n);
      continue;
    }
    for (int i = 0; i < n; ++i) {
      A total = out[i];
      for (int row = 0; row < rows; ++row) total = F::Do(total, static_cast<A>(x[row * n + i]), 0);
      out[i] = total;
    }
  }
}
template <typename F, Takes kTakes, bool kColumns>
FoldFunction FoldOf(Carrier carrier) {
  return ByCarrier<FoldFunction>(carrier, []<typename T>() -> FoldFunction {
    if constexpr (!kAccepts<kTakes, T>) return nullptr;
    else if constexpr (kColumns) return &FoldEach<F, T>;
    else if constexpr (kIsFloat<T> && std::is_same_v<F, Maximum>) return &FoldOrdered<true, T>;
    else if constexpr (kIsFloat<T> && std::is_same_v<F, Minimum>) return &FoldOrdered<false, T>;
    else return &FoldAll<F, T>;
  });
}
template <typename F, Takes kTakes>
FoldRowsFunction FoldRowsOf(Carrier carrier) {
  return ByCarrier<FoldRowsFunction>(carrier, []<typename T>() -> FoldRowsFunction {
    if constexpr (!kAccepts<kTakes, T>) return nullptr;
    else if constexpr (kIsFloat<T> && std::is_same_v<F, Maximum>) return &FoldShortRowsOrdered<true, T>;
    else if constexpr (kIsFloat<T> && std::is_same_v<F, Minimum>) return &FoldShortRowsOrdered<false, T>;
    else return &FoldShortRows<F, T>;
  });
}
template <typename F, Takes kTakes>
FoldGroupsFunction FoldGroupsOf(Carrier carrier) {
  return ByCarrier<FoldGroupsFunction>(carrier, []<typename T>() -> FoldGroupsFunction {
    if constexpr (!kAccepts<kTakes, T>) return nullptr;
    else return &FoldGroups<F, T>;
  });
}

// Returns make<F, kTakes>() for the function F of a fold and the types that it takes.
template <typename Function, typename Make>
Function ForFold(FoldOp op, const Make& make) {
  switch (op) {
    case FoldOp::kAdd: return make.template operator()<Add, kAny>();
    case FoldOp::kMultiply: return make.template operator()<Multiply, kAny>();
    case FoldOp::kMinimum: return make.template operator()<Minimum, kAny>();
    case FoldOp::kMaximum: return make.template operator()<Maximum, kAny>();
    case FoldOp::kAnd: return make.template operator()<And, kBits>();
    case FoldOp::kOr: return make.template operator()<Or, kBits>();
    case FoldOp::kXor: return make.template operator()<Xor, kBits>();
  }
  return nullptr;
}
template <bool kColumns>
FoldFunction FoldFor(FoldOp op, Carrier carrier) {
  return ForFold<FoldFunction>(
      op, [carrier]<typename F, Takes kTakes>() { return FoldOf<F, kTakes, kColumns>(carrier); });
}
FoldRowsFunction FoldRowsFor(FoldOp op, Carrier carrier) {
  return ForFold<FoldRowsFunction>(
      op, [carrier]<typename F, Takes kTakes>() { return FoldRowsOf<F, kTakes>(carrier); });
}
FoldGroupsFunction FoldGroupsFor(FoldOp op, Carrier carrier) {
  return ForFold<FoldGroupsFunction>(
      op, [carrier]<typename F, Takes kTakes>() { return FoldGroupsOf<F, kTakes>(carrier); });
}
