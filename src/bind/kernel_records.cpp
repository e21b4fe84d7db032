#include "bind/kernel_records.h"

#include <cstring>

#include "bind/args.h"

namespace bc::bind {
namespace {

PyObject* record_array_type = nullptr;

PyRef set_record_array_type(PyObject* type) {
  PyObject* old = std::exchange(record_array_type, new_ref(type));
  Py_XDECREF(old);
  return PyRef::borrow(Py_None);
}

// ---- xoroshiro128+ --------------------------------------------------------------------------------------------------------------------

struct State {
  uint64_t s0, s1;
};

void step(State& s) {
  const auto rotated = [](uint64_t x, int by) { return (x << by) | (x >> (64 - by)); };
  const uint64_t a = s.s0, b = s.s1 ^ a;
  s = {rotated(a, 55) ^ b ^ (b << 14), rotated(b, 36)};
}

State jumped(State s) {
  constexpr uint64_t polynomial[] = {0xbeac0467eba5facbull, 0xd86b048b86aa9922ull};
  State r{0, 0};
  for (uint64_t word : polynomial)
    for (int k = 0; k < 64; ++k, step(s))
      if ((word >> k) & 1) r.s0 ^= s.s0, r.s1 ^= s.s1;
  return r;
}

/// A jump is linear over the state's bits: sixteen table lookups do it, one for each byte.
class Jump {
 public:
  Jump() {
    for (int byte = 0; byte < 16; ++byte) {
      State bit[8];
      for (int k = 0; k < 8; ++k) {
        const uint64_t one = uint64_t{1} << (8 * (byte & 7) + k);
        bit[k] = jumped(byte < 8 ? State{one, 0} : State{0, one});
      }
      table_[byte][0] = {0, 0};
      for (int v = 1; v < 256; ++v) {
        const int low = std::countr_zero(static_cast<unsigned>(v));
        const State& rest = table_[byte][v & (v - 1)];
        table_[byte][v] = {rest.s0 ^ bit[low].s0, rest.s1 ^ bit[low].s1};
      }
    }
  }
  State operator()(State s) const {
    State r{0, 0};
    for (int byte = 0; byte < 16; ++byte) {
      const State& t = table_[byte][((byte < 8 ? s.s0 : s.s1) >> (8 * (byte & 7))) & 255];
      r.s0 ^= t.s0, r.s1 ^= t.s1;
    }
    return r;
  }

 private:
  State table_[16][256];
};

/// The states of n generators, 2^64 steps apart, the first `start` jumps after the seed's: 2n words.
PyRef xoroshiro_states(int64_t n, PyObject* seed, PyObject* start) {
  if (n < 0) raise(ErrorKind::Value, "create_xoroshiro128p_states: expected a number of states, got {}", n);
  const uint64_t seed_word = PyLong_AsUnsignedLongLongMask(PyRef::steal(PyNumber_Index(seed)).get());
  const uint64_t jumps = PyLong_AsUnsignedLongLong(PyRef::steal(PyNumber_Index(start)).get());
  if (PyErr_Occurred()) throw PythonError();
  PyRef bytes = PyRef::steal(PyBytes_FromStringAndSize(nullptr, 16 * n));
  char* to = PyBytes_AsString(bytes.get());
  without_gil([&] {
    static const auto& jump = *new Jump;
    uint64_t z = seed_word + 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    State s{z, z};
    for (uint64_t k = 0; k < jumps; ++k) s = jump(s);
    for (int64_t i = 0; i < n; ++i, s = jump(s)) std::memcpy(to + 16 * i, &s, 16);
  });
  return bytes;
}

}  // namespace

bool is_record_array(PyObject* o) { return reinterpret_cast<PyObject*>(Py_TYPE(o)) == record_array_type; }

RecordParts record_parts(PyObject* o) {
  RecordParts p;
  p.tuple = attr(o, "_parts");
  PyObject* t = p.tuple.get();
  p.bytes = &array_of(PyTuple_GetItem(t, 0));
  p.dtype = PyTuple_GetItem(t, 1);
  PyObject *shape = PyTuple_GetItem(t, 2), *strides = PyTuple_GetItem(t, 3);
  const auto n = static_cast<int>(PyTuple_Size(shape));
  p.shape.resize(n);
  p.strides.resize(n);
  for (int i = 0; i < n; ++i) {
    p.shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    p.strides[i] = PyLong_AsLongLong(PyTuple_GetItem(strides, i));
  }
  p.layout = as_string(PyTuple_GetItem(t, 4))[0];
  return p;
}

void init_kernel_records(PyObject* module) {
  add_functions(module, {BC_FUNCTION("set_record_array_type(type)", set_record_array_type),
                         BC_FUNCTION("xoroshiro_states(n, seed, start)", xoroshiro_states)});
}

}  // namespace bc::bind
