// The stream is cut into pieces that are drawn in parallel. A jump to a piece's first word takes O(log n) multiplications (Brown 1994). A
// sampler with rejection takes a number of words that is not known in advance, so a piece cannot know at which word its first sample
// begins. Each piece therefore starts some words early and discards those samples: since most samples take one word, it is soon at the same
// sample boundaries as the piece before it. A piece that did not start at the word where the previous piece ended is drawn again. At the
// end the pieces' samples are moved together.
#include "ops/pcg_stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "core/cpu_level.h"
#include "core/error.h"
#include "ops/pcg_words.h"
#include "runtime/parallel.h"

namespace bc::pcg {
namespace {

using u128 = unsigned __int128;

/// The stream as units of 64 or 32 bits. NumPy draws the lower half of a word first, which is first in memory.
template <class U>
class Source {
  static_assert(std::endian::native == std::endian::little);

 public:
  static constexpr int64_t kPerWord = sizeof(uint64_t) / sizeof(U), kUnits = Words::kBlock * kPerWord;
  explicit Source(const Words& words) : words_(words) {}

  void seek(int64_t position) {
    const int64_t word = position / kPerWord;
    words_.seek(word);
    refill();
    begin_ = word * kPerWord;
    at_ = position - begin_;
  }
  int64_t position() const { return begin_ + at_; }
  U next() {
    if (at_ == kUnits) go_on();
    return units_[at_++];
  }
  /// The units before `last` that are in memory, at least one; the caller consumes some of them by skip().
  std::span<const U> ready(int64_t last) {
    if (at_ == kUnits) go_on();
    return {units_ + at_, static_cast<size_t>(std::min(kUnits - at_, last - position()))};
  }
  void skip(int64_t units) { at_ += units; }

 private:
  void refill() { words_.next(reinterpret_cast<char*>(units_)); }
  void go_on() {
    refill();
    begin_ += kUnits;
    at_ = 0;
  }

  Words words_;
  U units_[kUnits];
  int64_t begin_ = 0, at_ = 0;
};

double to_double(uint64_t word) { return static_cast<double>(word >> 11) * (1.0 / 9007199254740992.0); }
float to_float(uint32_t half) { return static_cast<float>(half >> 8) * (1.0F / 16777216.0F); }

/// A BitGenerator that draws from a Source, for NumPy's functions.
template <class U>
BitGenerator bit_generator_of(Source<U>& source) {
  BitGenerator b{};
  b.state = &source;
  if constexpr (sizeof(U) == 8) {
    b.next_uint64 = b.next_raw = [](void* s) -> uint64_t { return static_cast<Source<U>*>(s)->next(); };
    b.next_double = [](void* s) { return to_double(static_cast<Source<U>*>(s)->next()); };
  } else {
    b.next_uint32 = [](void* s) -> uint32_t { return static_cast<Source<U>*>(s)->next(); };
  }
  return b;
}

// ---- Samplers: Unit is what they draw ---------------------------------------------------------------------------------------------------

/// How a sampler uses units. map: each unit gives one sample. filter: each unit gives one sample or none. chain: a sample may take several
/// units, so the start of the next sample depends on it.
enum class Manner { map, filter, chain };

template <class T>
struct Uniform {
  using Unit = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static constexpr Manner kManner = Manner::map;
  T operator()(Unit unit) const {
    if constexpr (sizeof(T) == 8)
      return to_double(unit);
    else
      return to_float(unit);
  }
};

struct Interval {
  using Unit = uint64_t;
  static constexpr Manner kManner = Manner::map;
  double low, scale;
  double operator()(uint64_t unit) const { return low + scale * to_double(unit); }
};

/// A unit plus an offset.
template <class T, class U>
struct Raw {
  using Unit = U;
  static constexpr Manner kManner = Manner::map;
  T first;
  T operator()(U unit) const { return static_cast<T>(first + unit); }
};

/// Whole numbers below `count` by Lemire's multiplication (2019), whose rejection makes them exactly uniform.
template <class T, class U>
struct Below {
  using Unit = U;
  using Wide = std::conditional_t<sizeof(U) == 8, u128, uint64_t>;
  static constexpr Manner kManner = Manner::filter;
  T first;
  U count, threshold;
  Below(T first_, U span) : first(first_), count(static_cast<U>(span + 1)), threshold(static_cast<U>(~span) % count) {}
  /// Whether rejections are so rare that most blocks of units contain none.
  bool seldom_rejects() const { return threshold < (~U{0} >> 12); }
  bool operator()(U unit, T* sample) const {
    const Wide product = static_cast<Wide>(unit) * count;
    *sample = static_cast<T>(first + static_cast<T>(product >> (8 * sizeof(U))));
    return static_cast<U>(product) >= threshold;
  }
};

/// The ziggurat method (Marsaglia & Tsang 2000) with 256 layers: a unit holds the layer and a number. Below the layer's limit, in 98.8 of
/// 100 cases, the number times the layer's width is the sample. NumPy's function draws the others, starting at the same unit. The layers'
/// tables come from NumPy's function too (layers_of), so that every bit is NumPy's.
template <class T>
struct Layers {
  using Unit = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  std::array<Unit, 256> limit;
  std::array<T, 256> width;
};

/// The bit fields of a unit in NumPy's samplers, from the top: the number, the sign (if any), the layer.
template <class T, bool symmetric>
struct Unit {
  using U = typename Layers<T>::Unit;
  static constexpr int kBits = symmetric ? (sizeof(T) == 8 ? 52 : 23) : (sizeof(T) == 8 ? 53 : 23);
  static constexpr int kShift = symmetric ? 9 : (sizeof(T) == 8 ? 11 : 9);
  static constexpr int kLayer = symmetric ? 0 : (sizeof(T) == 8 ? 3 : 1);
  static U number(U unit) { return static_cast<U>(unit >> kShift) & ((U{1} << kBits) - 1); }
  static unsigned layer(U unit) { return static_cast<unsigned>(unit >> kLayer) & 0xff; }
  static bool negative(U unit) { return symmetric && (unit >> 8 & 1) != 0; }
  static U made_of(unsigned layer, U number) { return static_cast<U>(number << kShift) | static_cast<U>(static_cast<U>(layer) << kLayer); }
};

template <class T, bool symmetric>
struct Ziggurat {
  using Parts = bc::pcg::Unit<T, symmetric>;
  using Unit = typename Layers<T>::Unit;
  using One = T (*)(BitGenerator*);
  static constexpr Manner kManner = Manner::chain;
  const Layers<T>* layers;
  One one;
  bool affine = false;
  T low = 0, scale = 1;

  /// Whether this one unit gives a sample, without NumPy's function.
  bool quick(Unit unit, T* sample) const {
    const Unit number = Parts::number(unit);
    const unsigned layer = Parts::layer(unit);
    const T x = static_cast<T>(static_cast<std::make_signed_t<Unit>>(number)) * layers->width[layer];
    // Sets the sign without a branch: the processor could not predict it.
    if constexpr (symmetric)
      *sample = std::bit_cast<T>(std::bit_cast<Unit>(x) ^ (unit >> 8 & 1) << (8 * sizeof(T) - 1));
    else
      *sample = x;
    return number < layers->limit[layer];
  }
  /// Draws the next sample by NumPy's function.
  T slow(Source<Unit>& s) const {
    BitGenerator b = bit_generator_of(s);
    return one(&b);
  }
};

/// A generator for layers_of: it yields the given units, then units that every sampler accepts, and counts the units drawn.
template <class U>
struct Script {
  U first, rest;
  int drawn = 0;
  U next() { return drawn++ == 0 ? first : rest; }
};

/// The layers of NumPy's function, found by calling it: if it draws one unit, the number is below the layer's limit; and the sample of a
/// power of two is the layer's width times that power.
template <class T, bool symmetric>
Layers<T> layers_of(T (*one)(BitGenerator*)) {
  using Parts = Unit<T, symmetric>;
  using U = typename Parts::U;
  Layers<T> layers{};
  const auto sample = [&](unsigned layer, U number, bool* taken) {
    Script<U> script{Parts::made_of(layer, number), Parts::made_of(2, 1)};
    BitGenerator b{};
    b.state = &script;
    b.next_uint64 = b.next_raw = [](void* s) -> uint64_t { return static_cast<Script<U>*>(s)->next(); };
    b.next_uint32 = [](void* s) -> uint32_t { return static_cast<uint32_t>(static_cast<Script<U>*>(s)->next()); };
    // A constant 0.5 ends the rejection loops of the tail.
    b.next_double = [](void* s) { return static_cast<Script<U>*>(s)->drawn++, 0.5; };
    const T x = one(&b);
    *taken = script.drawn == 1;
    return x;
  };
  for (unsigned layer = 0; layer < 256; ++layer) {
    bool taken = false;
    U limit = 0;
    for (int bit = Parts::kBits - 1; bit >= 0; --bit) {
      const U tried = limit | U{1} << bit;
      sample(layer, tried - 1, &taken);
      if (taken) limit = tried;
    }
    layers.limit[layer] = limit;
    if (limit > 1) {
      const U power = std::bit_floor(limit - 1);
      layers.width[layer] = sample(layer, power, &taken) / static_cast<T>(power);
    }
  }
  return layers;
}

template <class T, bool symmetric>
const Layers<T>& known_layers(T (*one)(BitGenerator*)) {
  static std::mutex mutex;
  static std::map<void*, std::unique_ptr<Layers<T>>> known;
  std::lock_guard lock(mutex);
  auto& layers = known[reinterpret_cast<void*>(one)];
  if (!layers) layers = std::make_unique<Layers<T>>(layers_of<T, symmetric>(one));
  return *layers;
}

// ---- The loop ----------------------------------------------------------------------------------------------------------------------

/// Units that a piece starts early: after so many, a sampler that began at a wrong unit is almost always at the right sample boundaries.
constexpr int64_t kLead = 16;
constexpr int64_t kLeastPiece = 2048, kMostPiece = 1 << 15;

template <class T>
struct Piece {
  int64_t first, last;  ///< the units in which its samples begin
  T* out;               ///< room for as many samples
  int64_t begin = 0, end = 0, count = 0;
};

#ifdef __x86_64__
/// Doubles by AVX-512's conversion of 64-bit integers, which older instruction sets lack.
template <class Sampler>
__attribute__((target("avx512f,avx512dq"))) void map_avx512(const Sampler& sampler, const uint64_t* units, double* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const double u = static_cast<double>(units[i] >> 11) * (1.0 / 9007199254740992.0);
    if constexpr (std::is_same_v<Sampler, Interval>)
      out[i] = sampler.low + sampler.scale * u;
    else
      out[i] = u;
  }
}
#endif

template <class T, class Sampler>
void map(const Sampler& sampler, std::span<const typename Sampler::Unit> units, T* out) {
#ifdef __x86_64__
  if constexpr (std::is_same_v<T, double>) {
    if (cpu_level() >= CpuLevel::v4) return map_avx512(sampler, units.data(), out, units.size());
  }
#endif
  for (size_t i = 0; i < units.size(); ++i) out[i] = sampler(units[i]);
}

/// Writes the samples that begin before unit `last`; returns the end of what it wrote.
template <class T, class Sampler>
T* run(const Sampler& sampler, Source<typename Sampler::Unit>& source, int64_t last, T* out) {
  while (source.position() < last) {
    const auto units = source.ready(last);
    size_t taken = units.size();
    if constexpr (Sampler::kManner == Manner::map) {
      map(sampler, units, out);
      out += taken;
    } else if constexpr (Sampler::kManner == Manner::filter) {
      if (sampler.seldom_rejects()) {
        bool all = true;
        for (size_t i = 0; i < taken; ++i) all &= sampler(units[i], out + i);
        if (all) {
          out += taken;
          source.skip(static_cast<int64_t>(taken));
          continue;
        }
      }
      // Always written, and kept only when it is a sample: this avoids a branch that the processor would mispredict.
      for (const auto unit : units) {
        T sample;
        const bool kept = sampler(unit, &sample);
        *out = sample;
        out += kept;
      }
    } else {
      size_t i = 0;
      while (i < taken && sampler.quick(units[i], out)) ++i, ++out;
      source.skip(static_cast<int64_t>(i));
      if (i < taken) *out++ = sampler.slow(source);
      continue;
    }
    source.skip(static_cast<int64_t>(taken));
  }
  return out;
}

template <class T, class Sampler>
void run(const Sampler& sampler, Source<typename Sampler::Unit>& source, Piece<T>& piece) {
  piece.begin = source.position();
  T* const end = run(sampler, source, piece.last, piece.out);
  if constexpr (Sampler::kManner == Manner::chain) {
    if (sampler.affine)
      for (T* x = piece.out; x < end; ++x) *x = sampler.low + sampler.scale * *x;
  }
  piece.count = end - piece.out;
  piece.end = source.position();
}

/// Draws all samples and returns the unit after the last one.
template <class T, class Sampler>
int64_t draw_all(const State& state, const Sampler& sampler, T* out, int64_t count) {
  using U = typename Sampler::Unit;
  const Words words(state);
  int64_t position = words.kept() * (Source<U>::kPerWord - 1);
  for (int64_t filled = 0; filled < count;) {
    // Every sample takes at least one unit, so these units give at most the missing samples.
    const int64_t units = count - filled;
    const int64_t size = std::clamp((units + cpu::thread_limit() - 1) / cpu::thread_limit(), kLeastPiece, kMostPiece);
    std::vector<Piece<T>> pieces(static_cast<size_t>((units + size - 1) / size));
    for (size_t i = 0; i < pieces.size(); ++i) {
      const int64_t at = static_cast<int64_t>(i) * size;
      pieces[i] = {position + at, position + std::min(at + size, units), out + filled + at};
    }
    cpu::parallel_for(static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Piece<T>& piece = pieces[static_cast<size_t>(i)];
        Source<U> source(words);
        source.seek(piece.first - (Sampler::kManner == Manner::chain && i > 0 ? kLead : 0));
        T unused[kLead];
        run(sampler, source, piece.first, unused);
        run(sampler, source, piece);
      }
    });
    T* to = out + filled;
    for (Piece<T>& piece : pieces) {
      if (piece.begin != position) {
        Source<U> source(words);
        source.seek(position);
        run(sampler, source, piece);
      }
      if (to != piece.out) std::memmove(to, piece.out, static_cast<size_t>(piece.count) * sizeof(T));
      to += piece.count;
      position = piece.end;
    }
    filled = to - out;
  }
  return position;
}

template <class T, class Sampler>
void draw_and_move(State& state, const Sampler& sampler, void* out, int64_t count) {
  using U = typename Sampler::Unit;
  // Draws of 64-bit units do not use the kept half.
  State from = state;
  if (sizeof(U) == 8) from.has_half = false;
  const int64_t end = draw_all<T>(from, sampler, static_cast<T*>(out), count);
  Words words(from);
  if constexpr (sizeof(U) == 8) {
    state.state = words.state_at(end);
  } else {
    state.state = words.state_at((end + 1) / 2);
    state.has_half = end % 2 != 0;
    // NumPy's state keeps the upper half of the last word even after it was drawn.
    if (count > 0) {
      Source<U> source(words);
      source.seek((end - 1) | 1);
      state.half = source.next();
    }
  }
}

template <class T>
void draw_integers(State& state, const Draw& d, void* out, int64_t count) {
  const T first = static_cast<T>(d.first);
  if (d.span == 0)
    std::fill_n(static_cast<T*>(out), count, first);
  else if (d.span == 0xffffffffu)
    draw_and_move<T>(state, Raw<T, uint32_t>{first}, out, count);
  else if (d.span < 0xffffffffu)
    draw_and_move<T>(state, Below<T, uint32_t>(first, static_cast<uint32_t>(d.span)), out, count);
  else if (~d.span == 0)
    draw_and_move<T>(state, Raw<T, uint64_t>{first}, out, count);
  else
    draw_and_move<T>(state, Below<T, uint64_t>(first, d.span), out, count);
}

template <class T, bool symmetric>
void draw_ziggurat(State& state, const Draw& d, void* out, int64_t count) {
  const auto one = reinterpret_cast<T (*)(BitGenerator*)>(d.one);
  const Ziggurat<T, symmetric> sampler{&known_layers<T, symmetric>(one), one, d.affine, static_cast<T>(d.low), static_cast<T>(d.scale)};
  draw_and_move<T>(state, sampler, out, count);
}

}  // namespace

bool can_draw(const Draw& d) {
  if (d.kind == Kind::integers) return d.dtype == DType::i64 || d.dtype == DType::u64 || d.dtype == DType::i32 || d.dtype == DType::u32;
  return d.dtype == DType::f64 || (d.dtype == DType::f32 && !d.affine);
}

void draw(State& state, const Draw& d, void* out, int64_t count) {
  BC_CHECK(can_draw(d), Type, "pcg: expected floats of 32 or 64 bits or integers of these, got {}", info(d.dtype).name);
  const bool wide = itemsize(d.dtype) == 8;
  switch (d.kind) {
    case Kind::integers: return wide ? draw_integers<uint64_t>(state, d, out, count) : draw_integers<uint32_t>(state, d, out, count);
    case Kind::uniform:
      if (!wide) return draw_and_move<float>(state, Uniform<float>{}, out, count);
      return d.affine ? draw_and_move<double>(state, Interval{d.low, d.scale}, out, count)
                      : draw_and_move<double>(state, Uniform<double>{}, out, count);
    case Kind::normal: return wide ? draw_ziggurat<double, true>(state, d, out, count) : draw_ziggurat<float, true>(state, d, out, count);
    case Kind::exponential:
      return wide ? draw_ziggurat<double, false>(state, d, out, count) : draw_ziggurat<float, false>(state, d, out, count);
  }
}

}  // namespace bc::pcg
