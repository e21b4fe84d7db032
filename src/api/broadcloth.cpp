// The public C++ API, thin over the engine's Array.
#include "broadcloth/broadcloth.h"

#include "api/array_impl.h"
#include "runtime/device_name.h"

namespace broadcloth {
namespace {

using namespace face;

namespace named {
using enum dtype;
constexpr dtype bool_ = dtype::boolean;
}  // namespace named
#define bool bool_
#define BC_DTYPE(id, name, ...) static_assert(static_cast<int>(named::name) == static_cast<int>(bc::DType::id));
#include "core/dtypes.def"
#undef BC_DTYPE
#undef bool

bc::Op op_named(std::string_view name) {
  const std::optional<bc::Op> op = bc::op_from_name(name);
  BC_CHECK(op && bc::info(*op).kind == bc::OpKind::elementwise, Value, "apply: expected the name of a ufunc, got '{}'", name);
  return *op;
}

bc::Op reduction_named(std::string_view name) {
  for (int i = 0; i < bc::kOpCount; ++i)
    if (const bc::OpInfo& spec = bc::info(bc::Op(i)); spec.kind == bc::OpKind::reduce && name == spec.name) return bc::Op(i);
  bc::raise(bc::ErrorKind::Value, "reduce: expected the name of a reduction, got '{}'", name);
}

}  // namespace

array::array(double value) : p_(std::make_shared<const impl>(impl{bc::Arg(value), {}})) {}

const shape_t& array::shape() const { return p_->shape; }
int64_t array::size() const {
  int64_t n = 1;
  for (int64_t extent : p_->shape) n *= extent;
  return n;
}
dtype array::type() const { return static_cast<dtype>(p_->value.array ? p_->value.array.dtype() : bc::default_dtype(p_->value.weak)); }
std::string array::device() const { return bc::to_string(p_->value.array ? p_->value.array.device() : bc::default_device()); }

array array::operator[](int64_t index) const {
  const bc::SliceItem item{bc::SliceItem::Kind::index, index};
  return made(bc::slice(real_array(*this), std::span(&item, 1)));
}

array array::operator()(std::initializer_list<slice> slices) const {
  std::vector<bc::SliceItem> items;
  for (const slice& s : slices)
    items.push_back(
        {bc::SliceItem::Kind::slice, s.start == npos ? 0 : s.start, s.stop == npos ? 0 : s.stop, s.step, s.start != npos, s.stop != npos});
  return made(bc::slice(real_array(*this), items));
}

array array::reshape(const shape_t& shape) const { return made(bc::reshape(real_array(*this), dims(shape))); }
array array::transpose() const { return made(bc::transpose(real_array(*this))); }
array array::astype(dtype type) const { return made(bc::astype(real_array(*this), engine(type), /*copy=*/false)); }
array array::copy() const { return made(bc::copy(real_array(*this))); }
void array::assign(const array& value) const { bc::assign(real_array(*this), value.get().value); }

array array::reduce(std::string_view name, std::optional<shape_t> axes, bool keepdims) const {
  bc::ReduceOptions options;
  if (axes) options.axes = std::vector<int64_t>(axes->begin(), axes->end());
  options.keepdims = keepdims;
  return made(bc::reduce(reduction_named(name), real_array(*this), options));
}

void array::to_host(void* to, size_t count) const {
  const bc::Array a = real_array(*this);
  BC_CHECK(a.size() == static_cast<int64_t>(count), Value, "item: expected an array of size {}, got shape {}", count, a.shape());
  bc::to_host(a, to);
}

array empty(const shape_t& shape, dtype type) { return made(bc::empty(dims(shape), engine(type), bc::default_device())); }
array full(const shape_t& shape, double value, dtype type) {
  return made(bc::full(dims(shape), bc::Scalar::real(value), engine(type), bc::default_device()));
}
array arange(int64_t start, int64_t stop, int64_t step) {
  BC_CHECK(step != 0, Value, "arange: expected a step that is not 0");
  const int64_t n = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
  return made(bc::arange(bc::Scalar::integer(start), bc::Scalar::integer(step), n > 0 ? n : 0, bc::DType::i64, bc::default_device()));
}
array linspace(double start, double stop, int64_t count) { return made(bc::linspace(bc::Arg(start), bc::Arg(stop), count)); }
array from_memory(const void* data, dtype type, const shape_t& shape) {
  return made(bc::from_host(data, engine(type), bc::contiguous_layout(dims(shape)), bc::default_device()));
}

array apply(std::string_view ufunc, std::initializer_list<array> operands) {
  std::vector<bc::Arg> args;
  for (const array& a : operands) args.push_back(a.get().value);
  return made(bc::ufunc(op_named(ufunc), std::span<const bc::Arg>(args)));
}
array matmul(const array& a, const array& b) { return made(bc::matmul(real_array(a), real_array(b))); }

void set_default_device(std::string_view device) {
  const std::optional<bc::Device> chosen = bc::parse_device(device);
  BC_CHECK(chosen, Value, "set_default_device: expected \"cpu\", \"cuda\" or \"cuda:N\", got \"{}\"", device);
  bc::set_default_device(*chosen);
}
void synchronize() { bc::synchronize(); }

}  // namespace broadcloth
