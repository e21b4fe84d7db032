#pragma once
#include <cstdint>
#include <vector>

#include "codegen/ir.h"
#include "codegen/tier0/tables.h"

namespace bc::tier0 {

/// One step of a block's work. Operands and results are registers, which are indices of pointers to a block's elements.
struct Instruction {
  enum class Kind : uint8_t {
    op,          ///< out = loop(a, b, c)
    load,        ///< out = the access; without a copy where its elements are contiguous
    load_if,     ///< out = mask b ? the access : 0
    coordinate,  ///< out = the access's coordinates
    add_index,   ///< out = c + index a (mask b) of the pair at `word`
    gather,      ///< out = the access at offsets a, where mask b
    inside,      ///< out = c and coordinate a is inside the triple at `word`
    everywhere,  ///< out = true
    store,       ///< the access = a, where mask b
  };
  Kind kind = Kind::op;
  uint8_t size = 0;      ///< the logarithm of an element's size
  bool lasting = false;  ///< load: repeats one element; kept in its own register
  bool tested = false;   ///< coordinate: only `inside` reads it
  bool rereads = false;  ///< op: the loop may read an operand after it has written the result
  int16_t out = kNone, a = kNone, b = kNone, c = kNone;
  int16_t access = kNone;
  int16_t direct = kNone;  ///< op, load: the output access that the step may write directly
  int32_t word = 0;
  Loop loop = nullptr;
};

/// Copies a row's value to a register of the element scope.
struct Broadcast {
  int16_t from, out;
  uint8_t size;  ///< of the result
  Loop cast = nullptr;
};

/// The values and outputs of one stage, over elements or over rows.
struct Scope {
  std::vector<Broadcast> broadcasts;
  std::vector<Instruction> code;
  std::vector<int16_t> accesses;  ///< the accesses that the code uses
};

struct Total {
  const Reduction* loops;
  int stage;
  int16_t input;   ///< register of the elements, of the loop's type
  int16_t result;  ///< register of the row's value
  int partial_bytes;
  int ddof_word;
};

/// A register that holds a constant: filled from the parameters, or cast from another constant's register.
struct Constant {
  int16_t out, from = kNone;
  int32_t word = 0;
  uint8_t size = 0;
  Loop cast = nullptr;
};

struct Program {
  explicit Program(const Ir& ir);
  void run(int entry, const int64_t* parameters, int64_t begin, int64_t end) const;

  Walk walk;
  int kept, reduced, stages;
  bool segmented;
  bool peek;  ///< a load may read from memory directly, without a copy, while the block is processed
  ParamLayout params;
  int block;     ///< elements of a register
  int64_t tile;  ///< columns that a column reduction handles side by side
  std::vector<Access> accesses;
  std::vector<int32_t> unit;  ///< bytes an access moves by for a stride of 1 (coordinates: 1)
  std::vector<uint8_t> row_access;
  std::vector<Constant> constants;
  std::vector<Scope> elements, rows;  ///< by stage
  std::vector<Total> totals;
  std::vector<uint8_t> may_leave;  ///< by stage: the rest of a row need not be read once its totals are known
  std::vector<int32_t> registers;  ///< the offset of each register in the scratch memory
  int64_t scratch = 0;             ///< bytes

 private:
  class Builder;
};

}  // namespace bc::tier0
