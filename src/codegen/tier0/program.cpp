// Translates a kernel into a list of loops: values become registers, casts and broadcasts become steps, and registers that are no longer
// needed are reused, so that a block's values stay in the first-level cache.
#include "codegen/tier0/program.h"

#include <algorithm>
#include <bit>
#include <map>

#include "codegen/tier0/tier0.h"
#include "core/cpu_level.h"
#include "core/error.h"
#include "runtime/parallel.h"

namespace bc::tier0 {
namespace {

constexpr int kFirstRow = static_cast<int>(Op::store) + 1;
constexpr int kFirstReduction = kFirstRow + kRows;
static_assert(kFirstReduction == static_cast<int>(Op::reduce_sum) && kFirstReduction + kReduceRows == static_cast<int>(Op::library),
              "rows of tier 0 and the engine's ops have one order");
static_assert(kTypes == kDTypeCount);

struct Tables {
  LoopRow rows[kRows] = {};
  LoopRow casts[kTypes] = {};
  ReductionRow reductions[kReduceRows] = {};

  Tables() {
    fill_arithmetic(rows);
    const bool wide = cpu_level() >= CpuLevel::v4;
    (wide ? v4::fill_remainder : v3::fill_remainder)(rows);
    (wide ? v4::fill_exponential : v3::fill_exponential)(rows);
    (wide ? v4::fill_trigonometric : v3::fill_trigonometric)(rows);
    (wide ? v4::fill_hyperbolic : v3::fill_hyperbolic)(rows);
    fill_special(rows);
    fill_parts(rows);
    fill_logic(rows);
    fill_choice(rows);
    fill_casts(casts);
    fill_sums(reductions);
    fill_extremes(reductions);
    fill_folds(reductions);
  }
};

const Tables& tables() {
  static const Tables t;
  return t;
}

uint8_t log_size(DType t) { return static_cast<uint8_t>(std::countr_zero(static_cast<unsigned>(itemsize(t)))); }

Loop cast_loop(DType from, DType to) { return tables().casts[static_cast<int>(from)][static_cast<int>(to)]; }

/// The loop of a row for a dtype; nullptr where it has none.
Loop row_loop(Op op, DType t) {
  const int index = static_cast<int>(op) - kFirstRow;
  return info(op).kind == OpKind::elementwise && index >= 0 && index < kRows ? tables().rows[index][static_cast<int>(t)] : nullptr;
}

Loop op_loop(const Value& x) {
  const OpInfo& spec = info(x.op);
  const DType t = spec.signature == Signature::random ? x.dtype : x.loop[spec.signature == Signature::where ? 1 : 0];
  const Loop loop = row_loop(x.op, t);
  BC_CHECK(loop != nullptr, Runtime, "tier 0: expected a row with a loop in {}, got '{}'", info(t).name, spec.name);
  return loop;
}

}  // namespace

class Program::Builder {
 public:
  Builder(const Ir& ir, Program& program) : ir_(ir), p_(program) {}

  void build() {
    rows_.assign(ir_.values.size(), kNone);
    for (int stage = 0; stage < p_.stages; ++stage) {
      for (const bool outer : {false, true}) {
        stage_ = stage;
        outer_ = outer;
        scope_ = &(outer ? p_.rows : p_.elements)[stage];
        build_scope();
      }
    }
    p_.registers.resize(registers_.size());
    for (size_t k = 0; k < registers_.size(); ++k) p_.registers[k] = registers_[k].place;
    p_.scratch = next_;
  }

 private:
  struct Register {
    uint8_t size = 0;
    bool lasting = false;
    int32_t place = -1;
  };

  /// Adds a register to the current scope. Registers of rows are never reused, because a later stage may read them.
  int16_t make(DType t) {
    registers_.push_back({log_size(t), outer_, -1});
    if (outer_) registers_.back().place = allocate(log_size(t), p_.walk == Walk::rows ? 1 : static_cast<int>(p_.tile));
    return static_cast<int16_t>(registers_.size() - 1);
  }
  int16_t make_lasting(DType t) {
    registers_.push_back({log_size(t), true, allocate(log_size(t), p_.block)});
    return static_cast<int16_t>(registers_.size() - 1);
  }
  int32_t allocate(uint8_t size, int count) {
    const int64_t place = next_;
    // One cache line between blocks keeps them from mapping to the same sets of the cache.
    next_ += ((static_cast<int64_t>(count) << size) + 63) / 64 * 64 + (count > 1 ? 64 : 0);
    return static_cast<int32_t>(place);
  }

  int16_t constant(int index, DType as) {
    const auto key = std::make_pair(index, as);
    if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
    const Value& x = ir_.values[index];
    Constant c;
    c.out = make_lasting(as);
    c.size = log_size(as);
    if (as == x.dtype) {
      c.word = p_.params.constant + 2 * x.slot;
    } else {
      c.from = constant(index, x.dtype);
      c.cast = cast_loop(x.dtype, as);
    }
    p_.constants.push_back(c);
    constants_.emplace(key, c.out);
    return c.out;
  }

  /// The register that holds a value as a dtype in the current scope.
  int16_t use(int index, DType as) {
    const Value& x = ir_.values[index];
    if (x.kind == Value::Kind::constant) return constant(index, as);
    const auto key = std::make_pair(index, as);
    if (const auto found = here_.find(key); found != here_.end()) return found->second;
    BC_CHECK(!x.outer || rows_[index] != kNone, Runtime, "tier 0: value {} is used before its stage", index);
    int16_t out;
    if (x.outer && !outer_) {
      out = make_lasting(as);
      scope_->broadcasts.push_back({rows_[index], out, log_size(as), as == x.dtype ? nullptr : cast_loop(x.dtype, as)});
    } else {
      const int16_t from = x.outer ? rows_[index] : at(index);
      if (as == x.dtype) return from;
      out = make(as);
      Instruction i;
      i.loop = cast_loop(x.dtype, as);
      i.out = out;
      i.a = from;
      scope_->code.push_back(i);
    }
    here_.emplace(key, out);
    return out;
  }

  int16_t at(int index) const {
    const auto found = here_.find({index, ir_.values[index].dtype});
    BC_CHECK(found != here_.end(), Runtime, "tier 0: value {} is used outside of its scope", index);
    return found->second;
  }

  void build_scope() {
    here_.clear();
    for (size_t k = 0; k < ir_.values.size(); ++k) {
      const Value& x = ir_.values[k];
      if (x.kind == Value::Kind::constant || x.stage != stage_ || x.outer != outer_) continue;
      const int16_t out = value(x, static_cast<int>(k));
      if (outer_)
        rows_[k] = out;
      else
        here_.emplace(std::make_pair(static_cast<int>(k), x.dtype), out);
    }
    std::vector<int16_t> needed;  // registers that are read at the block's end
    if (!outer_) {
      for (size_t k = 0; k < ir_.accumulators.size(); ++k)
        if (ir_.accumulators[k].stage == stage_) {
          p_.totals[k].input = use(ir_.accumulators[k].input, ir_.accumulators[k].loop);
          needed.push_back(p_.totals[k].input);
        }
    }
    for (const Output& o : ir_.outputs)
      if (o.stage == stage_ && o.outer == outer_) output(o);
    for (const Instruction& i : scope_->code)
      if (i.access != kNone && std::find(scope_->accesses.begin(), scope_->accesses.end(), i.access) == scope_->accesses.end())
        scope_->accesses.push_back(i.access);
    for (Instruction& i : scope_->code)
      if (i.kind == Instruction::Kind::coordinate) i.tested = only_tested(i.out, needed);
    place(needed);
  }

  /// Tells whether a register is read only by `inside` tests.
  bool only_tested(int16_t r, const std::vector<int16_t>& needed) const {
    for (const Instruction& i : scope_->code) {
      if (i.b == r || i.c == r || (i.a == r && i.kind != Instruction::Kind::inside)) return false;
    }
    return std::find(needed.begin(), needed.end(), r) == needed.end();
  }

  int16_t value(const Value& x, int index) {
    Instruction i;
    i.size = log_size(x.dtype);
    switch (x.kind) {
      case Value::Kind::load:
        i.access = x.access;
        if (x.predicate == kNone) {
          i.kind = Instruction::Kind::load;
          i.lasting = !outer_ && ir_.accesses[x.access].step == Access::Step::zero;
        } else {
          i.kind = Instruction::Kind::load_if;
          i.b = use(x.predicate, DType::b1);
        }
        i.out = i.lasting ? make_lasting(x.dtype) : make(x.dtype);
        break;
      case Value::Kind::coordinate:
        i.kind = Instruction::Kind::coordinate;
        i.access = x.access;
        i.out = make(x.dtype);
        break;
      case Value::Kind::gather: {
        int16_t offsets = kNone;
        const int16_t mask = x.predicate == kNone ? kNone : use(x.predicate, DType::b1);
        for (size_t k = 0; k < x.more.size(); ++k) {
          Instruction add;
          add.kind = Instruction::Kind::add_index;
          add.a = use(x.more[k], DType::i64);
          add.b = mask;
          add.c = offsets;
          add.word = p_.params.gather + 2 * (x.slot + static_cast<int>(k));
          add.out = offsets = make(DType::i64);
          scope_->code.push_back(add);
        }
        if (offsets == kNone) {  // a region of one element
          i.kind = mask == kNone ? Instruction::Kind::load : Instruction::Kind::load_if;
        } else {
          i.kind = Instruction::Kind::gather;
          i.a = offsets;
        }
        i.b = mask;
        i.access = x.access;
        i.out = make(x.dtype);
        break;
      }
      case Value::Kind::inside: {
        int16_t before = kNone;
        for (size_t k = 0; k < x.more.size(); ++k) {
          Instruction test;
          test.kind = Instruction::Kind::inside;
          test.a = use(x.more[k], DType::i64);
          test.c = before;
          test.word = p_.params.inside + 3 * (x.slot + static_cast<int>(k));
          test.out = before = make(DType::b1);
          scope_->code.push_back(test);
        }
        if (before != kNone) return before;
        i.kind = Instruction::Kind::everywhere;
        i.out = make(DType::b1);
        break;
      }
      case Value::Kind::op: {
        if (x.op == Op::cast) return use(x.args[0], x.dtype);
        const int nin = info(x.op).nin;
        if (nin > 0) i.a = use(x.args[0], x.loop[0]);
        if (nin > 1) i.b = use(x.args[1], x.loop[1]);
        if (nin > 2) i.c = use(x.args[2], x.loop[2]);
        i.loop = op_loop(x);
        i.rereads = info(x.op).fast_text != nullptr;
        i.out = make(x.dtype);
        break;
      }
      case Value::Kind::result: {
        const int16_t out = make(x.dtype);
        for (size_t k = 0; k < ir_.accumulators.size(); ++k)
          if (ir_.accumulators[k].result == index) p_.totals[k].result = out;
        return out;
      }
      case Value::Kind::register_cached:
        raise(ErrorKind::Runtime, "tier 0: expected a kernel for the CPU, got value {} that stays in a thread's register", index);
      case Value::Kind::constant: break;
    }
    scope_->code.push_back(i);
    return i.out;
  }

  void output(const Output& o) {
    const DType t = ir_.accesses[o.access].dtype;
    Instruction i;
    i.kind = Instruction::Kind::store;
    i.size = log_size(t);
    i.access = o.access;
    i.a = use(o.value, t);
    if (o.predicate != kNone) {
      i.b = use(o.predicate, DType::b1);
    } else if (!ir_.in_place || last_writes(i.a)) {
      // The loop that computes the value may write it directly to the output.
      for (Instruction& made : scope_->code)
        if ((made.kind == Instruction::Kind::op || made.kind == Instruction::Kind::load) && made.out == i.a && made.direct == kNone)
          made.direct = o.access;
    }
    scope_->code.push_back(i);
  }

  /// Tells whether a register is made by the scope's last loop, for the only output, element by element: then the output may be an input,
  /// which is read at the place that is written.
  bool last_writes(int16_t r) const {
    if (scope_->code.empty()) return false;  // a constant
    const Instruction& last = scope_->code.back();
    return ir_.outputs.size() == 1 && last.out == r && last.kind == Instruction::Kind::op && !last.rereads;
  }

  /// Assigns memory to the scope's registers; memory is reused after a register's last read.
  void place(const std::vector<int16_t>& needed) {
    const int end = static_cast<int>(scope_->code.size());
    std::map<int16_t, int> last;
    for (int at = 0; at < end; ++at) {
      const Instruction& i = scope_->code[at];
      for (const int16_t r : {i.out, i.a, i.b, i.c})
        if (r != kNone) last[r] = at;
    }
    for (const int16_t r : needed) last[r] = end;
    std::vector<int32_t> free[5];
    for (int at = 0; at < end; ++at) {
      const Instruction& i = scope_->code[at];
      if (i.out != kNone && registers_[i.out].place < 0) {
        Register& r = registers_[i.out];
        if (free[r.size].empty()) {
          r.place = allocate(r.size, p_.block);
        } else {
          r.place = free[r.size].back();
          free[r.size].pop_back();
        }
      }
      const int16_t seen[] = {i.out, i.a, i.b, i.c};
      for (int k = 0; k < 4; ++k) {
        const int16_t r = seen[k];
        if (r == kNone || registers_[r].lasting || last[r] != at) continue;
        if (std::find(seen, seen + k, r) == seen + k) free[registers_[r].size].push_back(registers_[r].place);
      }
    }
  }

  const Ir& ir_;
  Program& p_;
  int stage_ = 0;
  bool outer_ = false;
  Scope* scope_ = nullptr;
  std::vector<Register> registers_;
  std::vector<int16_t> rows_;                      // registers of the rows' values
  std::map<std::pair<int, DType>, int16_t> here_;  // registers of the scope
  std::map<std::pair<int, DType>, int16_t> constants_;
  int64_t next_ = 0;
};

/// Elements of a map's registers: enough that the cost of a step is negligible, and few enough for the first-level cache.
int map_block(const Ir& ir) {
  int widest = 1;
  for (const Value& x : ir.values) {
    widest = std::max(widest, itemsize(x.dtype));
    if (x.kind == Value::Kind::op)
      for (const DType t : x.loop) widest = std::max(widest, itemsize(t));
  }
  return std::clamp(8192 / widest, 512, 4096);
}

Program::Program(const Ir& ir)
    : walk(ir.walk),
      kept(ir.kept),
      reduced(ir.reduced),
      stages(ir.walk == Walk::rows ? ir.stages : 1),
      segmented(ir.schedule.segmented),
      peek(!ir.in_place || ir.outputs.size() <= 1),
      params(param_layout(ir)),
      block(ir.walk == Walk::map ? map_block(ir)
                                 : static_cast<int>(ir.walk == Walk::columns ? std::max(kReduceBlock, column_tile(ir)) : kReduceBlock)),
      tile(ir.walk == Walk::columns ? column_tile(ir) : 0),
      accesses(ir.accesses),
      elements(stages),
      rows(stages) {
  for (const Access& a : accesses) {
    unit.push_back(a.role == Access::Role::coordinate ? 1 : itemsize(a.dtype));
    row_access.push_back(a.outer && walk != Walk::map);
  }
  for (size_t k = 0; k < ir.accumulators.size(); ++k) {
    const Accumulator& a = ir.accumulators[k];
    const Reduction& loops = tables().reductions[static_cast<int>(a.op) - kFirstReduction][static_cast<int>(a.loop)];
    BC_CHECK(loops.block != nullptr, Runtime, "tier 0: expected a reduction with a loop in {}, got '{}'", info(a.loop).name,
             info(a.op).name);
    totals.push_back({&loops, a.stage, kNone, kNone, state_bytes(a), params.ddof + static_cast<int>(k)});
  }
  for (int stage = 0; stage < stages; ++stage) may_leave.push_back(ir.may_leave(stage));
  Builder(ir, *this).build();
}

}  // namespace bc::tier0

namespace bc {

Tier0Loop tier0_loop(Op op, DType type) { return Tier0Program::supported() ? tier0::row_loop(op, type) : nullptr; }
Tier0Loop tier0_cast(DType from, DType to) { return Tier0Program::supported() ? tier0::cast_loop(from, to) : nullptr; }

bool tier0_reduce(Op op, DType type, const void* from, int64_t n, double ddof, void* out) {
  if (!Tier0Program::supported()) return false;
  const tier0::Reduction& row = tier0::tables().reductions[static_cast<int>(op) - tier0::kFirstReduction][static_cast<int>(type)];
  if (!row.block) return false;
  alignas(64) char state[tier0::kMaxState];
  row.block(from, n, 0, state);
  row.finish(state, static_cast<double>(n), ddof, out, 1);
  return true;
}

bool tier0_dot(DType type, const void* a, const void* b, int64_t n, void* out) {
  if (!Tier0Program::supported()) return false;
  const tier0::Reduction& row =
      tier0::tables().reductions[static_cast<int>(Op::reduce_sum) - tier0::kFirstReduction][static_cast<int>(type)];
  if (!row.products) return false;
  // Pieces of a power of two of blocks are joined as the tree joins them. Each thread takes neighbouring ones, always the same: they stay
  // in its cache.
  constexpr int64_t kPieces = 32, kBytesOfThread = int64_t{1} << 16;
  int64_t piece = 4 * kReduceBlock;
  while (piece * kPieces < n) piece *= 2;
  const int64_t item = itemsize(type), pieces = (n + piece - 1) / piece;
  const int64_t threads = std::clamp<int64_t>(n * item / kBytesOfThread, 1, cpu::thread_limit());
  alignas(64) char states[kPieces][tier0::kMaxState];
  cpu::parallel_for(pieces, (pieces + threads - 1) / threads, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t from = k * piece * item;
      row.products(static_cast<const char*>(a) + from, static_cast<const char*>(b) + from, std::min(piece, n - k * piece), states[k]);
    }
  });
  for (int64_t width = 1; width < pieces; width *= 2)
    for (int64_t k = 0; k + width < pieces; k += 2 * width) row.join(states[k], states[k + width], 1);
  row.finish(states[0], static_cast<double>(n), 0, out, 1);
  return true;
}

}  // namespace bc
