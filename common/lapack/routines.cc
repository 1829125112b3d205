// The calls of the routines. Names of arguments are LAPACK's; `One` is the hidden length of a character
// argument.
#include "common/lapack/routines.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "common/lapack/small.h"

namespace hlod::lapack {
namespace {

using I = Integer;
using Length = size_t;
constexpr Length kOne = 1;
template <typename T>
using Complex = std::complex<Real<T>>;

// Returns the order of the smallest leading minor with a NaN in its triangle; 0 when there is none.
template <typename T>
I FirstMinorWithNan(const T* a, I n, I lda, bool upper) {
  I first = 0;
  for (I c = 0; c < n; ++c) {
    for (I r = upper ? 0 : c; r < (upper ? c + 1 : n); ++r) {
      const T value = a[c * lda + r];
      if (value != value && (first == 0 || std::max(r, c) < first)) first = std::max(r, c) + 1;
    }
  }
  return first;
}

// LAPACK reports a NaN on the diagonal as a minor that is not positive. OpenBLAS does not look, and its
// kernels may lose one on the way.
template <typename T>
void Potrf(Frame& f) {
  static const auto potrf = Find<T, void(const char*, const I*, T*, const I*, I*, Length)>("potrf");
  T* const a = f.Take<T>(0, 0);
  if (f.measuring()) return;
  const char uplo = f.letter("uplo");
  const I n = f.size('n'), lda = f.leading('n');
  I& info = *f.result<I>(1);
  if constexpr (!kIsComplex<T>) {
    if (n <= kSmallCholesky) return SmallPotrf(uplo, n, a, lda, &info);
  }
  const I nan = FirstMinorWithNan(a, n, lda, uplo == 'U');
  potrf(&uplo, &n, a, &lda, &info, kOne);
  if (nan > 0 && (info == 0 || info > nan)) info = nan;
}

template <typename T>
void CallGetrf(I m, I n, T* a, I lda, I* pivots, I* info) {
  static const auto getrf = Find<T, void(const I*, const I*, T*, const I*, I*, I*)>("getrf");
  if constexpr (!kIsComplex<T>) {
    if (m <= kSmallLu && n <= kSmallLu) return SmallGetrf(m, n, a, lda, pivots, info);
  }
  getrf(&m, &n, a, &lda, pivots, info);
}

template <typename T>
void Getrf(Frame& f) {
  T* const a = f.Take<T>(0, 0);
  if (f.measuring()) return;
  CallGetrf(f.size('m'), f.size('n'), a, f.leading('m'), f.result<I>(1), f.result<I>(2));
}

// The TPU's LU decomposition, with exchanges counted from 0, and the order of rows that results from them.
template <typename T>
void LuDecomposition(Frame& f) {
  T* const a = f.Take<T>(0, 0);
  if (f.measuring()) return;
  const I m = f.size('m'), n = f.size('n'), lda = f.leading('m');
  I *const pivots = f.result<I>(1), *const order = f.result<I>(2), info = 0;
  CallGetrf(m, n, a, lda, pivots, &info);
  std::iota(order, order + m, 0);
  for (I i = 0; i < std::min(m, n); ++i) std::swap(order[i], order[--pivots[i]]);
}

template <typename T>
void Geqrf(Frame& f) {
  static const auto geqrf = Find<T, void(const I*, const I*, T*, const I*, T*, T*, const I*, I*)>("geqrf");
  T* const a = f.Take<T>(0, 0);
  const I m = f.size('m'), n = f.size('n'), lda = f.leading('m');
  I info = 0;
  f.WithWork<T>([&](T* work, const I* lwork) { geqrf(&m, &n, a, &lda, f.result<T>(1), work, lwork, &info); });
}

template <typename T>
void Geqp3(Frame& f) {
  T* const a = f.Take<T>(0, 0);
  I* const jpvt = f.Take<I>(1, 1);
  const I m = f.size('m'), n = f.size('n'), lda = f.leading('m');
  I info = 0;
  if constexpr (kIsComplex<T>) {
    static const auto geqp3 =
        Find<T, void(const I*, const I*, T*, const I*, I*, T*, T*, const I*, Real<T>*, I*)>("geqp3");
    Real<T>* const rwork = f.Scratch<Real<T>>(2 * int64_t{n});
    f.WithWork<T>([&](T* work, const I* lwork) {
      geqp3(&m, &n, a, &lda, jpvt, f.result<T>(2), work, lwork, rwork, &info);
    });
  } else {
    static const auto geqp3 =
        Find<T, void(const I*, const I*, T*, const I*, I*, T*, T*, const I*, I*)>("geqp3");
    f.WithWork<T>(
        [&](T* work, const I* lwork) { geqp3(&m, &n, a, &lda, jpvt, f.result<T>(2), work, lwork, &info); });
  }
}

template <typename T>
void Orgqr(Frame& f) {
  static const auto orgqr =
      Find<T, void(const I*, const I*, const I*, T*, const I*, const T*, T*, const I*, I*)>(
          kIsComplex<T> ? "ungqr" : "orgqr");
  T* const a = f.Take<T>(0, 0);
  const I m = f.size('m'), n = f.size('n'), k = f.size('t'), lda = f.leading('m');
  I info = 0;
  f.WithWork<T>(
      [&](T* work, const I* lwork) { orgqr(&m, &n, &k, a, &lda, f.operand<T>(1), work, lwork, &info); });
}

template <typename T>
void Ormqr(Frame& f) {
  static const auto ormqr =
      Find<T, void(const char*, const char*, const I*, const I*, const I*, const T*, const I*, const T*, T*,
                   const I*, T*, const I*, I*, Length, Length)>(kIsComplex<T> ? "unmqr" : "ormqr");
  T* const c = f.Take<T>(0, 2);
  const char side = f.number("left") != 0 ? 'L' : 'R';
  const char trans = f.number("transpose") == 0 ? 'N' : kIsComplex<T> ? 'C' : 'T';
  const I m = f.size('m'), n = f.size('n'), k = f.size('t'), lda = f.leading('a'), ldc = f.leading('m');
  I info = 0;
  f.WithWork<T>([&](T* work, const I* lwork) {
    ormqr(&side, &trans, &m, &n, &k, f.operand<T>(0), &lda, f.operand<T>(1), c, &ldc, work, lwork, &info,
          kOne, kOne);
  });
}

template <typename T>
void SolveSyevd(Frame& f, I* info) {
  T* const a = f.Take<T>(0, 0);
  const char jobz = f.letter("mode"), uplo = f.letter("uplo");
  const I n = f.size('n'), lda = f.leading('n');
  Real<T>* const w = f.result<Real<T>>(1);
  const int64_t n64 = n;
  const I liwork = static_cast<I>(3 + 5 * n64);
  I* const iwork = f.Scratch<I>(liwork);
  const I question = -1;
  if constexpr (kIsComplex<T>) {
    static const auto heevd =
        Find<T, void(const char*, const char*, const I*, T*, const I*, Real<T>*, T*, const I*, Real<T>*,
                     const I*, I*, const I*, I*, Length, Length)>("heevd");
    const I lrwork = static_cast<I>(1 + 5 * n64 + 2 * n64 * n64);
    Real<T>* const rwork = f.Scratch<Real<T>>(lrwork);
    f.WithWork<T>([&](T* work, const I* lwork) {
      Real<T> best_r = 0;
      I best_i = 0;
      const bool asks = *lwork == question;
      heevd(&jobz, &uplo, &n, a, &lda, w, work, lwork, asks ? &best_r : rwork, asks ? &question : &lrwork,
            asks ? &best_i : iwork, asks ? &question : &liwork, info, kOne, kOne);
    });
  } else {
    static const auto syevd = Find<T, void(const char*, const char*, const I*, T*, const I*, T*, T*, const I*,
                                           I*, const I*, I*, Length, Length)>("syevd");
    f.WithWork<T>([&](T* work, const I* lwork) {
      I best_i = 0;
      const bool asks = *lwork == question;
      syevd(&jobz, &uplo, &n, a, &lda, w, work, lwork, asks ? &best_i : iwork, asks ? &question : &liwork,
            info, kOne, kOne);
    });
  }
}

template <typename T>
void Syevd(Frame& f) {
  I unused = 0;
  SolveSyevd<T>(f, f.measuring() ? &unused : f.result<I>(2));
}

// The TPU's Eigh, which sets results that do not converge to NaN.
template <typename T>
void Eigh(Frame& f) {
  I info = 0;
  SolveSyevd<T>(f, &info);
  if (f.measuring() || info == 0) return;
  const int64_t n = f.size('n');
  constexpr Real<T> kNan = std::numeric_limits<Real<T>>::quiet_NaN();
  std::fill_n(f.result<T>(0), n * n, T(kNan));
  std::fill_n(f.result<Real<T>>(1), n, kNan);
}

template <typename T>
void Gesdd(Frame& f) {
  T* const a = f.Take<T>(0, 0);
  const char jobz = f.letter("mode");
  const I m = f.size('m'), n = f.size('n'), lda = f.leading('m'), ldu = f.leading('m'), ldvt = f.leading('v');
  Real<T>* const s = f.result<Real<T>>(1);
  T *const u = f.result<T>(2), *const vt = f.result<T>(3);
  I unused = 0, *const info = f.measuring() ? &unused : f.result<I>(4);
  const int64_t most = std::max(m, n), least = std::min(m, n);
  I* const iwork = f.Scratch<I>(8 * least);
  if constexpr (kIsComplex<T>) {
    static const auto gesdd =
        Find<T, void(const char*, const I*, const I*, T*, const I*, Real<T>*, T*, const I*, T*, const I*, T*,
                     const I*, Real<T>*, I*, I*, Length)>("gesdd");
    const int64_t lrwork =
        jobz == 'N' ? 7 * least
                    : std::max(5 * least * least + 5 * least, 2 * most * least + 2 * least * least + least);
    Real<T>* const rwork = f.Scratch<Real<T>>(lrwork);
    f.WithWork<T>([&](T* work, const I* lwork) {
      gesdd(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, lwork, rwork, iwork, info, kOne);
    });
  } else {
    static const auto gesdd = Find<T, void(const char*, const I*, const I*, T*, const I*, T*, T*, const I*,
                                           T*, const I*, T*, const I*, I*, I*, Length)>("gesdd");
    f.WithWork<T>([&](T* work, const I* lwork) {
      gesdd(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, lwork, iwork, info, kOne);
    });
  }
}

template <typename T>
void Gesvd(Frame& f) {
  T* const a = f.Take<T>(0, 0);
  const char job = f.letter("mode");
  const I m = f.size('m'), n = f.size('n'), lda = f.leading('m'), ldu = f.leading('m'), ldvt = f.leading('v');
  Real<T>* const s = f.result<Real<T>>(1);
  T *const u = f.result<T>(2), *const vt = f.result<T>(3);
  I unused = 0, *const info = f.measuring() ? &unused : f.result<I>(4);
  if constexpr (kIsComplex<T>) {
    static const auto gesvd =
        Find<T, void(const char*, const char*, const I*, const I*, T*, const I*, Real<T>*, T*, const I*, T*,
                     const I*, T*, const I*, Real<T>*, I*, Length, Length)>("gesvd");
    Real<T>* const rwork = f.Scratch<Real<T>>(5 * int64_t{std::min(m, n)});
    f.WithWork<T>([&](T* work, const I* lwork) {
      gesvd(&job, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, lwork, rwork, info, kOne, kOne);
    });
  } else {
    static const auto gesvd =
        Find<T, void(const char*, const char*, const I*, const I*, T*, const I*, T*, T*, const I*, T*,
                     const I*, T*, const I*, I*, Length, Length)>("gesvd");
    f.WithWork<T>([&](T* work, const I* lwork) {
      gesvd(&job, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, lwork, info, kOne, kOne);
    });
  }
}

// Builds the eigenvectors of a real matrix: column j is the vector of a real eigenvalue; for a conjugate
// pair, columns j and j + 1 are its real and imaginary parts.
template <typename R>
void JoinPairs(const R* vectors, const R* imaginary, int64_t n, std::complex<R>* to) {
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const R re = vectors[j * n + i], im = pair ? vectors[(j + 1) * n + i] : 0;
      to[j * n + i] = {re, im};
      if (pair) to[(j + 1) * n + i] = {re, -im};
    }
    if (pair) ++j;
  }
}

template <typename T>
void Geev(Frame& f) {
  T* const a = f.operand<T>(0);
  const char jobvl = f.letter("compute_left"), jobvr = f.letter("compute_right");
  const I n = f.size('n'), lda = f.leading('n');
  constexpr size_t kInfo = kIsComplex<T> ? 3 : 4;
  I unused = 0, *const info = f.measuring() ? &unused : f.result<I>(kInfo);
  if constexpr (kIsComplex<T>) {
    static const auto geev = Find<T, void(const char*, const char*, const I*, T*, const I*, T*, T*, const I*,
                                          T*, const I*, T*, const I*, Real<T>*, I*, Length, Length)>("geev");
    Real<T>* const rwork = f.Scratch<Real<T>>(2 * int64_t{n});
    f.WithWork<T>([&](T* work, const I* lwork) {
      geev(&jobvl, &jobvr, &n, a, &lda, f.result<T>(0), f.result<T>(1), &lda, f.result<T>(2), &lda, work,
           lwork, rwork, info, kOne, kOne);
    });
  } else {
    static const auto geev = Find<T, void(const char*, const char*, const I*, T*, const I*, T*, T*, T*,
                                          const I*, T*, const I*, T*, const I*, I*, Length, Length)>("geev");
    const int64_t count = int64_t{n} * n;
    T *const vl = f.Scratch<T>(count), *const vr = f.Scratch<T>(count), *const wi = f.result<T>(1);
    f.WithWork<T>([&](T* work, const I* lwork) {
      geev(&jobvl, &jobvr, &n, a, &lda, f.result<T>(0), wi, vl, &lda, vr, &lda, work, lwork, info, kOne,
           kOne);
    });
    if (f.measuring() || *info != 0) return;
    if (jobvl == 'V') JoinPairs(vl, wi, n, f.result<std::complex<T>>(2));
    if (jobvr == 'V') JoinPairs(vr, wi, n, f.result<std::complex<T>>(3));
  }
}

template <typename T>
void Gees(Frame& f) {
  T* const a = f.Take<T>(0, 0);
  const char jobvs = f.letter("mode"), sort = 'N';
  const I n = f.size('n'), lda = f.leading('n');
  constexpr size_t kSdim = kIsComplex<T> ? 3 : 4;
  I unused = 0, *const info = f.measuring() ? &unused : f.result<I>(kSdim + 1);
  T* const vs = f.result<T>(1);
  I* const sdim = f.result<I>(kSdim);
  I* const bwork = f.Scratch<I>(n);
  if constexpr (kIsComplex<T>) {
    static const auto gees = Find<T, void(const char*, const char*, void*, const I*, T*, const I*, I*, T*, T*,
                                          const I*, T*, const I*, Real<T>*, I*, I*, Length, Length)>("gees");
    Real<T>* const rwork = f.Scratch<Real<T>>(n);
    f.WithWork<T>([&](T* work, const I* lwork) {
      gees(&jobvs, &sort, nullptr, &n, a, &lda, f.measuring() ? &unused : sdim, f.result<T>(2), vs, &lda,
           work, lwork, rwork, bwork, info, kOne, kOne);
    });
  } else {
    static const auto gees = Find<T, void(const char*, const char*, void*, const I*, T*, const I*, I*, T*, T*,
                                          T*, const I*, T*, const I*, I*, I*, Length, Length)>("gees");
    f.WithWork<T>([&](T* work, const I* lwork) {
      gees(&jobvs, &sort, nullptr, &n, a, &lda, f.measuring() ? &unused : sdim, f.result<T>(2),
           f.result<T>(3), vs, &lda, work, lwork, bwork, info, kOne, kOne);
    });
  }
}

template <typename T>
void Gehrd(Frame& f) {
  static const auto gehrd =
      Find<T, void(const I*, const I*, const I*, T*, const I*, T*, T*, const I*, I*)>("gehrd");
  T* const a = f.Take<T>(0, 0);
  const I n = f.size('n'), lda = f.leading('n'), low = static_cast<I>(f.number("low")),
          high = static_cast<I>(f.number("high"));
  I unused = 0, *const info = f.measuring() ? &unused : f.result<I>(2);
  f.WithWork<T>(
      [&](T* work, const I* lwork) { gehrd(&n, &low, &high, a, &lda, f.result<T>(1), work, lwork, info); });
}

template <typename T>
void Sytrd(Frame& f) {
  static const auto sytrd =
      Find<T, void(const char*, const I*, T*, const I*, Real<T>*, Real<T>*, T*, T*, const I*, I*, Length)>(
          kIsComplex<T> ? "hetrd" : "sytrd");
  T* const a = f.Take<T>(0, 0);
  const char uplo = f.letter("uplo");
  const I n = f.size('n'), lda = f.leading('n');
  I unused = 0, *const info = f.measuring() ? &unused : f.result<I>(4);
  f.WithWork<T>([&](T* work, const I* lwork) {
    sytrd(&uplo, &n, a, &lda, f.result<Real<T>>(1), f.result<Real<T>>(2), f.result<T>(3), work, lwork, info,
          kOne);
  });
}

// The first element of the lower diagonal is outside the matrix.
template <typename T>
void Gtsv(Frame& f) {
  static const auto gtsv = Find<T, void(const I*, const I*, T*, T*, T*, T*, const I*, I*)>("gtsv");
  T *const dl = f.Take<T>(0, 0), *const d = f.Take<T>(1, 1), *const du = f.Take<T>(2, 2),
           *const b = f.Take<T>(3, 3);
  if (f.measuring()) return;
  const I n = f.size('n'), nrhs = f.size('r'), ldb = f.leading('n');
  gtsv(&n, &nrhs, dl + 1, d, du, b, &ldb, f.result<I>(4));
}

template <typename T>
void Trsm(Frame& f) {
  static const auto trsm =
      Find<T, void(const char*, const char*, const char*, const char*, const I*, const I*, const T*, const T*,
                   const I*, T*, const I*, Length, Length, Length, Length)>("trsm");
  T* const b = f.Take<T>(0, 1);
  if (f.measuring()) return;
  const char side = f.letter("side"), uplo = f.letter("uplo"), trans = f.letter("trans_x"),
             diag = f.letter("diag");
  const I m = f.size('m'), n = f.size('n'), lda = f.leading('a'), ldb = f.leading('m');
  if constexpr (!kIsComplex<T>) {
    if ((side == 'L' ? m : n) <= kSmallTriangle && (side == 'L' ? n : m) <= kSmallSides)
      return SmallTrsm(side, uplo, trans, diag, m, n, f.operand<T>(0), lda, b, ldb);
  }
  const T alpha = 1;
  trsm(&side, &uplo, &trans, &diag, &m, &n, &alpha, f.operand<T>(0), &lda, b, &ldb, kOne, kOne, kOne, kOne);
}

using Config = std::map<std::string, int64_t, std::less<>>;

const char* NoCheck(const Sizes&, const Config&) { return nullptr; }
const char* CheckReflectors(const Sizes& s, const Config&) {
  return s['n'] <= s['m'] && s['t'] <= s['n']
             ? nullptr
             : "wants no more columns than rows, nor more factors than columns";
}
const char* CheckProduct(const Sizes& s, const Config& config) {
  const int64_t rows = config.find("left")->second != 0 ? s['m'] : s['n'];
  if (s['a'] != rows) return "wants as many rows of operand 0 as operand 2 has on the side of the product";
  return s['t'] <= s['a'] && s['t'] <= s['b'] ? nullptr
                                              : "has more factors than operand 0 has rows or columns";
}
const char* CheckVectors(const Sizes& s, const Config& config) {
  const auto mode = static_cast<char>(config.find("mode")->second);
  const int64_t least = std::min(s['m'], s['n']);
  const bool fits = mode == 'N' ||
                    (mode == 'A' ? s['u'] == s['m'] && s['v'] == s['n'] : s['u'] == least && s['v'] == least);
  return fits ? nullptr : "has results 2 and 3 of sizes that its mode does not give";
}
const char* CheckSide(const Sizes& s, const Config& config) {
  const int64_t unknowns = config.find("side")->second == 'L' ? s['m'] : s['n'];
  return s['a'] == unknowns ? nullptr : "wants a matrix in operand 0 of the size of operand 1 on its side";
}
const char* CheckRange(const Sizes& s, const Config& config) {
  const int64_t low = config.find("low")->second, high = config.find("high")->second;
  const bool fits = s['n'] == 0 || (low >= 1 && low <= high && high <= s['n']);
  return fits ? nullptr : "wants 1 <= low <= high <= n";
}

#define HLOD_SOLVE(name) \
  { name<float>, name<double>, name<std::complex<float>>, name<std::complex<double>> }

// Returns the factorizations by triangles and reflectors.
std::vector<Routine> Factorizations() {
  return {
      {"potrf", "sdcz", {"Tnn"}, {"Tnn", "I"}, {{"uplo", "LU"}}, NoCheck, HLOD_SOLVE(Potrf)},
      {"getrf", "sdcz", {"Tmn"}, {"Tmn", "Ik", "I"}, {}, NoCheck, HLOD_SOLVE(Getrf)},
      {"geqrf", "sdcz", {"Tmn"}, {"Tmn", "Tk"}, {}, NoCheck, HLOD_SOLVE(Geqrf)},
      {"geqp3", "sdcz", {"Tmn", "In"}, {"Tmn", "In", "Tk"}, {}, NoCheck, HLOD_SOLVE(Geqp3)},
      {"orgqr", "sd", {"Tmn", "Tt"}, {"Tmn"}, {}, CheckReflectors, HLOD_SOLVE(Orgqr)},
      {"ungqr", "cz", {"Tmn", "Tt"}, {"Tmn"}, {}, CheckReflectors, HLOD_SOLVE(Orgqr)},
      {"ormqr",
       "sd",
       {"Tab", "Tt", "Tmn"},
       {"Tmn"},
       {{"left", ""}, {"transpose", ""}},
       CheckProduct,
       HLOD_SOLVE(Ormqr)},
      {"unmqr",
       "cz",
       {"Tab", "Tt", "Tmn"},
       {"Tmn"},
       {{"left", ""}, {"transpose", ""}},
       CheckProduct,
       HLOD_SOLVE(Ormqr)},
  };
}

// Returns the eigenvalue decompositions.
std::vector<Routine> EigenvalueRoutines() {
  return {
      {"syevd",
       "sd",
       {"Tnn"},
       {"Tnn", "Rn", "I"},
       {{"mode", "VN"}, {"uplo", "LU"}},
       NoCheck,
       HLOD_SOLVE(Syevd),
       true},
      {"heevd",
       "cz",
       {"Tnn"},
       {"Tnn", "Rn", "I"},
       {{"mode", "VN"}, {"uplo", "LU"}},
       NoCheck,
       HLOD_SOLVE(Syevd),
       true},
      {"geev",
       "sd",
       {"Tnn"},
       {"Tn", "Tn", "Cnn", "Cnn", "I"},
       {{"compute_left", "VN"}, {"compute_right", "VN"}},
       NoCheck,
       HLOD_SOLVE(Geev),
       true},
      {"geev",
       "cz",
       {"Tnn"},
       {"Tn", "Tnn", "Tnn", "I"},
       {{"compute_left", "VN"}, {"compute_right", "VN"}},
       NoCheck,
       HLOD_SOLVE(Geev),
       true},
      {"gees",
       "sd",
       {"Tnn"},
       {"Tnn", "Tnn", "Tn", "Tn", "I", "I"},
       {{"mode", "VN"}, {"sort", "N"}},
       NoCheck,
       HLOD_SOLVE(Gees),
       true},
      {"gees",
       "cz",
       {"Tnn"},
       {"Tnn", "Tnn", "Tn", "I", "I"},
       {{"mode", "VN"}, {"sort", "N"}},
       NoCheck,
       HLOD_SOLVE(Gees),
       true},
  };
}

// Returns the forms that lead to eigenvalues: Hessenberg and tridiagonal.
std::vector<Routine> CondensedForms() {
  return {
      {"gehrd",
       "sdcz",
       {"Tnn"},
       {"Tnn", "Th", "I"},
       {{"low", ""}, {"high", ""}},
       CheckRange,
       HLOD_SOLVE(Gehrd)},
      {"sytrd", "sd", {"Tnn"}, {"Tnn", "Rn", "Rh", "Th", "I"}, {{"uplo", "LU"}}, NoCheck, HLOD_SOLVE(Sytrd)},
      {"hetrd", "cz", {"Tnn"}, {"Tnn", "Rn", "Rh", "Th", "I"}, {{"uplo", "LU"}}, NoCheck, HLOD_SOLVE(Sytrd)},
  };
}

// Returns the singular value decompositions.
std::vector<Routine> SingularValueRoutines() {
  return {
      {"gesdd",
       "sdcz",
       {"Tmn"},
       {"Tmn", "Rk", "Tmu", "Tvn", "I"},
       {{"mode", "ASN"}},
       CheckVectors,
       HLOD_SOLVE(Gesdd),
       true},
      {"gesvd",
       "sdcz",
       {"Tmn"},
       {"Tmn", "Rk", "Tmu", "Tvn", "I"},
       {{"mode", "ASN"}},
       CheckVectors,
       HLOD_SOLVE(Gesvd),
       true},
  };
}

// Returns solutions of triangular and tridiagonal systems.
std::vector<Routine> Solvers() {
  return {
      {"gtsv",
       "sdcz",
       {"Tn", "Tn", "Tn", "Tnr"},
       {"Tn", "Tn", "Tn", "Tnr", "I"},
       {},
       NoCheck,
       HLOD_SOLVE(Gtsv)},
      {"trsm",
       "sdcz",
       {"Taa", "Tmn"},
       {"Tmn"},
       {{"side", "LR"}, {"uplo", "LU"}, {"trans_x", "NTC"}, {"diag", "UN"}},
       CheckSide,
       HLOD_SOLVE(Trsm)},
  };
}

// Returns the TPU's calls, whose name is the target itself.
std::vector<Routine> TpuCalls() {
  return {
      {"LuDecomposition", "sdcz", {"Tmn"}, {"Tmn", "Ik", "Im"}, {}, NoCheck, HLOD_SOLVE(LuDecomposition)},
      {"Qr", "sdcz", {"Tmn"}, {"Tmn", "Tk"}, {}, NoCheck, HLOD_SOLVE(Geqrf)},
      {"ProductOfElementaryHouseholderReflectors",
       "sdcz",
       {"Tmn", "Tt"},
       {"Tmn"},
       {},
       CheckReflectors,
       HLOD_SOLVE(Orgqr)},
      {"Eigh", "sdcz", {"Tnn"}, {"Tnn", "Rn"}, {{"uplo", "LU"}}, NoCheck, HLOD_SOLVE(Eigh), true},
  };
}

#undef HLOD_SOLVE

}  // namespace

const std::vector<Routine>& Routines() {
  static const auto* const routines = [] {
    auto* const all = new std::vector<Routine>;
    for (const auto& family : {Factorizations(), EigenvalueRoutines(), CondensedForms(),
                               SingularValueRoutines(), Solvers(), TpuCalls()})
      all->insert(all->end(), family.begin(), family.end());
    return all;
  }();
  return *routines;
}

}  // namespace hlod::lapack
