// Runs a kernel as a list of loops. Its items, blocks and trees are those of the printed kernel, so the results have the same bits.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <type_traits>

#include "codegen/tier0/program.h"
#include "codegen/tier0/tier0.h"
#include "core/cpu_level.h"

namespace bc {
namespace tier0 {
namespace {

/// Below this extent of the innermost axis a block spans several rows.
constexpr int64_t kShortRow = 128;
/// Maximum number of rows whose segments are joined side by side.
constexpr int64_t kJoinedRows = 256;
/// From this many columns on, a column reduction works on one row at a time.
constexpr int64_t kWideRow = 64;

/// Memory that a thread keeps for its blocks.
class Scratch {
 public:
  ~Scratch() { std::free(memory_); }
  char* get(int64_t bytes) {
    if (bytes > size_) [[unlikely]]
      grow(bytes);
    return memory_;
  }

 private:
  void grow(int64_t bytes) {
    std::free(memory_);
    size_ = 0;
    const int64_t wanted = (bytes + 65535) / 65536 * 65536;
    memory_ = static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>(wanted)));
    if (memory_ == nullptr) throw std::bad_alloc();
    size_ = wanted;
  }
  char* memory_ = nullptr;
  int64_t size_ = 0;
};

thread_local Scratch scratch_memory;

double read_double(const int64_t* word) {
  double x;
  std::memcpy(&x, word, sizeof(x));
  return x;
}

/// Splits a linear index over axes of a shape.
void split(int64_t linear, const int64_t* shape, int count, int64_t* x) {
  for (int d = count - 1; d > 0; --d) {
    x[d] = linear % shape[d];
    linear /= shape[d];
  }
  if (count > 0) x[0] = linear;
}

/// Joins 2^k neighbouring blocks before it joins them with the next 2^k, like Pairwise of the device library.
class Tree {
 public:
  explicit Tree(const Reduction& loops) : loops_(loops) {}

  void push(void* state) {
    int k = 0;
    for (uint64_t c = count_; c & 1; c >>= 1, ++k) {
      loops_.join(level_[k], state, 1);
      std::memcpy(state, level_[k], static_cast<size_t>(loops_.state_size));
    }
    std::memcpy(level_[k], state, static_cast<size_t>(loops_.state_size));
    ++count_;
  }
  void total(void* state) const {
    if (count_ == 0) return loops_.init(state);
    bool first = true;
    alignas(16) char left[kMaxState];
    for (int k = 0; k < 48; ++k) {
      if (!(count_ >> k & 1)) continue;
      std::memcpy(left, level_[k], static_cast<size_t>(loops_.state_size));
      if (!first) loops_.join(left, state, 1);
      std::memcpy(state, left, static_cast<size_t>(loops_.state_size));
      first = false;
    }
  }

 private:
  const Reduction& loops_;
  uint64_t count_ = 0;
  alignas(16) char level_[48][kMaxState];
};

class Run {
 public:
  Run(const Program& p, const int64_t* parameters) : p_(p), w_(parameters) {
    // The data about registers and accesses precede the registers in memory.
    const size_t known = p.registers.size() * (sizeof(char*) + sizeof(Line) + sizeof(Range));
    const int64_t head = static_cast<int64_t>(known + 3 * p.accesses.size() * sizeof(int64_t) + 63) / 64 * 64;
    char* memory = scratch_memory.get(head + p.scratch);
    reg_ = reinterpret_cast<char**>(memory);
    base_ = reinterpret_cast<int64_t*>(memory) + p.registers.size();
    at_ = base_ + p.accesses.size();
    step_ = at_ + p.accesses.size();
    line_ = reinterpret_cast<Line*>(step_ + p.accesses.size());
    range_ = reinterpret_cast<Range*>(line_ + p.registers.size());
    blocks_ = memory + head;
    for (size_t k = 0; k < p.registers.size(); ++k) {
      reg_[k] = blocks_ + p.registers[k];
      line_[k].known = false;
      range_[k].known = false;
    }
  }

  void map(int64_t begin, int64_t end) {
    const Scope& scope = p_.elements[0];
    const int inner = p_.kept - 1;
    if (inner == 0) {
      fill_constants(end - begin);
      for (const int16_t a : scope.accesses) {
        step_[a] = access(a)[1];
        base_[a] = access(a)[0] + begin * step_[a] * p_.unit[a];
      }
      walk_row(scope, end - begin);
      return;
    }
    const int64_t* shape = w_ + p_.params.kept_shape;
    const int64_t extent = shape[inner];
    for (const int16_t a : scope.accesses) step_[a] = access(a)[1 + inner];
    if (const int64_t rows = tile_rows(scope); rows > 1) {
      walk_tiles(scope, begin, end, rows);
      return;
    }
    if (extent < kShortRow) {
      fill_constants((end - begin) * extent);
      for (const int16_t a : scope.accesses) base_[a] = access(a)[0];
      fold_ = {inner, shape, 1, extent, begin, 0};
      folded_ = true;
      walk_folded(scope, begin * extent, end * extent);
      return;
    }
    fill_constants(extent);
    int64_t x[kMaxAxes];
    for (int64_t row = begin; row < end; ++row) {
      split(row, shape, inner, x);
      for (const int16_t a : scope.accesses) base_[a] = place(a, x, inner);
      walk_row(scope, extent);
    }
  }

  void rows(int64_t begin, int64_t end) {
    const int64_t n = w_[p_.params.reduced_size], segments = p_.segmented ? w_[p_.params.segments] : 1;
    const int64_t length = p_.segmented ? w_[p_.params.segment_length] : n, count = w_[p_.params.kept_size];
    const int inner = p_.kept + p_.reduced - 1;
    fill_constants(std::max<int64_t>(length, 1));
    for (const Scope& s : p_.elements)
      for (const int16_t a : s.accesses) step_[a] = access(a)[1 + inner];
    for (const Scope& s : p_.rows)
      for (const int16_t a : s.accesses) step_[a] = 0;
    const int64_t* reduced_shape = w_ + p_.params.reduced_shape;
    const int64_t extent = reduced_shape[p_.reduced - 1];
    const Total* const plain = plain_total();
    int64_t x[kMaxAxes];
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item % count, segment = item / count, lo = segment * length, hi = std::min(lo + length, n);
      split(row, w_ + p_.params.kept_shape, p_.kept, x);
      for (int stage = 0; stage < p_.stages; ++stage) {
        const Scope& scope = p_.elements[static_cast<size_t>(stage)];
        broadcast(scope, std::min<int64_t>(hi - lo, p_.block));
        for (const int16_t a : scope.accesses) base_[a] = place(a, x, p_.kept);
        if (plain && hi > lo)
          reduce_plain_row(*plain, scope.code.front(), lo, hi, row * segments + segment);
        else
          reduce_row(stage, scope, lo, hi, extent, reduced_shape, row * segments + segment);
        if (!p_.segmented) finish_row(stage, x);
      }
    }
  }

  void columns(int64_t begin, int64_t end) {
    const Scope& scope = p_.elements[0];
    const int inner = p_.kept - 1;
    const int64_t segments = w_[p_.params.segments], width = w_[p_.params.kept_shape + inner];
    const int64_t tiles = (width + p_.tile - 1) / p_.tile, n_reduced = w_[p_.params.reduced_size];
    fill_constants(p_.block);
    for (const int16_t a : scope.accesses) step_[a] = access(a)[1 + inner];
    for (const int16_t a : p_.rows[0].accesses) step_[a] = access(a)[1 + inner];
    const size_t tile_states = static_cast<size_t>(p_.tile) * kMaxState;
    char* const states = state_memory(tile_states);
    const auto top = [&](size_t k) { return states + 2 * k * tile_states; };
    const auto run = [&](size_t k) { return states + (2 * k + 1) * tile_states; };
    // Elements that are in memory in the accumulators' dtype are reduced directly from memory.
    const Instruction first = scope.code.empty() ? Instruction() : scope.code.front();
    bool plain = scope.code.size() == 1 && first.kind == Instruction::Kind::load && p_.reduced == 1 && step_[first.access] == 1;
    for (const Total& t : p_.totals) plain = plain && t.input == first.out;
    int64_t x[kMaxAxes];
    for (int64_t item = begin; item < end; ++item) {
      const int64_t segment = item % segments, tile = item / segments % tiles, outer = item / segments / tiles;
      const int64_t length = w_[p_.params.segment_length];
      const int64_t lo = segment * length, hi = std::min(lo + length, n_reduced);
      const int64_t c0 = tile * p_.tile, n = std::min(width - c0, p_.tile);
      split(outer, w_ + p_.params.kept_shape, inner, x);
      x[inner] = c0;
      for (const int16_t a : scope.accesses) base_[a] = place(a, x, p_.kept);
      fold_ = {p_.reduced, w_ + p_.params.reduced_shape, 1 + p_.kept, n, 0, 0};
      const int64_t most = n >= kWideRow ? 1 : p_.block / n;
      for (int64_t r0 = lo; r0 < hi; r0 += kColumnRun) {
        const int64_t r1 = std::min(r0 + kColumnRun, hi);
        if (plain) {
          const int64_t stride = access(first.access)[1 + p_.kept];
          const auto* from = reinterpret_cast<const char*>(base_[first.access] + r0 * stride * p_.unit[first.access]);
          for (size_t k = 0; k < p_.totals.size(); ++k) p_.totals[k].loops->fold(run(k), from, stride, r0, r1 - r0, n, true);
        } else {
          for (int64_t r = r0; r < r1;) {
            const int64_t count = std::min(most, r1 - r);
            column_rows(scope, r, count, n);
            for (size_t k = 0; k < p_.totals.size(); ++k) {
              const Total& t = p_.totals[k];
              t.loops->fold(run(k), reg_[t.input], n, r, count, n, r == r0);
            }
            r += count;
          }
        }
        for (size_t k = 0; k < p_.totals.size(); ++k) {
          p_.totals[k].loops->end(run(k), r0, r1 - r0, n, top(k), r0 == lo);
        }
      }
      if (p_.segmented) {
        for (size_t k = 0; k < p_.totals.size(); ++k) {
          const Total& t = p_.totals[k];
          copy_states(partial(k, (outer * width + c0) * segments + segment), segments * t.partial_bytes, top(k), t.loops->state_size,
                      partial_size(k), n);
        }
        continue;
      }
      for (size_t k = 0; k < p_.totals.size(); ++k) {
        const Total& t = p_.totals[k];
        if (hi <= lo)
          for (int64_t j = 0; j < n; ++j) t.loops->init(top(k) + j * t.loops->state_size);
        t.loops->finish(top(k), static_cast<double>(n_reduced), read_double(w_ + t.ddof_word), result(t.result), n);
      }
      for (const int16_t a : p_.rows[0].accesses) at_[a] = place(a, x, p_.kept);
      execute(p_.rows[0], n, true, n);
    }
  }

  void join(int64_t begin, int64_t end) {
    // Of a column reduction several rows are joined side by side.
    const int inner = p_.walk == Walk::columns ? p_.kept - 1 : -1;
    const int64_t most = inner >= 0 ? std::min<int64_t>(p_.tile, kJoinedRows) : 1;
    fill_constants(most);
    for (const int16_t a : p_.rows[0].accesses) step_[a] = inner >= 0 ? access(a)[1 + inner] : 0;
    int64_t x[kMaxAxes];
    for (int64_t row = begin; row < end;) {
      split(row, w_ + p_.params.kept_shape, p_.kept, x);
      const int64_t n = inner >= 0 ? std::min({most, w_[p_.params.kept_shape + inner] - x[inner], end - row}) : 1;
      for (size_t k = 0; k < p_.totals.size(); ++k) {
        const Total& t = p_.totals[k];
        t.loops->finish(join_segments(k, row, n), static_cast<double>(w_[p_.params.reduced_size]), read_double(w_ + t.ddof_word),
                        result(t.result), n);
      }
      for (const int16_t a : p_.rows[0].accesses) at_[a] = place(a, x, p_.kept);
      execute(p_.rows[0], n, true, n);
      row += n;
    }
  }

 private:
  static constexpr int kMaxAxes = 64;

  /// How a block covers several rows of the innermost axis. The outer axes have the extents `shape`; an access's strides begin at its word
  /// `stride`.
  struct Fold {
    int axes = 0;
    const int64_t* shape = nullptr;
    int stride = 0;
    int64_t inner = 1;  ///< extent of the innermost axis
    int64_t outer = 0;  ///< the block's first row, and the start index in that row
    int64_t start = 0;
  };

  /// A block's coordinates: first + k * step.
  struct Line {
    int64_t first, step;
    bool known;
  };
  /// Where a block's mask is true: [low, high).
  struct Range {
    int32_t low, high;
    bool known;
    bool all(int64_t n) const { return known && low == 0 && high == n; }
    bool none() const { return known && low >= high; }
  };

  const int64_t* access(int a) const { return w_ + p_.params.access + p_.params.access_words * a; }

  /// The address (or coordinate) of an access at kept coordinates x.
  int64_t place(int a, const int64_t* x, int count) const {
    const int64_t* word = access(a);
    int64_t sum = 0;
    for (int d = 0; d < count; ++d) sum += x[d] * word[1 + d];
    return word[0] + sum * p_.unit[a];
  }

  void fill_constants(int64_t n) {
    if (n > p_.block) n = p_.block;
    for (const Constant& c : p_.constants) {
      if (c.cast)
        c.cast(reg_[c.from], nullptr, nullptr, reg_[c.out], n);
      else
        kMoves[c.size].fill(reg_[c.out], w_ + c.word, n);
    }
  }

  void broadcast(const Scope& scope, int64_t n) {
    alignas(16) char cast[16];
    for (const Broadcast& b : scope.broadcasts) {
      const void* from = reg_[b.from];
      if (b.cast) {
        b.cast(from, nullptr, nullptr, cast, 1);
        from = cast;
      }
      kMoves[b.size].fill(reg_[b.out], from, n);
    }
  }

  /// Runs one row of the innermost axis, starting at base_.
  void walk_row(const Scope& scope, int64_t total) {
    const int64_t block = p_.block;
    for (const int16_t a : scope.accesses) at_[a] = base_[a];
    if (total <= block) {
      execute(scope, total, true, total);
      return;
    }
    for (int64_t s = 0; s < total; s += block) {
      execute(scope, std::min(block, total - s), s == 0, block);
      for (const int16_t a : scope.accesses) at_[a] += block * step_[a] * p_.unit[a];
    }
  }

  /// How many rows of a map should be processed together; 1 if tiling gives no advantage. Of a transposed operand each row reads one
  /// element of every cache line, and the next rows read the same lines. They are still in the cache, unless the operand's step maps a
  /// row's lines to so few sets of the second-level cache (64 KiB a way, at least 8 ways) that they evict each other.
  int64_t tile_rows(const Scope& scope) const {
    constexpr int64_t kLine = 64, kWay = 1 << 16, kWays = 8;
    const int inner = p_.kept - 1;
    const int64_t* shape = w_ + p_.params.kept_shape;
    int64_t rows = 1;
    for (const int16_t a : scope.accesses) {
      const int64_t unit = p_.unit[a], step = std::abs(step_[a]) * unit;
      if (p_.accesses[static_cast<size_t>(a)].role != Access::Role::load || access(a)[inner] != 1 || step < kLine) continue;
      if (kWay / std::gcd(step, kWay) * kWays < 2 * shape[inner]) rows = std::max(rows, kLine / unit);
    }
    return std::min(rows, shape[inner - 1]);
  }

  /// Runs rows [begin, end) in tiles of at most `rows` rows.
  void walk_tiles(const Scope& scope, int64_t begin, int64_t end, int64_t rows) {
    const int inner = p_.kept - 1;
    const int64_t* shape = w_ + p_.params.kept_shape;
    const int64_t extent = shape[inner], width = p_.block / rows;
    fill_constants(p_.block);
    int64_t x[kMaxAxes];
    for (int64_t row = begin; row < end;) {
      split(row, shape, inner, x);
      const int64_t count = std::min({rows, shape[inner - 1] - x[inner - 1], end - row});
      for (int64_t c = 0; c < extent; c += width) {
        for (const int16_t a : scope.accesses) base_[a] = place(a, x, inner) + c * step_[a] * p_.unit[a];
        const int64_t columns = std::min(width, extent - c);
        fold_ = {1, &count, inner, columns, 0, 0};
        folded_ = true;
        execute(scope, count * columns, true, p_.block);
      }
      row += count;
    }
    folded_ = false;
  }

  /// Runs elements [lo, hi) of the iteration space in blocks that span rows.
  void walk_folded(const Scope& scope, int64_t lo, int64_t hi) {
    for (int64_t s = lo; s < hi; s += p_.block) {
      fold_.outer = s / fold_.inner;
      fold_.start = s % fold_.inner;
      execute(scope, std::min<int64_t>(p_.block, hi - s), true, p_.block);
    }
    folded_ = false;
  }

  /// The kernel's only reduction if its rows can be reduced directly from memory; nullptr where values must be computed first.
  const Total* plain_total() const {
    if (p_.stages != 1 || p_.totals.size() != 1 || p_.reduced != 1 || p_.elements[0].code.size() != 1) return nullptr;
    const Instruction& first = p_.elements[0].code.front();
    const bool plain = first.kind == Instruction::Kind::load && step_[first.access] == 1 && p_.totals[0].input == first.out;
    return plain ? &p_.totals[0] : nullptr;
  }
  void reduce_plain_row(const Total& t, const Instruction& load, int64_t lo, int64_t hi, int64_t item) {
    alignas(16) char state[kMaxState];
    t.loops->row(reinterpret_cast<const void*>(base_[load.access]), lo, hi, p_.may_leave[0], state);
    leave(0, state, item);
  }

  /// Reduces elements [lo, hi) of a row in stage `stage`: the blocks through the tree, then the totals.
  void reduce_row(int stage, const Scope& scope, int64_t lo, int64_t hi, int64_t extent, const int64_t* shape, int64_t item) {
    alignas(16) char state[kMaxState];
    const bool fold = p_.reduced > 1;
    const auto run_block = [&](int64_t r0) {
      const int64_t n = std::min<int64_t>(kReduceBlock, hi - r0);
      if (fold) {
        const int64_t first = r0 / extent, start = r0 % extent;
        if (start + n <= extent) {  // within one row
          int64_t y[kMaxAxes];
          split(first, shape, p_.reduced - 1, y);
          for (const int16_t a : scope.accesses) {
            int64_t sum = start * step_[a];
            if (!p_.row_access[a])
              for (int d = 0; d + 1 < p_.reduced; ++d) sum += y[d] * access(a)[1 + p_.kept + d];
            at_[a] = base_[a] + sum * p_.unit[a];
          }
        } else {
          fold_ = {p_.reduced - 1, shape, 1 + p_.kept, extent, first, start};
          folded_ = true;
        }
      } else {
        for (const int16_t a : scope.accesses) at_[a] = base_[a] + r0 * step_[a] * p_.unit[a];
      }
      execute(scope, n, r0 == lo || fold, n);
      folded_ = false;
      return n;
    };
    if (hi - lo <= kReduceBlock) {
      const int64_t n = hi > lo ? run_block(lo) : 0;
      for (size_t k = 0; k < p_.totals.size(); ++k) {
        const Total& t = p_.totals[k];
        if (t.stage != stage) continue;
        if (n > 0)
          t.loops->block(reg_[t.input], n, lo, state);
        else
          t.loops->init(state);
        leave(k, state, item);
      }
      return;
    }
    constexpr size_t kFew = 4;
    alignas(Tree) char few[kFew * sizeof(Tree)];
    std::vector<char> many;
    size_t mine = 0;
    for (const Total& t : p_.totals) mine += t.stage == stage;
    char* memory = few;
    if (mine > kFew) {
      many.resize(mine * sizeof(Tree) + alignof(Tree));
      memory = many.data() + (alignof(Tree) - reinterpret_cast<uintptr_t>(many.data()) % alignof(Tree)) % alignof(Tree);
    }
    Tree* trees = reinterpret_cast<Tree*>(memory);
    size_t at = 0;
    for (const Total& t : p_.totals)
      if (t.stage == stage) new (trees + at++) Tree(*t.loops);
    for (int64_t r0 = lo; r0 < hi; r0 += kReduceBlock) {
      const int64_t n = run_block(r0);
      at = 0;
      bool settled = p_.may_leave[static_cast<size_t>(stage)];
      for (const Total& t : p_.totals) {
        if (t.stage != stage) continue;
        t.loops->block(reg_[t.input], n, r0, state);
        settled = settled && t.loops->decided != nullptr && t.loops->decided(state);
        trees[at++].push(state);
      }
      if (settled) break;
    }
    at = 0;
    for (size_t k = 0; k < p_.totals.size(); ++k) {
      if (p_.totals[k].stage != stage) continue;
      trees[at++].total(state);
      leave(k, state, item);
    }
  }

  /// Stores the total of a row or segment where the next step reads it.
  void leave(size_t k, const char* state, int64_t item) {
    if (p_.segmented)
      std::memcpy(partial(k, item), state, partial_size(k));
    else
      finish(p_.totals[k], state);
  }

  void finish(const Total& t, const char* state) {
    t.loops->finish(state, static_cast<double>(w_[p_.params.reduced_size]), read_double(w_ + t.ddof_word), result(t.result), 1);
  }

  /// Points a result's register to its own memory and returns it.
  char* result(int16_t r) {
    reg_[r] = blocks_ + p_.registers[static_cast<size_t>(r)];
    return reg_[r];
  }

  void finish_row(int stage, const int64_t* x) {
    const Scope& scope = p_.rows[static_cast<size_t>(stage)];
    for (const int16_t a : scope.accesses) at_[a] = place(a, x, p_.kept);
    execute(scope, 1, true, 1);
  }

  char* partial(size_t k, int64_t item) const {
    int64_t before = 0;  // each accumulator's partials start at a multiple of 16 bytes
    const int64_t items = w_[p_.params.kept_size] * w_[p_.params.segments];
    for (size_t i = 0; i < k; ++i) before += (p_.totals[i].partial_bytes * items + 15) & ~int64_t{15};
    return reinterpret_cast<char*>(w_[p_.params.partials]) + before + item * p_.totals[k].partial_bytes;
  }
  /// The bytes of a state without the padding at its end.
  size_t partial_size(size_t k) const { return static_cast<size_t>(std::min(p_.totals[k].loops->state_size, p_.totals[k].partial_bytes)); }

  /// Computes the elements of `count` rows of n columns, starting at index r of the reduced axes.
  void column_rows(const Scope& scope, int64_t r, int64_t count, int64_t n) {
    fold_.outer = r;
    if (count > 1) {
      folded_ = true;
      execute(scope, count * n, true, n);
      folded_ = false;
      return;
    }
    int64_t y[kMaxAxes];
    split(r, fold_.shape, p_.reduced, y);
    for (const int16_t a : scope.accesses) {
      int64_t sum = 0;
      for (int d = 0; d < p_.reduced; ++d) sum += y[d] * access(a)[1 + p_.kept + d];
      at_[a] = base_[a] + sum * p_.unit[a];
    }
    execute(scope, n, true, n);
  }

  /// Joins the partial results of n rows from `row` on in the order of Pairwise, all rows side by side. Returns their states.
  char* join_segments(size_t k, int64_t row, int64_t n) const {
    const Total& t = p_.totals[k];
    const int64_t segments = w_[p_.params.segments], size = t.loops->state_size;
    const int levels = std::bit_width(static_cast<uint64_t>(segments));
    static thread_local Scratch memory;
    char* states = memory.get((levels + 1) * n * size);
    char* level[64];
    for (int l = 0; l < levels; ++l) level[l] = states + (l + 1) * n * size;
    for (int64_t s = 0; s < segments; ++s) {
      copy_states(states, size, partial(k, row * segments + s), segments * t.partial_bytes, partial_size(k), n);
      int l = 0;
      for (auto before = static_cast<uint64_t>(s); before & 1; before >>= 1, ++l) {
        t.loops->join(level[l], states, n);
        std::swap(level[l], states);
      }
      std::swap(level[l], states);
    }
    char* total = nullptr;
    for (int l = 0; l < levels; ++l) {
      if (!(segments >> l & 1)) continue;
      if (total) t.loops->join(level[l], total, n);
      total = level[l];
    }
    return total;
  }

  /// Copies n states of `bytes` bytes each, with steps of `to_step` and `from_step` bytes.
  static void copy_states(char* to, int64_t to_step, const char* from, int64_t from_step, size_t bytes, int64_t n) {
    const auto copy = [&](auto size) {
      for (int64_t j = 0; j < n; ++j) std::memcpy(to + j * to_step, from + j * from_step, size);
    };
    switch (bytes) {
      case 1: return copy(std::integral_constant<size_t, 1>());
      case 4: return copy(std::integral_constant<size_t, 4>());
      case 8: return copy(std::integral_constant<size_t, 8>());
      case 16: return copy(std::integral_constant<size_t, 16>());
      default: return copy(bytes);
    }
  }

  char* state_memory(size_t tile_states) const {
    static thread_local Scratch memory;
    return memory.get(static_cast<int64_t>(2 * p_.totals.size() * tile_states));
  }

  /// Calls f(address or first coordinate, first element, count) for each stretch of the block along the innermost axis.
  template <class F>
  void stretches(int a, int64_t n, F&& f) const {
    const int64_t* stride = access(a) + fold_.stride;
    const int64_t unit = p_.unit[static_cast<size_t>(a)];
    int64_t y[kMaxAxes];
    split(fold_.outer, fold_.shape, fold_.axes, y);
    int64_t at = base_[a];
    for (int d = 0; d < fold_.axes; ++d) at += y[d] * stride[d] * unit;
    int64_t start = fold_.start;
    for (int64_t done = 0;;) {
      const int64_t count = std::min(fold_.inner - start, n - done);
      f(at + start * step_[a] * unit, done, count);
      done += count;
      if (done >= n) return;
      start = 0;
      for (int d = fold_.axes - 1; d >= 0; --d) {
        at += stride[d] * unit;
        if (++y[d] < fold_.shape[d]) break;
        at -= stride[d] * unit * fold_.shape[d];
        y[d] = 0;
      }
    }
  }

  static void copy_in(const Moves& moves, int size, char* out, int64_t from, int64_t step, int64_t n) {
    const void* in = reinterpret_cast<const void*>(from);
    if (step == 1)
      std::memcpy(out, in, static_cast<size_t>(n) << size);
    else if (step == 0)
      moves.fill(out, in, n);
    else
      moves.copy(out, in, step, n);
  }

  /// Runs the scope's code on the n elements at at_ (if folded, of fold_). `fresh`: loads that repeat one element must read it again,
  /// because its address may have changed; up to `most` copies of it are needed until it changes again.
  void execute(const Scope& scope, int64_t n, bool fresh, int64_t most) {
    for (const Instruction& i : scope.code) {
      switch (i.kind) {
        case Instruction::Kind::op: {
          char* out = own(i.out);
          if (i.direct != kNone && !folded_ && (step_[i.direct] == 1 || n == 1)) out = reinterpret_cast<char*>(at_[i.direct]);
          i.loop(i.a == kNone ? nullptr : reg_[i.a], i.b == kNone ? nullptr : reg_[i.b], i.c == kNone ? nullptr : reg_[i.c], out, n);
          reg_[i.out] = out;
          break;
        }
        case Instruction::Kind::load: load(i, n, fresh, most); break;
        case Instruction::Kind::store: store(i, n); break;
        default: other(i, n); break;
      }
    }
  }

  char* own(int16_t r) const { return blocks_ + p_.registers[static_cast<size_t>(r)]; }

  void load(const Instruction& i, int64_t n, bool fresh, int64_t most) {
    const int64_t step = step_[i.access];
    const Moves& moves = kMoves[i.size];
    if (folded_) {
      char* out = reg_[i.out] = own(i.out);
      if (fold_.axes == 1 && fold_.outer == 0 && fold_.start == 0 && access(i.access)[fold_.stride] == 1 && step > 1 &&
          n == fold_.shape[0] * fold_.inner) {
        moves.transpose(out, reinterpret_cast<const void*>(base_[i.access]), step, fold_.shape[0], fold_.inner);
        return;
      }
      stretches(i.access, n,
                [&](int64_t at, int64_t first, int64_t count) { copy_in(moves, i.size, out + (first << i.size), at, step, count); });
    } else if ((step == 1 || n == 1) && p_.peek && !i.lasting) {
      reg_[i.out] = reinterpret_cast<char*>(at_[i.access]);
    } else if (step == 0 && i.lasting) {
      if (fresh) moves.fill(reg_[i.out] = own(i.out), reinterpret_cast<const void*>(at_[i.access]), most);
    } else {
      char* out = own(i.out);
      if (i.direct != kNone && (step_[i.direct] == 1 || n == 1)) out = reinterpret_cast<char*>(at_[i.direct]);
      copy_in(moves, i.size, reg_[i.out] = out, at_[i.access], step, n);
    }
  }

  void store(const Instruction& i, int64_t n) {
    const int64_t step = step_[i.access];
    const Moves& moves = kMoves[i.size];
    const char* from = reg_[i.a];
    const bool* mask = i.b == kNone ? nullptr : reinterpret_cast<const bool*>(reg_[i.b]);
    if (folded_) {
      stretches(i.access, n, [&](int64_t at, int64_t first, int64_t count) {
        void* out = reinterpret_cast<void*>(at);
        if (mask)
          moves.spread_if(out, step, from + (first << i.size), mask + first, count);
        else if (step == 1)
          std::memcpy(out, from + (first << i.size), static_cast<size_t>(count) << i.size);
        else
          moves.spread(out, step, from + (first << i.size), count);
      });
      return;
    }
    void* out = reinterpret_cast<void*>(at_[i.access]);
    if (mask && range_[i.b].known) {
      const Range& r = range_[i.b];
      if (r.none()) return;
      out = static_cast<char*>(out) + r.low * step * p_.unit[static_cast<size_t>(i.access)];
      from += int64_t{r.low} << i.size;
      n = r.high - r.low;
      mask = nullptr;
    }
    if (mask)
      moves.spread_if(out, step, from, mask, n);
    else if (step != 1 && n != 1)
      moves.spread(out, step, from, n);
    else if (out != from)
      std::memmove(out, from, static_cast<size_t>(n) << i.size);
  }

  [[gnu::noinline]] void other(const Instruction& i, int64_t n) {
    char* out = reg_[i.out] = own(i.out);
    const bool* mask = i.b == kNone ? nullptr : reinterpret_cast<const bool*>(reg_[i.b]);
    const Moves& moves = kMoves[i.size];
    const int64_t step = i.access == kNone ? 0 : step_[i.access];
    const auto each = [&](auto&& f) {
      if (folded_)
        stretches(i.access, n, f);
      else
        f(at_[i.access], int64_t{0}, n);
    };
    switch (i.kind) {
      case Instruction::Kind::load_if:
        if (!folded_ && range_[i.b].known) {
          load_range(i, n, range_[i.b]);
          break;
        }
        each([&](int64_t at, int64_t first, int64_t count) {
          moves.copy_if(out + (first << i.size), reinterpret_cast<const void*>(at), step, mask + first, count);
        });
        break;
      case Instruction::Kind::coordinate:
        line_[i.out] = {at_[i.access], step, !folded_};
        if (i.tested && !folded_) break;  // written to memory only where a test needs it
        each([&](int64_t at, int64_t first, int64_t count) { count_up(reinterpret_cast<int64_t*>(out) + first, at, step, count); });
        break;
      case Instruction::Kind::gather: {
        const int64_t* offsets = reinterpret_cast<const int64_t*>(reg_[i.a]);
        if (mask && range_[i.b].none()) {
          std::memset(out, 0, static_cast<size_t>(n) << i.size);
          break;
        }
        if (mask && range_[i.b].all(n)) mask = nullptr;
        each([&](int64_t at, int64_t first, int64_t count) {
          moves.take(out + (first << i.size), reinterpret_cast<const void*>(at), step, offsets + first, mask ? mask + first : nullptr,
                     count);
        });
        break;
      }
      case Instruction::Kind::add_index:
        add_index(reinterpret_cast<int64_t*>(out), i.c == kNone ? nullptr : reinterpret_cast<const int64_t*>(reg_[i.c]),
                  reinterpret_cast<const int64_t*>(reg_[i.a]), mask, w_[i.word], w_[i.word + 1],
                  reinterpret_cast<uint32_t*>(w_[p_.params.error]), n);
        break;
      case Instruction::Kind::inside:
        if (inside_range(i, n, out)) break;
        test_inside(reinterpret_cast<bool*>(out), i.c == kNone ? nullptr : reinterpret_cast<const bool*>(reg_[i.c]),
                    reinterpret_cast<const int64_t*>(reg_[i.a]), w_[i.word], w_[i.word + 1], w_[i.word + 2], n);
        break;
      case Instruction::Kind::everywhere: std::memset(out, 1, static_cast<size_t>(n)); break;
      case Instruction::Kind::op:
      case Instruction::Kind::load:
      case Instruction::Kind::store: break;
    }
  }

  /// A load whose mask is true exactly in a range; the other elements are 0.
  void load_range(const Instruction& i, int64_t n, const Range& r) {
    const int64_t step = step_[i.access], from = at_[i.access];
    if (r.all(n) && step == 1 && p_.peek) {
      reg_[i.out] = reinterpret_cast<char*>(from);
      return;
    }
    char* out = reg_[i.out];
    const int64_t low = r.none() ? 0 : r.low, high = r.none() ? 0 : r.high;
    std::memset(out, 0, static_cast<size_t>(low) << i.size);
    if (high > low)
      copy_in(kMoves[i.size], i.size, out + (low << i.size), from + low * step * p_.unit[static_cast<size_t>(i.access)], step, high - low);
    std::memset(out + (high << i.size), 0, static_cast<size_t>(n - high) << i.size);
  }

  /// A test of coordinates that are constant in the block or increase by 1, so that it is true in one range or nowhere. Returns false where
  /// that does not hold; then the coordinates have been written to memory for test_inside.
  bool inside_range(const Instruction& i, int64_t n, char* out) {
    const Line line = line_[i.a];
    const int64_t lower = w_[i.word], count = w_[i.word + 1], step = w_[i.word + 2];
    Range& r = range_[i.out];
    r.known = line.known && (i.c == kNone || range_[i.c].known) && (line.step == 0 || (line.step == 1 && step == 1));
    if (!r.known) {
      if (line.known) count_up(reinterpret_cast<int64_t*>(reg_[i.a]), line.first, line.step, n);
      return false;
    }
    int64_t low = 0, high = n;
    if (line.step == 1) {
      low = std::clamp<int64_t>(lower - line.first, 0, n);
      high = std::clamp<int64_t>(lower + count - line.first, low, n);
    } else {
      bool yes = false;
      test_inside(&yes, nullptr, &line.first, lower, count, step, 1);
      if (!yes) high = 0;
    }
    if (i.c != kNone) {
      low = std::max<int64_t>(low, range_[i.c].low);
      high = std::max(low, std::min<int64_t>(high, range_[i.c].high));
    }
    r.low = static_cast<int32_t>(low);
    r.high = static_cast<int32_t>(high);
    std::memset(out, 0, static_cast<size_t>(n));
    std::memset(out + low, 1, static_cast<size_t>(high - low));
    return true;
  }

  const Program& p_;
  const int64_t* w_;
  char** reg_;     // the address of each register's elements
  int64_t* base_;  // address (or coordinate) of each access where its row begins,
  int64_t* at_;    // the same where the block begins,
  int64_t* step_;  // and its stride along the innermost axis
  Line* line_;     // of registers that `coordinate` writes
  Range* range_;   // of registers that `inside` writes
  char* blocks_;
  Fold fold_;
  bool folded_ = false;
};

}  // namespace

void Program::run(int entry, const int64_t* parameters, int64_t begin, int64_t end) const {
  if (begin >= end) return;
  Run run(*this, parameters);
  if (entry == 1)
    run.join(begin, end);
  else if (walk == Walk::map)
    run.map(begin, end);
  else if (walk == Walk::rows)
    run.rows(begin, end);
  else
    run.columns(begin, end);
}

}  // namespace tier0

Tier0Program::Tier0Program(const Ir& ir) : program_(std::make_unique<const tier0::Program>(ir)) {}
Tier0Program::~Tier0Program() = default;
Tier0Program::Tier0Program(Tier0Program&&) noexcept = default;
Tier0Program& Tier0Program::operator=(Tier0Program&&) noexcept = default;

void Tier0Program::run(int entry, const int64_t* parameters, int64_t begin, int64_t end) const {
  program_->run(entry, parameters, begin, end);
}

bool Tier0Program::supported() { return cpu_level() >= CpuLevel::v3; }

}  // namespace bc
