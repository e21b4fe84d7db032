// A piece of a stream begins where its generator is after that many steps, which takes O(log n) multiplications (Brown 1994). Samplers
// that reject what they drew take a number of words that is not known before. Each piece therefore begins a little before its place,
// without keeping what it draws there: samplers that began at different words are soon in step, since most samples take one word. Where a
// piece did not begin at the very word at which the one before it ended, it is drawn again. The results are then moved together.
#include "runtime/pcg_stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "runtime/parallel.h"

namespace bc::pcg {
namespace {

using u128 = unsigned __int128;

constexpr uint64_t kCheapMultiplier = 0xda942042e4dd58b5u;
constexpr u128 kMultiplier = static_cast<u128>(2549297995355413924u) << 64 | 4865540595714422341u;

/// The map x -> multiplier * x + addend.
struct Step {
  u128 multiplier, addend;
  u128 operator()(u128 x) const { return multiplier * x + addend; }
  Step then(const Step& next) const { return {multiplier * next.multiplier, next.multiplier * addend + next.addend}; }
};

Step repeated(Step step, uint64_t times) {
  Step result{1, 0};
  for (; times != 0; times >>= 1) {
    if (times & 1) result = result.then(step);
    step = step.then(step);
  }
  return result;
}

uint64_t xsl_rr(u128 x) {
  const auto high = static_cast<uint64_t>(x >> 64);
  return std::rotr(high ^ static_cast<uint64_t>(x), static_cast<int>(high >> 58));
}
uint64_t dxsm(u128 x) {
  auto high = static_cast<uint64_t>(x >> 64);
  const uint64_t low = static_cast<uint64_t>(x) | 1;
  high = (high ^ high >> 32) * kCheapMultiplier;
  return (high ^ high >> 48) * low;
}

constexpr int64_t kBlock = 512;  // words that a source makes at once

/// The words of a stream from the first one on; word 0 is the one whose upper half is left, where there is one.
class Words {
 public:
  explicit Words(const State& s)
      : state_(s), step_{s.dxsm ? u128{kCheapMultiplier} : kMultiplier, s.increment}, four_(repeated(step_, 4)) {}

  /// How many words do not come from the generator.
  int64_t kept() const { return state_.has_half ? 1 : 0; }
  /// The generator's state where word `index` is the next one.
  u128 state_at(int64_t index) const { return repeated(step_, static_cast<uint64_t>(index - kept()))(state_.state); }

  void seek(int64_t index) {
    at_kept_ = index < kept();
    // PCG64 gives a word of the state after its step, PCG64DXSM of that before it.
    u128 x = state_at(std::max(index, kept()));
    if (!state_.dxsm) x = step_(x);
    for (u128& lane : lanes_) {
      lane = x;
      x = step_(x);
    }
  }
  /// The next kBlock words. Four lanes, each of which goes four steps at once, keep the multipliers of the processor busy.
  void next(uint64_t* out) {
    int64_t i = 0;
    if (at_kept_) {
      out[i++] = static_cast<uint64_t>(state_.half) << 32;
      at_kept_ = false;
      for (; i < 4; ++i) out[i] = single();
    }
    if (state_.dxsm)
      fill<dxsm>(out + i, kBlock - i);
    else
      fill<xsl_rr>(out + i, kBlock - i);
  }

 private:
  /// One word: the lanes move by one step.
  uint64_t single() {
    const uint64_t word = state_.dxsm ? dxsm(lanes_[0]) : xsl_rr(lanes_[0]);
    const u128 last = lanes_[3];
    std::copy(lanes_ + 1, lanes_ + 4, lanes_);
    lanes_[3] = step_(last);
    return word;
  }
  template <uint64_t (*output)(u128)>
  void fill(uint64_t* out, int64_t count) {
    u128 a = lanes_[0], b = lanes_[1], c = lanes_[2], d = lanes_[3];
    for (int64_t i = 0; i < count; i += 4) {
      out[i] = output(a);
      out[i + 1] = output(b);
      out[i + 2] = output(c);
      out[i + 3] = output(d);
      a = four_(a);
      b = four_(b);
      c = four_(c);
      d = four_(d);
    }
    lanes_[0] = a;
    lanes_[1] = b;
    lanes_[2] = c;
    lanes_[3] = d;
  }

  const State& state_;
  Step step_, four_;
  u128 lanes_[4] = {};
  bool at_kept_ = false;
};

/// The stream as units of 64 or 32 bits. NumPy draws the lower half of a word first.
template <class U>
class Source {
 public:
  static constexpr int64_t kPerWord = sizeof(uint64_t) / sizeof(U);
  explicit Source(const Words& words) : words_(words) {}

  void seek(int64_t position) {
    const int64_t word = position / kPerWord;
    words_.seek(word);
    words_.next(buffer_);
    begin_ = word * kPerWord;
    at_ = position - begin_;
  }
  int64_t position() const { return begin_ + at_; }
  U next() {
    if (at_ == kBlock * kPerWord) {
      words_.next(buffer_);
      begin_ += at_;
      at_ = 0;
    }
    if constexpr (kPerWord == 1)
      return buffer_[at_++];
    else {
      const uint64_t word = buffer_[at_ / 2];
      return static_cast<U>(at_++ % 2 != 0 ? word >> 32 : word);
    }
  }
  /// Takes the last unit back.
  void undo() { --at_; }

 private:
  Words words_;
  uint64_t buffer_[kBlock] = {};
  int64_t begin_ = 0, at_ = 0;
};

double to_double(uint64_t word) { return static_cast<double>(word >> 11) * (1.0 / 9007199254740992.0); }
float to_float(uint32_t half) { return static_cast<float>(half >> 8) * (1.0F / 16777216.0F); }

/// A BitGenerator over a source, for NumPy's functions.
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

// ---- Samplers: Unit is what they draw, kRejects whether they may take more than one ---------------------------------------------------

template <class T>
struct Uniform {
  using Unit = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static constexpr bool kRejects = false;
  T operator()(Source<Unit>& s) const {
    if constexpr (sizeof(T) == 8)
      return to_double(s.next());
    else
      return to_float(s.next());
  }
};

/// A sampler's numbers times a scale, plus an offset.
template <class Sampler>
struct Affine {
  using Unit = typename Sampler::Unit;
  static constexpr bool kRejects = Sampler::kRejects;
  Sampler sampler;
  double low, scale;
  double operator()(Source<Unit>& s) const { return low + scale * sampler(s); }
};

/// A unit plus an offset.
template <class T, class U>
struct Raw {
  using Unit = U;
  static constexpr bool kRejects = false;
  T first;
  T operator()(Source<U>& s) const { return static_cast<T>(first + s.next()); }
};

/// Whole numbers below `count` by Lemire's multiplication (2019), whose rejection makes them exactly uniform.
template <class T, class U>
struct Below {
  using Unit = U;
  using Wide = std::conditional_t<sizeof(U) == 8, u128, uint64_t>;
  static constexpr bool kRejects = true;
  T first;
  U count, threshold;
  Below(T first_, U span) : first(first_), count(static_cast<U>(span + 1)), threshold(static_cast<U>(~span) % count) {}
  T operator()(Source<U>& s) const {
    for (;;) {
      const Wide product = static_cast<Wide>(s.next()) * count;
      if (static_cast<U>(product) >= threshold) [[likely]]
        return static_cast<T>(first + static_cast<T>(product >> (8 * sizeof(U))));
    }
  }
};

/// The ziggurat method (Marsaglia & Tsang 2000) with 256 layers: a unit holds the layer and a number. Below the layer's limit, in 98.8 of
/// 100 cases, the number times the layer's width is the sample. NumPy's function draws the others, from the same unit on; what the
/// layers are it is asked as well, so that every bit is NumPy's.
template <class T>
struct Layers {
  using Unit = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  std::array<Unit, 256> limit;
  std::array<T, 256> width;
};

/// Where NumPy's samplers have the parts of a unit: bits of the number, below them the sign (if any), below it the layer.
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
  static constexpr bool kRejects = true;
  const Layers<T>* layers;
  One one;
  T operator()(Source<Unit>& s) const {
    const Unit unit = s.next();
    const Unit number = Parts::number(unit);
    const unsigned layer = Parts::layer(unit);
    if (number < layers->limit[layer]) [[likely]] {
      const T x = static_cast<T>(number) * layers->width[layer];
      return Parts::negative(unit) ? -x : x;
    }
    s.undo();
    BitGenerator b = bit_generator_of(s);
    return one(&b);
  }
};

/// Units that are given, then a unit that every sampler takes; counts what is drawn.
template <class U>
struct Script {
  U first, rest;
  int drawn = 0;
  U next() { return drawn++ == 0 ? first : rest; }
};

/// The layers of NumPy's function, found by calling it: whether it takes one unit says on which side of the limit a number is, and the
/// sample of a power of two is the width times this power.
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
    // One half ends the loops of the tail.
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

/// A sampler that began at a wrong unit is in step after so many with a probability that leaves nothing to do, almost always.
constexpr int64_t kLead = 16;
constexpr int64_t kLeastPiece = 2048, kMostPiece = 1 << 15;

template <class T>
struct Piece {
  int64_t first, last;  ///< its units; samples begin in them
  T* out;               ///< room for as many samples
  int64_t begin = 0, end = 0, count = 0;
};

template <class T, class Sampler>
void run(const Sampler& sampler, Source<typename Sampler::Unit>& source, Piece<T>& piece) {
  piece.begin = source.position();
  if constexpr (!Sampler::kRejects) {
    piece.count = piece.last - piece.begin;
    for (int64_t i = 0; i < piece.count; ++i) piece.out[i] = sampler(source);
  } else {
    T* out = piece.out;
    while (source.position() < piece.last) *out++ = sampler(source);
    piece.count = out - piece.out;
  }
  piece.end = source.position();
}

/// Draws all samples and gives the unit behind the last one.
template <class T, class Sampler>
int64_t draw_all(const State& state, const Sampler& sampler, T* out, int64_t count) {
  using U = typename Sampler::Unit;
  const Words words(state);
  int64_t position = words.kept() * (Source<U>::kPerWord - 1);
  for (int64_t filled = 0; filled < count;) {
    // Every sample takes a unit at least, so these are not too many.
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
        source.seek(Sampler::kRejects && i > 0 ? piece.first - kLead : piece.first);
        while (source.position() < piece.first) sampler(source);
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
  // Units of 64 bits leave the half that is kept alone.
  State from = state;
  if (sizeof(U) == 8) from.has_half = false;
  const int64_t end = draw_all<T>(from, sampler, static_cast<T*>(out), count);
  Words words(from);
  if constexpr (sizeof(U) == 8) {
    state.state = words.state_at(end);
  } else {
    state.state = words.state_at((end + 1) / 2);
    state.has_half = end % 2 != 0;
    // NumPy keeps the upper half of the last word, also where it is drawn.
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

template <class Sampler>
void draw_double(State& state, const Draw& d, const Sampler& sampler, void* out, int64_t count) {
  if (d.affine)
    draw_and_move<double>(state, Affine<Sampler>{sampler, d.low, d.scale}, out, count);
  else
    draw_and_move<double>(state, sampler, out, count);
}

template <class T, bool symmetric>
Ziggurat<T, symmetric> ziggurat(void* one) {
  const auto f = reinterpret_cast<T (*)(BitGenerator*)>(one);
  return {&known_layers<T, symmetric>(f), f};
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
      return wide ? draw_double(state, d, Uniform<double>{}, out, count) : draw_and_move<float>(state, Uniform<float>{}, out, count);
    case Kind::normal:
      return wide ? draw_double(state, d, ziggurat<double, true>(d.one), out, count)
                  : draw_and_move<float>(state, ziggurat<float, true>(d.one), out, count);
    case Kind::exponential:
      return wide ? draw_double(state, d, ziggurat<double, false>(d.one), out, count)
                  : draw_and_move<float>(state, ziggurat<float, false>(d.one), out, count);
  }
}

}  // namespace bc::pcg
